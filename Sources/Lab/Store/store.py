#!/usr/bin/python3
"""An example of a store: writes the messages of torpor-uplink to PostGIS and sends receipts (Docs/HowTo/run-a-store.md).

    store.py --broker 127.0.0.1 --port 1883 --database 'dbname=torpor'

The broker keeps messages for the durable session while the store is away. A message is acknowledged to the broker, and its
receipt sent, after the commit. On every error the program exits; systemd starts it again, and the broker sends the
message again. Needs the packages python3-paho-mqtt and python3-psycopg2.
"""

import argparse
import json
import os
import sys

import paho.mqtt.client
import psycopg2
import psycopg2.extras

import torpor_payload

FIELDS = ("device", "ring", "generation", "sequence", *torpor_payload.COLUMNS[1:-1],
          "mode", "quality", "date_uncertain", "simulated", "accessory")
DAMAGED_KEPT = 1000  # of all devices
REFUSED_KEPT = 100  # of each device
full = set()  # devices whose messages are not set aside any more


def store_fixes(cursor, key, message):
    rows = [[*key, *(fix[name] for name in FIELDS[2:])] for fix in message["fixes"]]
    psycopg2.extras.execute_values(
        cursor, f"insert into fixes ({', '.join(FIELDS)}) values %s on conflict do nothing", rows, page_size=1000)
    if message["preceding"]:
        cursor.execute(
            "insert into holes (device, ring, generation, sequence) select %s, %s, %s, %s where not exists (select 1 from fixes"
            " where (device, ring, generation, sequence) = (%s, %s, %s, %s)) on conflict do nothing",
            (*key, *message["preceding"]) * 2)
    return {"generation": message["generation"], "sequence": message["fixes"][-1]["sequence"]}


def store_gap(cursor, key, message):
    gap = message["gap"]
    numbers = (gap["first"], gap["next"])
    # A board that was interrupted reports a gap again, when it may have grown.
    cursor.execute(
        "delete from gaps where (device, ring) = (%s, %s) and first < next and first >= %s and next <= %s"
        " and (first, next) <> (%s, %s)", (*key, *numbers, *numbers))
    cursor.execute(
        "insert into gaps values (%s, %s, %s, %s, %s, %s, %s) on conflict (device, ring, generation, first, next)"
        " do update set (count, details) = (excluded.count, excluded.details)"
        # The broker may deliver an earlier message again, after the one with the longer time. Boot clocks may be of
        # different boots.
        " where coalesce((excluded.details->'to'->>'utc_us')::bigint >= (gaps.details->'to'->>'utc_us')::bigint, true)",
        (*key, message["generation"], *numbers, gap["count"], json.dumps(gap)))
    return {"gap_generation": message["generation"], "gap_next": gap["next"], "gap_checksum": message["checksum"]}


def store_event(cursor, key, message):
    cursor.execute(
        "insert into events values (%s, %s, %s, %s) on conflict do nothing",
        (*key, message["first"], json.dumps(message["event"])))
    return {"event": message["first"]}


KINDS = {"fixes": store_fixes, "gap": store_gap, "event": store_event}


def update_receipt(cursor, key, durable):
    """Records what is durable. No number of a receipt decreases."""
    numbers = {name: value for name, value in durable.items() if name != "gap_checksum"}
    marks = ", ".join(["%s"] * len(numbers))
    cursor.execute("insert into receipts (device, ring) values (%s, %s) on conflict do nothing", key)
    cursor.execute(f"update receipts set ({', '.join(durable)}) = row({', '.join(['%s'] * len(durable))})"
                   f" where device = %s and ring = %s and coalesce(({', '.join(numbers)}) <= ({marks}), true)",
                   (*durable.values(), *key, *numbers.values()))


def receipt(cursor, key):
    """What is durable of a ring (Docs/Reference/uplink-payload.md)."""
    cursor.execute(
        "select jsonb_strip_nulls(jsonb_build_object('generation', generation, 'sequence', sequence, 'event', event, 'gap',"
        " case when gap_next is not null then jsonb_build_object('generation', gap_generation, 'next', gap_next,"
        " 'checksum', gap_checksum) end))"
        " from receipts where device = %s and ring = %s", key)
    row = cursor.fetchone()
    return {"ring": f"{key[1] % 2**64:016x}"} | (row[0] if row else {})


def has_space(cursor, device, topic, message):
    """Whether the store may keep another refused message of the device, or has this one already."""
    cursor.execute("select count(*), count(*) filter (where (topic, message) = (%s, %s)) from poison"
                   " where refused and split_part(topic, '/', 2) = %s", (topic, message, device))
    count, same = cursor.fetchone()
    return same > 0 or count < REFUSED_KEPT


