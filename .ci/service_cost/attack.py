"""Attacks of users without permission on the service, with processes of several users; requires root.

Each scenario prints its measurements and their bounds (Docs/Reference/resources.md).
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

# Users without permission.
HOSTILE = range(61_000, 61_009)
VICTIM = 62_000
POLICY = f"[[rule]]\nuser = {VICTIM}\naccess = \"always\"\n"


def as_user(user, body):
    """Starts a child process of that user that runs `body` until it is killed; returns its pid."""
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


def connected(path, timeout=None):
    """A connection, or None if it is refused or times out."""
    sock = socket.socket(socket.AF_UNIX)
    sock.settimeout(timeout)
    try:
        sock.connect(path)
        return sock
    except OSError:
        sock.close()
        return None


def call(method, parameters=None, interface=clients.INTERFACE, **flags):
    return clients.json.dumps({"method": interface + method, "parameters": parameters or {}, **flags}).encode() + b"\0"


DESCRIPTION = call("GetInterfaceDescription", {"interface": "org.torpor.Location"}, interface="org.varlink.service.")


def status_delay(path, timeout=5):
    """Seconds until GetStatus is answered on a new connection; infinite if it is not."""
    began = time.monotonic()
    sock = connected(path, timeout)
    if sock is None:
        return float("inf")
    try:
        sock.settimeout(timeout)
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


class StatusPoller:
    """A process of a user that calls GetStatus twice a second and records each response time."""

    def __init__(self, user, path):
        self.read, write = os.pipe()

        def body():
            while True:
                os.write(write, f"{status_delay(path)}\n".encode())
                time.sleep(0.5)

        self.pid = as_user(user, body)
        os.close(write)

    def end(self):
        """Ends the process; returns the longest response time, infinite if a response is missing."""
        end([self.pid])
        with os.fdopen(self.read) as file:
            return max((float(line) for line in file.read().splitlines()), default=float("inf"))


# Programs of the hostile users.


def hold_connections(path, requests_once):
    """Opens as many connections as possible, with calls on each whose replies are never read.

    With `requests_once`, a user requests 400 kB once per connection, below the former limit of a connection;
    otherwise it continues to send calls.
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
            for other in held[-1:] if requests_once else held[-64:]:
                try:
                    other.send(DESCRIPTION * (15 if requests_once else 40))
                except OSError:
                    pass
            del held[:-512]
            time.sleep(0.002)

    return body


def hold_silent(path):
    """Opens as many connections as possible, and sends nothing."""

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
    """Sends calls that change stored state and the log, as many as the service accepts."""

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


def claim_names(path, first, count):
    """Connects with names and starts services that outlive the process."""

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


def flood_gpsd(path, number):
    """Sends requests of gpsd's protocol, rubbish and new names, as many as the service accepts, and reads nothing."""

    def body():
        held = []
        while True:
            sock = connected(path, 1)
            if sock is None:
                time.sleep(0.01)
            else:
                sock.setblocking(False)
                held.append(sock)
            for turn, other in enumerate(held[-32:]):
                name = f"n{number}-{random.randrange(100_000)}"
                data = (
                    b"?POLL;" * 600, os.urandom(4_000), b'?WATCH={"enable":true,"json":true,"nmea":true};' * 60,
                    f'?WATCH={{"json":true,"torpor_name":"{name}"}};'.encode() * 20, b"?WATCH={" + b"[" * 4_000,
                    b"GET / HTTP/1.1\r\n", b"?DEVICES;?VERSION;" * 200)[turn % 7]
                try:
                    other.send(data)
                except OSError:
                    pass
            del held[:-512]
            time.sleep(0.002)

    return body


