"""Tests torpor-uplink with torpord, an emulated receiver, a broker and the example store, and kills each of them:

    test_uplink.py BROKER FOLDER PROGRAMS [--seeds 1,2] [--seconds 60] [--only PART,…]

PROGRAMS is the folder with torpor, torpord and torpor-uplink. At the end of each part the table must have every fix of the
board's ring, once, in order and with its values, except those of reported gaps. Each program and node is killed once per
round, in random order; rounds are repeated until the seconds have passed.
"""

import argparse
import contextlib
import pathlib
import random
import resource
import signal
import sys
import time

from boards import Board, Line
from brokers import KINDS, Postgres, Programs, SecondMosquitto, end_on_signals
from clients import Board as Connection
from clients import STORE, becomes, execute, is_store_ready, query, watch_store
from tables import Table, check, failures

sys.path.insert(0, str(STORE.parent))
import torpor_payload  # noqa: E402

# Limits of an upload: context switches of torpor-uplink, and its memory in kB.
SWITCHES, MEMORY = 10, 13_312
PARTS = ("refusals", "cost", "revocation", "refused", "down", "kills", "gap", "clock")


def refused_settings(broker, folder):
    """Settings with which the broker or the board refuses: a name, what the message must contain, the user, and changes."""
    ports = broker.ports[:1]
    yield "no broker", "cannot connect: Connection refused", "board-1", {"ports": [9]}
    yield "an unknown host", "the host name cannot be resolved", "board-1", {
        "ports": ports, "host": "broker.invalid"} | ({} if broker.uses_tls else {"tls": False})
    if not broker.uses_tls:
        wrong = folder / "wrong"
        wrong.write_text("wrong\n")
        wrong.chmod(0o600)
        yield "a wrong password", "the broker refused the connection; check `user`, `password_file`", "board-1", {
            "ports": ports, "password_file": str(wrong)}
        # RabbitMQ ends the connection. NATS acknowledges a message that the user may not send.
        ends = "the connection ended; if the log of the broker names a denied topic, permit this user"
        others, denied = (ends, ends) if type(broker).__name__ == "RabbitMQ" else (
            "the broker refused to send receipts: permit this user to read", "that it may read and write the topics of this board")
        yield "the topics of another board", others, "board-1", {"ports": ports, "device": "board-2"}
        yield "a denied topic", denied, "silent", {"ports": ports}
        return
    yield "an unknown authority", "the broker's certificate is not accepted", "board-1", {"ports": ports, "ca": "stranger.crt"}
    yield "no certificate of the board", "TLS failed", "board-1", {"ports": ports, "certificate": None, "key": None}
    yield "a certificate of another authority", "TLS failed", "board-1", {
        "ports": ports, "certificate": "stranger.crt", "key": "stranger.key"}
    yield "the topics of another board", "the broker refused the message; permit this user", "board-1", {"ports": ports, "device": "board-2"}
    yield "a denied topic", "the broker refused the message; permit this user", "silent", {"ports": ports}
    yield "no TLS", "ended the connection without an answer; check `port`, and `ca` if it uses TLS", "board-1", {"ports": ports, "ca": None, "certificate": None, "key": None}


