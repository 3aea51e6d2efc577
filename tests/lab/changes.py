"""What a release changes in the lab's programs: WPLAB_CHANGES holds names, with commas between. Each program asks
whether a change of its own is on; without the variable none is."""

import os

KINDS = {
    "slow-price": "app2 takes 20 ms more for each price",
    "repeat-cart": "app1 reads a cart three times instead of once",
    "no-cache": "app1 asks PostgreSQL for each item, memcached no more",
    "audit": "app1 asks auth to note 2 % of the requests",
    "refusing": "auth refuses a fourth of what it is asked",
    "one-link": "app1 has one connection to PostgreSQL instead of five",
}
_on = set(filter(None, os.environ.get("WPLAB_CHANGES", "").split(",")))
if _on - set(KINDS):
    raise SystemExit(f"WPLAB_CHANGES: unknown: {_on - set(KINDS)}")


def on(name):
    return name in _on
