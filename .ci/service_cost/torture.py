"""What is done to the service, and what must hold all the same."""

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


class Book:
    """Every fix that any client was ever told, by name; and what is wrong."""

    def __init__(self):
        self.fixes = {}
        self.highest = (0, -1)
        self.generation = 0
        self.settled = {}
        self.wrong = []

    def check(self, condition, text):
        if not condition and len(self.wrong) < 50:
            self.wrong.append(text)
        return condition

    def told(self, client, generation, sequence, utc_us):
        name = (generation, sequence)
        before = self.fixes.setdefault(name, utc_us)
        self.check(before == utc_us, f"{client}: fix {name} was of {before} and is of {utc_us}: a name used twice")
        self.highest = max(self.highest, name)


class Listener(clients.TorporClient):
    """A client that notes each fix, and acknowledges only some of them."""

    def __init__(self, bench, path, name, book, chance):
        self.book = book
        self.name = name
        self.chance = chance
        self.last = None
        super().__init__(bench, path, name, acknowledges=False)

    def receive(self):
        try:
            data = self.socket.recv(262144)
            frames = (self.rest + data).split(b"\0")
            self.rest = frames.pop()
            for frame in frames:
                self.take(frame)
            return bool(data)
        except OSError:
            return False

    def take(self, frame):
        for found in SENT.finditer(frame):
            generation, sequence, _, utc_us = (int(number) for number in found.groups())
            self.book.told(self.name, generation, sequence, utc_us)
            name = (generation, sequence)
            self.book.check(
                self.last is None or self.last[1] < sequence,
                f"{self.name}: {name} was told after {self.last}: out of order")
            settled = self.book.settled.get(self.name)
            self.book.check(
                settled is None or name > settled,
                f"{self.name}: {name} was told again, though {settled} was acknowledged and answered")
            self.last = name
            self.names.append(name)
            if random.random() < self.chance and random.random() < 0.3:
                # What is answered is on the disk, and never comes again (RNG-3).
                try:
                    self.ask("Acknowledge", {"generation": generation, "sequence": sequence})
                    self.book.settled[self.name] = name
                except RuntimeError:
                    pass  # A full disk: it said that it is no promise.
            elif random.random() < self.chance:
                self.control.sendall(
                    clients._call("Acknowledge", {"generation": generation, "sequence": sequence}, oneway=True))


class Ordeal:
    """A service with a receiver that tells ten fixes a second or more, in a folder that outlives it."""

    def __init__(self, options, folder, book, name, rate=10):
        self.rate = rate
        os.makedirs(folder, exist_ok=True)
        self.options = options
        self.book = book
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

    def feed(self):
        """Goes on where the last one stopped: no two epochs are of the same time."""
        before = self.bench.feed
        feed = streams.Feed([self.line], streams.nav_pvt, rate=self.rate)
        if before:
            feed.first_us = before.first_us
            feed.number = before.number + 1
            feed.began -= feed.number * feed.period
            feed.due = feed.began + feed.number * feed.period
        self.bench.feed = feed

    def start(self, listeners=range(3)):
        """The service and its clients; checks that the generation is a new one and no name comes again."""
        self.line.free()
        try:
            self.service = programs.Torpord(self.options.binary, self.board, self.line, self.state)
        except SystemExit as refusal:
            self.book.check(False, f"{self.name}: {refusal}")
            return False
        self.clients = [
            Listener(self.bench, self.service.socket, f"client-{number}", self.book, number / 2)
            for number in listeners]
        status = self.clients[0].ask("GetStatus", {})["status"]
        fresh = status["generation"] > self.book.generation
        self.book.check(fresh, f"{self.name}: generation {status['generation']} again")
        self.book.check(
            status["next_sequence"] > self.book.highest[1],
            f"{self.name}: after {self.book.highest} the next fix gets the number {status['next_sequence']}")
        self.book.generation = status["generation"]
        self.feed()
        return True

    def run(self, seconds):
        before = len(self.book.fixes)
        self.bench.run(until=time.monotonic() + seconds)
        return len(self.book.fixes) - before

    def kill(self, number=signal.SIGKILL):
        """Ends it by a signal; says what it ended with."""
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
        self.book.check(code is None, f"{self.name}: the service ended by itself with {code}: {self.last_words()}")

    def last_words(self):
        with open(self.log, encoding="utf-8") as file:
            return " / ".join(file.read().splitlines()[-4:])

    def says(self, words):
        self.book.check(words in self.last_words(), f"{self.name}: it does not say '{words}': {self.last_words()}")

    def refuses(self, words):
        """It does not start, says why in a line, and ends in order."""
        run = subprocess.run(
            [self.options.binary, "--board", self.board, "--line", self.line.path, "--socket",
             self.folder + "/socket", "--state", self.state], capture_output=True, text=True, timeout=30, check=False)
        self.book.check(run.returncode == 69, f"{self.name}: it ended with {run.returncode} and not 69: {run.stderr}")
        self.book.check(words in run.stderr, f"{self.name}: it does not say '{words}': {run.stderr}")


