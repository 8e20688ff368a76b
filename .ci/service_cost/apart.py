"""Service and clients as processes of their own, each killed at any moment, and what each client may expect all the same."""

import os
import random
import signal
import subprocess
import time

from service_cost import torture

# How many of a hundred fixes each client acknowledges.
MANNERS = (2, 30, 90)


class Follower:
    """A process with the client library: says what it is told and what it acknowledges, line by line, before it does it."""

    def __init__(self, options, book, bench, socket, percent):
        self.command = [options.probe, "follow", socket, f"follower-{percent}", str(percent)]
        self.name = self.command[3]
        self.book = book
        self.bench = bench
        # What it was told and has not acknowledged: all of it comes again to the next session, and first.
        self.unacknowledged = {}
        self.due = []
        self.asked = (0, -1)
        self.settled = (0, -1)
        self.highest = (0, -1)
        self.last = None
        self.new = None
        self.holes = 0
        self.served = False
        # (generation, highest told in it, first told after it): nothing known may lie between.
        self.seams = []
        self.again = 0
        self.answers = 0
        self.spawn()

    def spawn(self):
        self.process = subprocess.Popen(self.command, stdout=subprocess.PIPE)
        os.set_blocking(self.process.stdout.fileno(), False)
        self.rest = b""
        self.bench.hear(self.process.stdout, self)

    def kill(self):
        """SIGKILL; all that it had said is heard."""
        self.check(self.process.poll() is None, f"ended by itself with {self.process.poll()}")
        self.process.kill()
        self.process.wait()
        while self.receive():
            pass
        try:
            self.bench.selector.unregister(self.process.stdout)
        except KeyError:
            pass
        self.process.stdout.close()
        self.served = False

    def check(self, condition, text):
        self.book.check(condition, f"{self.name}: {text}")

    def receive(self):
        try:
            data = os.read(self.process.stdout.fileno(), 65536)
        except BlockingIOError:
            return True
        lines = (self.rest + data).split(b"\n")
        self.rest = lines.pop()
        for line in lines:
            word, *numbers = line.decode().split()
            if word == "fails":
                self.check(False, line.decode())
            else:
                getattr(self, "on_" + word)(*(int(number) for number in numbers))
        return bool(data)

    def on_begins(self):
        self.due = sorted(self.unacknowledged)
        self.last = None
        self.new = None
        self.holes = 0
        self.followed = float("inf")

    def on_follows(self):
        self.followed = time.monotonic()

    def on_told(self, generation, sequence, utc_us):
        name = (generation, sequence)
        self.book.told(self.name, generation, sequence, utc_us)
        self.check(name > self.settled, f"{name} came again, though {self.settled} was acknowledged and answered")
        self.check(self.last is None or name > self.last, f"{name} after {self.last}: out of order")
        if self.due and name == self.due[0]:
            self.due.pop(0)
            self.again += 1
        else:
            # What was acknowledged without an answer may come again, and what was made while it was not there.
            self.check(not self.due or name < self.due[0], f"{name} before {self.due[:1]}, which it had not acknowledged")
        if name > self.highest:
            self.take_new(name)
        self.last = name
        self.unacknowledged[name] = utc_us

    def take_new(self, name):
        if self.new:
            # Once: between what its dead process did not read any more and what was made since it asked again.
            self.holes += name[1] != self.new[1] + 1
            self.check(self.holes < 2, f"{name} after {self.new}: there are some missing")
        elif self.served:
            self.seams.append((self.highest, name))
        self.new = self.highest = name
        # Not what was owed to its dead process, which comes at once.
        self.served = time.monotonic() > self.followed + 0.3

    def on_acknowledges(self, generation, sequence):
        self.asked = max(self.asked, (generation, sequence))
        self.unacknowledged = {name: utc for name, utc in self.unacknowledged.items() if name > self.asked}
        self.due = [name for name in self.due if name > self.asked]

    def on_settled(self, generation, sequence):
        self.settled = max(self.settled, (generation, sequence))
        self.answers += 1

    def on_gap(self, first, behind):
        self.check(False, f"the fixes from {first} to {behind - 1} are told as lost")

    def check_seams(self):
        """Over a kill of the service alone it was updating: what was made for it before is told to it."""
        for before, after in self.seams:
            missing = [
                name for name in self.book.fixes if before < name < after and name[0] == before[0]]
            self.check(not missing, f"{missing[:3]} of before the kill are not told, but {after} is")


def apart(options, folder, book, kills):
    """Kills service, clients, or both, at random moments, half of them within 3 ms of an epoch. Gives what was done."""
    ordeal = torture.Ordeal(options, folder, book, "apart", rate=50)
    ordeal.start(listeners=(1,))
    followers = [Follower(options, book, ordeal.bench, ordeal.service.socket, percent) for percent in MANNERS]
    done = {"service": 0, "client": 0}
    while sum(done.values()) < kills and not book.wrong:
        ordeal.run(random.uniform(0.02, 0.6))
        if random.random() < 0.5:
            number = ordeal.bench.feed.number
            ordeal.bench.run(enough=lambda number=number: ordeal.bench.feed.number > number)
            time.sleep(random.uniform(0, 0.003))
        choice = random.random()
        killed = random.choice(followers) if choice > 0.45 else None
        if killed:
            killed.kill()
            done["client"] += 1
        if choice < 0.45 or choice > 0.9:
            ordeal.kill()
            done["service"] += 1
            if not ordeal.start(listeners=(1,)):
                break
            ordeal.says("did not end in order")
        if killed:
            ordeal.run(random.choice((0, random.uniform(0, 0.3))))
            killed.spawn()
    ordeal.run(3)
    for follower in followers:
        follower.check(not follower.due, f"{len(follower.due)} fixes that it had not acknowledged do not come again")
        follower.kill()
        follower.check_seams()
    book.check(ordeal.kill(signal.SIGTERM) == 0, "apart: SIGTERM does not end it in order")
    done["again"] = sum(follower.again for follower in followers)
    done["answers"] = sum(follower.answers for follower in followers)
    return done
