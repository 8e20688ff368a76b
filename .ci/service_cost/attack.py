"""What users without permission do to the service, with processes of several users; only root can start those.

Each scenario prints its figures and the bounds they must stay within (Docs/Reference/resources.md).
"""

import contextlib
import os
import pathlib
import random
import re
import resource
import signal
import socket
import subprocess
import sys
import time

from service_cost import clients, programs, streams

# Users who may do nothing.
HOSTILE = range(61_000, 61_009)
VICTIM = 62_000
POLICY = f"[[rule]]\nuser = {VICTIM}\naccess = \"always\"\n"


def as_user(user, body):
    """A child process of that user that runs `body` until it is killed; gives its pid."""
    pid = os.fork()
    if pid:
        return pid
    try:
        resource.setrlimit(resource.RLIMIT_NOFILE, (4_096, 4_096))
        os.setgroups([])
        os.setresgid(user, user, user)
        os.setresuid(user, user, user)
        body()
    except BaseException:  # pylint: disable=broad-except
        pass
    os._exit(0)


def end(children):
    for pid in children:
        os.kill(pid, signal.SIGKILL)
    for pid in children:
        os.waitpid(pid, 0)


def connected(path, patience=None):
    """A connection, or None where it is refused or cannot be made in time."""
    sock = socket.socket(socket.AF_UNIX)
    sock.settimeout(patience)
    try:
        sock.connect(path)
        return sock
    except OSError:
        sock.close()
        return None


def call(method, parameters=None, interface=clients.INTERFACE, **flags):
    return clients.json.dumps({"method": interface + method, "parameters": parameters or {}, **flags}).encode() + b"\0"


DESCRIPTION = call("GetInterfaceDescription", {"interface": "org.torpor.Location"}, interface="org.varlink.service.")


def ask(path, patience=5):
    """After how long GetStatus is answered on a connection of its own; infinite where it is not."""
    began = time.monotonic()
    sock = connected(path, patience)
    if sock is None:
        return float("inf")
    try:
        sock.settimeout(patience)
        sock.sendall(call("GetStatus"))
        data = b""
        while not data.endswith(b"\0"):
            part = sock.recv(65_536)
            if not part:
                return float("inf")
            data += part
        return time.monotonic() - began
    except OSError:
        return float("inf")
    finally:
        sock.close()


class Asker:
    """A process of a user that asks for the status twice a second, and notes how long each answer takes."""

    def __init__(self, user, path):
        self.read, write = os.pipe()

        def body():
            while True:
                os.write(write, f"{ask(path)}\n".encode())
                time.sleep(0.5)

        self.pid = as_user(user, body)
        os.close(write)

    def end(self):
        """The longest that an answer took; infinite where one did not come."""
        end([self.pid])
        with os.fdopen(self.read) as file:
            return max((float(line) for line in file.read().splitlines()), default=float("inf"))


# What the hostile users do.


def hold_connections(path, is_patient):
    """As many connections as there are to be had, with calls on each whose answers nobody reads.

    A patient one asks on each for 400 kB once, which is below what once ended a connection; another one goes on asking.
    """

    def body():
        held = []
        while True:
            sock = connected(path, 1)
            if sock is None:
                time.sleep(0.01)
                continue
            sock.setblocking(False)
            held.append(sock)
            for other in held[-1:] if is_patient else held[-64:]:
                try:
                    other.send(DESCRIPTION * (15 if is_patient else 40))
                except OSError:
                    pass
            del held[:-512]
            time.sleep(0.002)

    return body


def hold_silent(path):
    """As many connections as there are to be had, and not a word on any."""

    def body():
        held = []
        while True:
            sock = connected(path, 1)
            if sock:
                held.append(sock)
            del held[:-512]
            time.sleep(0.002)

    return body


def flood(path, number):
    """Calls that change what is kept and what the log says, as many as the service takes."""

    def body():
        name = random.choice(("x", "x\u2028<0>torpord: forged", "\u202egolden"))
        while True:
            sock = connected(path, 1)
            if sock is None:
                time.sleep(0.01)
                continue
            sock.setblocking(True)
            try:
                sock.sendall(call("Connect", {"name": f"{name}{number}"}))
                for turn in range(1_000_000):
                    region = {"kind": "region", "name": f"r{turn % 40}"}
                    circle = {"latitude_deg": 48.0, "longitude_deg": 11.0, "radius_m": 100.0}
                    sock.sendall(
                        call("AddRegion", {**region, **circle}) + call("RemoveRegion", region)
                        + call("RequestAuthorization", {"authorization": ("always", "when_in_use")[turn % 2]})
                        + call("StartVisits") + call("GetStatus"))
                    sock.setblocking(False)
                    try:
                        while sock.recv(65_536):
                            pass
                    except BlockingIOError:
                        pass
                    sock.setblocking(True)
            except OSError:
                pass
            sock.close()

    return body


