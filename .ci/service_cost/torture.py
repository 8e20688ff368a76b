"""Kills the service, damages its files and fills its disk, and checks the guarantees that must hold nevertheless."""

import glob
import os
import pathlib
import random
import re
import signal
import subprocess
import sys
import time

from service_cost import apart, clients, programs, streams

SENT = re.compile(rb'"generation":(\d+),"sequence":(\d+),"boot_us":(\d+),"utc_us":(\d+)')


class FixRegistry:
    """Every fix delivered to any client, by name; and the failures."""

    def __init__(self):
        self.fixes = {}
        self.highest = (0, -1)
        self.generation = 0
        self.confirmed = {}
        self.wrong = []

    def check(self, condition, text):
        if not condition and len(self.wrong) < 50:
            self.wrong.append(text)
        return condition

    def record(self, client, generation, sequence, utc_us):
        name = (generation, sequence)
        before = self.fixes.setdefault(name, utc_us)
        self.check(before == utc_us, f"{client}: fix {name} had the time {before}, now {utc_us}: name used twice")
        self.highest = max(self.highest, name)


class Listener(clients.TorporClient):
    """A client that records each fix, and acknowledges only some."""

    def __init__(self, bench, path, name, registry, chance):
        self.registry = registry
        self.name = name
        self.chance = chance
        self.last = None
        super().__init__(bench, path, name, acknowledges=False)

    def receive(self):
        try:
            data = self.socket.recv(262144)
            frames = (self.partial + data).split(b"\0")
            self.partial = frames.pop()
            for frame in frames:
                self.handle(frame)
            return bool(data)
        except OSError:
            return False

    def handle(self, frame):
        for found in SENT.finditer(frame):
            generation, sequence, _, utc_us = (int(number) for number in found.groups())
            self.registry.record(self.name, generation, sequence, utc_us)
            name = (generation, sequence)
            self.registry.check(
                self.last is None or self.last[1] < sequence,
                f"{self.name}: {name} was delivered after {self.last}: out of order")
            confirmed = self.registry.confirmed.get(self.name)
            self.registry.check(
                confirmed is None or name > confirmed,
                f"{self.name}: {name} was delivered again, though {confirmed} was acknowledged and confirmed")
            self.last = name
            self.names.append(name)
            if random.random() < self.chance and random.random() < 0.3:
                # A confirmed acknowledgement is on disk; the fix is never delivered again (RNG-3).
                try:
                    self.call("Acknowledge", {"generation": generation, "sequence": sequence})
                    self.registry.confirmed[self.name] = name
                except RuntimeError:
                    pass  # The disk is full: the service reported that the acknowledgement is not durable.
            elif random.random() < self.chance:
                self.control.sendall(
                    clients._call("Acknowledge", {"generation": generation, "sequence": sequence}, oneway=True))


