#!/usr/bin/env python3
"""The load of the gRPC lab: grpc_load.py LOG SEED PHASES. One connection to web; PHASES is "1:150,5:300":
so many clients at a time, so many requests. Prints "ready", waits for a line, then "done"."""

import sys
import threading

import grpc

import grpc_shop

MIX = {"Home": 30, "Item": 35, "Order": 25, "Search": 10}


class Load:
    def __init__(self, log, seed):
        self._law = grpc_shop.Law(f"load {seed}")
        self._web = grpc_shop.Peer(log, self._law, "web")
        self._left, self._lock = 0, threading.Lock()

    def run(self, clients, requests):
        self._left = requests
        threads = [threading.Thread(target=self._client) for _ in range(clients)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()

    def _take(self):
        with self._lock:
            self._left -= 1
            return self._left >= 0

    def _client(self):
        while self._take():
            method = self._law.choice(list(MIX), list(MIX.values()))
            try:
                self._web.call(None, method, self._law.integer(1, 5000), self._law.popular(9000))
            except grpc.RpcError:
                pass


def main(log_path, seed, phases):
    load = Load(grpc_shop.Log(log_path), seed)
    print("ready", flush=True)
    sys.stdin.readline()
    for phase in phases.split(","):
        load.run(*map(int, phase.split(":")))
    print("done", flush=True)
    threading.Event().wait()


if __name__ == "__main__":
    main(*sys.argv[1:])
