#!/usr/bin/env python3
"""traces/protocols/tns: both ends of TNS connections, built from what is known of the protocol; run while
tcpdump listens to port 1521."""
import socket
import struct
import threading
import time

SERVER = ("127.0.0.2", 1521)
CONNECT, ACCEPT, REFUSE, DATA, MARKER = 1, 2, 4, 6, 12


def packet(kind, payload, is_long):
    if is_long:
        return struct.pack(">IBBH", 8 + len(payload), kind, 0, 0) + payload
    return struct.pack(">HHBBH", 8 + len(payload), 0, kind, 0, 0) + payload


def data(payload, is_long):
    return packet(DATA, b"\0\0" + payload, is_long)


def connect(version, service):
    text = b"(DESCRIPTION=(CONNECT_DATA=(SERVICE_NAME=%s)))" % service
    head = struct.pack(">HHHHHHHHHH", version, 300, 0, 8192, 65535, 0x7F08, 0, 1, len(text), 58)
    return packet(CONNECT, head.ljust(50, b"\0") + text, False)


def exactly(connection, n):
    got = b""
    while len(got) < n:
        part = connection.recv(n - len(got))
        if not part:
            raise EOFError
        got += part
    return got


def receive(connection):
    """One packet: its type and payload."""
    head = exactly(connection, 8)
    short, whole = struct.unpack(">H", head[:2])[0], struct.unpack(">I", head[:4])[0]
    return head[4], exactly(connection, (short if short >= 8 else whole) - 8)


def serve(connection):
    is_long = False
    try:
        while True:
            kind, payload = receive(connection)
            if kind == CONNECT:
                version = struct.unpack(">H", payload[:2])[0]
                is_long = version >= 315
                if b"nothing" in payload:
                    connection.sendall(packet(REFUSE, b"\x22\0" + struct.pack(">H", 12) + b"(ERR=12514)", False))
                else:
                    connection.sendall(packet(ACCEPT, struct.pack(">HHHH", version, 0, 8192, 65535).ljust(24, b"\0"), False))
            elif kind == DATA and payload[2:4] == b"\x03\x47":
                connection.sendall(packet(MARKER, b"\1\0\1", is_long) + packet(MARKER, b"\1\0\2", is_long))
                receive(connection)
                connection.sendall(data(b"\x04" + bytes(20) + b"no such table", is_long))
            elif kind == DATA and payload[1] != 0x40:
                time.sleep(0.002)
                n = 20 if payload[2:4] == b"\x03\x05" else 1
                for _ in range(n):
                    connection.sendall(data(b"\x10" + bytes(700), is_long))
    except (EOFError, ConnectionError):
        connection.close()


def ask(connection, payload, is_long, n=1):
    connection.sendall(data(payload, is_long))
    for _ in range(n):
        receive(connection)


def client(version, service):
    is_long = version >= 315
    with socket.create_connection(SERVER, source_address=("127.0.0.1", 0)) as connection:
        connection.sendall(connect(version, service))
        if receive(connection)[0] == REFUSE:
            return
        for message in (b"\xde\xad\xbe\xef" + bytes(20), b"\x01\x06\0", b"\x02" + bytes(50),
                        b"\x03\x76" + bytes(80), b"\x03\x73" + bytes(200)):
            ask(connection, message, is_long)
        for _ in range(4):
            ask(connection, b"\x03\x5e" + bytes(150), is_long)
        ask(connection, b"\x03\x05" + bytes(9), is_long, 20)
        ask(connection, b"\x03\x47" + bytes(90), is_long, 2)
        connection.sendall(packet(MARKER, b"\1\0\2", is_long))
        receive(connection)
        ask(connection, b"\x03\x0e" + bytes(1), is_long)
        ask(connection, b"\x03\x09" + bytes(1), is_long)
        connection.sendall(packet(DATA, b"\0\x40", is_long))


def listen(server):
    while True:
        threading.Thread(target=serve, args=(server.accept()[0],), daemon=True).start()


with socket.create_server(SERVER) as server:
    threading.Thread(target=listen, args=(server,), daemon=True).start()
    client(314, b"old")
    client(319, b"new")
    client(319, b"nothing")
    time.sleep(0.5)