class ServiceRun:
    """A service with a receiver of ten or more fixes per second, in a folder that outlives the process."""

    def __init__(self, options, folder, registry, name, rate=10):
        self.rate = rate
        os.makedirs(folder, exist_ok=True)
        self.options = options
        self.registry = registry
        self.name = name
        self.folder = folder
        self.board = folder + "/fast.toml"
        with open(options.board, encoding="utf-8") as file:
            text = file.read()
        with open(self.board, "w", encoding="utf-8") as file:
            file.write(text.replace("fix_interval_ms = 1000", "fix_interval_ms = 100")
                       .replace("speed_baud = 9600", "speed_baud = 115200"))
        self.state = folder + "/state"
        os.makedirs(self.state, exist_ok=True)
        self.log = self.state + "/log"
        self.line = programs.Line()
        self.bench = clients.Bench()
        self.bench.lines = [self.line]
        self.number = 0
        self.service_options = []

    def feed(self):
        """Starts a feed that continues after the last one, so that no two epochs have the same time."""
        before = self.bench.feed
        feed = streams.Feed([self.line], streams.nav_pvt, rate=self.rate)
        if before:
            feed.first_us = before.first_us
            feed.number = before.number + 1
            feed.began -= feed.number * feed.period
            feed.due = feed.began + feed.number * feed.period
        self.bench.feed = feed

    def start(self, listeners=range(3)):
        """Starts the service and its clients; checks that generation and sequence numbers are new."""
        self.line.release_exclusive_mode()
        try:
            self.service = programs.Torpord(self.options.binary, self.board, self.line, self.state, options=self.service_options)
        except SystemExit as error:
            self.registry.check(False, f"{self.name}: {error}")
            return False
        self.clients = [
            Listener(self.bench, self.service.socket, f"client-{number}", self.registry, number / 2)
            for number in listeners]
        status = self.clients[0].call("GetStatus", {})["status"]
        is_new = status["generation"] > self.registry.generation
        self.registry.check(is_new, f"{self.name}: generation {status['generation']} is used twice")
        self.registry.check(
            status["next_sequence"] > self.registry.highest[1],
            f"{self.name}: after {self.registry.highest} the next sequence number is {status['next_sequence']}")
        self.registry.generation = status["generation"]
        self.feed()
        return True

    def run(self, seconds):
        before = len(self.registry.fixes)
        self.bench.run(until=time.monotonic() + seconds)
        return len(self.registry.fixes) - before

    def kill(self, number=signal.SIGKILL):
        """Ends the service with a signal; returns its exit code."""
        self.check_alive()
        self.service.process.send_signal(number)
        self.service.process.wait(20)
        for client in self.clients:
            for sock in (client.socket, client.control):
                try:
                    self.bench.selector.unregister(sock)
                except KeyError:
                    pass
            client.close()
        self.service.log.close()
        return self.service.process.returncode

    def check_alive(self):
        code = self.service.process.poll()
        self.registry.check(code is None, f"{self.name}: the service exited by itself with {code}: {self.log_tail()}")

    def log_tail(self):
        with open(self.log, encoding="utf-8") as file:
            return " / ".join(file.read().splitlines()[-4:])

    def expect_log(self, words):
        self.registry.check(words in self.log_tail(), f"{self.name}: the log has no '{words}': {self.log_tail()}")

    def expect_refusal(self, words):
        """Checks that the service does not start, prints the reason, and exits with 69."""
        run = subprocess.run(
            [self.options.binary, "--board", self.board, "--line", self.line.path, "--socket",
             self.folder + "/socket", "--state", self.state], capture_output=True, text=True, timeout=30, check=False)
        self.registry.check(
            run.returncode == 69, f"{self.name}: exit code {run.returncode} instead of 69: {run.stderr}")
        self.registry.check(words in run.stderr, f"{self.name}: the output has no '{words}': {run.stderr}")


