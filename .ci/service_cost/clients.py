"""Clients of both services, and the event loop that feeds the receiver's lines and reads the clients' sockets."""

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
    """Writes to the lines and reads the clients' sockets, on one thread."""

    def __init__(self):
        self.selector = selectors.DefaultSelector()
        self.feed = None
        self.lines = []

    def register(self, sock, client):
        self.selector.register(sock, selectors.EVENT_READ, client)

    def run(self, until=None, enough=None):
        """Runs until a time of the monotonic clock, or until `enough()` returns true."""
        while True:
            now = time.monotonic()
            if self.feed and now >= self.feed.due:
                self.feed.step()
                for line in self.lines:
                    line.discard_input()
                continue
            if (until is not None and now >= until) or (enough and enough()):
                return
            deadlines = [now + 0.2 if until is None else until]
            if self.feed:
                deadlines.append(self.feed.due)
            for key, _ in self.selector.select(max(0, min(deadlines) - now)):
                if not key.data.receive():
                    self.selector.unregister(key.fileobj)

    def run_epochs(self, count):
        """Runs until `count` further epochs are complete, and a little longer: between two epochs."""
        last = self.feed.number + count
        self.run(until=self.feed.began + last * self.feed.period - 0.05 * self.feed.period)


class GpsdClient:
    """A client that watches in JSON mode: of gpsd at a port, or of torpord at the path of a socket."""

    def __init__(self, bench, address):
        if isinstance(address, int):
            self.socket = socket.create_connection(("127.0.0.1", address))
        else:
            self.socket = _connected(address)
        self.socket.sendall(b'?WATCH={"enable":true,"json":true};\n')
        self.received = {}
        self.partial = b""
        bench.register(self.socket, self)

    def receive(self):
        data = self.socket.recv(65536)
        now = time.monotonic()
        lines = (self.partial + data).split(b"\n")
        self.partial = lines.pop()
        for line in lines:
            found = TIME.search(line)
            if found:
                self.received.setdefault(_utc_us(found[1].decode()), now)
        return bool(data)

    def close(self):
        self.socket.close()


def _utc_us(text):
    whole, _, part = text.rstrip("Z").partition(".")
    seconds = time.strptime(whole + " UTC", "%Y-%m-%dT%H:%M:%S %Z")
    return calendar.timegm(seconds) * 1_000_000 + int((part + "000000")[:6])


class TorporClient:
    """A client with the two connections of the interface: one for calls, one for notices."""

    def __init__(self, bench, path, name, calls=(("StartUpdating", {}),), acknowledges=True):
        self.bench = bench
        self.path = path
        self.acknowledges = acknowledges
        self.received = {}
        self.names = []
        self.frames = 0
        self.acknowledged = 0
        self.partial = b""
        self.control = _connected(path)
        self.session = self.call("Connect", {"name": name})["session"]
        self.socket = _connected(path)
        self.socket.sendall(_call("Watch", {"session": self.session}, more=True))
        for method, parameters in calls:
            self.call(method, parameters)
        bench.register(self.socket, self)

    def call(self, method, parameters):
        """Returns the reply to a call; use it only while the service is idle."""
        self.control.sendall(_call(method, parameters))
        data = b""
        while not data.endswith(b"\0"):
            part = self.control.recv(65536)
            if not part:
                raise ConnectionError(f"the service closed the connection at {method}")
            data += part
        reply = json.loads(data[:-1])
        if "error" in reply:
            raise RuntimeError(f"{method}: {reply}")
        return reply["parameters"]

    def receive(self):
        try:
            data = self.socket.recv(262144)
        except ConnectionError:
            return False
        now = time.monotonic()
        frames = (self.partial + data).split(b"\0")
        self.partial = frames.pop()
        last = None
        for frame in frames:
            self.frames += 1
            for found in FIX.finditer(frame):
                last = (int(found[1]), int(found[2]))
                self.names.append(last)
            for found in UTC.finditer(frame):
                self.received.setdefault(int(found[1]), now)
        if last and self.acknowledges:
            self.acknowledged += 1
            self.control.sendall(
                _call("Acknowledge", {"generation": last[0], "sequence": last[1]}, oneway=True))
        return bool(data)

    def close(self):
        self.socket.close()
        self.control.close()


class FloorClient:
    """A client of the program `floor`: replies to each input with as many bytes as an acknowledgement has, or not."""

    def __init__(self, bench, path, replies=True):
        self.replies = replies
        end = time.monotonic() + 10
        self.socket = socket.socket(socket.AF_UNIX)
        while self.socket.connect_ex(path) and time.monotonic() < end:
            time.sleep(0.01)
        bench.register(self.socket, self)

    def receive(self):
        data = self.socket.recv(65536)
        if data and self.replies:
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