def set_aside(connection, topic, payload, reason):
    """Keeps a message that cannot be stored. Returns a refusal, so that the board sends the next one; None for a message that
    was damaged on the way, or that cannot be kept either, so that the board sends it again."""
    device = topic.split("/")[1]
    try:
        data = torpor_payload.envelope(payload)
    except ValueError:
        data = None
    with connection, connection.cursor() as cursor:
        content = (topic, psycopg2.Binary(payload[:torpor_payload.LONGEST]))
        if data is not None and not has_space(cursor, device, *content):
            if device not in full:
                full.add(device)
                print(f"{topic}: not set aside: the table poison has {REFUSED_KEPT} refused messages of this device: {reason}",
                      file=sys.stderr, flush=True)
            return None
        if data is not None:
            full.discard(device)
        print(f"{topic}: set aside: {reason}", file=sys.stderr, flush=True)
        cursor.execute("insert into poison (topic, message, reason, refused) select %s, %s, %s, %s where not exists"
                       " (select 1 from poison where (topic, message) = (%s, %s))", (*content, reason, data is not None, *content))
        cursor.execute("delete from poison where not refused and id <= (select max(id) from poison) - %s", (DAMAGED_KEPT,))
        if data is None:
            return None
        # The ring of another version of the format is unknown.
        key = (device, int.from_bytes(data[16:24], "little", signed=True))
        return (receipt(cursor, key) if data[4] == 1 else {}) | {
            "refused": f"{torpor_payload.checksum(data):08x}", "reason": reason}


def answer(payload):
    """The answer to a test message of a board: its number; None if there is none."""
    try:
        number = json.loads(payload)["check"]
        return {"check": number} if isinstance(number, str) and len(number) == 16 else None
    except (ValueError, TypeError, KeyError):
        return None


def store(connection, topic, payload):
    """Stores a message durably. Returns the receipt or a refusal; None for none."""
    try:
        message = torpor_payload.decode(payload)
        _, device, kind = topic.split("/")
        if device != message["device"] or kind not in message:
            raise ValueError("the topic is that of another device or kind")
        key = (device, torpor_payload.signed64(message["ring"]))
        message["checksum"] = f"{torpor_payload.checksum(torpor_payload.envelope(payload)):08x}"
        with connection, connection.cursor() as cursor:
            update_receipt(cursor, key, KINDS[kind](cursor, key, message))
            return receipt(cursor, key)
    except (ValueError, psycopg2.DataError) as error:
        return set_aside(connection, topic, payload, str(error).split("\n", 1)[0][:100])


def main():
    parser = argparse.ArgumentParser(description="Stores the messages of torpor-uplink in PostGIS.")
    parser.add_argument("--broker", default="127.0.0.1")
    parser.add_argument("--port", type=int, default=1883)
    parser.add_argument("--user", help="the password is read from the environment variable STORE_PASSWORD")
    parser.add_argument("--ca", help="certificate of the authority that signed the broker's certificate: use TLS")
    parser.add_argument("--certificate", help="the store's own certificate, with --key")
    parser.add_argument("--key")
    parser.add_argument("--client-id", default="torpor-store", help="names the durable session: the same at each start")
    parser.add_argument("--database", default="dbname=torpor")
    options = parser.parse_args()
    connection = psycopg2.connect(options.database)
    folder = os.path.dirname(os.path.abspath(__file__))
    with connection, connection.cursor() as cursor, open(os.path.join(folder, "schema.sql"), encoding="utf-8") as schema:
        cursor.execute(schema.read())
    client = paho.mqtt.client.Client(options.client_id, clean_session=False)
    if options.user:
        client.username_pw_set(options.user, os.environ.get("STORE_PASSWORD"))
    if options.ca:
        client.tls_set(options.ca, options.certificate, options.key)

    def connected(client, _, __, code):
        if code != 0:
            sys.exit(f"the broker refused the connection: {paho.mqtt.client.connack_string(code)}")
        client.subscribe([(f"torpor/+/{kind}", 1) for kind in [*KINDS, "check"]])

    def subscribed(_, __, ___, granted):
        if 128 in granted:
            sys.exit("the broker refused the subscription: permit this user to read torpor/+/fixes, /gap, /event and /check")
        print("store: ready", flush=True)

    def received(client, _, item):
        _, device, kind = item.topic.split("/")
        reply = answer(item.payload) if kind == "check" else store(connection, item.topic, item.payload)
        if reply:
            client.publish(f"torpor/{device}/receipt", json.dumps(reply, separators=(",", ":")), qos=1,
                           retain=not {"check", "refused"} & reply.keys())

    def disconnected(_, __, code):
        sys.exit(f"the connection to the broker is lost: {paho.mqtt.client.error_string(code)}")

    client.on_connect, client.on_subscribe, client.on_message, client.on_disconnect = \
        connected, subscribed, received, disconnected
    client.connect(options.broker, options.port, keepalive=30)
    client.loop_forever()


if __name__ == "__main__":
    main()