def test_refusals(folder, programs, broker, database):
    """With each of the settings, `torpor uplink check` and a running program: one line that helps, back-off, no busy loop, and
    nothing acknowledged."""
    cases = list(refused_settings(broker, folder))
    with contextlib.ExitStack() as stack:
        if broker.uses_tls:
            broker.openssl("req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-days", "2",
                           "-subj", "/CN=Stranger", "-keyout", "stranger.key", "-out", "stranger.crt")
            for file, extension, days, words in (
                    ("other", "subjectAltName=DNS:other.example", 2, "the broker's certificate is for another host: write the host"),
                    ("expired", "subjectAltName=IP:127.0.0.1", 0, "certificate has expired; check that")):
                broker.certify(file, file, extension, days)
                time.sleep(1 if days else 2)
                second = stack.enter_context(SecondMosquitto(broker, file))
                cases.append((f"a certificate of the broker that is {file}", words, "board-1", {"ports": [second.port]}))
        boards = []
        for number, (_, _, user, _) in enumerate(cases):
            boards.append(stack.enter_context(Board(folder / f"r{number}", programs, broker, device=user)))
        for board, (what, words, _, changes) in zip(boards, cases):
            config = board.write_settings("refused.toml", **changes)
            before = resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime
            code, output = board.check(config)
            used = resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime - before
            check(code == 69 and words in output and output.count("\n") == 0, f"the check of {what}: {words}",
                  f"exit code {code}, {output}")
            check(used < 1, f"the check of {what}: no busy loop", f"{used} s of the processor")
            board.restart("uplink", config)
        for board, (what, words, _, _) in zip(boards, cases):
            check(becomes(lambda board=board: board.report()["failures"] > 0, 180), f"{what}: the failure is reported")
        used = [board.usage()[2] for board in boards]
        time.sleep(15)
        for board, before, (what, words, _, _) in zip(boards, used, cases):
            report, lines = board.report(), board.log.read_text().splitlines()
            check(len(lines) == 1 and words in lines[0], f"{what}: one line in the log", lines)
            check(report["failures"] == 1 and "next_attempt_us" in report, f"{what}: back-off", report)
            check(board.usage()[2] - before < 0.2, f"{what}: no busy loop", board.usage()[2] - before)
            number, fixes = board.next_sequence(), board.undelivered()
            check(report["fixes"] == 0 and fixes >= number > 0, f"{what}: nothing is acknowledged",
                  f"{fixes} of {number} fixes, {report}")
    check(query(database, "select count(*) from fixes") == [0], "refused uploads: nothing is stored")


def test_check(board):
    """The right settings, and a password that others can read."""
    # Nodes of a cluster accept connections some seconds before they serve them, and NATS may refuse a client id for ten seconds
    # that connects to several nodes in a row.
    for _ in range(6):
        code, output = board.check(board.config)
        if code == 0:
            break
        time.sleep(11)
    check(code == 0 and output.count("the store answers") == len(board.broker.nodes), "the check of the right settings", output)
    if not board.broker.uses_tls:
        open_file = board.write_secret("open", "password")
        open_file.chmod(0o644)
        code, output = board.check(board.write_settings("open.toml", password_file=str(open_file)))
        check(code == 78 and "can be read by other users" in output, "a password that others can read", output)


def test_cost(board):
    """Context switches, memory and time of the processor of some uploads."""
    check(becomes(lambda: board.report()["uploads"] > 0, 90), "the status reports an upload")
    uploads, before = board.report()["uploads"], board.usage()
    becomes(lambda: board.report()["uploads"] >= uploads + 4, 120)
    uploads, after = board.report()["uploads"] - uploads, board.usage()
    switches = (after[0] - before[0]) / max(1, uploads)
    print(f"{uploads} uploads: {switches:.1f} voluntary context switches, {(after[2] - before[2]) / max(1, uploads) * 1000:.0f} ms "
          f"of the processor each; {after[1]} kB", flush=True)
    check(uploads >= 4 and switches <= SWITCHES, f"at most {SWITCHES} voluntary context switches an upload", f"{switches}")
    # A build for tests links Swift's libraries dynamically.
    if b"libswiftCore.so" in (board.bin / "torpor-uplink").read_bytes():
        print("skipped the limit of memory: it is that of a release build", flush=True)
    else:
        check(after[1] <= MEMORY, f"at most {MEMORY} kB of memory", f"{after[1]}")


