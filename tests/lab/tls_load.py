#!/usr/bin/env python3
"""The load of the TLS lab: tls_load.py LOG SEED PHASES CERT KEYLOG BYTES. PHASES is "1:40,5:100": so many clients
at a time, so many requests. Each client keeps a connection to nginx: in turn one of TLS 1.3 that offers
HTTP/1.1, and one of TLS 1.2 that offers nothing. Prints "ready", waits for a line, then "done"."""

import http.client
import random
import ssl
import sys
import threading
import time

EDGE = "10.22.0.20"
PORTS = (443, 444)  # TLS 1.3, TLS 1.2
NAME = "shop.example"


def context(number, cert, keylog):
    made = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    made.load_verify_locations(cert)
    made.keylog_filename = keylog
    if number % 2 == 0:
        made.minimum_version = ssl.TLSVersion.TLSv1_3
        made.set_alpn_protocols(["http/1.1"])
    else:
        made.maximum_version = ssl.TLSVersion.TLSv1_2
    return made


class Connection(http.client.HTTPSConnection):
    """The name in the certificate is not resolved."""

    def connect(self):
        http.client.HTTPConnection.connect(self)
        self.sock = self._context.wrap_socket(self.sock, server_hostname=NAME)


class Load:
    def __init__(self, seed, cert, keylog, size):
        self._random = random.Random(f"tls {seed}")
        self._cert, self._keylog, self._size = cert, keylog, size
        self._left, self._lock = 0, threading.Lock()
        self.rows = []

    def run(self, clients, requests):
        self._left = requests
        threads = [threading.Thread(target=self._client, args=(n,)) for n in range(clients)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()

    def _take(self):
        with self._lock:
            self._left -= 1
            what = self._random.choices(("item", "order", "search"),
                                        (5, 2, 3))[0]
            return self._left >= 0, what, self._random.randrange(9000), \
                self._random.randbytes(8).hex()

    def _client(self, number):
        link = Connection(EDGE, PORTS[number % 2], context=context(number, self._cert, self._keylog))
        while True:
            more, what, item, key = self._take()
            if not more:
                break
            body = b"q" * (item % self._size) if what == "order" else None
            self.rows.append(("out", what, key, "-"))
            link.request("POST" if body else "GET", f"/{what}/{item}?k={key}", body,
                         {"host": NAME, "accept": "*/*"})
            link.getresponse().read()
            time.sleep(0.001)
        link.close()


def main(log_path, seed, phases, cert, keylog, size):
    load = Load(seed, cert, keylog, int(size))
    print("ready", flush=True)
    sys.stdin.readline()
    for phase in phases.split(","):
        load.run(*map(int, phase.split(":")))
    with open(log_path, "w", encoding="utf-8") as out:
        for row in load.rows:
            out.write("\t".join(row) + "\n")
    print("done", flush=True)
    threading.Event().wait()


if __name__ == "__main__":
    main(*sys.argv[1:])
