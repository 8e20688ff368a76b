"""The rules that programs rely on, checked on bytes."""

import json
import os
import socket
import struct
import time

from gpsd_clients.checks import Check, require


class Client:
    """A connection by TCP, or to torpord's local socket."""

    def __init__(self, server, local=False, host="127.0.0.1"):
        if local:
            self.sock = socket.socket(socket.AF_UNIX)
            self.sock.connect(server.socket)
        else:
            self.sock = socket.create_connection((host, server.port))
        self.text = b""

    def ask(self, text, seconds=0.5):
        """Sends a text and returns what is received within a time."""
        if text:
            self.sock.sendall(text.encode())
        return self.read(seconds)

    def read(self, seconds):
        end = time.monotonic() + seconds
        data = b""
        while time.monotonic() < end:
            self.sock.settimeout(max(0.01, end - time.monotonic()))
            try:
                part = self.sock.recv(65536)
            except (socket.timeout, BlockingIOError):
                break
            except ConnectionError:
                return data.decode() + "<closed>"
            if not part:
                return data.decode() + "<closed>"
            data += part
        return data.decode()

    def close(self):
        self.sock.close()


def _classes(text):
    return [json.loads(line)["class"] for line in text.split("\r\n") if line.startswith("{")]


def greeting(server):
    client = Client(server)
    text = client.read(1)
    require(text.startswith('{"class":"VERSION",') and text.endswith("}\r\n"), text)
    require(text.count("\n") == 1, "more than the greeting: " + text)
    require(json.loads(text)["proto_major"] == 3, text)


def requests(server):
    client = Client(server)
    client.read(0.3)
    text = client.ask("?VERSION;?DEVICES;?WATCH;?POLL;?DEVICE;?FOO;\nhello\n")
    require(_classes(text) == ["VERSION", "DEVICES", "DEVICES", "WATCH", "POLL", "DEVICE", "ERROR"], text)
    poll = [json.loads(line) for line in text.split("\r\n") if "POLL" in line][0]
    require(poll["active"] == 0 and poll["tpv"] == [] and poll["sky"] == [], text)
    device = [json.loads(line) for line in text.split("\r\n") if '"DEVICES"' in line][0]["devices"][0]
    require(device["path"] == server.device and "bps" in device, text)


def pieces(server):
    client = Client(server)
    client.read(0.3)
    client.sock.sendall(b'?WATCH={"ena')
    time.sleep(0.2)
    text = client.ask('ble":true,"json":true}', 2.5)
    classes = _classes(text)
    require(classes[:2] == ["DEVICES", "WATCH"] and "TPV" in classes, text)


def web(server):
    client = Client(server)
    client.read(0.3)
    text = client.ask('POST / HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n?WATCH={"enable":true,"json":true};\r\n', 1.5)
    require("TPV" not in text and text.endswith("<closed>"), text)


def bursts(server):
    """The fix is the first object of each read, as gps3 and Home Assistant need it."""
    client = Client(server)
    client.read(0.3)
    client.ask('?WATCH={"enable":true,"json":true}', 0.3)
    client.sock.settimeout(5)
    for _ in range(4):
        # What one read returns; nothing is joined.
        burst = client.sock.recv(65536).decode("ascii")
        lines = burst.split("\r\n")
        require(lines[0].startswith('{"class":"TPV","device":"'), lines[0])
        require(lines[-1] == "" and max(map(len, lines)) <= 10240, burst)
        require(sum('"class":"TPV"' in line for line in lines) == 1, "not one epoch: " + burst)
        require("null" not in burst and "NaN" not in burst, burst)


def disable(server):
    client = Client(server)
    client.read(0.3)
    client.ask('?WATCH={"enable":true,"json":true}', 1.5)
    text = client.ask('?WATCH={"enable":false}', 0.3)
    require("WATCH" in _classes(text), text)
    require(client.read(2.2) == "", "data after enable false")


def poll(server):
    client = Client(server)
    client.read(0.3)
    client.ask('?WATCH={"enable":true}')
    found = None
    for _ in range(6):
        text = client.ask("?POLL;", 1)
        found = json.loads(text.split("\r\n")[0])
        if found["tpv"] and found["tpv"][0].get("mode", 0) == 3:
            break
    require(found["active"] == 1 and found["tpv"][0]["mode"] == 3 and found["sky"], text)
    require(abs(found["tpv"][0]["lat"] - 48.1) < 0.1, text)


def home_assistant(server):
    """Connects and shuts down to test the port, then connects again and watches."""
    first = Client(server)
    first.sock.shutdown(socket.SHUT_RDWR)
    first.close()
    second = Client(server)
    second.read(0.5)
    text = second.ask('?WATCH={"enable":true,"json":true};\r\n', 2.5)
    require("TPV" in _classes(text), text)


