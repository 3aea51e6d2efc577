#!/usr/bin/env python3
"""app1: the shop. One thread, asynchronous; calls in parallel where they do not need each other.

  GET  /                  app2 /recommend, redis GET and memcached get in parallel; reply in chunks
  GET  /item/N            memcached get; on a miss PostgreSQL (prepared), and set after the reply
  GET  /search?q=WORD     PostgreSQL (parsed each time), then redis ZINCRBY and memcached get (many)
  GET  /user/N/cart       auth; redis HGETALL; app2 /price
  POST /user/N/cart       auth; redis HSET and EXPIRE in one pipeline; set ... noreply after the reply
  POST /user/N/order      auth; app2 /orders; memcached delete
  GET  /user/N/orders     auth; app2 /orders/N

A pool's idle connections are pinged every two seconds, as real pools do.
"""

import asyncio
import json
import signal
import socket
import sys
import time
from email.utils import formatdate

import calllog
import changes
import framing
import laws
import places
import protocols
from protocols import http_request, memcached_get, memcached_set, redis_command


class Link:
    """One connection, one caller at a time."""

    @classmethod
    async def connect(cls, log, name):
        self = cls()
        self.protocol, self._log = places.PROTOCOLS[name], log
        self._reader, self._writer = await asyncio.open_connection(*places.address(name))
        sock = self._writer.get_extra_info("socket")
        sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self._ends = calllog.ends(sock)
        self._ordinal = 0
        self._buffer = bytearray()
        if self.protocol == "pgsql":
            await self._login()
        return self

    async def _login(self):
        login = protocols.pg_login(*places.DATABASE)
        step = next(login)
        try:
            while True:
                self._writer.write(step[0])
                step = login.send(await self._take(step[1]))
        except StopIteration:
            pass

    async def pipeline(self, parent, calls):
        for operation, data in calls:
            self._ordinal += 1
            self._log.outgoing(self.protocol, self._ends, self._ordinal, data, operation, parent)
        self._writer.write(b"".join(data for _, data in calls))
        if self.protocol == "memcached":
            calls = [call for call in calls if framing.memcached_has_reply(call[1])]
        return [await self._take(protocols.REPLY_END[self.protocol]) for _ in calls]

    async def _take(self, end_of):
        while (end := end_of(self._buffer)) is None:
            data = await self._reader.read(65536)
            if not data:
                raise ConnectionError(f"{self._ends} closed")
            self._buffer += data
        message = self._buffer[:end]
        del self._buffer[:end]
        return message


class Pool:
    """Connections opened at the start; the last one returned is used first."""

    @classmethod
    async def open(cls, log, name, size):
        self = cls()
        self._idle = asyncio.LifoQueue()
        for _ in range(size):
            self._idle.put_nowait(await Link.connect(log, name))
        return self

    async def pipeline(self, parent, calls):
        link = await self._idle.get()
        try:
            return await link.pipeline(parent, calls)
        finally:
            self._idle.put_nowait(link)

    async def call(self, parent, operation, data):
        replies = await self.pipeline(parent, [(operation, data)])
        return replies[0] if replies else None

    async def prepare(self, name, sql):
        """On every connection."""
        links = [self._idle.get_nowait() for _ in range(self._idle.qsize())]
        for link in links:
            await link.pipeline(None, [("(prepare)", protocols.pg_prepare(name, sql))])
            self._idle.put_nowait(link)


