"""Tests torpor-uplink with torpord, an emulated receiver, a broker and the example store, and kills each of them:

    test_uplink.py BROKER FOLDER PROGRAMS [SEED [SECONDS]]

PROGRAMS is the folder with torpor, torpord and torpor-uplink. At the end of each part the table must have every fix that the
service has assigned a number to, except those of reported gaps, and the store must have no hole.
"""

import json
import os
import pathlib
import random
import re
import resource
import signal
import subprocess
import sys
import time

from brokers import KINDS, Postgres, Programs, wait_until
from clients import becomes, is_store_ready, query, watch_store

PROFILE = "zero2w-max-m10s"
# Limits of an upload: context switches of torpor-uplink, and its memory in kB.
SWITCHES, MEMORY = 10, 13_312
failures = []


def check(holds, what, details=""):
    print(f"{'passed' if holds else 'FAILED'}  {what}" + (f": {details}" if not holds else ""), flush=True)
    if not holds:
        failures.append(what)


class Board(Programs):
    """An emulated receiver, torpord and torpor-uplink."""

    def __init__(self, folder, programs, broker, device="board-1", ring=None):
        super().__init__(folder)
        self.bin, self.broker, self.device = pathlib.Path(programs).absolute(), broker, device
        self.socket, self.line, self.status = self.folder / "s", self.folder / "gnss", self.folder / "status.json"
        self.log, self.clients = self.folder / "uplink.log", self.folder / "clients.toml"
        (self.folder / "state").mkdir(exist_ok=True)
        self.profile = self.write_profile(ring) if ring else PROFILE
        self.permit("always")
        self.config = self.write_settings("uplink.toml")
        self.start("receiver", [f"{self.bin}/torpor", "receiver", "--board", PROFILE, "--link", str(self.line)])
        wait_until(self.line.exists, "the receiver starts", 30)
        self.restart("torpord")

    def write_profile(self, ring):
        """The profile with a ring of this many fixes."""
        text = (pathlib.Path(__file__).resolve().parents[2] / "Boards" / PROFILE / "profile.toml").read_text()
        head, cache, rest = text.partition("[cache]\n")
        rest = re.sub(r"(?m)^capacity_fixes = .*", f"capacity_fixes = {ring}", rest, count=1)
        rest = re.sub(r"(?m)^deferral_limit_fixes = .*", f"deferral_limit_fixes = {ring // 2}", rest, count=1)
        path = self.folder / "profile.toml"
        path.write_text(head + cache + rest)
        return path

    def permit(self, access):
        self.clients.write_text(f'default = "{access}"\n')
        if "torpord" in self.running:
            self.running["torpord"].send_signal(signal.SIGHUP)

    def next_sequence(self):
        """The sequence number of the next fix."""
        done = subprocess.run([f"{self.bin}/torpor", "status", "--json"], check=True, stdout=subprocess.PIPE, timeout=30,
                              env=os.environ | {"TORPOR_SOCKET": str(self.socket)})
        return json.loads(done.stdout)["status"]["next_sequence"]

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

    def write_settings(self, name, ports=None, device=None, **changes):
        """A file of settings; `changes` replaces keys of each destination, with None to omit one."""
        lines = [f'device = "{device or self.device}"', "every_s = 10", "slack_s = 2"]
        for port in ports or self.broker.ports[:len(self.broker.nodes)]:
            keys = {"host": "127.0.0.1", "port": port}
            if self.broker.uses_tls:
                keys |= {"ca": "ca.crt", "certificate": f"{self.device}.crt", "key": f"{self.device}.key"}
            else:
                password = self.folder / "password"
                password.write_text(self.broker.users[self.device] + "\n")
                password.chmod(0o600)
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

    def restart(self, name, config=None):
        self.kill(name)
        if name == "torpord":
            self.start(name, [f"{self.bin}/torpord", "--no-pins", "--board", str(self.profile), "--line", str(self.line),
                              "--clock", "none", "--socket", str(self.socket), "--state", str(self.folder / "state"),
                              "--clients", str(self.clients)])
            wait_until(self.socket.exists, "torpord starts", 30)
        else:
            self.status.unlink(missing_ok=True)
            self.start(name, [f"{self.bin}/torpor-uplink", "--config", str(config or self.config), "--socket",
                              str(self.socket), "--status", str(self.status)])
            wait_until(self.status.exists, "torpor-uplink starts", 30)

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

    def refuses(self, what, words, **settings):
        """Whether a destination with these settings does not work, with a message that contains the words."""
        before = resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime
        code, output = self.check(self.write_settings("wrong.toml", **settings))
        check(code == 69 and words in output and output.count("\n") == 0, f"{what}: {words}", f"exit code {code}, {output}")
        used = resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime - before
        check(used < 1, f"{what}: no busy loop", f"{used} s of the processor")


