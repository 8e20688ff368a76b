"""The measurements; each is a separate run with new processes."""

import os
import pathlib
import shutil
import socket
import statistics
import subprocess
import sys
import threading
import time

from service_cost import clients, instructions, programs, streams

CROWD = 200
CROWD_RATE = 10


def all_of(options, folder):
    """All selected measurements."""
    chosen = set(options.only.split(","))
    found = {
        "binary_bytes": os.path.getsize(options.binary), "gpsd": programs.gpsd_version(),
        "processors": os.cpu_count(), "load": os.getloadavg()[0],
        "kernel": os.uname().release, "machine": os.uname().machine}
    if "idle" in chosen:
        log("idle")
        found["idle"] = idle(options, folder)
    if "start" in chosen:
        log("start")
        found["start"] = start(options, folder)
    for name in streams.FEEDS:
        if name in chosen:
            log(name)
            found[name] = served(options, folder, name)
    if "gpsd-clients" in chosen:
        log("gpsd-clients")
        found["gpsd-clients"] = gpsd_clients(options, folder)
    if "clock" in chosen:
        log("clock")
        found["clock"] = clock(options, folder)
    if "crowd" in chosen:
        log("crowd")
        found["crowd"] = crowd(options, folder)
    if "drain" in chosen:
        log("drain")
        found["drain"] = drain(options, folder)
    if "delegate" in chosen and shutil.which("strace"):
        log("delegate")
        found["delegate"] = delegate(options, folder)
    return found


def log(what):
    print(f"bench-service: {what} …", file=sys.stderr, flush=True)


def difference(before, after, by=1):
    return {name: (after[name] - before[name]) / by for name in before}


def idle(options, folder, seconds=20):
    """Wakes per second without a client, with a silent receiver and with a sending one."""
    found = {}
    for name in ("silent", "sending"):
        bench, lines, torpord, gpsd = start_both(options, folder, "idle-" + name)
        if name == "sending":
            bench.feed = streams.Feed(lines, streams.nmea)
        # The service reads a receiver until its first message, ten seconds at most.
        bench.run(until=time.monotonic() + 15)
        both = {"torpord": torpord} | ({"gpsd": gpsd} if gpsd else {})
        before = {key: program.counts() for key, program in both.items()}
        bench.run(until=time.monotonic() + seconds)
        found[name] = {
            key: difference(before[key], program.counts(), seconds) for key, program in both.items()}
        programs.stop(lines, torpord, gpsd)
    return found


def start(options, folder, times=11):
    """Seconds from the start to READY=1: the first start, which creates the ring, and later ones."""
    durations = []
    for _ in range(times):
        line = programs.Line()
        torpord = programs.Torpord(options.binary, options.board, line, folder + "/start")
        durations.append(torpord.ready_s)
        torpord.stop()
        line.close()
    return {"first_s": durations[0], "median_s": statistics.median(durations[1:]), "longest_s": max(durations[1:])}


def start_both(options, folder, name, traced=False):
    """Both services, each on its own line."""
    lines = [programs.Line(), programs.Line()]
    prefix = f"{folder}/{name}{'-traced' if traced else ''}"
    torpord = programs.Torpord(
        options.binary, options.board, lines[0], prefix + "-torpord",
        trace=prefix + ".torpord.trace" if traced else None)
    gpsd = None
    if programs.gpsd_path():
        gpsd = programs.Gpsd(
            lines[1], prefix + "-gpsd", trace=prefix + ".gpsd.trace" if traced else None)
    bench = clients.Bench()
    bench.lines = lines
    return bench, lines, torpord, gpsd


def served(options, folder, name):
    """A receiver's epochs at 1 Hz with one client per service: counted, and a second time under strace."""
    found = count(options, folder, name)
    if not streams.FEEDS[name][1] and shutil.which("cc"):
        found["floor"] = floor(options, folder, name)
    if shutil.which("valgrind"):
        profiles = f"{folder}/{name}-instructions"
        os.makedirs(profiles)
        found["instructions"] = instructions.per_fix(options.binary, options.board, profiles, name, options.epochs)
    if shutil.which("strace"):
        for service, calls in trace(options, folder, name).items():
            found[service]["calls"] = calls
    return found


