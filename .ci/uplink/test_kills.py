"""Kills a broker's nodes, the store and the database while a board sends: `test_kills.py BROKER FOLDER [SEED [SECONDS]]`.

The board of this test has no queue but a position, as torpor-uplink: it sends the fixes after the last receipt, and sends them
again until a receipt names them. At the end the table must have every fix once. For comparison, a second board moves its
position with the acknowledgement of the broker, and the test prints how many of its fixes are lost.
"""

import pathlib
import random
import sys
import threading
import time

from brokers import KINDS, Postgres, Programs
from clients import Board, becomes, is_store_ready, query, watch_store
import messages

RING = 77
BATCH = 10


class Sender(threading.Thread):
    """A board that sends batches until it is stopped; `durable` is its position."""

    def __init__(self, broker, device, waits_for_receipt):
        super().__init__(daemon=True)
        self.broker, self.device, self.waits_for_receipt = broker, device, waits_for_receipt
        self.durable, self.attempts, self.stopping = 0, 0, False

    def run(self):
        while not self.stopping:
            self.attempts += 1
            try:
                self.send_one()
            except OSError:
                time.sleep(0.2)  # the node is down

    def send_one(self):
        """One connection and one batch."""
        board = Board(self.broker, self.device, node=self.attempts % len(self.broker.nodes))
        try:
            if not board.is_connected(3):
                return
            first = self.durable
            topic = f"torpor/{self.device}"
            if self.waits_for_receipt and not board.subscribe(f"{topic}/receipt", 3):
                return
            before = (1, first - 1) if first else None
            is_sent = board.publish(
                f"{topic}/fixes", messages.fixes(self.device, RING, 1, first, BATCH, before), seconds=3)
            last = first + BATCH - 1
            if self.waits_for_receipt:
                is_sent = board.wait(lambda: any(r.get("sequence", -1) >= last for r in board.receipts()), 5)
            if is_sent:
                self.durable = last + 1
        finally:
            board.close()


def kill_one(random_numbers, broker, database, programs, folder):
    """Kills one program, and starts it again after up to three seconds."""
    victim = random_numbers.choice([*broker.nodes, "store", "postgres"])
    print(f"kill    {victim}", flush=True)
    {"store": programs, "postgres": database}.get(victim, broker).kill(victim)
    time.sleep(random_numbers.uniform(0, 3))
    if victim == "postgres":
        database.restart()
    elif victim in broker.nodes:
        broker.restart(victim)
    watch_store(programs, broker, database)


def main():
    kind, folder = sys.argv[1], pathlib.Path(sys.argv[2])
    seed = int(sys.argv[3]) if len(sys.argv) > 3 else 1
    seconds = int(sys.argv[4]) if len(sys.argv) > 4 else 60
    numbers = random.Random(seed)
    with KINDS[kind](folder / kind, ["board-1", "board-2"]) as broker, Postgres(folder / "postgres") as database, \
            Programs(folder / "store") as programs:
        is_store_ready(programs, broker, database)
        senders = [Sender(broker, "board-1", True), Sender(broker, "board-2", False)]
        for sender in senders:
            sender.start()
        end, kills = time.monotonic() + seconds, 0
        while time.monotonic() < end:
            time.sleep(numbers.uniform(0.5, 3))
            watch_store(programs, broker, database, kills % len(broker.nodes))
            kill_one(numbers, broker, database, programs, folder)
            kills += 1
        # Everything runs again: the rest arrives.
        target = senders[0].durable + BATCH

        def has_recovered():
            watch_store(programs, broker, database, numbers.randrange(len(broker.nodes)))
            return senders[0].durable >= target
        recovered = becomes(has_recovered, 60)
        for sender in senders:
            sender.stopping = True
        for sender in senders:
            sender.join(20)
        time.sleep(3)
        watch_store(programs, broker, database)
        time.sleep(3)
        lost = []
        for sender in senders:
            stored = query(database, "select sequence from fixes where device = %s order by sequence", sender.device)
            lost.append(len(set(range(sender.durable)) - set(stored)))
            assert len(stored) == len(set(stored))
        print(f"{kind}, seed {seed}: {kills} kills; with receipts {lost[0]} of {senders[0].durable} fixes lost, "
              f"with acknowledgements of the broker {lost[1]} of {senders[1].durable}", flush=True)
    sys.exit(0 if lost[0] == 0 and recovered and senders[0].durable > 0 else 1)


if __name__ == "__main__":
    main()