def all_of(options, folder):
    random.seed(options.seed)
    registry = FixRegistry()
    print("torture-service: killed …", file=sys.stderr, flush=True)
    killed(ServiceRun(options, folder + "/killed", registry, "killed"), options.rounds)
    print(
        f"torture-service: {registry.generation} starts, {len(registry.fixes)} fixes, each with a unique name",
        file=sys.stderr)
    kills = max(0, options.kills - options.rounds)
    if kills:
        print("torture-service: killed apart …", file=sys.stderr, flush=True)
        apart_registry = FixRegistry()
        done = apart.apart(options, folder + "/apart", apart_registry, kills)
        print(
            f"torture-service: in total {options.rounds + done['service'] + done['client']} kills: "
            f"{options.rounds + done['service']} of the service, {done['client']} of clients; "
            f"{len(apart_registry.fixes)} fixes, {done['again']} delivered again, {done['answers']} confirmations",
            file=sys.stderr)
        registry.wrong += apart_registry.wrong
    print("torture-service: damaged …", file=sys.stderr, flush=True)
    damaged(
        ServiceRun(options, folder + "/damaged", FixRegistry(), "damaged"), max(3, options.rounds // 3),
        registry.wrong)
    if os.geteuid() == 0:
        print("torture-service: disk …", file=sys.stderr, flush=True)
        disk(options, folder + "/disk", registry)
    else:
        print("torture-service: the disk tests are skipped: mounting requires root", file=sys.stderr)
    return registry.wrong


def killed(service_run, rounds):
    """Kills at random times, while clients are served."""
    for number in range(rounds):
        if not service_run.start():
            return
        if number:
            service_run.expect_log("did not stop normally")
        service_run.run(random.uniform(0.05, 1.5))
        service_run.kill()
    service_run.start()
    service_run.registry.check(service_run.run(2) >= 10, "killed: fixes are no longer delivered")
    service_run.registry.check(service_run.kill(signal.SIGTERM) == 0, "killed: the exit code after SIGTERM is not 0")
    service_run.start()
    service_run.kill(signal.SIGTERM)


def damaged(service_run, rounds, wrong):
    """Damages bytes of the ring: the service starts with the remaining fixes, or moves an unusable ring aside."""
    for number in range(rounds):
        if not service_run.start():
            break
        service_run.run(1.5)
        service_run.kill()
        with open(service_run.service.ring, "r+b") as file:
            size = os.path.getsize(service_run.service.ring)
            # The header, some slots, and a random page.
            offsets = [random.randrange(0, 64), *(random.randrange(1_024, 8_192) for _ in range(4))]
            if number % 2:
                offsets.append(random.randrange(0, size - 4_096))
            for offset in offsets:
                file.seek(offset)
                file.write(random.randbytes(8))
        if number % 3 == 2:
            # After SQLite's header, so that the file is still recognised.
            path = service_run.state + "/state.db"
            with open(path, "r+b") as file:
                for _ in range(4):
                    file.seek(random.randrange(100, max(os.path.getsize(path), 101)))
                    file.write(random.randbytes(8))
            service_run.registry.confirmed = {}
        # The newest fix may be damaged: its sequence number may be used again, its generation may not.
        service_run.registry.highest = (service_run.registry.generation, -1)
    else:
        if service_run.start():
            service_run.registry.check(service_run.run(2) >= 10, "damaged: fixes are no longer delivered")
            service_run.kill(signal.SIGTERM)
    with open(service_run.service.ring, "r+b") as file:
        random_bytes = random.randbytes(os.path.getsize(service_run.service.ring))
        file.write(random_bytes)
    service_run.registry.highest = (service_run.registry.generation, -1)
    if service_run.start():
        service_run.expect_log("was damaged beyond use")
        copies = glob.glob(service_run.service.ring + ".damaged-*")
        service_run.registry.check(
            any(pathlib.Path(path).read_bytes() == random_bytes for path in copies),
            f"damaged: the ring was not kept: {copies}")
        service_run.registry.check(service_run.run(2) >= 10, "damaged: no fixes in a new ring")
        service_run.kill(signal.SIGTERM)
    wrong += service_run.registry.wrong


def disk(options, folder, registry):
    """Tests the service on a full disk, and on a read-only one."""
    service_run = ServiceRun(options, folder, FixRegistry(), "disk")
    metrics = folder + "/metrics"
    os.makedirs(metrics)

    def mount(*arguments, on=service_run.state):
        subprocess.run(["mount", *arguments, on], check=True)

    # A disk of its own, full from the beginning, for the file with the metrics.
    mount("-t", "tmpfs", "-o", "size=4k", "none", on=metrics)
    with open(metrics + "/other", "wb", buffering=0) as file:
        file.write(bytes(4_096))
    service_run.service_options = ["--metrics", metrics]
    mount("-t", "tmpfs", "-o", "size=256k", "none")
    try:
        service_run.expect_refusal("the disk has no space")
        mount("-o", "remount,size=640k")
        if service_run.start():
            # Another file fills the disk; the ring's blocks are already allocated.
            try:
                with open(service_run.state + "/other", "wb", buffering=0) as file:
                    while True:
                        file.write(bytes(4_096))
            except OSError:
                pass
            registry.check(service_run.run(2) >= 10, "disk: a full disk stops the fixes")
            service_run.expect_log("torpor.prom' cannot be written: No space left on device; free space there")
            registry.check(os.listdir(metrics) == ["other"], f"disk: {os.listdir(metrics)} on the disk of the metrics")
            service_run.kill()
            os.unlink(service_run.state + "/other")
            if service_run.start():
                registry.check(service_run.run(1) >= 5, "disk: no fixes after a full disk")
                service_run.kill(signal.SIGTERM)
        mount("-o", "remount,ro")
        service_run.expect_refusal("is mounted read-only")
    finally:
        subprocess.run(["umount", "-l", service_run.state, metrics], check=False)
    registry.wrong += service_run.registry.wrong
