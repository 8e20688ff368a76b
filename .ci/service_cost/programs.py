"""The measured programs: starting them, and their counters in the kernel."""

import fcntl
import glob
import os
import pathlib
import pty
import re
import shutil
import signal
import socket
import subprocess
import termios
import time
import tty


class Line:
    """A pseudo-terminal in place of a receiver's line; commands to the receiver are discarded."""

    def __init__(self):
        self.master, self.slave = pty.openpty()
        tty.setraw(self.slave)
        os.set_blocking(self.master, False)
        self.path = os.ttyname(self.slave)
        # gpsd drops its privileges before it reopens the line.
        os.chmod(self.path, 0o666)

        # Whether output is lost, as while a board is suspended.
        self.is_lost = False

    def write(self, data):
        if self.is_lost:
            return
        try:
            os.write(self.master, data)
        except BlockingIOError:
            pass  # the line is not read, and the kernel's buffer is full

    def discard_input(self):
        try:
            os.read(self.master, 65536)
        except OSError:
            pass

    def release_exclusive_mode(self):
        """Ends the exclusive mode set by a killed program; the mode persists because this process keeps the line open."""
        fcntl.ioctl(self.slave, termios.TIOCNXCL)

    def close(self):
        os.close(self.slave)
        os.close(self.master)


class Program:
    """A running program, with or without strace around it."""

    def __init__(self, command, environment=None, trace=None, log=None):
        self.trace = trace
        if trace:
            options = ["-f", "-q", "-ttt", "-s", "1024", "-e", "signal=none", "-o", trace]
            command = ["strace", *options, *command]
        self.log = open(log or os.devnull, "ab")
        self.began = time.monotonic()
        self.process = subprocess.Popen(
            command, env={**os.environ, **(environment or {})}, stdin=subprocess.DEVNULL,
            stdout=self.log, stderr=self.log)

    @property
    def pid(self):
        return self.process.pid

    def stop(self):
        if self.process.poll() is None:
            # strace does not forward signals, so its child is signalled.
            for child in self._children() if self.trace else [self.pid]:
                os.kill(child, signal.SIGTERM)
            try:
                self.process.wait(10)
            except subprocess.TimeoutExpired:
                self.process.kill()
                self.process.wait()
        self.log.close()
        return self.process.returncode

    def _children(self):
        with open(f"/proc/{self.pid}/task/{self.pid}/children") as file:
            return [int(child) for child in file.read().split()]

    # Counters of the kernel.

    def counts(self):
        """Wakes, and nanoseconds of running and of waiting for a processor, summed over all threads."""
        wakes = run = wait = 0
        for task in glob.glob(f"/proc/{self.pid}/task/*"):
            with open(task + "/status") as file:
                wakes += int(re.search(r"^voluntary_ctxt_switches:\s+(\d+)", file.read(), re.M)[1])
            with open(task + "/schedstat") as file:
                first, second, _ = file.read().split()
                run += int(first)
                wait += int(second)
        return {"wakes": wakes, "run_ns": run, "wait_ns": wait}

    def faults(self):
        """Number of minor and major page faults."""
        with open(f"/proc/{self.pid}/stat") as file:
            fields = file.read().rsplit(")", 1)[1].split()
        return int(fields[7]) + int(fields[9])

    def resident_kb(self, without=None):
        """Resident memory in kB, excluding the mapping of the file `without`."""
        total = 0
        is_excluded = False
        with open(f"/proc/{self.pid}/smaps") as file:
            for line in file:
                if re.match(r"[0-9a-f]+-[0-9a-f]+ ", line):
                    is_excluded = without is not None and line.rstrip().endswith(without)
                elif line.startswith("Rss:") and not is_excluded:
                    total += int(line.split()[1])
        return total

    def calls(self, begin, end):
        """System calls between two times of the wall clock, by name; requires a trace."""
        found = {}
        with open(self.trace, errors="replace") as file:
            for line in file:
                call = re.match(r"\d+\s+(\d+\.\d+) (\w+)\(", line) or re.match(r"(\d+\.\d+) (\w+)\(", line)
                if call and begin <= float(call[1]) < end:
                    found[call[2]] = found.get(call[2], 0) + 1
        return found


    def sent(self, pattern):
        """Wall clock of the first system call whose data contain each match of `pattern`; requires a trace."""
        found = {}
        with open(self.trace, errors="replace") as file:
            for line in file:
                call = re.match(r"(?:\d+\s+)?(\d+\.\d+) (?:send|write)\w*\(", line)
                for key in re.findall(pattern, line) if call else ():
                    found.setdefault(key, float(call[1]))
        return found


