"""Tests torpor-uplink with torpord, an emulated receiver, a broker and the example store, and kills each of them:

    test_uplink.py BROKER FOLDER PROGRAMS [SEED [SECONDS]]

PROGRAMS is the folder with torpor, torpord and torpor-uplink. At the end the table must have every fix that the service has
delivered, and the store must have no hole.
"""

import json
import pathlib
import random
import resource
import subprocess
import sys
import time

from brokers import KINDS, Postgres, Programs, wait_until
from clients import becomes, is_store_ready, query, watch_store

failures = []


def check(holds, what, details=""):
    print(f"{'passed' if holds else 'FAILED'}  {what}" + (f": {details}" if not holds else ""), flush=True)
    if not holds:
        failures.append(what)


class Board(Programs):
    """An emulated receiver, torpord and torpor-uplink."""

    def __init__(self, folder, programs, broker):
        super().__init__(folder)
        self.bin, self.broker = pathlib.Path(programs).absolute(), broker
        self.socket, self.line, self.status = self.folder / "s", self.folder / "gnss", self.folder / "status.json"
        (self.folder / "state").mkdir(exist_ok=True)
        self.config = self.write_settings("uplink.toml")
        self.start("receiver", [f"{self.bin}/torpor", "receiver", "--board", "zero2w-max-m10s", "--link", str(self.line)])
        wait_until(self.line.exists, "the receiver starts", 30)
        self.restart("torpord")

    def write_settings(self, name, ports=None, device="board-1", **changes):
        """A file of settings; `changes` replaces keys of each destination, with None to omit one."""
        lines = [f'device = "{device}"', "every_s = 10", "slack_s = 2"]
        for port in ports or self.broker.ports[:len(self.broker.nodes)]:
            keys = {"host": "127.0.0.1", "port": port}
            if self.broker.uses_tls:
                keys |= {"ca": "ca.crt", "certificate": "board-1.crt", "key": "board-1.key"}
            else:
                password = self.folder / "password"
                password.write_text(self.broker.users["board-1"] + "\n")
                password.chmod(0o600)
                keys |= {"user": "board-1", "password_file": str(password)}
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

    def restart(self, name):
        self.kill(name)
        if name == "torpord":
            self.start(name, [f"{self.bin}/torpord", "--no-pins", "--board", "zero2w-max-m10s", "--line", str(self.line),
                              "--clock", "none", "--socket", str(self.socket), "--state", str(self.folder / "state")])
            wait_until(self.socket.exists, "torpord starts", 30)
        else:
            self.start(name, [f"{self.bin}/torpor-uplink", "--config", str(self.config), "--socket", str(self.socket),
                              "--status", str(self.status)])

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
    board.refuses("an unknown host", "the host name cannot be resolved", ports=ports, host="broker.invalid")
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


def main():
    kind, folder, programs = sys.argv[1], pathlib.Path(sys.argv[2]), sys.argv[3]
    numbers = random.Random(int(sys.argv[4]) if len(sys.argv) > 4 else 1)
    seconds = int(sys.argv[5]) if len(sys.argv) > 5 else 60
    with KINDS[kind](folder / kind, ["board-1", "board-2"]) as broker, Postgres(folder / "postgres") as database, \
            Programs(folder / "store") as store:
        is_store_ready(store, broker, database)

        def count():
            return query(database, "select count(*) from fixes")[0]

        with Board(folder / "board", programs, broker) as board:
            test_errors(board, broker)
            board.restart("uplink")
            check(becomes(lambda: count() > 0, 90), "fixes arrive")
            check(becomes(lambda: board.status.exists() and json.loads(board.status.read_text())["uploads"] > 0),
                  "the status reports the upload")
            end = time.monotonic() + seconds
            while time.monotonic() < end:
                victim = numbers.choice([*broker.nodes, "store", "torpord", "uplink"])
                print(f"kill    {victim}", flush=True)
                {"store": store, "torpord": board, "uplink": board}.get(victim, broker).kill(victim)
                time.sleep(numbers.uniform(0, 5))
                if victim in broker.nodes:
                    broker.restart(victim)
                watch_store(store, broker, database, numbers.randrange(len(broker.nodes)))
                board.watch()
                time.sleep(numbers.uniform(2, 15))
            # The back-off of the running program may last minutes.
            board.restart("uplink")
            before = count()

            def recovers():
                watch_store(store, broker, database, numbers.randrange(len(broker.nodes)))
                board.watch()
                return count() >= before + 20
            check(becomes(recovers, 300), "fixes arrive after the kills")
        check(query(database, "select count(*) from holes") == [0], "the store has no hole")
        missing = query(database, """
            select sequence from (select sequence, lag(sequence) over (order by sequence) as before from fixes) as pairs
            where sequence > before + 1 and not exists (
              select 1 from gaps where first <= before + 1 and next >= sequence)""")
        check(not missing, "every fix is stored or part of a gap", f"fixes are missing before {missing}")
        print(f"{kind}: {count()} fixes, {query(database, 'select count(*) from gaps')[0]} gaps", flush=True)
    sys.exit(1 if failures else 0)


if __name__ == "__main__":
    main()
