"""Who is where: one host, one address. The network is inside the lab's namespaces only. With WPLAB_MOVED set, all are
elsewhere, in another order, as after a new deployment; with WPLAB_LOOPBACK, all are on 127.0.0.1."""

import os

PREFIX = 24
_HOSTS = {
    "client": "10.20.0.10",
    "nginx": "10.20.0.20",
    "app1": "10.20.0.31",
    "app2": "10.20.0.32",
    "auth": "10.20.0.40",
    "db": "10.20.0.50",
    "redis": "10.20.0.60",
    "memcached": "10.20.0.70",
}
_MOVED = dict(zip(_HOSTS, (f"10.90.7.{last}" for last in (9, 77, 5, 130, 66, 12, 201, 33))))
APART = _MOVED if os.environ.get("WPLAB_MOVED") else _HOSTS
TOGETHER = bool(os.environ.get("WPLAB_LOOPBACK"))
HOSTS = dict.fromkeys(APART, "127.0.0.1") if TOGETHER else APART
PORTS = {
    "nginx": 80,
    "app1": 8000,
    "app2": 8080,
    "auth": 8090,
    "db": 5432,
    "redis": 6379,
    "memcached": 11211,
}
PROTOCOLS = {
    "nginx": "http",
    "app1": "http",
    "app2": "http",
    "auth": "http",
    "db": "pgsql",
    "redis": "redis",
    "memcached": "memcached",
}
DATABASE = ("shop", "wherewithal", "shop")  # user, password, name
ITEMS = 120
USERS = 80


def address(name):
    return HOSTS[name], PORTS[name]
