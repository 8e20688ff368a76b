"""The servers, each with its receiver, and the run of all programs against one of them."""

import concurrent.futures
import os
import shutil
import socket
import subprocess
import sys
import threading
import time
import traceback

from gpsd_clients import programs as clients
from gpsd_clients import protocol
from service_cost import programs, streams

PORT = 2947
FEEDS = {"nmea": streams.nmea, "ubx": streams.nav_pvt, "gpsd": streams.nmea}
PACKAGES = ["gpsd-py3", "gps3", "gpsdclient"]


def make_environment(folder):
    """A virtual environment with the clients of PyPI."""
    subprocess.run([sys.executable, "-m", "venv", "--system-site-packages", folder + "/venv"], check=True)
    subprocess.run([folder + "/venv/bin/pip", "install", "-q", *PACKAGES], check=True)


class Server:
    """torpord with its helper, or gpsd; a thread writes one epoch a second to its line."""

    def __init__(self, options, name, folder):
        self.name = name
        self.is_gpsd = name == "gpsd"
        self.port = PORT
        self.folder = folder
        self.full = options.full
        self.venv = os.path.dirname(folder) + "/venv"
        self.line = programs.Line()
        self.device = self.line.path
        self.socket = None
        self.is_feeding = True
        self.must_run_all = options.all
        self.has_ipv6 = has_ipv6(is_off=name == "ubx")
        self.processes = []
        if self.is_gpsd:
            self.main = programs.Program(
                [programs.gpsd_path(), "-N", "-n", "-S", str(PORT), self.line.path], log=folder + "/gpsd.log")
        else:
            self.start_torpord(options)
        self.feeder = threading.Thread(target=self.feed, daemon=True)
        self.feeder.start()
        self.wait()

    def start_torpord(self, options):
        self.socket = self.folder + "/gpsd.sock"
        self.own_socket = self.folder + "/socket"
        helper = self.folder + "/helper.sock"
        policy = self.folder + "/clients.toml"
        with open(policy, "w") as file:
            file.write(
                'default = "deny"\n[[rule]]\nuser = 0\naccess = "always"\n'
                '[[rule]]\nclient = "gpsd"\nuser = 1\naccess = "always"\nreduced = true\n'
                '[[rule]]\nuser = 2\naccess = "deny"\n')
        self.command = [
            options.torpord, "--board", options.board, "--line", self.line.path, "--socket", self.own_socket,
            "--state", self.folder, "--clients", policy, "--gpsd", self.socket, "--gpsd-helper", helper]
        self.main = programs.Program(self.command, log=self.folder + "/torpord.log")
        self.processes.append(
            programs.Program([options.helper, "--service", helper], log=self.folder + "/helper.log"))

    def restart(self):
        """Starts torpord again; the helper continues."""
        code = self.main.stop()
        if code != 0:
            raise AssertionError(f"torpord ended with {code}")
        self.main = programs.Program(self.command, log=self.folder + "/torpord.log")
        self.wait()

    def descriptors(self):
        """Number of open descriptors of torpord and the helper."""
        return [len(os.listdir(f"/proc/{one.process.pid}/fd")) for one in [self.main, *self.processes]]

    def feed(self):
        feed = streams.Feed([self.line], FEEDS[self.name])
        while self.is_feeding:
            time.sleep(max(0, feed.due - time.monotonic()))
            feed.step()
            self.line.discard_input()

    def wait(self):
        """Waits until the port answers and the receiver has a fix."""
        end = time.monotonic() + 40
        while not self.has_fix(end):
            if time.monotonic() > end or self.main.process.poll() is not None:
                raise SystemExit(f"test-gpsd: {self.name} does not start")
            time.sleep(0.1)

    def has_fix(self, end):
        try:
            with socket.create_connection(("127.0.0.1", PORT)) as sock:
                sock.settimeout(5)
                sock.sendall(b'?WATCH={"enable":true,"json":true}')
                data = b""
                while time.monotonic() < end:
                    part = sock.recv(65536)
                    data += part
                    if not part or b'"mode":3' in data:
                        return bool(part)
        except OSError:
            pass
        return False

    def stop(self):
        self.is_feeding = False
        self.feeder.join()
        for process in self.processes:
            process.stop()
        code = self.main.stop()
        self.line.close()
        return code


def has_ipv6(is_off):
    """Whether this network namespace has IPv6. With `is_off`, switches it off, as on a host without it."""
    if is_off:
        try:
            with open("/proc/sys/net/ipv6/conf/all/disable_ipv6", "w") as file:
                file.write("1")
        except OSError as error:
            print(f"test-gpsd: IPv6 cannot be switched off: {error}")
    with socket.socket(socket.AF_INET6) as sock:
        try:
            sock.bind(("::1", 0))
            return True
        except OSError:
            return False


def run(options):
    """Runs all programs against one server, in this network namespace. Returns the exit code."""
    name = options.inside
    subprocess.run(["ip", "link", "set", "lo", "up"], check=True)
    if name == "gpsd" and not programs.gpsd_path():
        print("test-gpsd: gpsd is not installed; there is no reference")
        return 0
    folder = f"{options.folder}/{name}"
    os.makedirs(folder)
    server = Server(options, name, folder)
    chosen = set(filter(None, options.only.split(",")))
    checks = [check for check in clients.CHECKS + protocol.CHECKS if not chosen or check.name in chosen]
    failures = 0
    with concurrent.futures.ThreadPoolExecutor(max_workers=8) as pool:
        for done in concurrent.futures.as_completed([pool.submit(attempt, check, server) for check in checks]):
            failures += report(name, *done.result())
    for check in protocol.LAST_CHECKS:
        if not chosen or check.name in chosen:
            failures += report(name, *attempt(check, server))
    code = server.stop()
    if not server.is_gpsd:
        failures += report(name, "torpord", None if code == 0 else f"FAILED: exit code {code}")
    if failures:
        for log in ("torpord.log", "helper.log"):
            if os.path.exists(f"{folder}/{log}"):
                sys.stdout.write(open(f"{folder}/{log}", errors="replace").read()[-2000:])
    return 1 if failures else 0


def report(name, program, problem):
    """Prints the result of a check; returns the number of failures."""
    print(f"test-gpsd: {name:5} {program:16} {problem or 'ok'}", flush=True)
    return 1 if problem is not None and problem.startswith("FAILED") else 0


def attempt(check, server):
    """Name and problem of a check; nil if there is none."""
    if check.is_full and not server.full:
        return check.name, "skipped: only with --full"
    if server.is_gpsd and not check.reference:
        return check.name, "skipped: not for gpsd"
    for program in check.needs:
        if not shutil.which(program) and not os.path.exists(program):
            problem = f"{program} is not installed"
            return check.name, ("FAILED: " if server.must_run_all else "skipped: ") + problem
    try:
        check.run(server)
        return check.name, None
    except Exception as error:  # a failure of a check is reported, whatever it is
        text = str(error) or traceback.format_exc(limit=2)
        return check.name, "FAILED: " + " ".join(text.split())[:600]
