"""Kills the service and its clients, which are separate processes, at random times, and checks each client's fixes."""

import os
import random
import signal
import subprocess
import time

from service_cost import torture

# Percentage of fixes that each client acknowledges.
ACKNOWLEDGE_PERCENT = (2, 30, 90)


class Follower:
    """A process with the client library: prints each received fix, and each acknowledgement before it sends it."""

    def __init__(self, options, registry, bench, socket, percent):
        self.command = [options.probe, "follow", socket, f"follower-{percent}", str(percent)]
        self.name = self.command[3]
        self.registry = registry
        self.bench = bench
        # Fixes that were received and not acknowledged: the next session must receive all of them, before other fixes.
        self.unacknowledged = {}
        self.due = []
        self.requested = (0, -1)
        self.confirmed = (0, -1)
        self.highest = (0, -1)
        self.last = None
        self.new = None
        self.missing_ranges = 0
        self.served = False
        # (highest name before a restart of the service, first new name after it): no known fix may lie between them.
        self.restart_gaps = []
        self.redelivered = 0
        self.answers = 0
        self.spawn()

    def spawn(self):
        self.process = subprocess.Popen(self.command, stdout=subprocess.PIPE)
        os.set_blocking(self.process.stdout.fileno(), False)
        self.partial = b""
        self.bench.register(self.process.stdout, self)

    def kill(self):
        """Sends SIGKILL, and reads all output."""
        self.check(self.process.poll() is None, f"exited by itself with {self.process.poll()}")
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
        self.registry.check(condition, f"{self.name}: {text}")

    def receive(self):
        try:
            data = os.read(self.process.stdout.fileno(), 65536)
        except BlockingIOError:
            return True
        lines = (self.partial + data).split(b"\n")
        self.partial = lines.pop()
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
        self.missing_ranges = 0
        self.followed = float("inf")

    def on_follows(self):
        self.followed = time.monotonic()

    def on_told(self, generation, sequence, utc_us):
        name = (generation, sequence)
        self.registry.record(self.name, generation, sequence, utc_us)
        self.check(name > self.confirmed, f"{name} again, though {self.confirmed} was acknowledged and confirmed")
        self.check(self.last is None or name > self.last, f"{name} after {self.last}: out of order")
        if self.due and name == self.due[0]:
            self.due.pop(0)
            self.redelivered += 1
        else:
            # Fixes acknowledged without a reply may be delivered again, and fixes recorded while the client was down.
            self.check(not self.due or name < self.due[0], f"{name} before {self.due[:1]}, which was not acknowledged")
        if name > self.highest:
            self.handle_new(name)
        self.last = name
        self.unacknowledged[name] = utc_us

    def handle_new(self, name):
        if self.new:
            # One gap is allowed: between the last fix read by the killed process and the restart of its updates.
            self.missing_ranges += name[1] != self.new[1] + 1
            self.check(self.missing_ranges < 2, f"{name} after {self.new}: fixes are missing")
        elif self.served:
            self.restart_gaps.append((self.highest, name))
        self.new = self.highest = name
        # Exclude undelivered fixes of the killed process, which arrive immediately.
        self.served = time.monotonic() > self.followed + 0.3

    def on_acknowledges(self, generation, sequence):
        self.requested = max(self.requested, (generation, sequence))
        self.unacknowledged = {name: utc for name, utc in self.unacknowledged.items() if name > self.requested}
        self.due = [name for name in self.due if name > self.requested]

    def on_settled(self, generation, sequence):
        self.confirmed = max(self.confirmed, (generation, sequence))
        self.answers += 1

    def on_gap(self, first, behind):
        self.check(False, f"the fixes from {first} to {behind - 1} are reported as lost")

    def check_restart_gaps(self):
        """Checks that fixes recorded before a kill of the service alone are delivered: the client was updating."""
        for before, after in self.restart_gaps:
            missing = [
                name for name in self.registry.fixes if before < name < after and name[0] == before[0]]
            self.check(not missing, f"{missing[:3]} from before the kill are not delivered, but {after} is")


def apart(options, folder, registry, kills):
    """Kills service, clients, or both, at random times, half of them within 3 ms of an epoch. Returns the counts."""
    service_run = torture.ServiceRun(options, folder, registry, "apart", rate=50)
    service_run.start(listeners=(1,))
    followers = [
        Follower(options, registry, service_run.bench, service_run.service.socket, percent)
        for percent in ACKNOWLEDGE_PERCENT]
    done = {"service": 0, "client": 0}
    while sum(done.values()) < kills and not registry.wrong:
        service_run.run(random.uniform(0.02, 0.6))
        if random.random() < 0.5:
            number = service_run.bench.feed.number
            service_run.bench.run(enough=lambda number=number: service_run.bench.feed.number > number)
            time.sleep(random.uniform(0, 0.003))
        choice = random.random()
        killed = random.choice(followers) if choice > 0.45 else None
        if killed:
            killed.kill()
            done["client"] += 1
        if choice < 0.45 or choice > 0.9:
            service_run.kill()
            done["service"] += 1
            if not service_run.start(listeners=(1,)):
                break
            service_run.expect_log("did not stop normally")
        if killed:
            service_run.run(random.choice((0, random.uniform(0, 0.3))))
            killed.spawn()
    service_run.run(3)
    for follower in followers:
        follower.check(not follower.due, f"{len(follower.due)} unacknowledged fixes were not delivered again")
        follower.kill()
        follower.check_restart_gaps()
    registry.check(service_run.kill(signal.SIGTERM) == 0, "apart: the exit code after SIGTERM is not 0")
    done["again"] = sum(follower.redelivered for follower in followers)
    done["answers"] = sum(follower.answers for follower in followers)
    return done