def begin(options, folder, name, traced=False):
    make, pieces = streams.FEEDS[name]
    bench, lines, torpord, gpsd = start_both(options, folder, name, traced)
    active_clients = {"torpord": clients.TorporClient(bench, torpord.socket, "bench")}
    if gpsd:
        active_clients["gpsd"] = clients.GpsdClient(bench, gpsd.port)
    # A third service, with a client of the library that acknowledges seldom.
    library = None
    if not traced and not pieces:
        lines.append(programs.Line())
        library = programs.Torpord(options.binary, options.board, lines[-1], f"{folder}/{name}-library")
        active_clients["library"] = programs.Program([options.probe, "follow", library.socket, "bench", "relaxed"])
    bench.feed = streams.Feed(lines, make, pieces)
    bench.run_epochs(streams.WARM_UP)
    return bench, lines, {"torpord": torpord, "gpsd": gpsd, "library": library}, active_clients


def count(options, folder, name):
    bench, lines, services, active_clients = begin(options, folder, name)
    both = {key: program for key, program in services.items() if program}
    torpord = both["torpord"]
    probe = active_clients.pop("library", None)
    before = {key: program.counts() for key, program in both.items()}
    faults = {key: program.faults() for key, program in both.items()}
    acknowledged = active_clients["torpord"].acknowledged
    known = set(bench.feed.ends)
    bench.run_epochs(options.epochs)
    found = {}
    for key, program in both.items():
        found[key] = difference(before[key], program.counts(), options.epochs)
        found[key]["resident_kb"] = program.resident_kb(torpord.ring)
        found[key]["faults"] = (program.faults() - faults[key]) / options.epochs
    bench.run(until=time.monotonic() + 0.1)
    counted = [utc for utc in bench.feed.ends if utc not in known][:options.epochs]
    for key, client in active_clients.items():
        delays = [
            (client.received[utc] - bench.feed.ends[utc]) * 1e3 for utc in counted if utc in client.received]
        found[key]["fixes"] = len(delays)
        found[key]["latency_ms"] = {
            "median": statistics.median(delays), "longest": max(delays)} if delays else None
        client.close()
    found["torpord"]["acknowledgements"] = (
        active_clients["torpord"].acknowledged - acknowledged) / options.epochs
    found["epochs"] = options.epochs
    found["bytes"] = len(bench.feed.epoch.data)
    programs.stop(lines, probe, *both.values())
    return found


def compiled(name, folder):
    """Compiles a C program in this folder; returns its path."""
    binary = f"{folder}/{name}"
    source = pathlib.Path(__file__).with_name(name + ".c")
    subprocess.run(["cc", "-O2", "-o", binary, str(source)], check=True)
    return binary


def floor(options, folder, name):
    """The same measurement for a C program that only reads and sends."""
    binary = compiled("floor", folder)
    line = programs.Line()
    path = f"{folder}/floor-{name}"
    program = programs.Program([binary, line.path, path])
    bench = clients.Bench()
    bench.lines = [line]
    client = clients.FloorClient(bench, path)
    bench.feed = streams.Feed([line], streams.FEEDS[name][0])
    bench.run_epochs(streams.WARM_UP)
    before = program.counts()
    bench.run_epochs(options.epochs)
    found = difference(before, program.counts(), options.epochs)
    client.close()
    programs.stop([line], program)
    return found


def trace(options, folder, name):
    epochs = min(options.epochs, 15)
    bench, lines, services, active_clients = begin(options, folder, name, traced=True)
    both = {key: program for key, program in services.items() if program}
    began = time.time()
    bench.run_epochs(epochs)
    ended = time.time()
    for client in active_clients.values():
        client.close()
    programs.stop(lines, *both.values())
    return {
        key: {call: number / epochs for call, number in program.calls(began, ended).items()}
        for key, program in both.items()}


GPSD_CLIENTS = 10


def gpsd_clients(options, folder):
    """Ten clients of gpsd's protocol with each service, and the memory of forty."""
    found = {}
    for name in ("pieces", "whole"):
        found[name] = gpsd_counted(options, folder, name)
        if shutil.which("strace"):
            for key, calls in gpsd_traced(options, folder, name).items():
                found[name][key]["calls"] = calls
    found["memory_kb"] = gpsd_memory(options, folder)
    return found


def gpsd_begin(options, folder, name, traced=False, count=GPSD_CLIENTS):
    make, pieces = streams.FEEDS[name]
    bench, lines, torpord, gpsd = start_both(options, folder, "gpsd-" + name, traced)
    helper = programs.GpsdHelper(torpord, options.binary)
    ports = {"torpord": helper.port} | ({"gpsd": gpsd.port} if gpsd else {})
    all_clients = {
        key: [clients.GpsdClient(bench, port) for _ in range(count)] for key, port in ports.items()}
    bench.feed = streams.Feed(lines, make, pieces)
    bench.run_epochs(streams.WARM_UP)
    return bench, lines, {"torpord": torpord, "helper": helper} | ({"gpsd": gpsd} if gpsd else {}), all_clients


