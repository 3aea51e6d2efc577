#!/usr/bin/python3
"""traces/protocols/dns: a resolver's library and tools: A and AAAA at once, EDNS, truncation, TCP, a transfer, retries, errors.

As root, named at 127.0.0.1:53 with a zone example.org (www, shop, mail, _http._tcp; many: 60 addresses; big: 40 texts);
bind9-dnsutils; tcpdump listens to that port. Prints seconds, what.
"""

import os
import signal
import socket
import struct
import subprocess
import sys
import time

SERVER = ("127.0.0.1", 53)
RESOLVER = """
import socket
for name in "www", "shop", "missing", "www":
    try:
        socket.getaddrinfo(name + ".example.org", 80)
    except OSError:
        pass
"""


def timed(name, function, *args):
    begin = time.time()
    function(*args)
    print(f"{time.time() - begin:.6f} {name}")


def dig(*words):
    subprocess.run(["dig", "@127.0.0.1", "+noall", *words], check=False, stdout=subprocess.DEVNULL)


def query(number, name, kind=1):
    labels = b"".join(bytes([len(part)]) + part.encode() for part in name.split("."))
    return struct.pack("!6H", number, 0x100, 1, 0, 0, 0) + labels + struct.pack("!BHH", 0, kind, 1)


def library():
    """getaddrinfo() sends A and AAAA from one socket, with numbers of their own."""
    with open("/tmp/resolv.conf", "w", encoding="ascii") as file:
        file.write("nameserver 127.0.0.1\n")
    subprocess.run(["unshare", "-m", "sh", "-c",
                    "mount --bind /tmp/resolv.conf $(realpath /etc/resolv.conf); exec /usr/bin/python3 -c \"$0\"",
                    RESOLVER], check=True)


def retries(server):
    """The same query three times from one socket while the server sleeps; it answers each."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as client:
        client.connect(SERVER)
        os.kill(server, signal.SIGSTOP)
        for _ in range(3):
            client.send(query(77, "www.example.org"))
            time.sleep(0.1)
        os.kill(server, signal.SIGCONT)
        for _ in range(3):
            client.recv(4096)


def one_socket():
    """Many questions on their way from one socket, two of them with the same number."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as client:
        client.connect(SERVER)
        for number in range(10):
            client.send(query(500 + number, ("www", "many", "nothing")[number % 3] + ".example.org"))
        client.send(query(500, "mail.example.org", 15))
        for _ in range(11):
            client.recv(4096)


def pipelined():
    """Questions over one TCP connection, sent at once."""
    with socket.create_connection(SERVER) as client:
        parts = [query(900 + n, name) for n, name in enumerate(("www.example.org", "big.example.org", "shop.example.org"))]
        client.sendall(b"".join(struct.pack("!H", len(part)) + part for part in parts))
        with client.makefile("rb") as file:
            for _ in parts:
                file.read(struct.unpack("!H", file.read(2))[0])


def main():
    server = int(sys.argv[1])
    timed("getaddrinfo 4", library)
    for words in (["www.example.org"], ["+noedns", "www.example.org", "AAAA"], ["mail.example.org", "MX"],
                  ["_http._tcp.example.org", "SRV"], ["many.example.org"], ["+noedns", "many.example.org"],
                  ["+bufsize=600", "big.example.org", "TXT"], ["+tcp", "www.example.org"], ["example.org", "AXFR"],
                  ["other.test"], ["+dnssec", "nothing.example.org"], ["example.org", "SOA", "example.org", "NS"]):
        timed("dig " + " ".join(words), dig, *words)
    timed("retries 3", retries, server)
    timed("one socket 11", one_socket)
    timed("pipelined 3", pipelined)


main()
