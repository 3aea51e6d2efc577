"""The call log: what a lab program received and sent, to be joined to the wire by truth.py.

One line a message, tab separated, kept in memory and written at the end so that it costs the
servers little. Nothing of it is ever sent. The CRC and the length of the bytes are there so that the
join is checked, not believed.

  in   protocol local_ip local_port peer_ip peer_port ordinal time_ns bytes crc operation
  out  the same, then the parent: peer_ip peer_port local_port ordinal ("-" four times: none)
"""

import atexit
import signal
import sys
import time
import zlib

NO_PARENT = ("-", "-", "-", "-")


class CallLog:
    def __init__(self, path):
        self._path = path
        self._rows = []
        atexit.register(self._write)
        signal.signal(signal.SIGTERM, lambda *_: sys.exit(0))

    def incoming(self, protocol, sock, ordinal, data, operation, at):
        """Returns the request's identity, which the calls it causes carry as their parent."""
        local, peer = sock
        self._rows.append(("in", protocol, *local, *peer, ordinal, at, len(data),
                           zlib.crc32(data), operation))
        return (*peer, local[1], ordinal)

    def outgoing(self, protocol, sock, ordinal, data, operation, parent):
        """To be called just before the send."""
        local, peer = sock
        self._rows.append(("out", protocol, *local, *peer, ordinal, time.time_ns(), len(data),
                           zlib.crc32(data), operation, *(parent or NO_PARENT)))

    def _write(self):
        with open(self._path, "w", encoding="utf-8") as out:
            for row in self._rows:
                out.write("\t".join(map(str, row)) + "\n")


def ends(sock):
    """((local ip, port), (peer ip, port)) of a connected socket."""
    return sock.getsockname()[:2], sock.getpeername()[:2]
