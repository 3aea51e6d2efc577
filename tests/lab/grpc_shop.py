#!/usr/bin/env python3
"""The services of the gRPC lab: grpc_shop.py LOG SEED HOST. One program, a service a host.

    client ---> web ---> users
                 |-----> catalog ---> stock
                 |-----> cart ------> prices, stock

Messages are bytes to gRPC; they hold fields as Protocol Buffers write them (protocol() below): the user,
the item, and a key that makes a request of its own of each call (8 random bytes, never passed on). The
call log (calllog.py says what one is) has a line for each call made and each call taken:

    in   service/method  key  time_ns        out  service/method  key  time_ns  parent's key ("-": none)
"""

import atexit
import signal
import sys
import threading
import time
from concurrent import futures

import grpc

import laws

HOSTS = {
    "client": "10.21.0.10",
    "web": "10.21.0.20",
    "users": "10.21.0.31",
    "catalog": "10.21.0.32",
    "cart": "10.21.0.33",
    "stock": "10.21.0.41",
    "prices": "10.21.0.42",
}
PORT = 50051
THREADS = 48
SERVICES = {"web": "shop.v1.Web", "users": "shop.v1.Users", "catalog": "shop.v1.Catalog",
            "cart": "shop.v1.Cart", "stock": "shop.v1.Stock", "prices": "shop.v1.Prices"}


def varint(number):
    out = b""
    while number > 127:
        out, number = out + bytes([number & 127 | 128]), number >> 7
    return out + bytes([number])


def message(user, item, key=b"", text=b""):
    """Fields 1 and 2: numbers, 3: text, 15: the key."""
    out = b"\x08" + varint(user) + b"\x10" + varint(item)
    for field, value in ((3, text), (15, key)):
        if value:
            out += varint(field << 3 | 2) + varint(len(value)) + value
    return out


def read_varint(data, at):
    number = shift = 0
    while True:
        number, shift = number | (data[at] & 127) << shift, shift + 7
        at += 1
        if data[at - 1] < 128:
            return number, at


def fields(data):
    at, found = 0, {}
    while at < len(data):
        tag, at = read_varint(data, at)
        value, at = read_varint(data, at)
        if tag & 7 == 2:
            value, at = data[at:at + value], at + value
        found[tag >> 3] = value
    return found


class Log:
    def __init__(self, path):
        self._path, self._rows = path, []
        atexit.register(self._write)
        signal.signal(signal.SIGTERM, lambda *_: sys.exit(0))

    def add(self, what, method, key, parent=None):
        row = [what, method, key.hex(), str(time.time_ns())]
        self._rows.append(row if what == "in" else row + [parent.hex() if parent else "-"])

    def _write(self):
        with open(self._path, "w", encoding="utf-8") as out:
            for row in self._rows:
                out.write("\t".join(row) + "\n")


class Peer:
    """The one connection to a service; any number of calls at a time."""

    def __init__(self, log, law, host):
        self._log, self._law, self._host = log, law, host
        self._channel = grpc.insecure_channel(f"{HOSTS[host]}:{PORT}")

    def start(self, parent, method, user, item, text=b"", stream=False):
        path = f"{SERVICES[self._host]}/{method}"
        key = self._law.key()
        self._log.add("out", path, key, parent)
        kind = self._channel.unary_stream if stream else self._channel.unary_unary
        data = message(user, item, key, text)
        return kind(f"/{path}")(data) if stream else kind(f"/{path}").future(data)

    def call(self, *arguments):
        return self.start(*arguments).result()


class Law(laws.Laws):
    """Shared by threads."""

    def key(self):
        return self._random.randbytes(8)


class Refused(Exception):
    pass


