#!/usr/bin/env python3
"""traces/protocols/proxy: the servers behind haproxy, and the clients before it (see proxy.cfg)."""
import socket
import threading
import time

PROXY, CLIENT, SERVER = "127.0.0.2", "127.0.0.1", ("127.0.0.4", 8300)


def answer(request):
    """HTTP or RESP, by the first byte."""
    if request.startswith(b"*"):
        return b"$5\r\napple\r\n" if b"GET" in request else b"+OK\r\n"
    body = b"hello\n"
    return b"HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n%s" % (len(body), body)


def serve(connection):
    try:
        while request := connection.recv(4096):
            time.sleep(0.002)
            connection.sendall(answer(request))
    except ConnectionResetError:  # as haproxy ends its health checks
        pass
    finally:
        connection.close()


def listen():
    with socket.create_server(SERVER) as server:
        while True:
            threading.Thread(target=serve, args=(server.accept()[0],), daemon=True).start()


def ask(port, requests):
    with socket.create_connection((PROXY, port), source_address=(CLIENT, 0)) as connection:
        for request in requests:
            connection.sendall(request)
            connection.recv(4096)


threading.Thread(target=listen, daemon=True).start()
time.sleep(1)  # a health check or two
for i in range(3):
    ask(8201, [b"GET /item/%d HTTP/1.1\r\nHost: shop.lan\r\n\r\n" % n for n in range(i, i + 4)])
    ask(8202, [b"*2\r\n$3\r\nGET\r\n$6\r\nitem:%d\r\n" % n for n in range(3)])
time.sleep(1)
