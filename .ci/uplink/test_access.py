"""Tests the example store and the access rules of a broker with a foreign board: `test_access.py BROKER FOLDER`.

board-2 tries to write and read the topics of board-1, to write receipts and to take over the store's session.
"""

import pathlib
import sys
import time

from brokers import KINDS, Postgres, Programs
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
    check(board.receipts()[-1].get("gap") == {"generation": 7, "next": 30}, "the receipt names the gap")
    good = messages.fixes("board-1", RING, 7, 40, 10, (7, 39))
    for bad in (good[:-1], b"", b"x" * 5000, b"\x78\x9c" + b"\x00" * 9, good[:60] + bytes([good[60] ^ 1]) + good[61:]):
        board.publish("torpor/board-1/fixes", bad)
    board.publish("torpor/board-1/event", messages.event("board-1", RING, 6, '{"text":"\\u0000"}'))
    board.publish("torpor/board-1/gap", good)
    board.publish("torpor/board-1/fixes", messages.fixes("board-9", RING, 7, 40, 10))
    board.publish("torpor/board-1/fixes", good)
    check(board.wait(lambda: board.receipts()[-1].get("sequence") == 49), "poison messages do not stop the next one")
    check(len(query(database, "select id from poison")) == 8, "poison messages are set aside")
    board.publish("torpor/board-1/fixes", messages.fixes("board-1", RING, 8, 50, 5, (7, 49), utc=False))
    board.publish("torpor/board-1/fixes", messages.fixes("board-1", RING, 8, 55, 5, (8, 54)))
    check(board.wait(lambda: board.receipts()[-1].get("sequence") == 59), "fixes without UTC are stored")
    placed = query(database, "select time_us from placed_fixes where generation = 8 order by sequence")
    check(placed == [1_767_225_600_000_000 + s * 1_000_000 for s in range(50, 60)], "a later fix of the boot places them")
    check(query(database, "select st_npoints(line) from tracks") == [50], "the view of tracks has one line")
    board.close()


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
    victim = Board(broker, "board-1")
    victim.is_connected()
    victim.subscribe("torpor/board-1/receipt")
    victim.wait(lambda: victim.receipts(), 3)  # the retained one
    listeners = []
    for topic in ("torpor/board-1/fixes", "torpor/board-1/receipt", "torpor/+/fixes", "torpor/+/receipt", "torpor/#", "#",
                  "$MQTT/sub/#", "$SYS/#"):
        listener = Board(broker, "board-2")
        # One session per attempt, because a broker may end it.
        if listener.is_connected():
            listener.subscribe(topic, 3)
        listeners.append((topic, listener))
        victim.publish("torpor/board-1/fixes", messages.fixes("board-1", RING, 7, 200 + 10 * len(listeners), 10))
        expected = 209 + 10 * len(listeners)
        check(becomes(lambda: sequences(database, "board-1")[-1] == expected), f"board-1 sends while board-2 reads {topic}")
        found = [name for name, _ in listener.received if name.startswith(("torpor/board-1", "$"))]
        check(not found, f"board-2 cannot read {topic}")
        listener.close()
    time.sleep(1)
    count = len(victim.received)
    for topic, payload in (
            ("torpor/board-1/fixes", messages.fixes("board-1", RING, 7, 900, 10)),
            ("torpor/board-1/gap", messages.gap("board-1", RING, 7, 900, 910)),
            ("torpor/board-1/event", messages.event("board-1", RING, 900, "{}")),
            ("torpor/board-1/receipt", b'{"ring":"00","generation":7,"sequence":999}'),
            ("torpor/board-2/receipt", b'{"ring":"00","generation":7,"sequence":999}')):
        intruder = Board(broker, "board-2")
        intruder.is_connected()
        intruder.subscribe("torpor/board-2/receipt", 3)
        intruder.publish(topic, payload, True, 2)
        time.sleep(1)
        check(not [1 for name, _ in intruder.received if name.endswith("receipt")], f"board-2 cannot write {topic}")
        intruder.close()
    victim.publish("torpor/board-1/fixes", messages.fixes("board-1", RING, 7, 300, 10))
    check(becomes(lambda: sequences(database, "board-1")[-1] == 309), "board-1 still sends")
    check(not query(database, "select 1 from gaps where first = 900"), "no gap of board-2 is stored")
    check(not query(database, "select 1 from events where number = 900"), "no event of board-2 is stored")
    check(all(r["ring"] != "00" for r in victim.receipts()), "no receipt of board-2 arrives")
    check(victim.wait(lambda: len(victim.received) > count), "board-1 gets receipts")
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
        stranger = Board(broker, "board-1", password="wrong")
        check(not stranger.is_connected(5), "a wrong password is refused")
        stranger.close()


def main():
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
