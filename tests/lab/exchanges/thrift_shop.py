#!/usr/bin/python3
"""traces/protocols/thrift: one service over framed and buffered transports, in the binary and the compact protocol.

python3-thrift, thrift-compiler; tcpdump listens to ports 9090 to 9093. Prints seconds, what.
"""

import subprocess
import sys
import tempfile
import threading
import time

INTERFACE = """
exception NotFound { 1: string what }
struct Item { 1: i32 id, 2: string name, 3: list<string> tags, 4: map<string, double> prices }
service Shop {
  Item item(1: i32 id) throws (1: NotFound missing),
  list<Item> search(1: string words, 2: i32 most),
  i64 order(1: list<Item> items),
  void slow(1: i32 ms),
  void broken(),
  oneway void seen(1: i32 id),
}
"""

folder = tempfile.mkdtemp()
with open(f"{folder}/shop.thrift", "w", encoding="ascii") as file:
    file.write(INTERFACE)
subprocess.run(["thrift", "--gen", "py", "-out", folder, f"{folder}/shop.thrift"], check=True)
sys.path.insert(0, folder)

from shop import Shop  # noqa: E402
from shop.ttypes import Item, NotFound  # noqa: E402
from thrift import TMultiplexedProcessor  # noqa: E402
from thrift.protocol import TBinaryProtocol, TCompactProtocol, TMultiplexedProtocol  # noqa: E402
from thrift.server import TServer  # noqa: E402
from thrift.transport import TSocket, TTransport  # noqa: E402


def make(number):
    return Item(number, f"item {number}", ["fruit"] * (number % 5), {"eur": number * 1.5})


class Handler:
    def item(self, id):
        if id > 90:
            raise NotFound(f"item {id}")
        return make(id)

    def search(self, words, most):
        return [make(n) for n in range(most)]

    def order(self, items):
        return len(items)

    def slow(self, ms):
        time.sleep(ms / 1000)

    def broken(self):
        raise RuntimeError("not written yet")

    def seen(self, id):
        pass


def timed(name, function, *args):
    begin = time.time()
    try:
        function(*args)
    except Exception as error:
        name += " " + type(error).__name__
    print(f"{time.time() - begin:.6f} {name}")


KINDS = {9090: (TTransport.TFramedTransportFactory(), TBinaryProtocol.TBinaryProtocolFactory()),
         9091: (TTransport.TBufferedTransportFactory(), TBinaryProtocol.TBinaryProtocolFactory()),
         9092: (TTransport.TFramedTransportFactory(), TCompactProtocol.TCompactProtocolFactory()),
         9093: (TTransport.TBufferedTransportFactory(), TCompactProtocol.TCompactProtocolFactory())}


def serve(port, transports, protocols):
    shop = Shop.Processor(Handler())
    processor = TMultiplexedProcessor.TMultiplexedProcessor() if port == 9090 else shop
    if port == 9090:
        processor.registerDefault(shop)
        processor.registerProcessor("shop", shop)
    TServer.TThreadedServer(processor, TSocket.TServerSocket("127.0.0.1", port), transports, protocols,
                            daemon=True).serve()


def call(port, transports, protocols, name=None):
    transport = transports.getTransport(TSocket.TSocket("127.0.0.1", port))
    protocol = protocols.getProtocol(transport)
    client = Shop.Client(TMultiplexedProtocol.TMultiplexedProtocol(protocol, name) if name else protocol)
    transport.open()
    for number in 1, 5, 99:
        timed("item", client.item, number)
    timed("search", client.search, "fresh fruit", 20)
    timed("search", client.search, "all of it", 400)
    timed("order", client.order, [make(n) for n in range(100)])
    timed("seen", client.seen, 5)
    timed("slow", client.slow, 20)
    timed("seen", client.seen, 6)
    timed("broken", client.broken)
    timed("item", client.item, 7)
    for number in 1, 2, 3:  # sent one behind the other before any is answered
        client.send_item(number)
    for number in 1, 2, 3:
        timed("item, pipelined", client.recv_item)
    transport.close()


def main():
    for port, kind in KINDS.items():
        threading.Thread(target=serve, args=(port, *kind), daemon=True).start()
    time.sleep(0.5)
    for port, kind in KINDS.items():
        call(port, *kind)
    call(9090, *KINDS[9090], "shop")


main()
