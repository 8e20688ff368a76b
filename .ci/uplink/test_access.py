"""Tests the example store and the access rules of a broker with a foreign board: `test_access.py BROKER FOLDER`.

board-2 tries to write and read the topics of board-1, to write receipts and to take over the store's session. A user that
reads every topic shows what reached the broker's subscribers.
"""

import pathlib
import struct
import sys
import time
import zlib

from brokers import KINDS, Postgres, Programs, end_on_signals
from clients import Board, becomes, is_store_ready, query, start_store
import messages

RING = 0xFEDC_BA98_7654_3210
SIGNED = RING - 2**64
failures = []


def check(holds, what):
    print(f"{'passed' if holds else 'FAILED'}  {what}", flush=True)
    if not holds:
        failures.append(what)


def sequences(database, device):
    return query(database, "select sequence from fixes where (device, ring, generation) = (%s, %s, 7) order by sequence",
                 device, SIGNED)


def test_store(broker, database):
    """What a board and the store do together."""
    board = Board(broker, "board-1")
    check(board.is_connected(), "a board connects")
    check(board.subscribe("torpor/board-1/receipt"), "a board may read its receipts")
    for first, before in ((0, None), (10, (7, 9)), (10, (7, 9)), (30, (7, 29))):
        board.publish("torpor/board-1/fixes", messages.fixes("board-1", RING, 7, first, 10, before))
    check(board.wait(lambda: any(r.get("sequence") == 39 for r in board.receipts())), "a board gets the receipt")
    check(sequences(database, "board-1") == [*range(20), *range(30, 40)], "all fixes are stored once")
    check(query(database, "select sequence from holes") == [29], "the store detects the missing message")
    check(board.receipts()[-1] == {"ring": f"{RING:016x}", "generation": 7, "sequence": 39}, "the receipt is complete")
    board.publish("torpor/board-1/check", b'{"check":"0123456789abcdef"}')
    check(board.wait(lambda: {"check": "0123456789abcdef"} in board.receipts()), "the store answers a test message")
    for end in (25, 30):
        board.publish("torpor/board-1/gap", messages.gap("board-1", RING, 7, 20, end, (7, 19)))
    board.publish("torpor/board-1/event", messages.event("board-1", RING, 5, '{"visit":{}}'))
    # Messages of different topics may arrive in another order.
    def has_both():
        last = board.receipts()[-1]
        return last.get("event") == 5 and last.get("gap", {}).get("next") == 30
    check(board.wait(has_both), "a gap and an event get a receipt")
    check(query(database, "select next from gaps") == [30], "a gap that has grown replaces the earlier one")
    named = messages.checksum(messages.gap("board-1", RING, 7, 20, 30, (7, 19)))
    check(board.receipts()[-1].get("gap") == {"generation": 7, "next": 30, "checksum": named},
          "the receipt names the gap and its message")
    unknown = -2**63
    for numbers in ((40, 40), (50, 55)):
        # Grown, delivered again, grown after a boot that does not know the time of day.
        for until, kept in (((50, 1050), 50), ((60, 1060), 60), ((50, 1050), 60), ((7, unknown), 7)):
            gap = messages.gap("board-1", RING, 7, *numbers, (7, 39), until)
            board.publish("torpor/board-1/gap", gap)
            named = messages.checksum(gap)
            check(board.wait(lambda: board.receipts()[-1].get("gap", {}).get("checksum") == named),
                  "the receipt names the last message of a gap with the same numbers")
            check(query(database, "select (details->'to'->>'boot_us')::int from gaps where (first, next) = (%s, %s)", *numbers)
                  == [kept], f"the gap with the later end remains: {numbers}, {until}")
    test_poison(broker, database, board)
    board.close()
    board = Board(broker, "board-1")
    board.is_connected()
    board.subscribe("torpor/board-1/receipt")
    check(board.wait(board.receipts) and "refused" not in board.receipts()[0], "a refusal is not retained")
    board.publish("torpor/board-1/fixes", messages.fixes("board-1", RING, 8, 50, 5, (7, 49), utc=False))
    board.publish("torpor/board-1/fixes", messages.fixes("board-1", RING, 8, 55, 5, (8, 54)))
    check(board.wait(lambda: board.receipts()[-1].get("sequence") == 59), "fixes without UTC are stored")
    placed = query(database, "select time_us from placed_fixes where generation = 8 order by sequence")
    check(placed == [1_767_225_600_000_000 + s * 1_000_000 for s in range(50, 60)], "a later fix of the boot places them")
    check(query(database, "select st_npoints(line) from tracks") == [50], "the view of tracks has one line")
    board.close()


