"""Where messages end, for the four protocols of the lab.

Used by the servers (to know when a reply is complete) and by truth.py (to cut the captured streams).
It shares nothing with wirepath's decoders, so that the truth can check them. Each function takes the
bytes and a position and returns the position after one message, or None where bytes are missing.

Sources: RFC 9112 6 (HTTP bodies); PostgreSQL documentation 55.7 (message formats); Redis "RESP
protocol description"; memcached doc/protocol.txt.
"""

import struct


def _line_end(data, at):
    end = data.find(b"\r\n", at)
    return None if end < 0 else end + 2


# HTTP/1.1: requests and replies alike; all of the lab's carry a length or are chunked.


def http_end(data, at=0):
    head_end = data.find(b"\r\n\r\n", at)
    if head_end < 0:
        return None
    head = bytes(data[at:head_end]).lower()
    body = head_end + 4
    if b"\r\ntransfer-encoding: chunked" in head:
        return _chunks_end(data, body)
    mark = b"\r\ncontent-length:"
    where = head.find(mark)
    length = int(head[where + len(mark):].split(b"\r\n", 1)[0]) if where >= 0 else 0
    return body + length if len(data) >= body + length else None


def _chunks_end(data, at):
    while True:
        line = _line_end(data, at)
        if line is None:
            return None
        size = int(bytes(data[at:line - 2]).split(b";")[0], 16)
        at = line + size + 2
        if len(data) < at:
            return None
        if size == 0:
            return at


def http_first_line(data):
    return bytes(data[:data.find(b"\r\n")]).decode("latin-1")


# PostgreSQL 3.0: a call is what the server answers with one ReadyForQuery.

PG_CALL_ENDS = b"QSF"  # Query, Sync, FunctionCall
PG_SSL_REQUEST = 80877103


def pg_messages(data, at=0):
    """(type byte, start of body, end) of each complete message."""
    while len(data) - at >= 5:
        end = at + 1 + struct.unpack_from("!I", data, at + 1)[0]
        if len(data) < end:
            return
        yield data[at], at + 5, end
        at = end


def pg_request_end(data, at=0):
    for kind, _, end in pg_messages(data, at):
        if kind in PG_CALL_ENDS or kind == ord("X"):
            return end
    return None


def pg_reply_end(data, at=0):
    for kind, _, end in pg_messages(data, at):
        if kind == ord("Z"):
            return end
    return None


def pg_startup_end(data, at=0):
    """SSLRequest and StartupMessage have no type byte."""
    if len(data) - at < 8:
        return None
    end = at + struct.unpack_from("!I", data, at)[0]
    return end if len(data) >= end else None


def pg_login_request_end(data, at=0):
    for _, _, end in pg_messages(data, at):
        return end
    return None


def pg_login_reply_end(data, at=0):
    """Up to the point where the server waits for the client: a challenge, or ReadyForQuery."""
    for kind, body, end in pg_messages(data, at):
        if kind == ord("Z") or kind == ord("E"):
            return end
        if kind == ord("R") and struct.unpack_from("!I", data, body)[0] in (10, 11):
            return end
    return None


# Redis, RESP2: requests are arrays of bulk strings, so one function serves both directions.


def redis_end(data, at=0):
    left = 1
    while left:
        line = _line_end(data, at)
        if line is None:
            return None
        kind, number = data[at:at + 1], bytes(data[at + 1:line - 2])
        at, left = line, left - 1
        if kind == b"$" and int(number) >= 0:
            at += int(number) + 2
        elif kind == b"*" and int(number) > 0:
            left += int(number)
    return at if len(data) >= at else None


def redis_words(data, at=0):
    """The words of one command."""
    end, words = redis_end(data, at), []
    at = _line_end(data, at)
    while at < end:
        line = _line_end(data, at)
        size = int(bytes(data[at + 1:line - 2]))
        words.append(bytes(data[line:line + size]).decode("latin-1"))
        at = line + size + 2
    return words


# memcached, text protocol.


def memcached_request_end(data, at=0):
    line = _line_end(data, at)
    if line is None:
        return None
    words = bytes(data[at:line - 2]).split(b" ")
    end = line + int(words[4]) + 2 if words[0] in (b"set", b"add", b"replace") else line
    return end if len(data) >= end else None


def memcached_has_reply(request):
    first = bytes(request[:request.find(b"\r\n")])
    return not first.endswith(b" noreply") and first != b"quit"


def memcached_reply_end(data, at=0):
    """One line, or VALUE blocks up to END."""
    while True:
        line = _line_end(data, at)
        if line is None:
            return None
        words = bytes(data[at:line - 2]).split(b" ")
        if words[0] != b"VALUE":
            return line
        at = line + int(words[3]) + 2
        if len(data) < at:
            return None
