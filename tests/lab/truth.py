"""From a capture and the call logs to the exact truth: every call on the wire with its parent.

  1. cut:    pcap.py's byte streams are cut into calls with framing.py; times are packet times.
  2. match:  on each connection the calls on the wire and the lines of the call log are the same
             sequence; length and CRC-32 of every request and the time are compared.
  3. nginx:  passes on requests but logs no port of its own. A request that it sent to app1 belongs to
             the client's request with the same first line and body that encloses it. load.py never has
             two equal requests in flight; that there is exactly one is checked for each.
  4. parent: the log line names the connection and ordinal of the request that caused the call.

Anything left over, on either side, is an error: the truth is whole or it is not written.
"""

import csv
import glob
import gzip
import io
import pathlib
import zlib
from collections import defaultdict

import framing
import pcap
import places

TOLERANCE_NS = 500_000_000  # log against wire; the machine may be busy
EDGE_NS = 50_000_000  # so near to the capture's end a ping of a pool may be outside it
COLUMNS = ("call_id,parent_call_id,t_call_us,t_return_us,src_ip,src_port,dst_ip,dst_port,"
           "ordinal_on_connection,protocol,operation,t_call_end_us,t_return_start_us,req_bytes,"
           "rep_bytes").split(",")


class TruthError(Exception):
    pass


class Call:
    """One call on the wire. Times in ns; t_return is None where none is due."""

    def __init__(self, connection, protocol, request, times, setup):
        self.connection, self.protocol = connection, protocol
        self.request, self.setup = request, setup
        self.t_call, self.t_call_end = times
        self.t_return_start = self.t_return = None
        self.reply_bytes = 0
        self.operation, self.parent = setup, None
        self.id = self.ordinal = 0
        self.children = []

    def answered(self, times, size):
        (self.t_return_start, self.t_return), self.reply_bytes = times, size


# 1. cut

SERVERS = {places.address(name): name for name in places.PORTS}
REQUEST_END = {"http": framing.http_end, "memcached": framing.memcached_request_end,
               "pgsql": framing.pg_request_end, "redis": framing.redis_end}
REPLY_END = {"http": framing.http_end, "memcached": framing.memcached_reply_end,
             "pgsql": framing.pg_reply_end, "redis": framing.redis_end}


def cut(capture):
    """{(client ip, port, server ip, port): [Call]} in wire order."""
    calls = {}
    for key, forth in capture.directions.items():
        if key[2:] in SERVERS:
            back = capture.directions.get(key[2:] + key[:2], pcap.Direction())
            calls[key] = Cutter(key, forth, back).run()
    return calls


class Cutter:
    def __init__(self, key, forth, back):
        self.key, self.forth, self.back = key, forth, back
        self.protocol = places.PROTOCOLS[SERVERS[key[2:]]]
        self.out_at = self.back_at = 0
        self.calls = []

    def run(self):
        if self.protocol == "pgsql" and self.forth.has_syn:
            self._login()
        while self.out_at < len(self.forth.data):
            self._one(REQUEST_END[self.protocol], REPLY_END[self.protocol], "")
        if self.back_at != len(self.back.data):
            raise TruthError(f"{self.key}: reply bytes that belong to no call")
        for ordinal, call in enumerate(self.calls, 1):
            call.ordinal = ordinal
        return self.calls

    def _login(self):
        one = lambda data, at: at + 1
        self._one(framing.pg_startup_end, one, "(ssl-request)")
        self._one(framing.pg_startup_end, framing.pg_login_reply_end, "(startup)")
        for _ in range(2):
            self._one(framing.pg_login_request_end, framing.pg_login_reply_end, "(login)")

    def _one(self, request_end, reply_end, setup):
        end = request_end(self.forth.data, self.out_at)
        if end is None:
            raise TruthError(f"{self.key}: a request is cut short at byte {self.out_at}")
        request = self.forth.data[self.out_at:end]
        if self.protocol == "pgsql" and request[:1] == b"X":
            setup = "(quit)"
        call = Call(self.key, self.protocol, request, self.forth.times(self.out_at, end), setup)
        self.out_at = end
        self.calls.append(call)
        if self._is_answered(request, setup):
            self._answer(call, reply_end)

    def _is_answered(self, request, setup):
        if self.protocol == "memcached":
            return framing.memcached_has_reply(request)
        return setup != "(quit)"

    def _answer(self, call, reply_end):
        end = reply_end(self.back.data, self.back_at)
        if end is None:
            raise TruthError(f"{self.key}: call {len(self.calls)} has no whole reply")
        call.answered(self.back.times(self.back_at, end), end - self.back_at)
        self.back_at = end


