"""Blocking connections, pools of them, and a server with one thread a connection: for app2 and auth."""

import queue
import socket
import threading
import time
from email.utils import formatdate

import calllog
import framing
import protocols


class Link:
    """One connection, one call at a time."""

    def __init__(self, log, protocol, address):
        self.sock = socket.create_connection(address)
        self.sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self.protocol, self._log = protocol, log
        self._ends = calllog.ends(self.sock)
        self._ordinal = 0
        self._buffer = bytearray()

    def call(self, parent, operation, data):
        return self.pipeline(parent, [(operation, data)])[0]

    def pipeline(self, parent, calls):
        """Sends all calls at once, then takes all replies."""
        for operation, data in calls:
            self._ordinal += 1
            self._log.outgoing(self.protocol, self._ends, self._ordinal, data, operation, parent)
        self.sock.sendall(b"".join(data for _, data in calls))
        return [self.take(protocols.REPLY_END[self.protocol]) for _ in calls]

    def take(self, end_of):
        while (end := end_of(self._buffer)) is None:
            data = self.sock.recv(65536)
            if not data:
                raise ConnectionError(f"{self._ends} closed")
            self._buffer += data
        message = self._buffer[:end]
        del self._buffer[:end]
        return message

    def close(self):
        self.sock.close()


def pg_link(log, address, user, password, database):
    """Connects and logs in; the login's exchanges are set-up and not in the call log."""
    link = Link(log, "pgsql", address)
    login = protocols.pg_login(user, password, database)
    step = next(login)
    try:
        while True:
            link.sock.sendall(step[0])
            step = login.send(link.take(step[1]))
    except StopIteration:
        return link


class Pool:
    """Connections opened at the start; the last one returned is used first."""

    def __init__(self, connect, size):
        self._idle = queue.LifoQueue()
        for _ in range(size):
            self._idle.put(connect())

    def call(self, parent, operation, data):
        return self.pipeline(parent, [(operation, data)])[0]

    def pipeline(self, parent, calls):
        link = self.take()
        try:
            return link.pipeline(parent, calls)
        finally:
            self.give(link)

    def take(self):
        return self._idle.get()

    def give(self, link):
        self._idle.put(link)


class Later:
    """Work after the reply: one thread that does it in order."""

    def __init__(self):
        self._jobs = queue.Queue()
        threading.Thread(target=self._work, daemon=True).start()

    def add(self, job, *args):
        self._jobs.put((job, args))

    def _work(self):
        while True:
            job, args = self._jobs.get()
            job(*args)


def serve_http(log, address, name, handle):
    """HANDLE(method, path, body, parent) -> (status, body bytes, what to do after the reply or None).
    One thread a connection."""
    listener = socket.create_server(address, backlog=64)
    while True:
        sock, _ = listener.accept()
        sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        threading.Thread(target=_serve, args=(log, sock, name, handle), daemon=True).start()


def _serve(log, sock, name, handle):
    both, ordinal, buffer = calllog.ends(sock), 0, bytearray()
    while data := sock.recv(65536):
        at = time.time_ns()
        buffer += data
        while (end := framing.http_end(buffer)) is not None:
            message = bytes(buffer[:end])
            del buffer[:end]
            ordinal += 1
            line = framing.http_first_line(message)
            me = log.incoming("http", both, ordinal, message, line, at)
            method, path, _ = line.split(" ")
            status, body, after = handle(method, path, protocols.http_body(message), me)
            head = protocols.http_reply_head(status, name, formatdate(usegmt=True), len(body))
            sock.sendall(head + body)
            if after:
                after()
    sock.close()
