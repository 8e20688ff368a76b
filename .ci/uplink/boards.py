"""A board for tests: an emulated receiver, torpord and torpor-uplink; and a line of a receiver without a date."""

import datetime
import json
import os
import pathlib
import pty
import re
import signal
import struct
import subprocess
import threading
import time
import tty

from brokers import Programs, wait_until

ROOT = pathlib.Path(__file__).resolve().parents[2]
PROFILE = ROOT / "Boards" / "zero2w-max-m10s" / "profile.toml"
TALKING_PROFILE = ROOT / "Tests" / "Boards" / "streaming" / "profile.toml"


class Line(threading.Thread):
    """A receiver that reports the time of day each second, and the date once `has_date` is set."""

    def __init__(self, path):
        super().__init__(daemon=True)
        self.has_date, self.stopping, self.times = False, False, []
        self.master, self.slave = pty.openpty()
        tty.setraw(self.slave)
        path.symlink_to(os.ttyname(self.slave))

    def run(self):
        while not self.stopping:
            time.sleep(1 - time.time() % 1)
            now = datetime.datetime.fromtimestamp(int(time.time() + 0.5), datetime.timezone.utc)
            self.times.append(int(now.timestamp()) * 1_000_000)
            clock, place = now.strftime("%H%M%S.00"), "5230.9764,N,01322.6622,E"
            if self.has_date:
                self.send(f"GPRMC,{clock},A,{place},4.0,90.0,{now:%d%m%y},,,A")
            self.send(f"GPGGA,{clock},{place},1,08,1.0,40.0,M,45.0,M,,")

    def send(self, text):
        total = 0
        for byte in text.encode():
            total ^= byte
        os.write(self.master, f"${text}*{total:02X}\r\n".encode())