# 2. match

class Line:
    """One line of a call log."""

    def __init__(self, words):
        self.is_in = words[0] == "in"
        local, peer = (words[2], int(words[3])), (words[4], int(words[5]))
        self.connection = peer + local if self.is_in else local + peer
        self.ordinal, self.t, self.size, self.crc = (int(word) for word in words[6:10])
        self.operation = words[10]
        # As connection and ordinal of the request that caused this call.
        self.parent = None
        if not self.is_in and words[11] != "-":
            self.parent = ((words[11], int(words[12]), words[2], int(words[13])), int(words[14]))


def read_logs(directory):
    ins, outs = defaultdict(list), defaultdict(list)
    for path in sorted(glob.glob(f"{directory}/*.calls")):
        with open(path, encoding="utf-8") as f:
            for text in f:
                line = Line(text.rstrip("\n").split("\t"))
                (ins if line.is_in else outs)[line.connection].append(line)
    return ins, outs


class Matcher:
    def __init__(self, capture, calls):
        self.capture, self.calls = capture, calls
        self.largest_ns = 0
        self.matched = 0

    def match(self, logs):
        """[(call, line)] of all connections in LOGS; every call and every line must have its other."""
        pairs = []
        for connection, lines in logs.items():
            calls = [call for call in self.calls.get(connection, []) if not call.setup]
            pairs += self._connection(connection, calls, lines)
        self.matched += len(pairs)
        return pairs

    def _connection(self, connection, calls, lines):
        start = self._start(connection, calls, lines)
        inside = lines[start:start + len(calls)]
        for line in lines[:start] + lines[start + len(calls):]:
            is_ping = line.operation.startswith("(") and line.t > self.capture.last_ns - EDGE_NS
            if line.t > self.capture.first_ns and not is_ping:
                raise TruthError(f"{connection}: {line.operation} was logged but is not on the wire")
        for call, line in zip(calls, inside):
            apart = line.t - call.t_call if line.is_in else call.t_call - line.t
            self.largest_ns = max(self.largest_ns, apart)
            if not -1000 <= apart <= TOLERANCE_NS:
                raise TruthError(f"{connection}: {line.operation} logged {apart} ns off the wire")
        return list(zip(calls, inside))

    @staticmethod
    def _start(connection, calls, lines):
        """Where in the log the captured calls begin: earlier lines are from before the capture."""
        want = [(len(call.request), zlib.crc32(call.request)) for call in calls]
        have = [(line.size, line.crc) for line in lines]
        if not want:
            return len(lines)
        fits = [at for at in range(len(have) - len(want) + 1) if have[at:at + len(want)] == want]
        if not fits:
            raise TruthError(f"{connection}: the wire and the call log differ")
        return min(fits, key=lambda at: abs(lines[at].t - calls[0].t_call))


# 3. nginx

def join_nginx(calls):
    """{upstream call: client's call}."""
    clients = defaultdict(list)
    for call in _to(calls, "nginx"):
        clients[_passed_on(call)].append(call)
    joined = {}
    for call in _to(calls, "app1"):
        around = [c for c in clients[_passed_on(call)]
                  if c.t_call <= call.t_call and call.t_return <= c.t_return]
        if len(around) != 1:
            line = framing.http_first_line(call.request)
            raise TruthError(f"{line}: {len(around)} client requests enclose it, not 1")
        joined[call] = around[0]
    if len(set(joined.values())) != len(joined):
        raise TruthError("a client's request was passed on twice")
    return joined


def _passed_on(call):
    """What nginx leaves as it is: first line and body."""
    head = call.request.find(b"\r\n\r\n")
    return framing.http_first_line(call.request), call.request[head:]


def _to(calls, name):
    return [call for key, some in calls.items() if key[2:] == places.address(name) for call in some]