def all_of(options, folder):
    random.seed(options.seed)
    book = Book()
    print("torture-service: killed …", file=sys.stderr, flush=True)
    killed(Ordeal(options, folder + "/killed", book, "killed"), options.rounds)
    print(
        f"torture-service: {book.generation} starts, {len(book.fixes)} fixes, each with a name of its own",
        file=sys.stderr)
    kills = max(0, options.kills - options.rounds)
    if kills:
        print("torture-service: killed apart …", file=sys.stderr, flush=True)
        apart_book = Book()
        done = apart.apart(options, folder + "/apart", apart_book, kills)
        print(
            f"torture-service: with those before {options.rounds + done['service'] + done['client']} kills: "
            f"{options.rounds + done['service']} of the service, {done['client']} of clients; "
            f"{len(apart_book.fixes)} fixes, {done['again']} told again, {done['answers']} acknowledgements answered",
            file=sys.stderr)
        book.wrong += apart_book.wrong
    print("torture-service: damaged …", file=sys.stderr, flush=True)
    damaged(Ordeal(options, folder + "/damaged", Book(), "damaged"), max(3, options.rounds // 3), book.wrong)
    if os.geteuid() == 0:
        print("torture-service: disk …", file=sys.stderr, flush=True)
        disk(options, folder + "/disk", book)
    else:
        print("torture-service: the disk is passed over: only root mounts one", file=sys.stderr)
    return book.wrong


def killed(ordeal, rounds):
    """Ended at any moment, while clients are served."""
    for number in range(rounds):
        if not ordeal.start():
            return
        if number:
            ordeal.says("did not end in order")
        ordeal.run(random.uniform(0.05, 1.5))
        ordeal.kill()
    ordeal.start()
    ordeal.book.check(ordeal.run(2) >= 10, "killed: no fixes come any more")
    ordeal.book.check(ordeal.kill(signal.SIGTERM) == 0, "killed: SIGTERM does not end it in order")
    ordeal.start()
    ordeal.kill(signal.SIGTERM)


def damaged(ordeal, rounds, wrong):
    """Bytes of its ring are others: it starts with what is left, or puts away what is no ring any more."""
    for number in range(rounds):
        if not ordeal.start():
            break
        ordeal.run(1.5)
        ordeal.kill()
        with open(ordeal.service.ring, "r+b") as file:
            size = os.path.getsize(ordeal.service.ring)
            # A header, some slots, and a page somewhere.
            places = [random.randrange(0, 64), *(random.randrange(1_024, 8_192) for _ in range(4))]
            if number % 2:
                places.append(random.randrange(0, size - 4_096))
            for place in places:
                file.seek(place)
                file.write(random.randbytes(8))
        if number % 3 == 2:
            # Behind the header, which says that this is no file of ours.
            path = ordeal.state + "/state.db"
            with open(path, "r+b") as file:
                for _ in range(4):
                    file.seek(random.randrange(100, max(os.path.getsize(path), 101)))
                    file.write(random.randbytes(8))
            ordeal.book.settled = {}
        # What was damaged may have been the newest: its number is free again, its generation is not.
        ordeal.book.highest = (ordeal.book.generation, -1)
    else:
        if ordeal.start():
            ordeal.book.check(ordeal.run(2) >= 10, "damaged: no fixes come any more")
            ordeal.kill(signal.SIGTERM)
    with open(ordeal.service.ring, "r+b") as file:
        rubbish = random.randbytes(os.path.getsize(ordeal.service.ring))
        file.write(rubbish)
    ordeal.book.highest = (ordeal.book.generation, -1)
    if ordeal.start():
        ordeal.says("was damaged beyond use")
        kept = glob.glob(ordeal.service.ring + ".damaged-*")
        ordeal.book.check(
            any(pathlib.Path(path).read_bytes() == rubbish for path in kept), f"damaged: it was not kept: {kept}")
        ordeal.book.check(ordeal.run(2) >= 10, "damaged: no fixes into a new ring")
        ordeal.kill(signal.SIGTERM)
    wrong += ordeal.book.wrong


def disk(options, folder, book):
    """A disk without room, and one that may not be written to."""
    ordeal = Ordeal(options, folder, Book(), "disk")

    def mount(*arguments):
        subprocess.run(["mount", *arguments, ordeal.state], check=True)

    mount("-t", "tmpfs", "-o", "size=256k", "none")
    try:
        ordeal.refuses("the disk has no room")
        mount("-o", "remount,size=640k")
        if ordeal.start():
            # The rest is taken by somebody else: the ring has its room.
            try:
                with open(ordeal.state + "/other", "wb", buffering=0) as file:
                    while True:
                        file.write(bytes(4_096))
            except OSError:
                pass
            book.check(ordeal.run(2) >= 10, "disk: a full disk stops the fixes")
            ordeal.kill()
            os.unlink(ordeal.state + "/other")
            if ordeal.start():
                book.check(ordeal.run(1) >= 5, "disk: no fixes after a full disk")
                ordeal.kill(signal.SIGTERM)
        mount("-o", "remount,ro")
        ordeal.refuses("is mounted read-only")
    finally:
        subprocess.run(["umount", "-l", ordeal.state], check=False)
    book.wrong += ordeal.book.wrong
