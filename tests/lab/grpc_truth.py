"""From a capture and the call logs of the gRPC lab to the exact truth.

  1. cut:    frames (RFC 9113) of pcap.py's byte streams, by stream: a call is HEADERS to END_STREAM of the
             client, its return HEADERS to END_STREAM of the server. No header is read: HPACK is not needed.
  2. match:  the key in a request's message (field 15) is that of one line in the log of who sent it and of
             one in the log of who took it.
  3. parent: the line of who sent it names the key of the call on whose behalf.

Anything left over, on either side, is an error.
"""

import glob
import struct

import grpc_shop
import pcap
import truth

PREFACE = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"
DATA, HEADERS, RST_STREAM = 0, 1, 3
END_STREAM, PADDED = 1, 8
TOLERANCE_NS = 2_000_000_000
SERVERS = {(ip, grpc_shop.PORT): name for name, ip in grpc_shop.HOSTS.items() if name != "client"}


class Message:
    """What one side sent on one stream."""

    def __init__(self):
        self.begin = self.end = None  # offsets
        self.body = b""
        self.size = 0


def messages(direction, connection):
    """{stream: Message}, all of which must be whole."""
    data, at, found = direction.data, 0, {}
    if data.startswith(PREFACE):
        at = len(PREFACE)
    while at < len(data):
        size, kind, flags, stream = struct.unpack("!IBBI", b"\0" + data[at:at + 9])
        payload = data[at + 9:at + 9 + size]
        if len(payload) < size or kind == RST_STREAM:
            raise truth.TruthError(f"{connection}: a frame that is cut, or a reset, at byte {at}")
        if kind in (DATA, HEADERS):
            message = found.setdefault(stream, Message())
            if message.begin is None:
                message.begin = at
            message.size += 9 + size
            if kind == DATA:
                message.body += payload[1:-payload[0] or None] if flags & PADDED else payload
            if flags & END_STREAM:
                message.end = at + 9 + size
        at += 9 + size
    if any(message.end is None for message in found.values()):
        raise truth.TruthError(f"{connection}: a stream that does not end")
    return found


def cut(capture):
    calls = []
    for key, forth in capture.directions.items():
        if key[2:] not in SERVERS:
            continue
        back = capture.directions[key[2:] + key[:2]]
        asked, answered = messages(forth, key), messages(back, key)
        if asked.keys() != answered.keys():
            raise truth.TruthError(f"{key}: streams of one side only")
        for ordinal, stream in enumerate(sorted(asked), 1):
            ask, answer = asked[stream], answered[stream]
            call = truth.Call(key, "grpc", ask.body, forth.times(ask.begin, ask.end), "")
            call.answered(back.times(answer.begin, answer.end), answer.size)
            call.ordinal, call.size = ordinal, ask.size
            call.key = grpc_shop.fields(ask.body[5:])[15].hex()
            calls.append(call)
    return calls


def read_logs(directory):
    ins, outs = {}, {}
    for path in sorted(glob.glob(f"{directory}/*.calls")):
        with open(path, encoding="utf-8") as f:
            for text in f:
                words = text.rstrip("\n").split("\t")
                lines = ins if words[0] == "in" else outs
                if words[2] in lines:
                    raise truth.TruthError(f"key {words[2]} was logged twice")
                lines[words[2]] = words
    return ins, outs


def make(capture, directory):
    calls, (ins, outs) = cut(capture), read_logs(directory)
    by_key = {call.key: call for call in calls}
    if len(by_key) != len(calls) or by_key.keys() != ins.keys() or by_key.keys() != outs.keys():
        raise truth.TruthError(f"{len(calls)} calls on the wire, {len(outs)} sent, {len(ins)} taken")
    largest = 0
    for call in calls:
        out, taken = outs[call.key], ins[call.key]
        apart = max(call.t_call - int(out[3]), int(taken[3]) - call.t_call)
        if out[1] != taken[1] or apart > TOLERANCE_NS:
            raise truth.TruthError(f"{out[1]} was logged {apart} ns off the wire")
        largest = max(largest, apart)
        call.operation = out[1]
        call.parent = by_key[out[4]] if out[4] != "-" else None
        if not call.parent and call.connection[0] != grpc_shop.HOSTS["client"]:
            raise truth.TruthError(f"{call.connection} {call.operation} has no parent")
        if call.parent and call.parent.connection[2] != call.connection[0]:
            raise truth.TruthError(f"{call.operation}: its parent is a call to another host")
    calls.sort(key=lambda call: (call.t_call, call.connection, call.ordinal))
    for number, call in enumerate(calls, 1):
        call.id = number
        if call.parent:
            call.parent.children.append(call)
    return calls, largest / 1e6