def test_errors(board, broker):
    """What `torpor uplink check` says about each error."""
    ports = broker.ports[:1]
    code, output = board.check(board.config)
    check(code == 0 and "the store answers" in output, "the check of the right settings", output)
    board.refuses("no broker", "cannot connect: Connection refused", ports=[9])
    encryption = {} if broker.uses_tls else {"tls": False}
    board.refuses("an unknown host", "the host name cannot be resolved", ports=ports, host="broker.invalid", **encryption)
    if not broker.uses_tls:
        wrong = board.folder / "wrong"
        wrong.write_text("wrong\n")
        wrong.chmod(0o600)
        board.refuses("a wrong password", "the broker refused the connection", ports=ports, password_file=str(wrong))
        wrong.chmod(0o644)
        code, output = board.check(board.write_settings("wrong.toml", ports=ports, password_file=str(wrong)))
        check(code == 78 and "can be read by other users" in output, "a password that others can read", output)
        return
    broker.openssl("req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-days", "2",
                   "-subj", "/CN=Stranger", "-keyout", "stranger.key", "-out", "stranger.crt")
    board.refuses("an unknown authority", "the broker's certificate is not accepted", ports=ports, ca="stranger.crt")
    board.refuses("no certificate of the board", "TLS failed", ports=ports, certificate=None, key=None)
    board.refuses("a certificate of another authority", "TLS failed", ports=ports, certificate="stranger.crt",
                  key="stranger.key")
    board.refuses("the topics of another board", "the broker refused", ports=ports, device="board-2")
    board.refuses("no TLS", "", ports=ports, ca=None, certificate=None, key=None)
    for file, extension, days, words in (
            ("other", "subjectAltName=DNS:other.example", 2, "is for another host"),
            ("expired", "subjectAltName=IP:127.0.0.1", 0, "certificate has expired")):
        broker.certify(file, file, extension, days)
        time.sleep(1 if days else 2)
        with broker.second(file) as second:
            board.refuses(f"a certificate of the broker that is {file}", words, ports=[second.port])


class Table:
    """What the store has of one device."""

    def __init__(self, database, device):
        self.database, self.device = database, device
        self.denied = []  # the ends of times without permission, whose fixes are never delivered (RNG-6)

    def select(self, text):
        return query(self.database, text, self.device)

    def count(self):
        return self.select("select count(*) from fixes where device = %s")[0]

    def gaps(self):
        return self.select("select count(*) from gaps where device = %s and count > 0")[0]

    def next_sequence(self):
        return self.select("select coalesce(max(sequence) + 1, 0) from fixes where device = %s")[0]

    def missing(self):
        """Numbers of fixes before which others are missing that are not part of a gap."""
        return self.select("""
            with own as (select * from fixes where device = %s),
            pairs as (select sequence, lag(sequence) over (order by sequence) as before from own)
            select sequence from pairs where sequence > before + 1 and not exists (
              select 1 from gaps where device = (select device from own limit 1) and first <= before + 1 and next >= sequence)""")

    def check(self, board, store, broker, what):
        """Waits until every fix that has a number now is stored or part of a gap."""
        end = board.next_sequence()

        def arrives():
            watch_store(store, broker, self.database)
            board.watch()
            return self.next_sequence() >= end
        check(becomes(arrives, 200), f"{what}: the fixes arrive", f"{self.next_sequence()} of {end}")
        missing = [sequence for sequence in self.missing() if sequence not in self.denied]
        holes = self.select("select count(*) from holes where device = %s")[0]
        check(not missing, f"{what}: every fix is stored or part of a gap", f"fixes are missing before {missing}")
        check(holes == 0, f"{what}: the store has no hole", f"{holes}")