def forty(server):
    """Forty clients, one of which never reads: it requests more than all buffers hold."""
    all_clients = [Client(server) for _ in range(40)]
    for client in all_clients:
        client.sock.sendall(b'?WATCH={"enable":true,"json":true}')
    silent = all_clients[0].sock
    silent.setblocking(False)
    blocked = 0
    for _ in range(400):
        try:
            silent.send(b"?POLL;" * 20000)
            blocked = 0
        except BlockingIOError:
            blocked += 1
        if blocked == 20:
            break
        time.sleep(0.02)
    require(blocked == 20, "the server reads on, although its output is not read")
    for client in all_clients[1:]:
        client.read(0.01)
    time.sleep(1.5)
    for client in all_clients[1:]:
        require("TPV" in client.read(0.3), "a client receives no fix")
    for client in all_clients:
        client.close()


def latency(server):
    """WATCH is answered within 10 ms. The best of ten counts, because other programs run at the same time."""
    best = 1.0
    for _ in range(10):
        client = Client(server)
        client.read(0.3)
        begin = time.monotonic()
        client.sock.sendall(b'?WATCH={"enable":true,"json":true}')
        client.sock.settimeout(2)
        client.sock.recv(4096)
        best = min(best, time.monotonic() - begin)
        client.close()
    require(best < 0.01, f"{best * 1000:.1f} ms")


def rubbish(server):
    client = Client(server)
    client.read(0.3)
    client.sock.sendall(os.urandom(20_000).replace(b"?", b"!") + b"\n")
    text = client.ask("?VERSION;")
    require("VERSION" in text, text)


def local(server):
    """The local socket speaks the same protocol."""
    client = Client(server, local=True)
    require(client.read(0.5).startswith('{"class":"VERSION",'), "no greeting")
    text = client.ask('?WATCH={"enable":true,"json":true,"nmea":true}', 2.5)
    require("TPV" in text and "$GNRMC" in text, text)


def many(server):
    """After a thousand connections, some of which end at once, no descriptor remains. Not with other checks at a time."""
    # The connections of earlier checks are closed.
    time.sleep(1)
    before = server.descriptors()
    for number in range(1000):
        client = Client(server)
        if number % 2:
            client.sock.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        else:
            client.read(2) if number % 100 == 0 else client.sock.recv(4096)
        client.close()
    end = time.monotonic() + 5
    while server.descriptors() != before and time.monotonic() < end:
        time.sleep(0.1)
    require(server.descriptors() == before, f"{server.descriptors()} descriptors, {before} before")


def restart(server):
    """The helper hands over connections to a service that was started again. Not with other checks at a time."""
    server.restart()
    require(server.has_fix(time.monotonic() + 20), "no fix after the restart")


def _as_user(server, user, text, seconds):
    """What a program of another user receives by TCP."""
    read, write = os.pipe()
    child = os.fork()
    if child == 0:
        try:
            os.setgid(65534)
            os.setuid(user)
            client = Client(server)
            os.write(write, client.ask(text, seconds).encode()[:60000])
        finally:
            os._exit(0)
    os.close(write)
    data = b""
    while part := os.read(read, 65536):
        data += part
    os.close(read)
    os.waitpid(child, 0)
    return data.decode()


def refused_user(server):
    """A user without permission is greeted, and receives one report without a fix."""
    text = _as_user(server, 2, '?WATCH={"enable":true,"json":true}', 4)
    require(_classes(text) == ["VERSION", "DEVICES", "WATCH", "TPV"], text)
    require('"mode":1' in text and "lat" not in text, text)


def reduced_user(server):
    """A user with reduced accuracy receives a coarse position only."""
    text = _as_user(server, 1, '?WATCH={"enable":true,"json":true}', 6)
    fixes = [json.loads(line) for line in text.split("\r\n") if '"TPV"' in line]
    fixes = [fix for fix in fixes if "lat" in fix]
    require(fixes, text)
    require("SKY" not in text, text)
    for fix in fixes:
        require(fix["eph"] > 1000, text)
        for name in ("alt", "altHAE", "altMSL", "speed", "track", "climb"):
            require(name not in fix, f"{name} in {fix}")


def ipv6(server):
    """[::1] is served; on a host without IPv6, 127.0.0.1 alone, which all other checks show."""
    if not server.has_ipv6:
        try:
            Client(server, host="::1")
        except OSError:
            return
        raise AssertionError("[::1] is served, although IPv6 is off")
    client = Client(server, host="::1")
    require(client.read(1).startswith('{"class":"VERSION",'), "no greeting")
    require("TPV" in client.ask('?WATCH={"enable":true,"json":true}', 2.5), "the user is not permitted")


CHECKS = [
    Check(greeting), Check(requests), Check(pieces, reference=False), Check(web, reference=False),
    Check(bursts, reference=False), Check(disable), Check(poll), Check(home_assistant),
    Check(forty, reference=False), Check(latency, reference=False), Check(rubbish, reference=False),
    Check(local, reference=False), Check(ipv6, reference=False), Check(refused_user, reference=False), Check(reduced_user, reference=False),
]

# One after the other, after all others.
LAST_CHECKS = [Check(many, reference=False), Check(restart, reference=False)]