def test_poison(broker, database, board):
    """Messages that cannot be stored: one that was damaged on the way gets no receipt, another one a refusal."""
    good = messages.fixes("board-1", RING, 7, 40, 10, (7, 39))
    for bad in (good[:-1], b"", b"x" * 5000, b"\x78\x9c" + b"\x00" * 9, good[:60] + bytes([good[60] ^ 1]) + good[61:]):
        board.publish("torpor/board-1/fixes", bad)
    later = good[:4] + b"\x02" + good[5:-4]
    later += struct.pack("<I", zlib.crc32(later))
    refused = [("event", messages.event("board-1", RING, 6, '{"text":"\\u0000"}')), ("gap", good), ("fixes", later),
               ("fixes", zlib.compress(messages.fixes("board-9", RING, 7, 40, 10)))]
    for kind, message in [*refused, refused[0]]:
        board.publish(f"torpor/board-1/{kind}", message)
    board.publish("torpor/board-1/fixes", good)
    # Messages of different topics may arrive in another order.
    check(board.wait(lambda: any(r.get("sequence") == 49 for r in board.receipts())
                     and sum("refused" in r for r in board.receipts()) == 5), "poison messages do not stop the next one")
    refusals = [receipt for receipt in board.receipts() if "refused" in receipt]
    sums = sorted(struct.unpack("<I", message[-4:])[0] for _, message in [*refused[:3], refused[0], (None, zlib.decompress(refused[3][1]))])
    check(sorted(int(receipt["refused"], 16) for receipt in refusals) == sums and len(set(sums)) == 4,
          "a message that arrived as it was sent is refused, no other one")
    check(len(refusals) == 5, "a message that is repeated is refused again")
    check(all(receipt["reason"] and ("ring" not in receipt or receipt["sequence"] in (39, 49)) for receipt in refusals),
          "a refusal has a reason and what is durable")
    check([receipt["reason"] for receipt in refusals if "ring" not in receipt] == [
        "not a message of torpor-uplink: version 2 of the format"], "a refusal of a later version has no ring")
    check(sorted(query(database, "select refused from poison")) == [False] * 5 + [True] * 4, "poison messages are set aside once")
    if broker.uses_tls:
        for number in range(1010):
            board.client.publish("torpor/board-1/fixes", b"damaged %d" % number, 1)
        check(becomes(lambda: query(database, "select count(*) from poison where message = 'damaged 1009'") == [1], 240),
              "damaged messages are set aside")
        check(query(database, "select count(*) from poison where not refused") == [1000] and query(
            database, "select count(*) from poison where refused") == [4], "of damaged messages the newest are kept")
        count = len(board.receipts())
        for number in range(110):
            board.client.publish("torpor/board-1/event", messages.event("board-1", RING, 100 + number, '{"text":"\\u0000"}'), 1)
        board.publish("torpor/board-1/fixes", good)
        check(board.wait(lambda: "refused" not in board.receipts()[-1] and len(board.receipts()) >= count + 97, 120)
              and query(database, "select count(*) from poison where refused") == [100]
              and sum("refused" in r for r in board.receipts()[count:]) == 96, "100 refused messages of a device are kept")


def test_absent_store(broker, database, programs):
    """Messages wait for the store's session."""
    programs.kill("store")
    board = Board(broker, "board-1")
    board.is_connected()
    board.publish("torpor/board-1/fixes", messages.fixes("board-1", RING, 7, 100, 10, (7, 49)))
    check(sequences(database, "board-1")[-1] == 49, "no store, no fixes")
    start_store(programs, broker, database)
    check(becomes(lambda: sequences(database, "board-1")[-1] == 109), "a message waits for the store")
    board.close()


