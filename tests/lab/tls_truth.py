"""From a capture, the key logs and the call logs of the TLS lab to the exact truth.

  1. open:   each connection with its secrets (tls_open.py).
  2. cut:    HTTP/1.1 by Content-Length; HTTP/2 by frame headers: a call is HEADERS to END_STREAM of the
             client, its return HEADERS to END_STREAM of the server.
  3. match:  every request has a random key, in its URL or at the begin of its message; every key that was
             logged must be on the wire, and the other way round.
  4. parent: nginx passes the URL on, and so the key; the service behind it logs for each call of its own the
             key of the request on whose behalf.
"""

import glob
import re
import struct

import framing
import tls_open
import truth

EDGE, WEB, STOCK = "10.22.0.20", "10.22.0.30", "10.22.0.40"
HTTP_SERVERS = {(EDGE, 443), (EDGE, 444), (WEB, 8443)}
GRPC_SERVERS = {(STOCK, 50051)}
PREFACE = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"
DATA, HEADERS, RST_STREAM, END_STREAM, PADDED, NO_ERROR = 0, 1, 3, 1, 8, 0
URL = re.compile(rb"^(GET|POST) /(\w+)/\d+\?k=([0-9a-f]{16}) ")


def spans(data):
    """Of HTTP/1.1 messages, one after the other."""
    at = 0
    while at < len(data):
        end = framing.http_end(data, at)
        if not end:
            raise truth.TruthError("a message that does not end")
        yield at, end
        at = end


def cut_http(key, forth, back):
    asked, answered = list(spans(forth.data)), list(spans(back.data))
    if len(asked) != len(answered):
        raise truth.TruthError(f"{key}: {len(asked)} requests, {len(answered)} replies")
    for ask, answer in zip(asked, answered):
        found = URL.match(forth.data[ask[0]:ask[1]])
        call = truth.Call(key, "http", forth.data[ask[0]:ask[1]], forth.times(*ask), "")
        call.answered(back.times(*answer), answer[1] - answer[0])
        call.operation = f"{found[1].decode()} /{found[2].decode()}"
        call.what, call.key = found[2].decode(), found[3].decode()
        yield call


def streams(data, connection):
    """{stream: [begin, end, body]} of HTTP/2, all whole."""
    at, found = len(PREFACE) if data.startswith(PREFACE) else 0, {}
    while at < len(data):
        size, kind, flags, stream = struct.unpack("!IBBI", b"\0" + data[at:at + 9])
        payload = data[at + 9:at + 9 + size]
        if kind == RST_STREAM and payload != struct.pack("!I", NO_ERROR):
            raise truth.TruthError(f"{connection}: a stream that was reset")
        if kind in (DATA, HEADERS):
            message = found.setdefault(stream, [at, None, b""])
            if kind == DATA:
                message[2] += payload[1:-payload[0] or None] if flags & PADDED else payload
            if flags & END_STREAM:
                message[1] = at + 9 + size
        at += 9 + size
    if any(message[1] is None for message in found.values()):
        raise truth.TruthError(f"{connection}: a stream that does not end")
    return found


def cut_grpc(key, forth, back):
    asked, answered = streams(forth.data, key), streams(back.data, key)
    if asked.keys() != answered.keys():
        raise truth.TruthError(f"{key}: streams of one side only")
    for stream in sorted(asked):
        ask, answer = asked[stream], answered[stream]
        call = truth.Call(key, "grpc", ask[2], forth.times(*ask[:2]), "")
        call.answered(back.times(*answer[:2]), answer[1] - answer[0])
        call.key = ask[2][5:13].hex()
        yield call


def cut(capture, secrets, plain):
    calls = []
    for key, forth in capture.directions.items():
        is_grpc = key[2:] in GRPC_SERVERS
        if not is_grpc and key[2:] not in HTTP_SERVERS:
            continue
        back = capture.directions[key[2:] + key[:2]]
        if not (is_grpc and plain):
            forth, back = tls_open.open_both(forth, back, secrets)
        made = list((cut_grpc if is_grpc else cut_http)(key, forth, back))
        for ordinal, call in enumerate(made, 1):
            call.ordinal = ordinal
        calls += made
    return calls


def read_logs(directory):
    ins, outs = {}, {}
    for path in sorted(glob.glob(f"{directory}/*.calls")):
        with open(path, encoding="utf-8") as f:
            for text in f:
                words = text.rstrip("\n").split("\t")
                (ins if words[0] == "in" else outs)[words[2]] = words
    return ins, outs


def join(calls, ins, outs):
    """Sets operations and parents."""
    by_server = {}
    for call in calls:
        by_server[call.connection[2], call.key] = call
    if len(by_server) != len(calls):
        raise truth.TruthError("two calls with one key")
    keys = {host: {key for where, key in by_server if where == host} for host in (EDGE, WEB, STOCK)}
    if keys[EDGE] != keys[WEB] or keys[EDGE] | keys[STOCK] != outs.keys() or outs.keys() != ins.keys():
        raise truth.TruthError(f"{len(keys[EDGE])}, {len(keys[WEB])} and {len(keys[STOCK])} calls on the "
                               f"wire, {len(outs)} sent, {len(ins)} taken")
    for call in calls:
        if call.connection[2] == WEB:
            call.parent = by_server[EDGE, call.key]
        elif call.connection[2] == STOCK:
            call.operation = outs[call.key][1]
            call.parent = by_server[WEB, outs[call.key][3]]
        if call.parent and not call.parent.t_call <= call.t_call:
            raise truth.TruthError(f"{call.operation} is earlier than its parent")


def make(capture, directory, plain):
    secrets = tls_open.read_keylog(f"{directory}/client.keys", f"{directory}/web.keys")
    calls = cut(capture, secrets, plain)
    join(calls, *read_logs(directory))
    calls.sort(key=lambda call: (call.t_call, call.connection, call.ordinal))
    for number, call in enumerate(calls, 1):
        call.id = number
        if call.parent:
            call.parent.children.append(call)
    return calls