class Shop:
    def __init__(self, log, law, host):
        self.law, self.host = law, host
        calls = {"web": ("users", "catalog", "cart"), "catalog": ("stock",),
                 "cart": ("prices", "stock")}
        self.peers = {name: Peer(log, law, name) for name in calls.get(host, ())}

    def work(self, seconds):
        time.sleep(seconds)

    # web
    def web_Home(self, me, user, item):
        both = [self.peers["users"].start(me, "Get", user, 0),
                self.peers["catalog"].start(me, "Item", user, item)]
        self.work(self.law.gamma(2, 0.001))
        for one in both:
            one.result()
        self.work(self.law.exponential(0.0005))

    def web_Item(self, me, user, item):
        self.work(self.law.normal(0.001, 0.2))
        self.peers["catalog"].call(me, "Item", user, item)
        self.work(self.law.exponential(0.001))

    def web_Order(self, me, user, item):
        self.work(self.law.normal(0.001, 0.2))
        self.peers["users"].call(me, "Check", user, 0)
        self.work(self.law.exponential(0.0005))
        self.peers["cart"].call(me, "Place", user, item)
        self.work(self.law.uniform(0.0002, 0.001))

    def web_Search(self, me, user, item):
        self.work(self.law.exponential(0.001))
        list(self.peers["catalog"].start(me, "Search", user, item, b"lamp", stream=True))

    # the others
    def users_Get(self, me, user, item):
        self.work(self.law.gamma(3, 0.002))

    def users_Check(self, me, user, item):
        self.work(self.law.gamma(2, 0.0015))
        if self.law.chance(0.03):
            raise Refused()

    def catalog_Item(self, me, user, item):
        self.work(self.law.lognormal(0.0015, 0.5))
        if self.law.chance(0.6):
            self.peers["stock"].call(me, "Level", user, item)
            self.work(self.law.exponential(0.0005))

    def catalog_Search(self, me, user, item):
        for _ in range(4):
            self.work(self.law.exponential(0.0015))
            yield message(user, item, text=b"lamp with a shade")
        self.peers["stock"].call(me, "Levels", user, item)

    def cart_Place(self, me, user, item):
        self.work(self.law.exponential(0.001))
        self.peers["prices"].call(me, "Quote", user, item)
        self.work(self.law.exponential(0.001))
        self.peers["stock"].call(me, "Reserve", user, item)
        self.work(self.law.normal(0.001, 0.3))

    def stock_Level(self, me, user, item):
        self.work(self.law.exponential(0.001))

    def stock_Levels(self, me, user, item):
        self.work(self.law.two_modes(0.001, 0.004, 0.2))

    def stock_Reserve(self, me, user, item):
        self.work(self.law.gamma(2, 0.002))

    def prices_Quote(self, me, user, item):
        self.work(self.law.uniform(0.001, 0.003))


class Handlers(grpc.GenericRpcHandler):
    def __init__(self, log, shop):
        self._log, self._shop = log, shop

    def service(self, details):
        path = details.method[1:]
        method = path.split("/")[1]
        handle = getattr(self._shop, f"{self._shop.host}_{method}")
        if method == "Search" and self._shop.host == "catalog":
            return grpc.unary_stream_rpc_method_handler(
                lambda data, context: handle(*self._take(path, data)))
        return grpc.unary_unary_rpc_method_handler(
            lambda data, context: self._answer(path, handle, data, context))

    def _take(self, path, data):
        found = fields(data)
        self._log.add("in", path, found[15])
        return found[15], found[1], found[2]

    def _answer(self, path, handle, data, context):
        key, user, item = self._take(path, data)
        try:
            handle(key, user, item)
        except Refused:
            context.abort(grpc.StatusCode.PERMISSION_DENIED, "no")
        except grpc.RpcError as error:
            context.abort(error.code(), "no")
        return message(user, item, text=b"done")


def main(log_path, seed, host):
    log, law = Log(log_path), Law(f"{host} {seed}")
    server = grpc.server(futures.ThreadPoolExecutor(THREADS),
                         options=[("grpc.so_reuseport", 0)])
    server.add_generic_rpc_handlers((Handlers(log, Shop(log, law, host)),))
    server.add_insecure_port(f"{HOSTS[host]}:{PORT}")
    server.start()
    print("ready", flush=True)
    threading.Event().wait()


if __name__ == "__main__":
    main(*sys.argv[1:])
