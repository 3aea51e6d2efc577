#!/usr/bin/python3
"""traces/protocols/amqp: a broker's clients: topology, confirmed and transacted publishing, consuming, errors.

rabbitmq-server at 127.0.0.1:5672; tcpdump listens to that port; python3-pika. Prints what the client waited for,
one a line: seconds, what.
"""

import sys
import threading
import time

import pika

PORT = int(sys.argv[1]) if len(sys.argv) > 1 else 5672


def timed(name, function, *args, **options):
    begin = time.time()
    try:
        return function(*args, **options)
    except pika.exceptions.AMQPError as error:
        name += " " + type(error).__name__
    finally:
        print(f"{time.time() - begin:.6f} {name}")


def connect(**options):
    return timed("connect", pika.BlockingConnection,
                 pika.ConnectionParameters("127.0.0.1", PORT, **options))


def topology(channel):
    timed("exchange.declare", channel.exchange_declare, "orders", "topic", durable=False)
    for queue in "paid", "sent":
        timed("queue.declare", channel.queue_declare, queue)
        timed("queue.bind", channel.queue_bind, queue, "orders", f"order.{queue}")
    timed("queue.declare", channel.queue_declare, "", exclusive=True)


def get_all(connection):
    channel = timed("channel.open", connection.channel)
    for number in range(5):
        channel.basic_publish("orders", "order.paid", b"order %d" % number)
    channel.basic_publish("orders", "order.paid", b"x" * 300000)  # several body frames
    time.sleep(0.05)
    for _ in range(7):
        method, _, body = timed("basic.get", channel.basic_get, "paid")
        if method:
            channel.basic_ack(method.delivery_tag)


def confirmed(connection):
    channel = timed("channel.open", connection.channel)
    timed("confirm.select", channel.confirm_delivery)
    for number in range(4):
        timed("publish", channel.basic_publish, "orders", "order.sent", b"{%d}" % number,
              pika.BasicProperties(content_type="application/json", correlation_id=str(number)))
    timed("publish", channel.basic_publish, "orders", "nowhere", b"lost", mandatory=True)


def transaction(connection):
    channel = timed("channel.open", connection.channel)
    timed("tx.select", channel.tx_select)
    channel.basic_publish("orders", "order.paid", b"in a transaction")
    timed("tx.commit", channel.tx_commit)
    channel.basic_publish("orders", "order.paid", b"not kept")
    timed("tx.rollback", channel.tx_rollback)
    timed("channel.close", channel.close)


def errors(connection):
    for what in "passive", "publish":
        channel = timed("channel.open", connection.channel)
        if what == "passive":
            timed("queue.declare", channel.queue_declare, "missing", passive=True)
        else:
            channel.basic_publish("missing", "key", b"closes the channel")
            timed("queue.declare", channel.queue_declare, "paid")


def consume(count):
    connection = connect(heartbeat=1)
    channel = timed("channel.open", connection.channel)
    timed("basic.qos", channel.basic_qos, prefetch_count=3)

    def work(channel, method, _properties, _body):
        nonlocal count
        channel.basic_ack(method.delivery_tag)
        count -= 1
        if count == 0:
            channel.stop_consuming()

    timed("basic.consume", channel.basic_consume, "sent", work)
    channel.start_consuming()
    connection.sleep(1.2)  # heartbeats
    timed("connection.close", connection.close)


def main():
    connection = connect()
    channel = timed("channel.open", connection.channel)
    topology(channel)
    get_all(connection)
    consumer = threading.Thread(target=consume, args=(4,))
    consumer.start()
    confirmed(connection)
    transaction(connection)
    errors(connection)
    consumer.join()
    for queue in "paid", "sent":
        timed("queue.purge", channel.queue_purge, queue)
        timed("queue.delete", channel.queue_delete, queue)
    timed("exchange.delete", channel.exchange_delete, "orders")
    timed("connection.close", connection.close)
    timed("connect", pika.BlockingConnection, pika.ConnectionParameters(
        "127.0.0.1", PORT, credentials=pika.PlainCredentials("guest", "wrong")))


main()