class Attack:
    """A service with a receiver of five fixes per second, and a victim: a client with permission."""

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
        self.line.release_exclusive_mode()
        self.service = programs.Torpord(self.options.binary, self.board, self.line, self.state, policy=self.policy)
        if self.descriptors:
            resource.prlimit(self.service.pid, resource.RLIMIT_NOFILE, (self.descriptors, self.descriptors))
        self.path = self.service.socket
        # This process is the victim. It has the victim's user id only while it connects, when the service checks the id.
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
        self.check(self.service.stop() == 0, "the exit code after SIGTERM is not 0")

    def check(self, condition, text):
        if not condition:
            self.wrong.append(f"{self.name}: {text}")

    def report(self, what, figure, unit, bound):
        is_met = figure is not None and figure < bound
        shown = "none" if figure is None else f"{figure:.1f}"
        print(f"torture-service: {self.name}: {what} {shown} {unit} (below {bound})", file=sys.stderr, flush=True)
        self.check(is_met, f"{what} is {shown} {unit}, but must be below {bound}")

    def log_lines(self):
        return pathlib.Path(self.service.folder + "/log").read_bytes().splitlines()

    def written(self):
        """Bytes written with write(2) and similar calls: state, log and receiver; not data sent on sockets."""
        text = pathlib.Path(f"/proc/{self.service.pid}/io").read_text(encoding="ascii")
        return int(re.search(r"^wchar: (\d+)", text, re.M)[1])

    def run(self, seconds):
        """Runs during the attack; returns the measurements."""
        self.bench.run(until=time.monotonic() + 2)
        before = {"disk": self.written(), "lines": len(self.log_lines()), "run": self.service.counts()["run_ns"]}
        began = time.monotonic()
        first = len(self.victim.received)
        peak = 0
        root = StatusPoller(0, self.path)
        while time.monotonic() < began + seconds:
            self.bench.run(until=time.monotonic() + 0.5)
            peak = max(peak, self.service.resident_kb(without=self.service.ring))
        duration = time.monotonic() - began
        response = root.end()
        self.bench.run(until=time.monotonic() + 0.5)
        delays = [
            (at - self.bench.feed.ends[utc]) * 1e3 for utc, at in list(self.victim.received.items())[first:]
            if utc in self.bench.feed.ends]
        self.check(len(delays) >= 4 * seconds, f"the victim received {len(delays)} fixes in {seconds} s")
        self.check(self.service.process.poll() is None, "the service has ended")
        return {
            "delay_ms": sorted(delays)[len(delays) * 99 // 100] if delays else None,
            "memory_mb": peak / 1_024,
            "root_ms": response * 1e3,
            "disk_kbps": (self.written() - before["disk"]) / duration / 1e3,
            "lines": (len(self.log_lines()) - before["lines"]) / duration,
            "processor": (self.service.counts()["run_ns"] - before["run"]) / duration / 1e7,
        }

    def report_common(self, found):
        self.report("a victim's fix after", found["delay_ms"], "ms", 50)
        self.report("memory", found["memory_mb"], "MB", 16)
        self.report("root is served after", found["root_ms"], "ms", 1_000)
        self.report("writes", found["disk_kbps"], "kB/s", 20)
        self.report("log lines a second", found["lines"], "", 1)
        print(f"torture-service: {self.name}: processor {found['processor']:.1f} %", file=sys.stderr)


def listed_clients(attack):
    """The clients, as listed for root."""
    sock = connected(attack.path, 5)
    sock.sendall(call("ListClients"))
    data = b""
    while not data.endswith(b"\0"):
        data += sock.recv(65_536)
    sock.close()
    return clients.json.loads(data[:-1])["parameters"]["clients"]


@contextlib.contextmanager
def hostile_users(program):
    """Runs a program per hostile user; `program` creates it from the user's index."""
    children = [as_user(user, program(number)) for number, user in enumerate(HOSTILE)]
    try:
        yield
    finally:
        end(children)


def crowd(options, folder, wrong):
    """Nine users hold all connections that they can open, and read nothing."""
    attack = Attack(options, folder, "crowd", wrong)
    with hostile_users(lambda number: hold_connections(attack.path, number > 0)):
        other = StatusPoller(HOSTILE[-1] + 1, attack.path)
        found = attack.run(12)
        attack.report("a user without clients is served after", other.end() * 1e3, "ms", 1_000)
    attack.report_common(found)
    attack.stop()


def silent(options, folder, wrong):
    """Nine users hold all connections that they can open, and send nothing."""
    attack = Attack(options, folder, "silent", wrong)
    with hostile_users(lambda number: hold_silent(attack.path)):
        found = attack.run(12)
    attack.report_common(found)
    attack.stop()


def flooded(options, folder, wrong):
    """Nine users send calls without end."""
    attack = Attack(options, folder, "flood", wrong)
    with hostile_users(lambda number: flood(attack.path, number)):
        found = attack.run(30)
    attack.report_common(found)
    log = b"\n".join(attack.log_lines()).decode(errors="replace")
    attack.check("\u2028" not in log and "\u202e" not in log, "a client's name changes how the log is displayed")
    attack.check("were omitted" in log, "the log does not report how many lines were omitted")
    attack.stop()


def named(options, folder, wrong):
    """256 hostile names are removed after the attack."""
    attack = Attack(options, folder, "names", wrong)
    with hostile_users(lambda number: claim_names(attack.path, number * 32, 32)):
        # Each name is a change; a user may make 16 changes immediately, then one every 2 s.
        attack.bench.run(until=time.monotonic() + 45)
        hostile = [client for client in listed_clients(attack) if client["name"].startswith("hostile")]
        attack.report("hostile names known during the attack", len(hostile), "", 33)
    victims = [client for client in listed_clients(attack) if client["name"] == "victim"]
    attack.check(victims and victims[0]["authorization"] == "always", "the victim was forgotten")
    attack.stop()
    attack.start()
    hostile = [client for client in listed_clients(attack) if client["name"].startswith("hostile")]
    attack.report("hostile names known after a restart", len(hostile), "", 1)
    attack.stop()


def starved(options, folder, wrong):
    """The service may open 80 files, and nine users hold connections."""
    attack = Attack(options, folder, "descriptors", wrong, descriptors=80)
    with hostile_users(lambda number: hold_silent(attack.path)):
        found = attack.run(12)
    attack.report("a victim's fix after", found["delay_ms"], "ms", 50)
    attack.report("root is served after", found["root_ms"], "ms", 1_000)
    attack.report("processor", found["processor"], "%", 20)
    attack.report("log lines a second", found["lines"], "", 1)
    attack.stop()


def gpsd(options, folder, wrong):
    """Nine users flood the socket of gpsd's protocol; a program with permission reads its fixes there."""
    attack = Attack(options, folder, "gpsd", wrong)
    path = attack.service.gpsd_socket
    os.seteuid(VICTIM)
    try:
        victim = clients.GpsdClient(attack.bench, path)
    finally:
        os.seteuid(0)
    with hostile_users(lambda number: flood_gpsd(path, number)):
        found = attack.run(20)
    attack.check(len(victim.received) > 80, f"a permitted program received {len(victim.received)} fixes")
    attack.report_common(found)
    attack.report("processor", found["processor"], "%", 30)
    victim.close()
    attack.stop()


SCENARIOS = (crowd, silent, flooded, named, starved, gpsd)


def all_of(options, folder):
    """Runs all scenarios one after another; returns the failures."""
    wrong = []
    if os.geteuid() != 0:
        print("torture-service: the attacks are skipped: they require root", file=sys.stderr)
        return wrong
    chosen = None if options.attack == "all" else options.attack.split(",")
    subprocess.run(["chmod", "755", folder], check=True)
    for scenario in SCENARIOS:
        if chosen is None or scenario.__name__ in chosen:
            print(f"torture-service: {scenario.__doc__.splitlines()[0]}", file=sys.stderr, flush=True)
            scenario(options, folder, wrong)
    return wrong