def test_cost(board):
    """Context switches, memory and time of the processor of some uploads."""
    check(becomes(lambda: board.report()["uploads"] > 0, 90), "the status reports an upload")
    uploads, before = board.report()["uploads"], board.usage()
    becomes(lambda: board.report()["uploads"] >= uploads + 4, 120)
    uploads, after = board.report()["uploads"] - uploads, board.usage()
    switches = (after[0] - before[0]) / max(1, uploads)
    print(f"{uploads} uploads: {switches:.1f} voluntary context switches, {(after[2] - before[2]) / max(1, uploads) * 1000:.0f} ms "
          f"of the processor each; {after[1]} kB", flush=True)
    check(uploads and switches <= SWITCHES, f"at most {SWITCHES} voluntary context switches an upload", f"{switches}")
    # A build for tests links Swift's libraries dynamically.
    if b"libswiftCore.so" not in (board.bin / "torpor-uplink").read_bytes():
        check(after[1] <= MEMORY, f"at most {MEMORY} kB of memory", f"{after[1]}")


def test_refused_upload(board, table, broker):
    """A running program whose uploads are refused: one line, back-off, nothing acknowledged."""
    if broker.uses_tls:
        changes, words = {"device": "board-2"}, "refused"
    else:
        wrong = board.folder / "wrong"
        wrong.write_text("wrong\n")
        wrong.chmod(0o600)
        changes, words = {"password_file": str(wrong)}, "the broker refused the connection"
    count, lines = table.count(), len(board.log.read_text().splitlines())
    board.restart("uplink", board.write_settings("refused.toml", **changes))
    check(becomes(lambda: board.report()["failures"] > 0, 60), "a refused upload is reported")
    used = board.usage()[2]
    time.sleep(20)
    report, new = board.report(), board.log.read_text().splitlines()[lines:]
    check(len(new) == 1 and words in new[0], "a refused upload: one line in the log", new)
    check(report["failures"] == 1 and "next_attempt_us" in report, "a refused upload: back-off", report)
    check(board.usage()[2] - used < 0.2, "a refused upload: no busy loop", board.usage()[2] - used)
    check(table.count() == count and report["fixes"] == 0, "a refused upload: nothing is acknowledged", report)
    board.restart("uplink")


def test_revocation(board, table):
    """Without permission nothing leaves the board."""
    board.permit("deny")
    check(becomes(lambda: "may not use location" in board.report().get("problem", "")
                  or "revoked" in board.report().get("problem", ""), 30), "the revoked permission is reported")
    count = table.count()
    time.sleep(15)
    check(table.count() == count, "without permission nothing is sent", f"{table.count() - count} fixes")
    board.permit("always")
    check(becomes(lambda: table.count() > count, 90), "with the permission fixes are sent again")
    table.denied = table.missing()
    check(len(table.denied) <= 1, "without permission: one range of fixes is not sent", table.denied)


def test_lossy_broker(board, table, store, broker):
    """The only node is killed twice while the store is away."""
    store.kill("store")
    count = table.count()
    for _ in range(2):
        board.restart("uplink")
        check(becomes(lambda: board.report()["failures"] > 0, 60), "the store is away: the upload fails")
        broker.kill("mosquitto")
        time.sleep(2)
        broker.restart("mosquitto")
    check(table.count() == count and board.report()["fixes"] == 0, "the store is away: nothing is acknowledged")
    watch_store(store, broker, table.database)
    board.restart("uplink")
    table.check(board, store, broker, "the broker was killed twice while the store was away")