def test_foreign_board(broker, database, programs):
    """What board-2 may not do."""
    auditor = Board(broker, "auditor")
    check(auditor.is_connected() and auditor.subscribe("torpor/#") and auditor.subscribe("homeassistant/#"),
          "the auditor reads all topics")
    victim = Board(broker, "board-1")
    victim.is_connected()
    victim.subscribe("torpor/board-1/receipt")
    victim.wait(lambda: victim.receipts(), 3)  # the retained one
    own = Board(broker, "board-2")
    check(own.is_connected() and own.subscribe("torpor/board-2/receipt"), "board-2 may read its receipts")
    own.publish("torpor/board-2/fixes", messages.fixes("board-2", RING, 7, 0, 10))
    check(own.wait(lambda: any(r.get("sequence") == 9 for r in own.receipts())), "board-2 may send its own fixes")
    own_topics = ("torpor/board-2/newest", "homeassistant/device_tracker/torpor/board-2/config")
    for topic in own_topics:
        own.publish(topic, b"{}", True)
    check(auditor.wait(lambda: {topic for topic, _ in auditor.received} >= set(own_topics)),
          "board-2 may publish its newest position and its announcement")
    own.close()
    test_foreign_reads(broker, database, victim)
    test_foreign_writes(broker, auditor)
    count = len(victim.received)
    victim.publish("torpor/board-1/fixes", messages.fixes("board-1", RING, 7, 300, 10))
    check(becomes(lambda: sequences(database, "board-1")[-1] == 309), "board-1 still sends")
    check(victim.wait(lambda: len(victim.received) > count), "board-1 gets receipts")
    check(all(r.get("ring") != "00" and "check" not in r for r in victim.receipts()), "no receipt of board-2 arrives")
    check(auditor.wait(lambda: any(topic == "torpor/board-1/fixes" for topic, _ in auditor.received)), "the auditor sees board-1")
    auditor.close()
    intruder = Board(broker, "board-2", client_id="torpor-store")
    intruder.is_connected(5)
    time.sleep(1)
    intruder.close()
    is_alive = programs.running["store"].poll() is None
    victim.publish("torpor/board-1/fixes", messages.fixes("board-1", RING, 7, 400, 10))
    is_stored = becomes(lambda: sequences(database, "board-1")[-1] == 409, 10)
    victim.close()
    check(is_alive and is_stored, "board-2 cannot take over the store's session")
    if not broker.uses_tls:
        for user, password in (("board-1", "wrong"), ("board-1", broker.users["board-2"]), ("stranger", "stranger")):
            stranger = Board(broker, user, password=password)
            check(not stranger.is_connected(5), f"{user} with a wrong password is refused")
            stranger.close()


def test_foreign_reads(broker, database, victim):
    """board-2 receives nothing of board-1, whatever it subscribes to."""
    for number, topic in enumerate(("torpor/board-1/fixes", "torpor/board-1/receipt", "torpor/+/fixes", "torpor/+/receipt",
                                    "torpor/#", "#", "+/board-1/#", "$MQTT/sub/#", "$SYS/#")):
        # One session per attempt, because a broker may end it.
        listener = Board(broker, "board-2")
        if listener.is_connected():
            listener.subscribe(topic, 3)
        expected = 209 + 10 * number
        victim.publish("torpor/board-1/fixes", messages.fixes("board-1", RING, 7, expected - 9, 10))
        check(becomes(lambda: sequences(database, "board-1")[-1] == expected), f"board-1 sends while board-2 reads {topic}")
        time.sleep(0.5)
        found = [name for name, _ in listener.received if name.startswith(("torpor/board-1", "$"))]
        check(not found, f"board-2 cannot read {topic}")
        listener.close()


def test_foreign_writes(broker, auditor):
    """Nothing that board-2 publishes on topics of others or on those of receipts arrives anywhere."""
    receipt = b'{"ring":"00","generation":7,"sequence":999}'
    for topic, payload in (
            ("torpor/board-1/fixes", messages.fixes("board-1", RING, 7, 900, 10)),
            ("torpor/board-1/gap", messages.gap("board-1", RING, 7, 900, 910)),
            ("torpor/board-1/event", messages.event("board-1", RING, 900, "{}")),
            ("torpor/board-1/newest", b'{"_type":"location"}'),
            ("homeassistant/device_tracker/torpor/board-1/config", b'{"name":"x"}'), ("torpor/board-1/check", b'{"check":"0000000000000900"}'),
            ("torpor/board-1/receipt", receipt), ("torpor/board-2/receipt", receipt), ("torpor/new/fixes", b"x")):
        intruder = Board(broker, "board-2")
        intruder.is_connected()
        intruder.publish(topic, payload, True, 2)
        intruder.close()
        time.sleep(0.5)
        check((topic, payload) not in auditor.received, f"board-2 cannot write {topic}")


def main():
    end_on_signals()
    kind, folder = sys.argv[1], pathlib.Path(sys.argv[2])
    with KINDS[kind](folder / kind, ["board-1", "board-2"]) as broker, Postgres(folder / "postgres") as database, \
            Programs(folder / "store") as programs:
        check(is_store_ready(programs, broker, database), "the store subscribes")
        test_store(broker, database)
        test_absent_store(broker, database, programs)
        test_foreign_board(broker, database, programs)
    sys.exit(1 if failures else 0)


if __name__ == "__main__":
    main()
