#!/usr/bin/env python3
"""auth: GET /check/USER -> 200 or 403. A leaf: it answers from its memory after a random time."""

import sys
import threading
import time

import calllog
import changes
import links
import laws
import places


def main(log_path, seed):
    law = laws.Laws(f"auth {seed}")

    def handle(method, path, body, me):
        time.sleep(law.gamma(3, 0.0025))
        if law.chance(0.25 if changes.on("refusing") else 0.02):
            return 403, b'{"allowed": false}', None
        return 200, b'{"allowed": true, "user": %s}' % path.rsplit("/", 1)[1].encode(), None

    log = calllog.CallLog(log_path)
    arguments = (log, places.address("auth"), "auth/2.1", handle)
    threading.Thread(target=links.serve_http, args=arguments, daemon=True).start()
    print("ready", flush=True)
    threading.Event().wait()


if __name__ == "__main__":
    main(*sys.argv[1:])