def test_majority_down(board, table, store, broker):
    """Two of three nodes are down."""
    for node in broker.nodes[1:]:
        broker.kill(node)
    board.restart("uplink")
    check(becomes(lambda: board.report()["failures"] > 0, 200), "two of three nodes are down: the upload fails", board.report())
    check(board.report()["fixes"] == 0, "two of three nodes are down: nothing is acknowledged", board.report())
    for node in broker.nodes[1:]:
        broker.restart(node)
    check(is_store_ready(store, broker, table.database), "the store connects again")
    board.restart("uplink")
    table.check(board, store, broker, "two of three nodes were down")


def test_kills(board, table, store, broker, numbers, seconds):
    """Nodes, store, torpord and torpor-uplink are killed at random."""
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        victim = numbers.choice([*broker.nodes, "store", "torpord", "uplink"])
        print(f"kill    {victim}", flush=True)
        {"store": store, "torpord": board, "uplink": board}.get(victim, broker).kill(victim)
        time.sleep(numbers.uniform(0, 5))
        if victim in broker.nodes:
            broker.restart(victim)
        watch_store(store, broker, table.database, numbers.randrange(len(broker.nodes)))
        board.watch()
        time.sleep(numbers.uniform(2, 15))
    # The back-off of the running program may last minutes.
    board.restart("uplink")
    table.check(board, store, broker, "after the kills")


def test_gap(folder, programs, broker, database, store):
    """The network is away past the ring's capacity, and the program ends between the gap and its receipt."""
    table = Table(database, "board-2")
    with Board(folder, programs, broker, device="board-2", ring=40) as board:
        board.restart("uplink")
        check(becomes(lambda: table.count() > 0, 90), "the fixes of a small ring arrive")
        board.restart("uplink", board.write_settings("away.toml", ports=[9]))
        before = board.next_sequence()
        check(becomes(lambda: board.next_sequence() > before + 90, 180), "the ring overflows")
        # The store reads the gap only after the program has ended.
        store.running["store"].send_signal(signal.SIGSTOP)
        board.restart("uplink")
        time.sleep(25)
        board.kill("uplink")
        check(table.gaps() == 0, "no gap without a receipt")
        store.running["store"].send_signal(signal.SIGCONT)
        time.sleep(2)
        board.restart("uplink")
        table.check(board, store, broker, "the ring overflowed")
        time.sleep(3)
        check(table.gaps() == 1, "one gap", table.gaps())
        first, end = (table.select(f"select {part}(sequence) from fixes where device = %s")[0] for part in ("min", "max"))
        lost = table.select("select sum(count) from gaps where device = %s")[0]
        check(table.count() + lost == end - first + 1, "fixes and gap together are all numbers",
              f"{table.count()} and {lost} of {end - first + 1}")


def main():
    kind, folder, programs = sys.argv[1], pathlib.Path(sys.argv[2]), sys.argv[3]
    numbers = random.Random(int(sys.argv[4]) if len(sys.argv) > 4 else 1)
    seconds = int(sys.argv[5]) if len(sys.argv) > 5 else 60
    with KINDS[kind](folder / kind, ["board-1", "board-2"]) as broker, Postgres(folder / "postgres") as database, \
            Programs(folder / "store") as store:
        is_store_ready(store, broker, database)
        table = Table(database, "board-1")
        with Board(folder / "board", programs, broker) as board:
            test_errors(board, broker)
            board.restart("uplink")
            check(becomes(lambda: table.count() > 0, 90), "fixes arrive")
            test_cost(board)
            test_refused_upload(board, table, broker)
            test_revocation(board, table)
            if len(broker.nodes) == 1:
                test_lossy_broker(board, table, store, broker)
            else:
                test_majority_down(board, table, store, broker)
            test_kills(board, table, store, broker, numbers, seconds)
            print(f"{kind}: {table.count()} fixes, {table.gaps()} gaps", flush=True)
        test_gap(folder / "small", programs, broker, database, store)
    sys.exit(1 if failures else 0)


if __name__ == "__main__":
    main()
