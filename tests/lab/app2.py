#!/usr/bin/env python3
"""app2: prices, orders and recommendations. One thread a connection, blocking calls, simple queries.

  GET  /recommend/USER   redis ZREVRANGE; one time in three PostgreSQL as well
  POST /price            redis MGET; where a price is missing PostgreSQL, and SET after the reply
  POST /orders           BEGIN, INSERT, UPDATE, COMMIT; may fail on a constraint: ROLLBACK, 409;
                         redis DEL after the reply
  GET  /orders/USER      over a connection made for it, as scripts do
"""

import json
import sys
import threading
import time

import calllog
import changes
import laws
import links
import places
from protocols import PgError, pg_query, pg_rows, pg_terminate, redis_command


class App2:
    def __init__(self, log, seed):
        self.law = laws.Laws(f"app2 {seed}")
        self.log = log
        self.db = links.Pool(self.connect_db, 6)
        self.redis = links.Pool(lambda: links.Link(log, "redis", places.address("redis")), 4)
        self.later = links.Later()

    def connect_db(self):
        return links.pg_link(self.log, places.address("db"), *places.DATABASE)

    def handle(self, method, path, body, me):
        words = path.split("/")
        if words[1] == "recommend":
            return self.recommend(me, words[2])
        if words[1] == "price":
            return self.price(me, json.loads(body)["items"])
        if method == "POST":
            return self.order(me, json.loads(body))
        return self.orders(me, words[2])

    def recommend(self, me, user):
        time.sleep(self.law.lognormal(0.003, 0.6))
        self.redis.call(me, "ZREVRANGE", redis_command("ZREVRANGE", "popular", 0, 4))
        if self.law.chance(0.33):
            time.sleep(self.law.exponential(0.001))
            sql = f"SELECT item, count(*) FROM orders WHERE buyer <> {user} GROUP BY item LIMIT 3"
            self.db.call(me, "recommend", pg_query(sql))
        time.sleep(self.law.uniform(0.001, 0.003))
        return 200, b'{"recommended": [4, 8, 15]}', None

    def price(self, me, items):
        time.sleep(self.law.normal(0.002, 0.2) + 0.02 * changes.on("slow-price"))
        keys = [f"price:{item}" for item in items]
        reply = self.redis.call(me, "MGET", redis_command("MGET", *keys))
        body = json.dumps({"total": 17 * len(items)}).encode()
        if b"$-1" not in reply:
            time.sleep(self.law.exponential(0.0015))
            return 200, body, None
        wanted = ", ".join(map(str, items))
        sql = f"SELECT id, price FROM items WHERE id IN ({wanted})"
        rows = pg_rows(self.db.call(me, "prices", pg_query(sql)))
        time.sleep(self.law.exponential(0.002))
        return 200, body, lambda: self.later.add(self.keep_prices, me, rows)

    def keep_prices(self, me, rows):
        time.sleep(self.law.uniform(0.0005, 0.002))
        calls = [("SET", redis_command("SET", f"price:{item}", price, "EX", 2))
                 for item, price in rows]
        self.redis.pipeline(me, calls)

    def order(self, me, order):
        time.sleep(self.law.gamma(2, 0.003))
        link = self.db.take()
        try:
            link.call(me, "begin", pg_query("BEGIN"))
            status = self.insert(me, link, order)
        finally:
            self.db.give(link)
        after = lambda: self.later.add(self.forget_cart, me, order["user"])
        time.sleep(self.law.exponential(0.001))
        return (201, b'{"ordered": true}', after) if status == 201 else (409, b'{}', None)

    def insert(self, me, link, order):
        values = f"({order['user']}, {order['item']}, {order['count']})"
        insert = f"INSERT INTO orders (buyer, item, count) VALUES {values}"
        try:
            pg_rows(link.call(me, "insert", pg_query(insert)))
        except PgError:
            link.call(me, "rollback", pg_query("ROLLBACK"))
            return 409
        time.sleep(self.law.two_modes(0.0008, 0.004, 0.2))
        update = f"UPDATE items SET sold = sold + 1 WHERE id = {order['item']}"
        link.call(me, "update", pg_query(update))
        link.call(me, "commit", pg_query("COMMIT"))
        return 201

    def forget_cart(self, me, user):
        time.sleep(self.law.uniform(0.001, 0.004))
        self.redis.call(me, "DEL", redis_command("DEL", f"cart:{user}"))

    def orders(self, me, user):
        time.sleep(self.law.normal(0.002, 0.2))
        link = self.connect_db()
        sql = f"SELECT id, item, count FROM orders_of({user})"
        rows = pg_rows(link.call(me, "orders", pg_query(sql)))
        link.sock.sendall(pg_terminate())
        link.close()
        time.sleep(self.law.pareto(0.001, 1.8, 0.02))
        return 200, json.dumps(rows).encode(), None


def main(log_path, seed):
    log = calllog.CallLog(log_path)
    app = App2(log, seed)
    arguments = (log, places.address("app2"), "app2/0.9", app.handle)
    threading.Thread(target=links.serve_http, args=arguments, daemon=True).start()
    print("ready", flush=True)
    threading.Event().wait()


if __name__ == "__main__":
    main(*sys.argv[1:])
