"""Opens TLS 1.2 and 1.3 with a key log, for the truth; independent of wirepath.

It is strict: every record must open with the number that is due (AES-GCM and ChaCha20-Poly1305 only), and
what cannot be is an error. RFC 5246, 5288, 7905 and 8446.
"""

import hashlib
import hmac
import struct

from cryptography.hazmat.primitives.ciphers.aead import AESGCM, ChaCha20Poly1305

SUITES = {0x1301: ("sha256", 16), 0x1302: ("sha384", 32), 0x1303: ("sha256", 0),
          0xC02F: ("sha256", 16), 0xC030: ("sha384", 32), 0xCCA8: ("sha256", 0),
          0xC02B: ("sha256", 16), 0xC02C: ("sha384", 32)}
HANDSHAKE, DATA, CHANGE_CIPHER = 22, 23, 20


class TlsError(Exception):
    pass


def read_keylog(*paths):
    secrets = {}
    for path in paths:
        with open(path, encoding="ascii") as f:
            for line in f:
                words = line.split()
                if len(words) == 3:
                    secrets[words[0], words[1]] = bytes.fromhex(words[2])
    return secrets


def expand(secret, digest, label, size):
    info = struct.pack("!HB", size, len(label) + 6) + b"tls13 " + label + b"\0"
    block = out = b""
    while len(out) < size:
        block = hmac.new(secret, block + info + bytes([len(out) // len(secret) + 1]), digest).digest()
        out += block
    return out[:size]


def prf(secret, digest, label, seed, size):
    seed, out = label + seed, b""
    state = seed
    while len(out) < size:
        state = hmac.new(secret, state, digest).digest()
        out += hmac.new(secret, state + seed, digest).digest()
    return out[:size]


class Keys:
    def __init__(self, key, iv):
        self.cipher = AESGCM(key) if len(key) == 16 or len(iv) == 4 else None
        self.key, self.iv, self.number = key, iv, 0

    @classmethod
    def of_1_3(cls, secret, suite):
        digest, size = SUITES[suite]
        made = cls(expand(secret, digest, b"key", size or 32), expand(secret, digest, b"iv", 12))
        made.cipher = AESGCM(made.key) if size else ChaCha20Poly1305(made.key)
        return made

    def _nonce(self):
        return (int.from_bytes(self.iv, "big") ^ self.number).to_bytes(12, "big")

    def open_1_3(self, header, body):
        text = self.cipher.decrypt(self._nonce(), body, header).rstrip(b"\0")
        self.number += 1
        return text[-1], text[:-1]

    def open_1_2(self, kind, body):
        explicit = len(self.iv) == 4
        nonce = self.iv + body[:8] if explicit else self._nonce()
        sealed = body[8:] if explicit else body
        head = struct.pack("!QBHH", self.number, kind, 0x0303, len(sealed) - 16)
        self.number += 1
        return self.cipher.decrypt(nonce, sealed, head)


def keys_of_1_2(master, suite, client_random, server_random):
    digest, size = SUITES[suite]
    size, iv = size or 32, 4 if size else 12
    block = prf(master, digest, b"key expansion", server_random + client_random, 2 * (size + iv))
    both = []
    for side in range(2):
        made = Keys(block[side * size:][:size], block[2 * size + side * iv:][:iv])
        made.cipher = AESGCM(made.key) if iv == 4 else ChaCha20Poly1305(made.key)
        both.append(made)
    return both


class Opened:
    """What a direction said inside TLS, as pcap.Direction has what it said outside."""

    def __init__(self, direction):
        self._direction = direction
        self.data = b""
        self._spans = []  # (end in data, begin and end of the record)

    def add(self, text, begin, end):
        self.data += text
        self._spans.append((len(self.data), begin, end))

    def times(self, begin, end):
        """A byte counts as seen with the first packet of its record where it begins, else with the last."""
        first = next(span for span in self._spans if span[0] > begin)
        last = next(span for span in self._spans if span[0] >= end)
        return (self._direction.times(first[1], first[2])[0],
                self._direction.times(last[1], last[2])[1])


def records(data):
    at = 0
    while at < len(data):
        kind, _, size = struct.unpack_from("!BHH", data, at)
        if at + 5 + size > len(data):
            raise TlsError(f"a record that is cut at byte {at}")
        yield kind, data[at:at + 5], data[at + 5:at + 5 + size], at, at + 5 + size
        at += 5 + size


def server_hello(data):
    """(suite, is it 1.3, random)"""
    for kind, _, body, _, _ in records(data):
        if kind == HANDSHAKE and body[0] == 2:
            random, at = body[6:38], 39 + body[38]
            suite = struct.unpack_from("!H", body, at)[0]
            return suite, suite >> 8 == 0x13, random
    raise TlsError("no hello of a server")


def _open_1_3(direction, suite, secrets):
    """SECRETS: of the handshake, then of the data."""
    out, stage, keys = Opened(direction), 0, Keys.of_1_3(secrets[0], suite)
    for kind, header, body, begin, end in records(direction.data):
        if kind != DATA:
            continue
        inner, text = keys.open_1_3(header, body)
        if inner == DATA:
            out.add(text, begin, end)
        elif inner == HANDSHAKE and stage == 0 and _has_finished(text):
            stage, keys = 1, Keys.of_1_3(secrets[1], suite)
    return out


def _has_finished(text):
    at = 0
    while at < len(text):
        if text[at] == 20:
            return True
        at += 4 + int.from_bytes(text[at + 1:at + 4], "big")
    return False


def _open_1_2(direction, keys):
    out, sealed = Opened(direction), False
    for kind, _, body, begin, end in records(direction.data):
        if kind == CHANGE_CIPHER:
            sealed = True
        elif sealed:
            text = keys.open_1_2(kind, body)
            if kind == DATA:
                out.add(text, begin, end)
    return out


def open_both(forth, back, secrets):
    """The Opened of the client's Direction and of the server's."""
    random = forth.data[11:43].hex()
    suite, is_1_3, server_random = server_hello(back.data)
    if not is_1_3:
        master = secrets["CLIENT_RANDOM", random]
        keys = keys_of_1_2(master, suite, bytes.fromhex(random), server_random)
        return _open_1_2(forth, keys[0]), _open_1_2(back, keys[1])
    return tuple(_open_1_3(direction, suite, (secrets[f"{side}_HANDSHAKE_TRAFFIC_SECRET", random],
                                              secrets[f"{side}_TRAFFIC_SECRET_0", random]))
                 for direction, side in ((forth, "CLIENT"), (back, "SERVER")))
