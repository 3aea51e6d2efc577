"""What the lab's servers say to PostgreSQL, Redis, memcached and each other: bytes out, values in.

No sockets here: links.py has the blocking ones, app1.py the asynchronous ones. Only what the lab
needs of each protocol, but that as real clients send it (SCRAM login, prepared statements, pipelines).
"""

import base64
import hashlib
import hmac
import json
import os
import struct

import framing

# HTTP


def http_request(method, path, host, body=None, agent="shop/1.4"):
    head = f"{method} {path} HTTP/1.1\r\nHost: {host}\r\nUser-Agent: {agent}\r\nAccept: */*\r\n"
    data = b""
    if body is not None:
        data = json.dumps(body).encode()
        head += f"Content-Type: application/json\r\nContent-Length: {len(data)}\r\n"
    return head.encode() + b"\r\n" + data


def http_reply_head(status, server, date, length):
    """LENGTH None = chunked."""
    reasons = {200: "OK", 201: "Created", 403: "Forbidden", 404: "Not Found", 409: "Conflict"}
    size = "Transfer-Encoding: chunked" if length is None else f"Content-Length: {length}"
    return (f"HTTP/1.1 {status} {reasons[status]}\r\nServer: {server}\r\nDate: {date}\r\n"
            f"Content-Type: application/json\r\n{size}\r\n\r\n").encode()


def http_chunk(data):
    return b"%x\r\n%s\r\n" % (len(data), data)


def http_body(message):
    return bytes(message[message.find(b"\r\n\r\n") + 4:])


def http_status(reply):
    return int(bytes(reply[9:12]))


# PostgreSQL


class PgError(Exception):
    pass


def _pg(kind, body=b""):
    return kind + struct.pack("!I", len(body) + 4) + body


def _text(word):
    return str(word).encode() + b"\0"


def pg_query(sql):
    return _pg(b"Q", _text(sql))


def pg_prepare(name, sql):
    return _pg(b"P", _text(name) + _text(sql) + b"\0\0") + _pg(b"S")


def pg_execute(name, args, sql=None):
    """With SQL the unnamed statement is parsed on the way, as libpq's PQexecParams does."""
    values = b"".join(struct.pack("!I", len(str(a).encode())) + str(a).encode() for a in args)
    bind = _text("") + _text(name) + b"\0\0" + struct.pack("!H", len(args)) + values + b"\0\0"
    parse = _pg(b"P", _text(name) + _text(sql) + b"\0\0") if sql else b""
    return (parse + _pg(b"B", bind) + _pg(b"D", b"P\0") + _pg(b"E", b"\0" + struct.pack("!I", 0))
            + _pg(b"S"))


def pg_terminate():
    return _pg(b"X")


def pg_rows(reply):
    """List of rows (lists of text); raises PgError where the server reports one."""
    rows = []
    for kind, body, end in framing.pg_messages(reply):
        if kind == ord("E"):
            raise PgError(bytes(reply[body:end]).decode("utf-8", "replace"))
        if kind == ord("D"):
            rows.append(_pg_row(reply, body))
    return rows


def _pg_row(reply, at):
    row, (count,) = [], struct.unpack_from("!H", reply, at)
    at += 2
    for _ in range(count):
        (size,) = struct.unpack_from("!i", reply, at)
        row.append(None if size < 0 else bytes(reply[at + 4:at + 4 + size]).decode())
        at += 4 + max(size, 0)
    return row


def pg_login(user, password, database):
    """Generator: yields (bytes to send, function that finds the reply's end), is sent the reply.
    RFC 5802 and 7677 (SCRAM-SHA-256); user name empty in the exchange, as PostgreSQL wants."""
    ssl = struct.pack("!II", 8, framing.PG_SSL_REQUEST)
    yield ssl, lambda data, at=0: at + 1 if len(data) > at else None
    body = struct.pack("!I", 3 << 16) + _text("user") + _text(user) + _text("database")
    body += _text(database) + b"\0"
    yield struct.pack("!I", len(body) + 4) + body, framing.pg_login_reply_end
    nonce = base64.b64encode(os.urandom(18)).decode()
    bare = f"n=,r={nonce}".encode()
    first = b"n,," + bare
    reply = yield (_pg(b"p", _text("SCRAM-SHA-256") + struct.pack("!I", len(first)) + first),
                   framing.pg_login_reply_end)
    challenge = bytes(reply[9:])
    final = _scram_final(password, bare, challenge)
    reply = yield _pg(b"p", final), framing.pg_login_reply_end
    if not any(kind == ord("Z") for kind, _, _ in framing.pg_messages(reply)):
        raise PgError(f"login refused: {bytes(reply)!r}")


def _scram_final(password, bare, challenge):
    parts = dict(part.split("=", 1) for part in challenge.decode().split(","))
    salt, rounds = base64.b64decode(parts["s"]), int(parts["i"])
    salted = hashlib.pbkdf2_hmac("sha256", password.encode(), salt, rounds)
    client_key = hmac.digest(salted, b"Client Key", "sha256")
    without_proof = f"c=biws,r={parts['r']}".encode()
    signed = b",".join((bare, challenge, without_proof))
    signature = hmac.digest(hashlib.sha256(client_key).digest(), signed, "sha256")
    proof = bytes(a ^ b for a, b in zip(client_key, signature))
    return without_proof + b",p=" + base64.b64encode(proof)


# Redis


def redis_command(*words):
    parts = [str(word).encode() for word in words]
    return b"*%d\r\n" % len(parts) + b"".join(b"$%d\r\n%s\r\n" % (len(p), p) for p in parts)


def redis_is_nil(reply):
    return bytes(reply[:3]) in (b"$-1", b"*-1")


# memcached


def memcached_get(*keys):
    return ("get " + " ".join(keys) + "\r\n").encode()


def memcached_set(key, value, noreply=False):
    tail = " noreply" if noreply else ""
    return f"set {key} 0 300 {len(value)}{tail}\r\n".encode() + value + b"\r\n"


def memcached_delete(key):
    return f"delete {key}\r\n".encode()


def memcached_values(reply):
    """{key: value}."""
    found, at = {}, 0
    while reply[at:at + 6] == b"VALUE ":
        line = reply.find(b"\r\n", at)
        words = bytes(reply[at:line]).decode().split(" ")
        size = int(words[3])
        found[words[1]] = bytes(reply[line + 2:line + 2 + size])
        at = line + 2 + size + 2
    return found


# Which function finds the end of a reply, by protocol.
REPLY_END = {
    "http": framing.http_end,
    "memcached": framing.memcached_reply_end,
    "pgsql": framing.pg_reply_end,
    "redis": framing.redis_end,
}
