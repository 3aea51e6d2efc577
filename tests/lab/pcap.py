"""A small pcap reader and TCP reassembler, written for the truth and independent of wirepath.

It is strict where wirepath must be tolerant: the lab's capture has to be whole, each frame once, of a
size that a wire carries, with good checksums. Anything else is an error here, but that the loopback
interface carries large frames and leaves TCP's checksums out.
"""

import gzip
import struct

NANO = b"\x4d\x3c\xb2\xa1"
SYN, MAX_FRAME = 2, 1514


class WireError(Exception):
    pass


def frames(path):
    """(number from 1, time in ns, bytes) of a little-endian nanosecond Ethernet pcap."""
    with (gzip.open if path.endswith(".gz") else open)(path, "rb") as f:
        data = f.read()
    if data[:4] != NANO or struct.unpack_from("<I", data, 20)[0] != 1:
        raise WireError(f"{path}: not a nanosecond Ethernet pcap of this machine's byte order")
    at, number = 24, 0
    while at < len(data):
        seconds, ns, kept, size = struct.unpack_from("<IIII", data, at)
        number += 1
        if kept != size or at + 16 + kept > len(data):
            raise WireError(f"{path}: packet {number} is cut short")
        yield number, seconds * 1000000000 + ns, data[at + 16:at + 16 + kept]
        at += 16 + kept


def checksum(data):
    if len(data) % 2:
        data += b"\0"
    total = sum(struct.unpack(f"!{len(data) // 2}H", data))
    while total >> 16:
        total = (total & 0xFFFF) + (total >> 16)
    return total


class Direction:
    """The bytes of one direction and when each came."""

    def __init__(self):
        self.base = None  # sequence number of byte 0
        self.has_syn = False
        self._segments = []
        self.data = b""
        self.marks = []  # (offset of the end, time, number), rising

    def add(self, sequence, flags, payload, t, number):
        if flags & SYN:
            self.has_syn, self.base = True, (sequence + 1) & 0xFFFFFFFF
        elif self.base is None:
            self.base = sequence
        if payload:
            offset = (sequence - self.base + (1 << 31)) % (1 << 32) - (1 << 31)
            self._segments.append((offset, number, t, payload))

    def assemble(self):
        """The first copy of a byte counts; a hole is an error."""
        parts, end = [], 0
        for offset, number, t, payload in sorted(self._segments):
            if offset > end:
                raise WireError(f"bytes missing before packet {number}")
            fresh = payload[end - offset:]
            if fresh:
                parts.append(fresh)
                end += len(fresh)
                self.marks.append((end, t, number))
        self.data = b"".join(parts)

    def times(self, begin, end):
        """Of the packets with the first and with the last byte of [begin, end)."""
        first = next(i for i, mark in enumerate(self.marks) if mark[0] > begin)
        last = next(i for i, mark in enumerate(self.marks[first:], first) if mark[0] >= end)
        return self.marks[first][1], self.marks[last][1]


class Capture:
    """connections: {(ip, port, ip, port): Direction}, and what was seen on the way."""

    def __init__(self, path, is_wire=True):
        self.directions, self._is_wire = {}, is_wire
        self.packets, self.bytes = 0, 0
        self.first_ns = self.last_ns = None
        self.earlier = 0  # packets with an earlier time than the one before
        self._seen = set()
        for number, t, frame in frames(path):
            self._frame(number, t, frame)
        for direction in self.directions.values():
            direction.assemble()

    def _frame(self, number, t, frame):
        self.packets, self.bytes = self.packets + 1, self.bytes + len(frame)
        self.earlier += self.last_ns is not None and t < self.last_ns
        self.first_ns = min(t, self.first_ns or t)
        self.last_ns = max(t, self.last_ns or t)
        if self._is_wire and len(frame) > MAX_FRAME:
            raise WireError(f"packet {number} has {len(frame)} bytes: an offload is on")
        if frame[12:14] != b"\x08\x00" or frame[23] != 6:
            return
        if frame in self._seen:
            raise WireError(f"packet {number} was seen before: the mirror doubles frames")
        self._seen.add(frame)
        self._tcp(number, t, frame[14:14 + struct.unpack_from("!H", frame, 16)[0]])

    def _tcp(self, number, t, ip):
        head = (ip[0] & 15) * 4
        tcp = ip[head:]
        pseudo = ip[12:20] + struct.pack("!HH", 6, len(tcp))
        if checksum(ip[:head]) != 0xFFFF or (self._is_wire and checksum(pseudo + tcp) != 0xFFFF):
            raise WireError(f"packet {number} has a bad checksum: an offload is on")
        source, target, sequence = struct.unpack_from("!HHI", tcp)
        key = (_dotted(ip[12:16]), source, _dotted(ip[16:20]), target)
        direction = self.directions.setdefault(key, Direction())
        direction.add(sequence, tcp[13], tcp[(tcp[12] >> 4) * 4:], t, number)


def _dotted(raw):
    return ".".join(map(str, raw))
