"""Clients of both services, and the one loop that feeds the receiver's lines and hears the clients."""

import calendar
import json
import re
import selectors
import socket
import time

INTERFACE = "org.torpor.Location."
FIX = re.compile(rb'"generation":(\d+),"sequence":(\d+)')
UTC = re.compile(rb'"utc_us":(\d+)')
TIME = re.compile(rb'"class":"TPV".*?"time":"([^"]+)"')


class Bench:
    """Feeds and hears, on one thread."""

    def __init__(self):
        self.selector = selectors.DefaultSelector()
        self.feed = None
        self.lines = []

    def hear(self, sock, client):
        self.selector.register(sock, selectors.EVENT_READ, client)

    def run(self, until=None, enough=None):
        """Until a moment of the monotonic clock, or until `enough()` says so."""
        while True:
            now = time.monotonic()
            if self.feed and now >= self.feed.due:
                self.feed.step()
                for line in self.lines:
                    line.drop()
                continue
            if (until is not None and now >= until) or (enough and enough()):
                return
            ends = [now + 0.2 if until is None else until]
            if self.feed:
                ends.append(self.feed.due)
            for key, _ in self.selector.select(max(0, min(ends) - now)):
                if not key.data.receive():
                    self.selector.unregister(key.fileobj)

    def run_epochs(self, count):
        """Until `count` further epochs are through, and a little longer: between two epochs."""
        last = self.feed.number + count
        self.run(until=self.feed.began + last * self.feed.period - 0.05 * self.feed.period)


class GpsdClient:
    """A program that watches as gpsd's own clients do."""

    def __init__(self, bench, port):
        self.socket = socket.create_connection(("127.0.0.1", port))
        self.socket.sendall(b'?WATCH={"enable":true,"json":true};\n')
        self.heard = {}
        self.rest = b""
        bench.hear(self.socket, self)

    def receive(self):
        data = self.socket.recv(65536)
        now = time.monotonic()
        lines = (self.rest + data).split(b"\n")
        self.rest = lines.pop()
        for line in lines:
            found = TIME.search(line)
            if found:
                self.heard.setdefault(_utc_us(found[1].decode()), now)
        return bool(data)

    def close(self):
        self.socket.close()


def _utc_us(text):
    whole, _, part = text.rstrip("Z").partition(".")
    seconds = time.strptime(whole + " UTC", "%Y-%m-%dT%H:%M:%S %Z")
    return calendar.timegm(seconds) * 1_000_000 + int((part + "000000")[:6])


class TorporClient:
    """A program with the two connections of the interface: it speaks on one and hears on the other."""

    def __init__(self, bench, path, name, calls=(("StartUpdating", {}),), acknowledges=True):
        self.bench = bench
        self.path = path
        self.acknowledges = acknowledges
        self.heard = {}
        self.names = []
        self.frames = 0
        self.acknowledged = 0
        self.rest = b""
        self.control = _connected(path)
        self.session = self.ask("Connect", {"name": name})["session"]
        self.socket = _connected(path)
        self.socket.sendall(_call("Watch", {"session": self.session}, more=True))
        for method, parameters in calls:
            self.ask(method, parameters)
        bench.hear(self.socket, self)

    def ask(self, method, parameters):
        """The answer to a call; the service has nothing else to do meanwhile."""
        self.control.sendall(_call(method, parameters))
        data = b""
        while not data.endswith(b"\0"):
            part = self.control.recv(65536)
            if not part:
                raise ConnectionError(f"the service closed the connection at {method}")
            data += part
        answer = json.loads(data[:-1])
        if "error" in answer:
            raise RuntimeError(f"{method}: {answer}")
        return answer["parameters"]

    def receive(self):
        try:
            data = self.socket.recv(262144)
        except ConnectionError:
            return False
        now = time.monotonic()
        frames = (self.rest + data).split(b"\0")
        self.rest = frames.pop()
        last = None
        for frame in frames:
            self.frames += 1
            for found in FIX.finditer(frame):
                last = (int(found[1]), int(found[2]))
                self.names.append(last)
            for found in UTC.finditer(frame):
                self.heard.setdefault(int(found[1]), now)
        if last and self.acknowledges:
            self.acknowledged += 1
            self.control.sendall(
                _call("Acknowledge", {"generation": last[0], "sequence": last[1]}, oneway=True))
        return bool(data)

    def close(self):
        self.socket.close()
        self.control.close()


class FloorClient:
    """A client of the floor: answers what it hears with as many bytes as an acknowledgement has."""

    def __init__(self, bench, path):
        end = time.monotonic() + 10
        self.socket = socket.socket(socket.AF_UNIX)
        while self.socket.connect_ex(path) and time.monotonic() < end:
            time.sleep(0.01)
        bench.hear(self.socket, self)

    def receive(self):
        data = self.socket.recv(65536)
        if data:
            self.socket.sendall(b"x" * 100)
        return bool(data)

    def close(self):
        self.socket.close()


def _connected(path):
    sock = socket.socket(socket.AF_UNIX)
    sock.connect(path)
    return sock


def _call(method, parameters, **flags):
    return json.dumps({"method": INTERFACE + method, "parameters": parameters, **flags}).encode() + b"\0"