def take_names(path, first, count):
    """Names that ask for what outlives a process."""

    def body():
        for number in range(first, first + count):
            sock = connected(path, 5)
            if sock:
                sock.settimeout(2)
                try:
                    sock.sendall(call("Connect", {"name": f"hostile-{number}"}) + call("StartVisits"))
                    sock.recv(4_096)
                    sock.recv(4_096)
                except OSError:
                    pass
                sock.close()
        signal.pause()

    return body


class Attack:
    """A service with a receiver of five fixes a second, and a victim: a program that may use location."""

    def __init__(self, options, folder, name, wrong, descriptors=None):
        self.name = name
        self.wrong = wrong
        self.state = f"{folder}/{name}"
        os.makedirs(self.state)
        os.chmod(folder, 0o755)
        os.chmod(self.state, 0o755)
        self.board = self.state + "/fast.toml"
        text = pathlib.Path(options.board).read_text(encoding="utf-8")
        pathlib.Path(self.board).write_text(
            text.replace("fix_interval_ms = 1000", "fix_interval_ms = 200")
            .replace("speed_baud = 9600", "speed_baud = 115200"), encoding="utf-8")
        self.policy = self.state + "/clients.toml"
        pathlib.Path(self.policy).write_text(POLICY, encoding="utf-8")
        self.options = options
        self.line = programs.Line()
        self.bench = clients.Bench()
        self.bench.lines = [self.line]
        self.descriptors = descriptors
        self.start()

    def start(self):
        self.line.free()
        self.service = programs.Torpord(self.options.binary, self.board, self.line, self.state, policy=self.policy)
        if self.descriptors:
            resource.prlimit(self.service.pid, resource.RLIMIT_NOFILE, (self.descriptors, self.descriptors))
        self.path = self.service.socket
        # The victim's program is this one: with its user id while it connects, which is what the service sees.
        os.seteuid(VICTIM)
        try:
            self.victim = clients.TorporClient(self.bench, self.path, "victim")
        finally:
            os.seteuid(0)
        self.bench.feed = streams.Feed([self.line], streams.nav_pvt, rate=5)

    def stop(self):
        for sock in (self.victim.socket, self.victim.control):
            try:
                self.bench.selector.unregister(sock)
            except KeyError:
                pass
        self.victim.close()
        self.check(self.service.stop() == 0, "SIGTERM does not end it in order")

    def check(self, condition, text):
        if not condition:
            self.wrong.append(f"{self.name}: {text}")

    def tell(self, what, figure, unit, bound):
        is_kept = figure is not None and figure < bound
        shown = "none" if figure is None else f"{figure:.1f}"
        print(f"torture-service: {self.name}: {what} {shown} {unit} (below {bound})", file=sys.stderr, flush=True)
        self.check(is_kept, f"{what} is {shown} {unit}, and must be below {bound}")

    def log_lines(self):
        return pathlib.Path(self.service.folder + "/log").read_bytes().splitlines()

    def written(self):
        """Bytes that it has handed to write(2) and the like, for state, log and receiver; what is sent is not among them."""
        text = pathlib.Path(f"/proc/{self.service.pid}/io").read_text(encoding="ascii")
        return int(re.search(r"^wchar: (\d+)", text, re.M)[1])

    def run(self, seconds):
        """The attack for so long; gives what was seen of the service meanwhile."""
        self.bench.run(until=time.monotonic() + 2)
        before = {"disk": self.written(), "lines": len(self.log_lines()), "run": self.service.counts()["run_ns"]}
        began = time.monotonic()
        first = len(self.victim.heard)
        peak = 0
        root = Asker(0, self.path)
        while time.monotonic() < began + seconds:
            self.bench.run(until=time.monotonic() + 0.5)
            peak = max(peak, self.service.resident_kb(without=self.service.ring))
        took = time.monotonic() - began
        served = root.end()
        self.bench.run(until=time.monotonic() + 0.5)
        delays = [
            (at - self.bench.feed.ends[utc]) * 1e3 for utc, at in list(self.victim.heard.items())[first:]
            if utc in self.bench.feed.ends]
        self.check(len(delays) >= 4 * seconds, f"the victim got {len(delays)} fixes in {seconds} s")
        self.check(self.service.process.poll() is None, "the service has ended")
        return {
            "delay_ms": sorted(delays)[len(delays) * 99 // 100] if delays else None,
            "memory_mb": peak / 1_024,
            "root_ms": served * 1e3,
            "disk_kbps": (self.written() - before["disk"]) / took / 1e3,
            "lines": (len(self.log_lines()) - before["lines"]) / took,
            "processor": (self.service.counts()["run_ns"] - before["run"]) / took / 1e7,
        }

    def tell_common(self, found):
        self.tell("a victim's fix after", found["delay_ms"], "ms", 50)
        self.tell("memory", found["memory_mb"], "MB", 16)
        self.tell("root is served after", found["root_ms"], "ms", 1_000)
        self.tell("writes", found["disk_kbps"], "kB/s", 20)
        self.tell("log lines a second", found["lines"], "", 1)
        print(f"torture-service: {self.name}: processor {found['processor']:.1f} %", file=sys.stderr)


def known(attack):
    """The clients, as root sees them."""
    sock = connected(attack.path, 5)
    sock.sendall(call("ListClients"))
    data = b""
    while not data.endswith(b"\0"):
        data += sock.recv(65_536)
    sock.close()
    return clients.json.loads(data[:-1])["parameters"]["clients"]


@contextlib.contextmanager
def hostile_users(program):
    """Meanwhile each hostile user runs the program that is made for its number."""
    children = [as_user(user, program(number)) for number, user in enumerate(HOSTILE)]
    try:
        yield
    finally:
        end(children)


def crowd(options, folder, wrong):
    """Nine users hold all the connections they can, and read nothing."""
    attack = Attack(options, folder, "crowd", wrong)
    with hostile_users(lambda number: hold_connections(attack.path, number > 0)):
        other = Asker(HOSTILE[-1] + 1, attack.path)
        found = attack.run(12)
        attack.tell("a user who has nothing is served after", other.end() * 1e3, "ms", 1_000)
    attack.tell_common(found)
    attack.stop()


def silent(options, folder, wrong):
    """Nine users hold all the connections they can, and say nothing."""
    attack = Attack(options, folder, "silent", wrong)
    with hostile_users(lambda number: hold_silent(attack.path)):
        found = attack.run(12)
    attack.tell_common(found)
    attack.stop()


def flooded(options, folder, wrong):
    """Nine users call without end."""
    attack = Attack(options, folder, "flood", wrong)
    with hostile_users(lambda number: flood(attack.path, number)):
        found = attack.run(30)
    attack.tell_common(found)
    log = b"\n".join(attack.log_lines()).decode(errors="replace")
    attack.check("\u2028" not in log and "\u202e" not in log, "a name changes how the log is seen")
    attack.check("left out" in log, "it does not say how many lines were left out")
    attack.stop()


def named(options, folder, wrong):
    """256 hostile names are gone after the attack."""
    attack = Attack(options, folder, "names", wrong)
    with hostile_users(lambda number: take_names(attack.path, number * 32, 32)):
        # Each name is a change, of which a user has 16 at once and one every 2 s after that.
        attack.bench.run(until=time.monotonic() + 45)
        hostile = [client for client in known(attack) if client["name"].startswith("hostile")]
        attack.tell("hostile names known during the attack", len(hostile), "", 33)
    victims = [client for client in known(attack) if client["name"] == "victim"]
    attack.check(victims and victims[0]["authorization"] == "always", "the victim is not known any more")
    attack.stop()
    attack.start()
    hostile = [client for client in known(attack) if client["name"].startswith("hostile")]
    attack.tell("hostile names known after a restart", len(hostile), "", 1)
    attack.stop()


def starved(options, folder, wrong):
    """The service may open 80 files, and nine users hold connections."""
    attack = Attack(options, folder, "descriptors", wrong, descriptors=80)
    with hostile_users(lambda number: hold_silent(attack.path)):
        found = attack.run(12)
    attack.tell("a victim's fix after", found["delay_ms"], "ms", 50)
    attack.tell("root is served after", found["root_ms"], "ms", 1_000)
    attack.tell("processor", found["processor"], "%", 20)
    attack.tell("log lines a second", found["lines"], "", 1)
    attack.stop()


SCENARIOS = (crowd, silent, flooded, named, starved)


def all_of(options, folder):
    """Everything above, one after the other; gives what was wrong."""
    wrong = []
    if os.geteuid() != 0:
        print("torture-service: the attacks are passed over: only root starts processes of other users", file=sys.stderr)
        return wrong
    chosen = None if options.attack == "all" else options.attack.split(",")
    subprocess.run(["chmod", "755", folder], check=True)
    for scenario in SCENARIOS:
        if chosen is None or scenario.__name__ in chosen:
            print(f"torture-service: {scenario.__doc__.splitlines()[0]}", file=sys.stderr, flush=True)
            scenario(options, folder, wrong)
    return wrong