def test_revocation(board, table):
    """Without permission nothing leaves the board."""
    board.permit("deny")
    check(becomes(lambda: "may not use location" in board.report().get("problem", "")
                  or "revoked" in board.report().get("problem", ""), 30), "the revoked permission is reported")
    count, before = table.count(), table.next_sequence()
    time.sleep(15)
    check(table.count() == count, "without permission nothing is sent", f"{table.count() - count} fixes")
    board.permit("always")
    check(becomes(lambda: table.count() > count, 90), "with the permission fixes are sent again")
    table.denied = table.absent()
    numbers = sorted(table.denied)
    check(not numbers or numbers[0] >= before and numbers[-1] - numbers[0] == len(numbers) - 1 < 90,
          "without permission: only the fixes of that time are not sent", numbers)


# What the database does with the rows of a board while it rejects them.
REJECTION = """
create function reject() returns trigger language plpgsql as
  $$ begin raise exception 'a value that is not accepted' using errcode = 'data_exception'; end $$;
create trigger reject before insert on fixes for each row when (new.device = 'board-1') execute function reject();
"""


def test_refused_message(board, table):
    """The database rejects the values of messages: the store keeps and refuses them, and the board goes on with later ones."""
    kept = "select message from poison where refused and topic = 'torpor/' || %s || '/fixes' order by id"
    start, before, known = board.next_sequence(), board.report(), len(table.select(kept))
    lines = len(board.log.read_text().splitlines())
    execute(table.database, REJECTION)
    check(becomes(lambda: len(table.select(kept)) > known, 90), "the store keeps a message that the database rejects")
    execute(table.database, "drop trigger reject on fixes; drop function reject()")
    count = table.count()
    check(becomes(lambda: table.count() > count, 90), "the board sends the next messages after a refusal")
    report = board.report()
    check(report["failures"] == 0 and "problem" not in report and report["fixes"] > before["fixes"],
          "a refused message is no failure of an upload", report)
    log = board.log.read_text().splitlines()[lines:]
    check(sum("the store refuses a message of the topic fixes, and has set it aside: a value that is not accepted" in line
              for line in log) == 1, "one line in the log says why the store has refused messages", log)
    fixes = [fix for message in table.select(kept)[known:] for fix in torpor_payload.decode(bytes(message))["fixes"]]
    table.refused = {fix["sequence"] for fix in fixes}
    check(table.absent() == set() and table.refused and min(table.refused) >= start - 60,
          "the refused messages have exactly the fixes that are not stored", sorted(table.absent()))
    # The message after the refused ones names a fix that is not in the table.
    holes = table.select("select sequence from holes where device = %s")
    check(holes == [max(table.refused)], "the store has one hole, behind the refused messages", holes)
    execute(table.database, "delete from holes")


def test_lossy_broker(board, table, store, broker):
    """The only node is killed twice while the store is away, after it has acknowledged messages."""
    store.kill("store")
    board.restart("uplink")
    before = board.undelivered()
    for _ in range(2):
        board.restart("uplink")
        check(becomes(lambda: "no receipt of the store" in board.report().get("problem", ""), 90),
              "the store is away: the broker acknowledges, and the upload fails", board.report())
        broker.kill("mosquitto")
        time.sleep(2)
        broker.restart("mosquitto")
        check(board.report()["fixes"] == 0 and board.undelivered() >= before, "the store is away: nothing is acknowledged",
              f"{board.undelivered()} of {before}, {board.report()}")
    watch_store(store, broker, table.database)
    board.restart("uplink")
    table.check(board, store, broker, "the broker was killed twice while the store was away")


def test_majority_down(board, table, store, broker):
    """Two of three nodes are down."""
    for node in broker.nodes[1:]:
        broker.kill(node)
    board.restart("uplink")
    before, count = board.undelivered(), table.count()
    check(becomes(lambda: board.report()["failures"] > 0, 200), "two of three nodes are down: the upload fails", board.report())
    check(board.report()["fixes"] == 0 and board.undelivered() >= before, "two of three nodes are down: nothing is acknowledged",
          f"{board.undelivered()} of {before}, {board.report()}")
    print(f"two of three nodes are down: {table.count() - count} fixes reached the table", flush=True)
    broker.restore()
    check(is_store_ready(store, broker, table.database), "the store connects again")
    board.restart("uplink")
    table.check(board, store, broker, "two of three nodes were down")