class App1:
    def __init__(self, log, seed):
        self.log = log
        self.law = laws.Laws(f"app1 {seed}")
        self.tasks = set()

    async def start(self):
        sizes = {"auth": 8, "app2": 8, "db": 1 if changes.on("one-link") else 5, "redis": 4, "memcached": 4}
        self.pools = {name: await Pool.open(self.log, name, size) for name, size in sizes.items()}
        sql = "SELECT id, name, price, about FROM items WHERE id = $1"
        await self.pools["db"].prepare("item_by_id", sql)
        self.later(self.ping())
        return await asyncio.start_server(self.serve, *places.address("app1"))

    async def call(self, me, name, operation, data):
        return await self.pools[name].call(me, operation, data)

    async def ask(self, me, name, method, path, body=None):
        request = http_request(method, path, places.HOSTS[name], body)
        return await self.call(me, name, f"{method} {path}", request)

    def later(self, work):
        task = asyncio.create_task(work)
        self.tasks.add(task)
        task.add_done_callback(self.tasks.discard)

    async def ping(self):
        while True:
            await asyncio.sleep(2)
            await self.call(None, "redis", "(ping)", redis_command("PING"))
            await self.call(None, "db", "(ping)", protocols.pg_query("SELECT 1"))

    # Serving

    async def serve(self, reader, writer):
        try:
            await self.requests(reader, writer)
        except asyncio.CancelledError:
            pass  # the lab ends
        writer.close()

    async def requests(self, reader, writer):
        sock = writer.get_extra_info("socket")
        sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        both, ordinal, buffer = calllog.ends(sock), 0, bytearray()
        while data := await reader.read(65536):
            at = time.time_ns()
            buffer += data
            while (end := framing.http_end(buffer)) is not None:
                message = bytes(buffer[:end])
                del buffer[:end]
                ordinal += 1
                line = framing.http_first_line(message)
                me = self.log.incoming("http", both, ordinal, message, line, at)
                await self.answer(me, line, protocols.http_body(message), writer)

    async def answer(self, me, line, body, writer):
        method, path, _ = line.split(" ")
        status, parts, after = await self.route(me, method, path, body)
        date = formatdate(usegmt=True)
        if len(parts) == 1:
            head = protocols.http_reply_head(status, "app1/3.2", date, len(parts[0]))
            writer.write(head + parts[0])
        else:
            writer.write(protocols.http_reply_head(status, "app1/3.2", date, None)
                         + protocols.http_chunk(parts[0]))
            await asyncio.sleep(self.law.uniform(0.0005, 0.0015))
            writer.write(protocols.http_chunk(parts[1]) + protocols.http_chunk(b""))
        if after:
            self.later(after)

    async def route(self, me, method, path, body):
        words = path.split("/")
        if changes.on("audit") and self.law.chance(0.02):
            await self.ask(me, "auth", "GET", f"/audit/{self.law.integer(1, places.USERS)}")
        if path == "/":
            return await self.home(me)
        if words[1] == "item":
            return await self.item(me, int(words[2]))
        if words[1].startswith("search?q="):
            return await self.search(me, words[1][9:])
        await asyncio.sleep(self.law.exponential(0.001))
        allowed = await self.ask(me, "auth", "GET", f"/check/{words[2]}")
        if protocols.http_status(allowed) != 200:
            return 403, [b'{"error": "not allowed"}'], None
        verbs = {("GET", "cart"): self.cart, ("POST", "cart"): self.add,
                 ("POST", "order"): self.order, ("GET", "orders"): self.orders}
        return await verbs[method, words[3]](me, int(words[2]), body)

    # What the shop does

    async def home(self, me):
        await asyncio.sleep(self.law.gamma(2, 0.002))
        user = self.law.integer(1, places.USERS)
        await asyncio.gather(
            self.ask(me, "app2", "GET", f"/recommend/{user}"),
            self.call(me, "redis", "GET", redis_command("GET", "banner")),
            self.call(me, "memcached", "get", memcached_get("news", "weather")))
        await asyncio.sleep(self.law.exponential(0.002))
        return 200, [json.dumps({"title": "Shop", "news": ["Sale"] * 8}).encode(),
                     json.dumps({"recommended": list(range(20))}).encode()], None

    async def item(self, me, number):
        await asyncio.sleep(self.law.normal(0.002, 0.2))
        key = f"item:{number}"
        found = None
        if not changes.on("no-cache"):
            reply = await self.call(me, "memcached", "get", memcached_get(key))
            found = protocols.memcached_values(reply).get(key)
        if found:
            await asyncio.sleep(self.law.lognormal(0.002, 0.5))
            return 200, [found], None
        query = protocols.pg_execute("item_by_id", [number])
        rows = protocols.pg_rows(await self.call(me, "db", "item", query))
        await asyncio.sleep(self.law.exponential(0.003))
        if not rows:
            return 404, [b'{"error": "no such item"}'], None
        text = json.dumps(dict(zip(("id", "name", "price", "about"), rows[0]))).encode()
        return 200, [text], self.keep_item(me, key, text)

    async def keep_item(self, me, key, text):
        await asyncio.sleep(self.law.uniform(0.001, 0.005))
        await self.call(me, "memcached", "set", memcached_set(key, text))

    async def search(self, me, word):
        await asyncio.sleep(self.law.gamma(4, 0.002))
        query = protocols.pg_execute("", [word], "SELECT id, name FROM search($1)")
        rows = protocols.pg_rows(await self.call(me, "db", "search", query))
        await asyncio.sleep(self.law.exponential(0.001))
        keys = [f"item:{row[0]}" for row in rows] or ["item:1"]
        await asyncio.gather(
            self.call(me, "redis", "ZINCRBY", redis_command("ZINCRBY", "popular", 1, word)),
            self.call(me, "memcached", "get", memcached_get(*keys)))
        await asyncio.sleep(self.law.two_modes(0.001, 0.006, 0.25))
        return 200, [json.dumps(rows).encode()], None

    async def cart(self, me, user, body):
        for _ in range(3 if changes.on("repeat-cart") else 1):
            await self.call(me, "redis", "HGETALL", redis_command("HGETALL", f"cart:{user}"))
        await asyncio.sleep(self.law.lognormal(0.001, 0.4))
        items = [self.law.integer(1, places.ITEMS // 8) for _ in range(2)]
        await self.ask(me, "app2", "POST", "/price", {"items": items})
        await asyncio.sleep(self.law.exponential(0.002))
        return 200, [json.dumps({"user": user, "items": items}).encode()], None

    async def add(self, me, user, body):
        item = json.loads(body)["item"]
        await asyncio.sleep(self.law.uniform(0.0005, 0.0025))
        key = f"cart:{user}"
        await self.pools["redis"].pipeline(me, [
            ("HSET", redis_command("HSET", key, item, 1)),
            ("EXPIRE", redis_command("EXPIRE", key, 600))])
        await asyncio.sleep(self.law.exponential(0.001))
        return 200, [b'{"added": true}'], self.keep_seen(me, user)

    async def keep_seen(self, me, user):
        await asyncio.sleep(self.law.exponential(0.002))
        await self.call(me, "memcached", "set noreply", memcached_set(f"seen:{user}", b"1", True))

    async def order(self, me, user, body):
        order = dict(json.loads(body), user=user)
        await asyncio.sleep(self.law.normal(0.0015, 0.2))
        reply = await self.ask(me, "app2", "POST", "/orders", order)
        status = protocols.http_status(reply)
        if status == 201:
            delete = protocols.memcached_delete(f"item:{order['item']}")
            await self.call(me, "memcached", "delete", delete)
        await asyncio.sleep(self.law.exponential(0.001))
        return status, [protocols.http_body(reply)], None

    async def orders(self, me, user, body):
        await asyncio.sleep(self.law.uniform(0.001, 0.003))
        reply = await self.ask(me, "app2", "GET", f"/orders/{user}")
        await asyncio.sleep(self.law.exponential(0.001))
        return 200, [protocols.http_body(reply)], None


async def main(log_path, seed):
    app = App1(calllog.CallLog(log_path), seed)
    server = await app.start()
    asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, server.close)
    print("ready", flush=True)
    try:
        await server.serve_forever()
    except asyncio.CancelledError:
        pass


if __name__ == "__main__":
    asyncio.run(main(*sys.argv[1:]))