def check_nginx(calls, joined, path):
    """nginx's own log against the join: the same requests, each passed on or answered by itself, as
    long as measured on the wire (its clock ticks in milliseconds)."""
    passed = {call: upstream for upstream, call in joined.items()}
    log = defaultdict(list)
    with open(path, encoding="utf-8") as f:
        for text in f:
            words = text.rstrip("\n").split("\t")
            log[words[0], int(words[1])].append(words)
    largest = 0
    for connection, lines in log.items():
        mine = calls.get(connection + places.address("nginx"), [])
        for call, words in zip(reversed(mine), reversed(lines)):
            line, upstream = framing.http_first_line(call.request), passed.get(call)
            if words[3] != line or (words[5] != "-") != (upstream is not None):
                raise TruthError(f"nginx's log says {words[3]} to {words[5]}, the wire {line}")
            if upstream:
                took = (upstream.t_return - upstream.t_call) / 1e6
                largest = max(largest, abs(float(words[6]) * 1000 - took))
    if largest > TOLERANCE_NS / 1e6:
        raise TruthError(f"nginx's upstream time and the wire's differ by {largest} ms")
    return largest


# 4. parent

def make(capture, directory):
    """([Call] by time, facts). Raises TruthError where anything is left over."""
    connections = cut(capture)
    ins, outs = read_logs(directory)
    matcher = Matcher(capture, connections)
    by_identity = {}
    for call, line in matcher.match(ins):
        by_identity[line.connection, line.ordinal] = call
    joined = join_nginx(connections)
    for call, client in joined.items():
        call.parent = client
    for call, line in matcher.match(outs):
        call.operation = line.operation
        if line.parent and line.parent not in by_identity:
            raise TruthError(f"{line.operation}: its parent {line.parent} is not on the wire")
        call.parent = by_identity.get(line.parent)
    for call, client in joined.items():
        call.operation = client.operation
    calls = sorted((call for some in connections.values() for call in some),
                   key=lambda call: (call.t_call, call.connection))
    _check_all(calls)
    for number, call in enumerate(calls, 1):
        call.id = number
        if call.parent:
            call.parent.children.append(call)
    facts = {"largest_log_ms": matcher.largest_ns / 1e6, "matched": matcher.matched,
             "nginx_ms": check_nginx(connections, joined, f"{directory}/nginx.log")}
    return calls, facts


def _check_all(calls):
    for call in calls:
        if not call.operation:
            raise TruthError(f"{call.connection} ordinal {call.ordinal} is in no call log")
        is_root = call.connection[2:] == places.address("nginx")
        if not call.operation.startswith("(") and not is_root and not call.parent:
            raise TruthError(f"{call.connection} {call.operation} has no parent")
        if call.parent and call.parent.t_call > call.t_call:
            raise TruthError(f"{call.connection} {call.operation} is earlier than its parent")


def owners(calls, directory):
    """{connection: name of the host that made it}, of those that a program logged, and nginx's."""
    found = {call.connection: "nginx" for call in calls if call.connection[2:] == places.address("app1")}
    for path in glob.glob(f"{directory}/*.calls"):
        name = pathlib.Path(path).stem
        with open(path, encoding="utf-8") as f:
            for line in (Line(text.rstrip("\n").split("\t")) for text in f):
                host = "client" if name == "load" else name
                if not line.is_in and found.setdefault(line.connection, host) != host:
                    raise TruthError(f"{line.connection}: of {host} and of {found[line.connection]}")
    return found


def set_apart(calls, of):
    """From one address to one of each host, for what names hosts by their addresses."""
    for call in calls:
        client = places.APART[of[call.connection]] if call.connection in of else None
        call.connection = (client, call.connection[1], places.APART[SERVERS[call.connection[2:]]], call.connection[3])


# Writing

def _us(t):
    return "" if t is None else f"{t // 1000}.{t % 1000:03d}"


def write_csv(calls, path):
    text = io.StringIO()
    out = csv.writer(text, lineterminator="\n")
    out.writerow(COLUMNS)
    for call in calls:
        end = call.t_call_end if call.t_call_end != call.t_call else None
        start = call.t_return_start if call.t_return_start != call.t_return else None
        out.writerow([call.id, call.parent.id if call.parent else "", _us(call.t_call),
                      _us(call.t_return), *call.connection, call.ordinal, call.protocol,
                      call.operation, _us(end), _us(start), len(call.request), call.reply_bytes])
    with open(path, "wb") as f:
        f.write(gzip.compress(text.getvalue().encode(), 9, mtime=0))