def gpsd_counted(options, folder, name):
    bench, lines, services, all_clients = gpsd_begin(options, folder, name)
    if not streams.FEEDS[name][1] and shutil.which("cc"):
        # The terminal hands over some epochs in two parts; every program that reads wakes for both.
        path = f"{folder}/gpsd-floor"
        lines.append(programs.Line())
        services["floor"] = programs.Program([compiled("floor", folder), lines[-1].path, path])
        floor_client = clients.FloorClient(bench, path, replies=False)
        bench.feed.masters.append(lines[-1])
        bench.run_epochs(2)
    before = {key: program.counts() for key, program in services.items()}
    known = set(bench.feed.ends)
    bench.run_epochs(options.epochs)
    found = {key: difference(before[key], program.counts(), options.epochs) for key, program in services.items()}
    bench.run(until=time.monotonic() + 0.1)
    counted = [utc for utc in bench.feed.ends if utc not in known][:options.epochs]
    for key, one in all_clients.items():
        delays = sorted(
            (client.received[utc] - bench.feed.ends[utc]) * 1e3
            for client in one for utc in counted if utc in client.received)
        found[key]["fixes"] = len(delays)
        found[key]["p99_ms"] = delays[len(delays) * 99 // 100] if delays else float("inf")
        for client in one:
            client.close()
    found["epochs"] = len(counted)
    if "floor" in services:
        floor_client.close()
    # Without its clients, the service does not wake for the receiver, which it has stopped reading after a while. A
    # minute after its first fix, it stores its state once more.
    bench.run(until=time.monotonic() + 25)
    before = services["torpord"].counts()
    bench.run(until=time.monotonic() + 10)
    found["idle_wakes"] = difference(before, services["torpord"].counts())["wakes"]
    programs.stop(lines, *services.values())
    return found


def gpsd_traced(options, folder, name):
    epochs = min(options.epochs, 15)
    bench, lines, services, all_clients = gpsd_begin(options, folder, name, traced=True)
    began = time.time()
    bench.run_epochs(epochs)
    ended = time.time()
    for one in all_clients.values():
        for client in one:
            client.close()
    programs.stop(lines, *services.values())
    return {key: sum(services[key].calls(began, ended).values()) / epochs for key in all_clients}


def gpsd_memory(options, folder, count=40):
    """Growth of torpord's memory with forty clients, in kB."""
    line = programs.Line()
    torpord = programs.Torpord(options.binary, options.board, line, folder + "/gpsd-memory")
    bench = clients.Bench()
    bench.lines = [line]
    first = clients.GpsdClient(bench, torpord.gpsd_socket)
    bench.feed = streams.Feed([line], streams.nmea)
    bench.run_epochs(5)
    before = torpord.resident_kb(torpord.ring)
    others = [clients.GpsdClient(bench, torpord.gpsd_socket) for _ in range(count - 1)]
    bench.run_epochs(10)
    after = torpord.resident_kb(torpord.ring)
    for client in [first, *others]:
        client.close()
    programs.stop([line], torpord)
    return after - before


class ClockSamples:
    """chronyd's end of a reference clock: counts the samples that the service sends."""

    def __init__(self, bench, path):
        self.path = path
        self.count = 0
        self.socket = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
        self.socket.bind(path)
        bench.register(self.socket, self)

    def receive(self):
        if len(self.socket.recv(128)) == 40:
            self.count += 1
        return True


def clock(options, folder):
    """Wakes and processor time for each fix of two services with the same epochs, one of which feeds the system clock.

    Their clients do not acknowledge: whether an acknowledgement arrives before the service sleeps again is chance. So is
    whether the terminal splits an epoch, so the wakes are compared by their median over the epochs.
    """
    folder += "/clock"
    os.makedirs(folder)
    bench = clients.Bench()
    samples = ClockSamples(bench, folder + "/chrony.sock")
    services, active_clients, bench.lines = {}, [], []
    for name, arguments in (("without", []), ("with", ["--clock", samples.path])):
        line = programs.Line()
        bench.lines.append(line)
        services[name] = programs.Torpord(options.binary, options.board, line, f"{folder}/{name}", options=arguments)
        active_clients.append(clients.TorporClient(bench, services[name].socket, "bench", acknowledges=False))
    bench.feed = streams.Feed(list(bench.lines), streams.nmea)
    bench.run_epochs(streams.WARM_UP)
    before = {name: service.counts() for name, service in services.items()}
    first = samples.count
    wakes = {name: [counts["wakes"]] for name, counts in before.items()}
    for _ in range(options.epochs):
        bench.run_epochs(1)
        for name, service in services.items():
            wakes[name].append(service.counts()["wakes"])
    found = {
        name: difference(before[name], service.counts(), options.epochs) for name, service in services.items()}
    for name, counts in wakes.items():
        found[name]["median_wakes"] = statistics.median(after - last for last, after in zip(counts, counts[1:]))
    found["samples"] = samples.count - first
    found["epochs"] = options.epochs
    for client in active_clients:
        client.close()
    programs.stop(bench.lines, *services.values())
    samples.socket.close()
    return found


# Calls of the 200 clients, in rotation: six of ten receive every fix.
BACKGROUND = ("SetExecution", {"state": "background"})
CLIENT_CALLS = [
    [("StartUpdating", {})],
    [("OpenLive", {})],
    [("StartUpdating", {}), ("Configure", {"distance_filter_m": 5})],
    [("StartUpdating", {})],
    [("StartVisits", {}), BACKGROUND],
    [("StartUpdating", {})],
    [("StartUpdating", {}), BACKGROUND, ("AllowDeferred", {"timeout_s": 5})],
    [("StartSignificantChange", {}), BACKGROUND],
    [("StartUpdating", {})],
    [("AddRegion", {"kind": "region", "name": "home", "latitude_deg": 48.1173, "longitude_deg": 11.5167,
                    "radius_m": 150}), ("StartUpdating", {})],
]


def crowd(options, folder, times=3):
    """Two hundred clients of mixed services; repeated if another program disturbed the run."""
    for run in range(times):
        found = crowd_once(options, f"{folder}/crowd-{run}")
        found["runs"] = run + 1
        if found["longest_ms"] <= 50:
            break
    return found


def fast_board(options, folder, capacity=None):
    """The board with a receiver of ten fixes per second, and a ring of that capacity."""
    board = folder + "/fast.toml"
    text = pathlib.Path(options.board).read_text(encoding="utf-8")
    text = text.replace("fix_interval_ms = 1000", f"fix_interval_ms = {1000 // CROWD_RATE}")
    text = text.replace("speed_baud = 9600", "speed_baud = 115200")
    if capacity:
        text = text.replace("capacity_fixes = 8192", f"capacity_fixes = {capacity}")
    pathlib.Path(board).write_text(text, encoding="utf-8")
    return board


def crowd_once(options, folder, seconds=20):
    """Two hundred clients of mixed services at ten fixes per second."""
    os.makedirs(folder)
    board = fast_board(options, folder)
    line = programs.Line()
    torpord = programs.Torpord(options.binary, board, line, folder + "/crowd")
    bench = clients.Bench()
    bench.lines = [line]
    before = torpord.resident_kb(torpord.ring)
    all_clients = [
        clients.TorporClient(bench, torpord.socket, f"client-{number}", CLIENT_CALLS[number % len(CLIENT_CALLS)])
        for number in range(CROWD)]
    bench.feed = streams.Feed([line], streams.nav_pvt, rate=CROWD_RATE)
    bench.run_epochs(5 * CROWD_RATE)
    known = set(bench.feed.ends)
    counts = torpord.counts()
    middle = torpord.resident_kb(torpord.ring)
    bench.run_epochs(seconds * CROWD_RATE)
    bench.run(until=time.monotonic() + 0.2)
    counts = difference(counts, torpord.counts(), seconds * CROWD_RATE)
    delays = []
    for number, client in enumerate(all_clients):
        # Omit clients that defer or receive no fixes.
        if number % len(CLIENT_CALLS) in (4, 6, 7):
            continue
        delays += [
            (at - bench.feed.ends[utc]) * 1e3 for utc, at in client.received.items()
            if utc in bench.feed.ends and utc not in known]
    found = {
        "clients": len(all_clients), "told": len(delays), "frames": sum(c.frames for c in all_clients),
        "epochs": seconds * CROWD_RATE, "median_ms": statistics.median(delays), "longest_ms": max(delays),
        "run_us": counts["run_ns"] / 1e3, "wait_us": counts["wait_ns"] / 1e3, "wakes": counts["wakes"],
        "resident_before_kb": before, "resident_middle_kb": middle,
        "resident_after_kb": torpord.resident_kb(torpord.ring)}
    for client in all_clients:
        client.close()
    programs.stop([line], torpord)
    return found


DRAIN_FIXES = 120_000
DRAIN_TIMES = 5


def drain(options, folder):
    """A client that drains all undelivered fixes after a restart of the service."""
    folder += "/drained"
    os.makedirs(folder)
    board = fast_board(options, folder, capacity=131_072)
    line = programs.Line()
    torpord = programs.Torpord(options.binary, board, line, folder + "/service")
    fixes = fill(torpord, line)
    torpord.stop()
    torpord = programs.Torpord(options.binary, board, line, folder + "/service")
    found = {"fixes": fixes}
    if shutil.which("cc"):
        found["c"] = drained([compiled("drain", folder)], torpord, fixes)
    found["library"] = drained([options.probe, "drain"], torpord, fixes)
    programs.stop([line], torpord)
    return found


def fill(torpord, line):
    """Sends fixes as fast as the service accepts them; returns their number."""
    bench = clients.Bench()
    client = clients.TorporClient(bench, torpord.socket, "drained", acknowledges=False)
    reader = threading.Thread(target=lambda: [None for _ in iter(client.receive, False)], daemon=True)
    reader.start()
    first_us = int(time.time()) * 1_000_000
    os.set_blocking(line.master, True)
    data = b"".join(streams.nav_pvt(n, first_us + n * 100_000).data for n in range(DRAIN_FIXES))
    offset = 0
    while offset < len(data):
        offset += os.write(line.master, data[offset:offset + 4_000])
    before = -1
    while before != (now := client.call("GetStatus", {})["status"]["next_sequence"]):
        before = now
        time.sleep(0.3)
    client.socket.shutdown(socket.SHUT_RDWR)
    reader.join(5)
    client.close()
    return now


def drained(command, torpord, fixes):
    """Fixes per second of several drains. Nothing is acknowledged, so that each drain returns the same fixes."""
    rates = []
    before = torpord.counts()
    for _ in range(DRAIN_TIMES):
        run = subprocess.run(
            [*command, torpord.socket, "drained"], capture_output=True, text=True, timeout=60, check=False)
        if run.returncode != 0:
            raise SystemExit(f"bench-service: {command[0]}: {run.stderr or run.stdout}")
        count, first, last, ns = (int(word) for word in run.stdout.split())
        # Each fix once and in order: as many fixes as names from the first to the last.
        if (count, first, last) != (fixes, 0, fixes - 1):
            raise SystemExit(f"bench-service: drained {count} fixes from {first} to {last} instead of {fixes}")
        rates.append(count / (ns / 1e9))
    run = difference(before, torpord.counts(), DRAIN_TIMES)["run_ns"]
    return {"slowest": min(rates), "median": statistics.median(rates), "run_ns_a_fix": run / fixes}


DELEGATE_FIXES = 1_000


def delegate(options, folder):
    """Time from the system call with which the service sends a fix until the delegate of a program with CoreLocation.

    The service runs under strace, which holds it in each call after it has taken the time: the true times are shorter.
    """
    folder += "/delegate"
    os.makedirs(folder)
    line = programs.Line()
    torpord = programs.Torpord(
        options.binary, fast_board(options, folder), line, folder + "/service", trace=folder + "/trace")
    program = programs.Program(
        [options.program, "run-loop", "times", "update"],
        {"TORPOR_SOCKET": torpord.socket, "TORPOR_CLIENT": "bench"}, log=folder + "/program")
    bench = clients.Bench()
    bench.lines = [line]
    bench.feed = streams.Feed([line], streams.nav_pvt, rate=CROWD_RATE)
    bench.run_epochs(CROWD_RATE)
    known = set(bench.feed.ends)
    bench.run_epochs(DELEGATE_FIXES)
    bench.run(until=time.monotonic() + 0.5)
    resident = program.resident_kb()
    programs.stop([line], program, torpord)
    counted = {str(utc) for utc in [utc for utc in bench.feed.ends if utc not in known][:DELEGATE_FIXES]}
    sent = torpord.sent(r'utc_us\\":(\d+)')
    delays = []
    for text in pathlib.Path(folder + "/program").read_text(encoding="utf-8").splitlines():
        words = text.split()
        if len(words) == 4 and words[1] == "received" and words[2] in counted and words[2] in sent:
            delays.append(int(words[3]) / 1e3 - sent[words[2]] * 1e3)
    delays.sort()
    return {
        "sent": DELEGATE_FIXES, "fixes": len(delays), "median_ms": statistics.median(delays),
        "p99_ms": delays[len(delays) * 99 // 100], "longest_ms": delays[-1],
        "resident_kb": resident}