def test_kills(board, table, store, broker, seed, seconds):
    """Each node, the store, torpord and torpor-uplink are killed, in random order and at random times."""
    numbers, programs = random.Random(seed), [*broker.nodes, "store", "torpord", "uplink"]
    end, kills, victims = time.monotonic() + seconds, 0, []
    while victims or kills == 0 or time.monotonic() < end:
        victims = victims or numbers.sample(programs, len(programs))
        victim = victims.pop()
        kills += 1
        print(f"kill    {victim}", flush=True)
        {"store": store, "torpord": board, "uplink": board}.get(victim, broker).kill(victim)
        time.sleep(numbers.uniform(0, 4))
        if victim in broker.nodes:
            broker.restart(victim)
        watch_store(store, broker, table.database, numbers.randrange(len(broker.nodes)))
        board.watch()
        if board.report()["failures"] > 0:
            board.restart("uplink")  # the back-off would last longer than the test
        time.sleep(numbers.uniform(1, 8))
    board.restart("uplink")
    table.check(board, store, broker, f"seed {seed}, {kills} kills")
    print(f"{type(broker).__name__}, seed {seed}: {kills} kills, {table.count()} fixes, {table.gaps()} gaps", flush=True)


def test_gap(folder, programs, broker, database, store):
    """The network is away past the ring's capacity, and the program ends between the gap and its receipt."""
    table = Table(database, "board-2")
    with Board(folder, programs, broker, device="board-2", ring=40) as board, \
            contextlib.closing(Connection(broker, "auditor")) as auditor:
        check(auditor.is_connected() and auditor.subscribe("torpor/board-2/gap"), "the auditor reads the topic of gaps")
        board.restart("uplink")
        check(becomes(lambda: table.count() > 0, 90), "the fixes of a small ring arrive")
        away = board.write_settings("away.toml", ports=[9])
        board.restart("uplink", away)
        before = board.next_sequence()
        check(becomes(lambda: board.next_sequence() > before + 60, 180), "the ring overflows")
        # The store reads the gap only after the program has ended.
        store.running["store"].send_signal(signal.SIGSTOP)
        board.restart("uplink")
        check(auditor.wait(lambda: auditor.received, 90), "the gap is sent")
        board.kill("uplink")
        store.running["store"].send_signal(signal.SIGCONT)
        time.sleep(2)
        board.restart("uplink")
        table.check(board, store, broker, "the ring overflowed")
        check(table.gaps() == 1, "one gap", table.gaps())
        first, end = (table.select(f"select {part}(sequence) from fixes where device = %s")[0] for part in ("min", "max"))
        lost = table.select("select sum(count) from gaps where device = %s")[0]
        check(lost > 0 and table.count() + lost == end - first + 1, "fixes and gap together are all numbers",
              f"{table.count()} and {lost} of {end - first + 1}")
        test_interruption(board, table, None, "the gap of an interruption is sent")
        test_interruption(board, table, away, "the gap of an interruption is sent again after a kill before its receipt")


def test_interruption(board, table, away, what):
    """The board was without supply: a gap with a time and without a count. With the settings `away`, the program receives it
    and cannot send it before it is killed."""
    for name in ("receiver", "torpord", "uplink"):
        board.kill(name)
    uncounted = "select count(*) from gaps where device = %s and count = 0"
    newest = "select coalesce(max(generation), 0) from fixes where device = %s"
    known, before = table.select(uncounted)[0], table.select(newest)
    time.sleep(15)
    board.restart("receiver")
    board.restart("torpord")
    if away:
        board.restart("uplink", away)
        check(becomes(lambda: board.report()["failures"] > 0, 120) and board.report()["pending"] > 0,
              "after an interruption the program has fixes that it cannot send", board.report())
    board.restart("uplink")
    # Fixes from before the interruption, which were not acknowledged, arrive first; the gap waits for a fix after it.
    check(becomes(lambda: table.select(newest) > before, 120), "after an interruption the fixes arrive")
    new = table.select(uncounted)[0] - known
    check(new == 1, what, f"{new} gaps")


