#!/usr/bin/python3
"""traces/protocols/fastcgi: a web server's connections to php-fpm, kept and one for each request, and requests by hand.

php-fpm at 127.0.0.1:9009 that runs a script (/slow, /error, /fatal, /large: what they say), nginx at 127.0.0.1:8089 with fastcgi_pass to it,
under /kept/ with fastcgi_keep_conn; tcpdump listens to port 9009. SCRIPT is the script's file. Prints seconds, what.
"""

import socket
import struct
import sys
import threading
import time
import urllib.error
import urllib.request

SCRIPT = sys.argv[1]


def get(path, body=None):
    begin = time.time()
    try:
        with urllib.request.urlopen(f"http://127.0.0.1:8089{path}", data=body) as answer:
            answer.read()
    except urllib.error.HTTPError as error:
        path += f" {error.code}"
    print(f"{time.time() - begin:.6f} {path}")


def record(kind, number, content=b""):
    return struct.pack("!BBHHBB", 1, kind, number, len(content), -len(content) % 8, 0) + content + b"\0" * (-len(content) % 8)


def params(**pairs):
    return b"".join(bytes([len(name), len(value)]) + name.encode() + value.encode() for name, value in pairs.items())


def by_hand():
    """What values the server has, a request that is aborted, one with a body in pieces."""
    begin = time.time()
    with socket.create_connection(("127.0.0.1", 9009)) as client:
        client.sendall(record(9, 0, params(FCGI_MAX_CONNS="", FCGI_MPXS_CONNS="")))
        client.recv(1000)
    head = params(SCRIPT_FILENAME=SCRIPT, REQUEST_METHOD="POST", REQUEST_URI="/order/17")
    rest = params(CONTENT_LENGTH="9", CONTENT_TYPE="text/plain")
    with socket.create_connection(("127.0.0.1", 9009)) as client:
        client.sendall(record(1, 1, struct.pack("!HB5x", 1, 0)) + record(4, 1, head) + record(4, 1, rest) + record(4, 1))
        for piece in b"one", b"two", b"six", b"":
            client.sendall(record(5, 1, piece))
            time.sleep(0.003)
        while client.recv(65536):
            pass
    print(f"{time.time() - begin:.6f} by hand 1")
    with socket.create_connection(("127.0.0.1", 9009)) as client:
        client.sendall(record(1, 1, struct.pack("!HB5x", 1, 0)) + record(4, 1, head))
        client.sendall(record(2, 1))
        time.sleep(0.02)


def main():
    for prefix in "", "/kept":
        for path in "/item/1", "/item/2?words=fresh", "/slow", "/error", "/missing", "/fatal", "/large":
            get(prefix + path)
        get(prefix + "/order/5", b"{}")
        get(prefix + "/order/6", b"y" * 100000)
        threads = [threading.Thread(target=get, args=(f"{prefix}/item/{n}",)) for n in range(6)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    by_hand()


main()
