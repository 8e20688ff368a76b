"""What the store has of one device, compared with the ring of the board."""

import signal

from clients import becomes, query, watch_store

failures = []


def check(holds, what, details=""):
    """Prints the result of one check."""
    print(f"passed  {what}" if holds else f"FAILED  {what}: {details}", flush=True)
    if not holds:
        failures.append(what)


class Table:
    """The rows of a device."""

    def __init__(self, database, device):
        self.database, self.device = database, device
        self.denied = set()  # numbers of fixes of times without permission, which are never delivered (RNG-6)
        self.refused = set()  # numbers of fixes in messages that the store has refused and keeps

    def select(self, text):
        return query(self.database, text, self.device)

    def count(self):
        return self.select("select count(*) from fixes where device = %s")[0]

    def gaps(self):
        return self.select("select count(*) from gaps where device = %s and count > 0")[0]

    def next_sequence(self):
        return self.select("select coalesce(max(sequence) + 1, 0) from fixes where device = %s")[0]

    def rows(self):
        """The rows in the order in which they were inserted: nothing frees space in the table."""
        return query(self.database, """select array[sequence, generation, utc_us, boot_us, latitude_e9, longitude_e9]
            from fixes where device = %s order by ctid""", self.device)

    def in_gaps(self):
        """The numbers of fixes that were reported as lost."""
        ranges = self.select("select array[first, next] from gaps where device = %s")
        return {number for first, after in ranges for number in range(first, after)}

    def absent(self):
        """Numbers of fixes before the newest one that are neither stored nor kept nor reported as lost."""
        return set(range(self.next_sequence())) - {row[0] for row in self.rows()} - self.in_gaps() - self.denied - self.refused

    def check(self, board, store, broker, what):
        """Waits until every fix that has a number now is stored or part of a gap, and compares the table with the ring."""
        end = board.next_sequence()

        def arrives():
            watch_store(store, broker, self.database)
            board.watch()
            return self.next_sequence() >= end
        check(becomes(arrives, 240), f"{what}: the fixes arrive", f"{self.next_sequence()} of {end}")
        # The ring's file is complete when torpord has ended.
        board.restart("torpord", number=signal.SIGTERM)
        rows = self.rows()
        stored = {row[0]: tuple(row[1:]) for row in rows}
        numbers = [row[0] for row in rows]
        lacking = sorted(number for number, fix in board.ring().items() if number < end and stored.get(number) != fix and number not in self.refused)
        check(not lacking, f"{what}: the table has every fix of the ring, with its values", lacking[:20])
        absent = sorted(self.absent())
        check(not absent, f"{what}: every number is stored or part of a gap", absent[:20])
        check(len(numbers) == len(stored), f"{what}: no fix is stored twice", len(numbers) - len(stored))
        check(numbers == sorted(numbers) and [row[1] for row in rows] == sorted(row[1] for row in rows),
              f"{what}: the fixes are stored in their order",
              [pair for pair in zip(numbers, numbers[1:]) if pair[0] > pair[1]][:5])
        holes = self.select("select count(*) from holes where device = %s")[0]
        check(holes == 0, f"{what}: the store has no hole", f"{holes}")
        both = self.in_gaps() & stored.keys()
        check(not both, f"{what}: no stored fix is reported as lost", sorted(both)[:20])