class Torpord(Program):
    """The service with its own state folder and socket; the constructor returns when it is ready."""

    def __init__(self, binary, board, line, folder, trace=None, policy=None, options=()):
        self.folder = folder
        os.makedirs(folder, exist_ok=True)
        self.socket = folder + "/socket"
        self.gpsd_socket = folder + "/gpsd"
        self.helper_socket = folder + "/helper"
        self.ring = folder + "/ring"
        notify = folder + "/notify"
        if os.path.exists(notify):
            os.unlink(notify)
        with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as manager:
            manager.bind(notify)
            manager.settimeout(30)
            command = [binary, "--board", board, "--line", line.path, "--socket", self.socket, "--state", folder,
                       "--gpsd", self.gpsd_socket, "--gpsd-helper", self.helper_socket]
            if policy:
                command += ["--clients", policy]
            command += options
            super().__init__(command, {"NOTIFY_SOCKET": notify}, trace, folder + "/log")
            try:
                while b"READY=1" not in manager.recv(4096):
                    pass
            except socket.timeout:
                self.stop()
                with open(folder + "/log") as file:
                    raise SystemExit("bench-service: torpord does not start:\n" + file.read()) from None
            self.ready_s = time.monotonic() - self.began


class TCPServer(Program):
    """A program that listens on a port of its own for local clients; `command` gives its command from the port."""

    def __init__(self, command, log, trace=None):
        with socket.socket() as probe:
            probe.bind(("127.0.0.1", 0))
            self.port = probe.getsockname()[1]
        command = command(str(self.port))
        super().__init__(command, None, trace, log)
        end = time.monotonic() + 30
        while True:
            try:
                socket.create_connection(("127.0.0.1", self.port)).close()
                return
            except OSError:
                if time.monotonic() > end or self.process.poll() is not None:
                    raise SystemExit(f"bench-service: {command[0]} does not start") from None
                time.sleep(0.02)


class Gpsd(TCPServer):
    """gpsd."""

    def __init__(self, line, folder, trace=None):
        os.makedirs(folder, exist_ok=True)
        super().__init__(
            lambda port: [gpsd_path(), "-N", "-n", "-S", port, line.path], folder + "/log", trace)


class GpsdHelper(TCPServer):
    """torpor-gpsd, which accepts TCP connections for a service; it is built beside torpord."""

    def __init__(self, torpord, binary):
        helper = str(pathlib.Path(binary).with_name("torpor-gpsd"))
        super().__init__(
            lambda port: [helper, "--service", torpord.helper_socket, "--port", port], torpord.folder + "/helper-log")


def gpsd_path():
    """Path of gpsd: Debian installs it in /usr/sbin."""
    return shutil.which("gpsd") or shutil.which("gpsd", path="/usr/sbin:/usr/local/sbin")


def gpsd_version():
    """Version as gpsd prints it."""
    if not gpsd_path():
        return None
    text = subprocess.run([gpsd_path(), "-V"], capture_output=True, text=True, check=False).stdout
    return text.strip().splitlines()[0] if text.strip() else "unknown"


def stop(lines, *both):
    for program in both:
        if program:
            program.stop()
    for line in lines:
        line.close()
