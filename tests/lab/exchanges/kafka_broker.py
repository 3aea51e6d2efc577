"""A broker of Kafka made from the protocol guide (kafka.apache.org/protocol), for there is no other: one node, topics of two
partitions in memory, groups of one member. Old versions only, which it says in ApiVersions."""

import socketserver
import struct
import threading
import time

PORT = 9092
VERSIONS = {0: (3, 3), 1: (4, 4), 2: (1, 1), 3: (0, 1), 8: (2, 2), 9: (1, 1), 10: (0, 0), 11: (0, 0), 12: (0, 0), 13: (0, 0),
            14: (0, 0), 18: (0, 0)}
LOGS = {}  # (topic, partition): list of batches, next offset
GROUPS = {}
CHANGED = threading.Condition()


class Reader:
    def __init__(self, data):
        self.data, self.at = data, 0

    def number(self, form):
        value = struct.unpack_from("!" + form, self.data, self.at)[0]
        self.at += struct.calcsize("!" + form)
        return value

    def text(self):
        return self.take(self.number("h")).decode()

    def block(self):
        return self.take(self.number("i"))

    def take(self, size):
        value = self.data[self.at:self.at + max(size, 0)]
        self.at += max(size, 0)
        return value

    def many(self, read):
        return [read() for _ in range(max(self.number("i"), 0))]


def text(value):
    return struct.pack("!h", len(value)) + value.encode()


def block(value):
    return struct.pack("!i", len(value)) + value


def many(values):
    return struct.pack("!i", len(values)) + b"".join(values)


def log_of(topic, partition):
    return LOGS.setdefault((topic, partition), [[], 0])


def api_versions(_):
    rows = [struct.pack("!hhh", key, *versions) for key, versions in VERSIONS.items()]
    return struct.pack("!h", 0) + many(rows)


def metadata(request, version):
    names = request.many(request.text) or ["orders"]
    topics = []
    for name in names:
        partitions = [struct.pack("!hii", 0, p, 1) + many([struct.pack("!i", 1)]) * 2 for p in range(2)]
        topics.append(struct.pack("!h", 3 if name == "missing" else 0) + text(name) + (b"\0" if version else b"")
                      + many([] if name == "missing" else partitions))
    broker = struct.pack("!i", 1) + text("127.0.0.1") + struct.pack("!i", PORT)
    return many([broker + (struct.pack("!h", -1) if version else b"")]) + (struct.pack("!i", 1) if version else b"") + many(topics)


def produce(request):
    request.text()  # transactional id
    acks, _ = request.number("h"), request.number("i")

    def partition(topic):
        number, batch = request.number("i"), bytearray(request.block())
        with CHANGED:
            log = log_of(topic, number)
            offset = log[1]
            struct.pack_into("!q", batch, 0, offset)
            log[1] += struct.unpack_from("!i", batch, 23)[0] + 1
            log[0].append((offset, bytes(batch)))
            CHANGED.notify_all()
        return struct.pack("!ihqq", number, 0, offset, -1)

    def topic():
        name = request.text()
        return text(name) + many(request.many(lambda: partition(name)))
    answer = many(request.many(topic)) + struct.pack("!i", 0)
    return answer if acks else None


def fetch(request):
    request.number("i")
    wait, least = request.number("i"), request.number("i")
    request.take(5)

    def topic():
        name = request.text()
        return name, request.many(lambda: (request.number("i"), request.number("q"), request.number("i")))
    topics = request.many(topic)

    def read():
        size, rows = 0, []
        for name, partitions in topics:
            parts = []
            for number, offset, _ in partitions:
                batches, end = log_of(name, number)
                data = b"".join(batch for first, batch in batches
                                if first + struct.unpack_from("!i", batch, 23)[0] >= offset)
                size += len(data)
                parts.append(struct.pack("!ihqqi", number, 0, end, end, 0) + block(data))
            rows.append(text(name) + many(parts))
        return size, rows
    until = time.time() + wait / 1000
    with CHANGED:
        while True:
            size, rows = read()
            if size >= least or time.time() >= until:
                return struct.pack("!i", 0) + many(rows)
            CHANGED.wait(max(until - time.time(), 0.001))


def list_offsets(request):
    request.number("i")

    def partition(name):
        number, when = request.number("i"), request.number("q")
        return struct.pack("!ihqq", number, 0, -1, log_of(name, number)[1] if when == -1 else 0)

    def topic():
        name = request.text()
        return text(name) + many(request.many(lambda: partition(name)))
    return many(request.many(topic))


def offsets(request, has_value):
    group = GROUPS.setdefault(request.text(), {})
    if has_value:
        request.number("i"), request.text(), request.number("q")

    def partition(name):
        number = request.number("i")
        if has_value:
            group[name, number] = request.number("q")
            request.text()
            return struct.pack("!ih", number, 0)
        return struct.pack("!iq", number, group.get((name, number), -1)) + text("") + struct.pack("!h", 0)

    def topic():
        name = request.text()
        return text(name) + many(request.many(lambda: partition(name)))
    return many(request.many(topic))


def join(request):
    request.text(), request.number("i"), request.text(), request.text()
    name, details = request.many(lambda: (request.text(), request.block()))[0]
    time.sleep(0.02)
    return struct.pack("!hi", 0, 1) + text(name) + text("member-1") + text("member-1") + many([text("member-1") + block(details)])


def sync(request):
    request.text(), request.number("i"), request.text()
    parts = request.many(lambda: (request.text(), request.block()))
    return struct.pack("!h", 0) + block(parts[0][1] if parts else b"")


def coordinator(_):
    return struct.pack("!hi", 0, 1) + text("127.0.0.1") + struct.pack("!i", PORT)


def answer_to(key, version, request):
    if key == 3:
        return metadata(request, version)
    if key in (8, 9):
        return offsets(request, key == 8)
    if key in (12, 13):
        return struct.pack("!h", 0)
    return {0: produce, 1: fetch, 2: list_offsets, 10: coordinator, 11: join, 14: sync, 18: api_versions}[key](request)


class Connection(socketserver.StreamRequestHandler):
    def handle(self):
        while True:
            head = self.rfile.read(4)
            if len(head) < 4:
                return
            request = Reader(self.rfile.read(struct.unpack("!i", head)[0]))
            key, version, number = request.number("h"), request.number("h"), request.number("i")
            request.take(request.number("h"))  # the client's name
            if key == 18 and version > 0:
                answer = struct.pack("!h", 35) + many([struct.pack("!hhh", 18, 0, 0)])
            else:
                answer = answer_to(key, version, request)
            if answer is not None:
                self.wfile.write(block(struct.pack("!i", number) + answer))


class Broker(socketserver.ThreadingTCPServer):
    allow_reuse_address = True
    daemon_threads = True


if __name__ == "__main__":
    with Broker(("127.0.0.1", PORT), Connection) as broker:
        broker.serve_forever()