def test_clock(folder, programs, broker, database):
    """A board without a clock sends fixes by their boot time; a later fix of the same boot places them."""
    folder.mkdir(parents=True)
    line = Line(folder / "gnss")
    line.start()
    table = Table(database, "board-3")
    with Board(folder, programs, broker, device="board-3", line=line) as board:
        board.restart("uplink")
        check(becomes(lambda: table.count() >= 5, 120), "fixes without a date arrive", board.report())
        unplaced = "select count(*) from placed_fixes where device = %s and time_us is null"
        dated = "select count(*) from fixes where device = %s and utc_us is not null"
        check(table.select(dated) == [0] and table.select(unplaced)[0] >= 5, "fixes without a date have no time yet")
        line.has_date = True
        check(becomes(lambda: table.select(dated)[0] > 0, 120), "fixes with a date arrive", board.report())
        undated = table.select("select time_us from placed_fixes where device = %s and utc_us is null order by sequence")
        late = [time_us for time_us in undated
                if time_us is None or min(abs(time_us - sent) for sent in line.times) > 500_000]
        check(len(undated) >= 5 and not late, "a later fix of the same boot places them within half a second", late)
        check(undated == sorted(set(undated)), "their times increase", undated)
    line.stopping = True


def main():
    end_on_signals()
    parser = argparse.ArgumentParser(description=__doc__.split(":", 1)[0])
    parser.add_argument("broker", choices=KINDS)
    parser.add_argument("folder", type=pathlib.Path)
    parser.add_argument("programs")
    parser.add_argument("--seeds", default="1", help="one run of kills for each")
    parser.add_argument("--seconds", type=int, default=30, help="shortest time of a run of kills")
    parser.add_argument("--only", default=",".join(PARTS), help="parts, separated by commas")
    options = parser.parse_args()
    folder, programs, parts = options.folder, options.programs, options.only.split(",")
    start = time.monotonic()
    with KINDS[options.broker](folder / options.broker, ["board-1", "board-2", "board-3"]) as broker, \
            Postgres(folder / "postgres") as database, Programs(folder / "store") as store:
        check(is_store_ready(store, broker, database), "the store subscribes")
        if "refusals" in parts:
            test_refusals(folder, programs, broker, database)
        table = Table(database, "board-1")
        if {"cost", "revocation", "refused", "down", "kills"} & set(parts):
            with Board(folder / "board", programs, broker) as board:
                test_check(board)
                board.restart("uplink")
                check(becomes(lambda: table.count() > 0, 90), "fixes arrive")
                if "cost" in parts:
                    test_cost(board)
                if "revocation" in parts:
                    test_revocation(board, table)
                if "refused" in parts:
                    test_refused_message(board, table)
                if "down" in parts:
                    (test_lossy_broker if len(broker.nodes) == 1 else test_majority_down)(board, table, store, broker)
                for seed in options.seeds.split(",") if "kills" in parts else ():
                    test_kills(board, table, store, broker, int(seed), options.seconds)
        if "gap" in parts:
            test_gap(folder / "small", programs, broker, database, store)
        if "clock" in parts:
            test_clock(folder / "clock", programs, broker, database)
    print(f"{options.broker}: {len(failures)} failures, {time.monotonic() - start:.0f} s", flush=True)
    sys.exit(1 if failures else 0)


if __name__ == "__main__":
    main()
