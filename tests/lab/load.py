#!/usr/bin/env python3
"""The load generator: a set number of clients, each sends a request, waits for the reply, thinks.

load.py LOG SEED CLIENTS REQUESTS THINK. First a warm-up (connections, caches, plans), then it prints
"ready" and waits for a line on standard input, then the load, then "done". No two requests in flight
are the same bytes: that is what lets truth.py tell which request nginx passed on (README.md).
"""

import asyncio
import socket
import sys

import calllog
import framing
import laws
import places
import protocols

WARM_UP = 150
HOST = "shop.example"
AGENT = "Mozilla/5.0 (X11; Linux x86_64; rv:115.0) Gecko/20100101 Firefox/115.0"
MIX = {"home": 8, "item": 30, "search": 14, "cart": 14, "add": 10, "order": 9, "orders": 5,
       "static": 10}
WORDS = ["lamp", "table", "chair", "clock", "glass", "spoon", "paper", "candle", "basket", "mirror"]


class Load:
    def __init__(self, log, seed, clients, think):
        self.log, self.think = log, think
        self.law = laws.Laws(f"load {seed}")
        self.clients = clients
        self.in_flight = set()
        self.left = 0

    async def run(self, requests):
        self.left = requests
        await asyncio.gather(*(self.one_client(client) for client in self.clients))

    async def one_client(self, client):
        while self.left > 0:
            self.left -= 1
            operation, request = self.pick()
            self.in_flight.add(request)
            await client.call(self.log, operation, request)
            self.in_flight.discard(request)
            await asyncio.sleep(self.law.exponential(self.think))

    def pick(self):
        while True:
            operation = self.law.choice(list(MIX), list(MIX.values()))
            request = self.make(operation)
            if operation == "static" or request not in self.in_flight:
                return operation, request

    def make(self, operation):
        user, item = self.law.integer(1, places.USERS), self.law.popular(places.ITEMS)
        if operation == "item" and self.law.chance(0.03):
            item += places.ITEMS  # no such item
        word = self.law.choice(WORDS)
        method, path, body = {
            "home": ("GET", "/", None),
            "item": ("GET", f"/item/{item}", None),
            "search": ("GET", f"/search?q={word}", None),
            "cart": ("GET", f"/user/{user}/cart", None),
            "add": ("POST", f"/user/{user}/cart", {"item": item}),
            "order": ("POST", f"/user/{user}/order", {"item": item, "count": self.count()}),
            "orders": ("GET", f"/user/{user}/orders", None),
            "static": ("GET", f"/static/{self.law.choice(['style.css', 'shop.js'])}", None),
        }[operation]
        return protocols.http_request(method, path, HOST, body, AGENT)

    def count(self):
        """0 breaks a constraint of the database."""
        return 0 if self.law.chance(0.05) else self.law.integer(1, 3)


class Client:
    """A browser: one kept connection, opened anew after some requests."""

    def __init__(self, law):
        self._law, self._left = law, 0
        self._writer = None

    async def call(self, log, operation, request):
        if not self._left:
            await self._connect()
        self._left -= 1
        self._ordinal += 1
        log.outgoing("http", self._ends, self._ordinal, request, operation, None)
        self._writer.write(request)
        buffer = b""
        while framing.http_end(buffer) is None:
            data = await self._reader.read(65536)
            if not data:
                raise ConnectionError("nginx closed the connection")
            buffer += data

    async def _connect(self):
        if self._writer:
            self._writer.close()
        self._reader, self._writer = await asyncio.open_connection(*places.address("nginx"))
        sock = self._writer.get_extra_info("socket")
        sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self._ends, self._ordinal = calllog.ends(sock), 0
        self._left = self._law.integer(40, 120)


async def main(log_path, seed, clients, requests, think):
    log = calllog.CallLog(log_path)
    law = laws.Laws(f"browsers {seed}")
    load = Load(log, seed, [Client(law) for _ in range(int(clients))], float(think))
    await load.run(WARM_UP)
    print("ready", flush=True)
    await asyncio.get_running_loop().run_in_executor(None, sys.stdin.readline)
    await load.run(int(requests))
    print("done", flush=True)
    await asyncio.sleep(3600)


if __name__ == "__main__":
    try:
        asyncio.run(main(*sys.argv[1:]))
    except (KeyboardInterrupt, SystemExit):
        pass