class Board(Programs):
    """The programs of a board, in a folder of its own."""

    def __init__(self, folder, programs, broker, device="board-1", ring=None, line=None):
        super().__init__(folder)
        self.bin, self.broker, self.device = pathlib.Path(programs).absolute(), broker, device
        self.socket, self.line, self.status = self.folder / "s", self.folder / "gnss", self.folder / "status.json"
        self.log, self.clients = self.folder / "uplink.log", self.folder / "clients.toml"
        (self.folder / "state").mkdir(exist_ok=True)
        self.is_talking = line is not None
        self.profile = self.write_profile(ring) if ring else TALKING_PROFILE if line else PROFILE
        self.permit("always")
        self.config = self.write_settings("uplink.toml")

    def begin(self):
        if not self.is_talking:
            self.restart("receiver")
        self.restart("torpord")

    def write_profile(self, ring):
        """The profile with a ring of this many fixes."""
        head, cache, rest = PROFILE.read_text().partition("[cache]\n")
        rest = re.sub(r"(?m)^capacity_fixes = .*", f"capacity_fixes = {ring}", rest, count=1)
        rest = re.sub(r"(?m)^deferral_limit_fixes = .*", f"deferral_limit_fixes = {ring // 2}", rest, count=1)
        path = self.folder / "profile.toml"
        path.write_text(head + cache + rest)
        return path

    def permit(self, access):
        self.clients.write_text(f'default = "{access}"\n')
        if "torpord" in self.running:
            self.running["torpord"].send_signal(signal.SIGHUP)

    def ask(self, *arguments):
        """The output of a command of torpor."""
        return subprocess.run([f"{self.bin}/torpor", *arguments], check=True, stdout=subprocess.PIPE, timeout=60,
                              env=os.environ | {"TORPOR_SOCKET": str(self.socket)}, text=True).stdout

    def next_sequence(self):
        """The sequence number of the next fix."""
        return json.loads(self.ask("status", "--json"))["status"]["next_sequence"]

    def undelivered(self):
        """Number of fixes that the uplink has not acknowledged to the service."""
        return len(self.ask("export", "--quiet", "--json", "--client", "uplink").splitlines())

    def ring(self):
        """Generation, UTC, boot time, latitude and longitude of each fix in the ring's file (Docs/Reference/ring-format.md)."""
        data = (self.folder / "state" / "ring").read_bytes()
        capacity, = struct.unpack_from("<I", data, 16)
        found = {}
        for slot in range(capacity):
            fix = data[1024 + 64 * slot:1088 + 64 * slot]
            if fix[0]:
                utc, boot, latitude, longitude = (
                    int.from_bytes(fix[at:at + size], "little", signed=True) for at, size in ((16, 7), (23, 7), (32, 5), (40, 5)))
                found[int.from_bytes(fix[3:8], "little")] = (
                    int.from_bytes(fix[8:12], "little"), None if utc == -2**55 else utc, boot, latitude, longitude)
        return found

    def report(self):
        """The status that torpor-uplink has written."""
        return json.loads(self.status.read_text())

    def usage(self):
        """Voluntary context switches, kB of memory and seconds of the processor of torpor-uplink."""
        process = pathlib.Path(f"/proc/{self.running['uplink'].pid}")
        lines = dict(line.split(":\t", 1) for line in (process / "status").read_text().splitlines())
        ticks = (process / "stat").read_text().rpartition(")")[2].split()[11:13]
        return (int(lines["voluntary_ctxt_switches"]), int(lines["VmRSS"].split()[0]),
                sum(map(int, ticks)) / os.sysconf("SC_CLK_TCK"))

    def write_secret(self, name, text):
        path = self.folder / name
        path.write_text(text + "\n")
        path.chmod(0o600)
        return path

    def write_settings(self, name, ports=None, device=None, every_s=10, **changes):
        """A file of settings; `changes` replaces keys of each destination, with None to omit one."""
        lines = [f'device = "{device or self.device}"', f"every_s = {every_s}", "slack_s = 2"]
        for port in ports or self.broker.ports[:len(self.broker.nodes)]:
            keys = {"host": "127.0.0.1", "port": port}
            if self.broker.uses_tls:
                keys |= {"ca": "ca.crt", "certificate": f"{self.device}.crt", "key": f"{self.device}.key"}
            else:
                password = self.write_secret("password", self.broker.users[self.device])
                keys |= {"user": self.device, "password_file": str(password)}
            keys |= changes
            lines.append("[[destination]]")
            for key, value in keys.items():
                if key in ("ca", "certificate", "key") and value:
                    value = str(self.broker.folder / value)
                if value is not None:
                    lines.append(f"{key} = {json.dumps(value)}")
        path = self.folder / name
        path.write_text("\n".join(lines) + "\n")
        return path

    def restart(self, name, config=None, number=signal.SIGKILL):
        """Ends a program and starts it again."""
        self.kill(name, number)
        if name == "receiver":
            self.line.unlink(missing_ok=True)
            self.start(name, [f"{self.bin}/torpor", "receiver", "--board", str(PROFILE), "--link", str(self.line)])
            wait_until(self.line.exists, "the receiver starts")
        elif name == "torpord":
            self.socket.unlink(missing_ok=True)
            self.start(name, [f"{self.bin}/torpord", "--no-pins", "--board", str(self.profile), "--line", str(self.line),
                              "--clock", "none", "--socket", str(self.socket), "--state", str(self.folder / "state"),
                              "--clients", str(self.clients)])
            wait_until(self.socket.exists, "torpord starts")
        else:
            self.status.unlink(missing_ok=True)
            self.start(name, [f"{self.bin}/torpor-uplink", "--config", str(config or self.config), "--socket",
                              str(self.socket), "--status", str(self.status)])
            wait_until(self.status.exists, "torpor-uplink starts")

    def watch(self):
        """Starts programs again that have ended, as systemd does."""
        for name in ("torpord", "uplink"):
            process = self.running.get(name)
            if process is None or process.poll() is not None:
                self.restart(name)

    def check(self, config):
        """The exit code and the output of `torpor uplink check`."""
        done = subprocess.run([f"{self.bin}/torpor", "uplink", "check", "--config", str(config)], check=False,
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=120)
        return done.returncode, done.stdout.strip()
