"""Clients of a broker for tests: a board's program, and the example store as a process."""

import json
import os
import pathlib
import sys
import threading
import time

import paho.mqtt.client
import psycopg2

STORE = pathlib.Path(__file__).resolve().parents[2] / "Sources" / "Lab" / "Store" / "store.py"


class Board:
    """A connection to a broker with the name and password, or certificate, of a user."""

    def __init__(self, broker, user, node=0, client_id=None, password=None):
        self.received, self.codes, self.grants, self.done = [], [], [], set()
        self.change = threading.Condition()
        self.client = paho.mqtt.client.Client(client_id or user, clean_session=True)
        if broker.uses_tls:
            names = [str(broker.folder / f"{name}") for name in ("ca.crt", f"{user}.crt", f"{user}.key")]
            self.client.tls_set(*names)
        else:
            self.client.username_pw_set(user, password or broker.users[user])
        self.client.on_connect = lambda *call: self.note(self.codes, call[3])
        self.client.on_subscribe = lambda *call: self.note(self.grants, call[3][0])
        self.client.on_message = lambda *call: self.note(self.received, (call[2].topic, call[2].payload))
        self.client.on_publish = lambda *call: self.note(None, call[2])
        self.client.reconnect_delay_set(60, 60)
        self.client.connect("127.0.0.1", broker.ports[node], keepalive=60)
        self.client.loop_start()

    def note(self, values, value):
        with self.change:
            if values is None:
                self.done.add(value)
            else:
                values.append(value)
            self.change.notify_all()

    def wait(self, condition, seconds=15):
        """Whether the condition became true."""
        with self.change:
            return self.change.wait_for(condition, seconds)

    def is_connected(self, seconds=15):
        return self.wait(lambda: self.codes, seconds) and self.codes[-1] == 0

    def subscribe(self, topic, seconds=5):
        """Whether the broker granted the subscription; a grant does not show that messages arrive."""
        before = len(self.grants)
        self.client.subscribe(topic, 1)
        return self.wait(lambda: len(self.grants) > before, seconds) and self.grants[-1] < 128

    def publish(self, topic, payload, retain=False, seconds=5):
        """Whether the broker acknowledged the message; an acknowledgement does not show that it was permitted."""
        number = self.client.publish(topic, payload, 1, retain).mid
        return self.wait(lambda: number in self.done, seconds)

    def receipts(self):
        with self.change:
            return [json.loads(payload) for topic, payload in self.received if topic.endswith("/receipt")]

    def close(self):
        self.client.disconnect()
        self.client.loop_stop()


def start_store(programs, broker, database, node=0):
    command = [sys.executable, "-B", str(STORE), "--port", str(broker.ports[node]), "--database", database.address]
    environment = dict(os.environ)
    if broker.uses_tls:
        names = [str(broker.folder / name) for name in ("ca.crt", "store.crt", "store.key")]
        command += ["--ca", names[0], "--certificate", names[1], "--key", names[2]]
    else:
        # These brokers do not bind client ids to users, so the id is not known to others.
        command += ["--user", "store", "--client-id", "torpor-store-0f8e2d"]
        environment["STORE_PASSWORD"] = broker.users["store"]
    programs.start("store", command, env=environment)


def watch_store(programs, broker, database, node=0):
    """Starts the store again if it has ended, as systemd does."""
    store = programs.running.get("store")
    if store is None or store.poll() is not None:
        programs.kill("store")
        start_store(programs, broker, database, node)


def is_store_ready(programs, broker, database, seconds=120):
    """Whether the store subscribes. A cluster of RabbitMQ refuses connections for some seconds after its start."""
    log = programs.folder / "store.log"

    def is_ready():
        watch_store(programs, broker, database)
        return log.exists() and "ready" in log.read_text()
    return becomes(is_ready, seconds)


def query(database, text, *values):
    """The first column of the result."""
    with psycopg2.connect(database.address) as connection, connection.cursor() as cursor:
        cursor.execute(text, values)
        rows = [row[0] for row in cursor.fetchall()]
    connection.close()
    return rows


def execute(database, text):
    with psycopg2.connect(database.address) as connection, connection.cursor() as cursor:
        cursor.execute(text)
    connection.close()


def becomes(condition, seconds=20):
    """Whether the condition becomes true."""
    end = time.monotonic() + seconds
    while not condition():
        if time.monotonic() > end:
            return False
        time.sleep(0.2)
    return True
