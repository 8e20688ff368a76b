"""The measurements, each a run of its own with fresh programs."""

import os
import pathlib
import shutil
import statistics
import subprocess
import sys
import time

from service_cost import clients, programs, streams

FEEDS = {
    "pieces": (streams.nmea, True),
    "whole": (streams.nmea, False),
    "nav-pvt": (streams.nav_pvt, False),
}
WARM_UP = 12
CROWD = 200
CROWD_RATE = 10


def all_of(options, folder):
    """All figures that were asked for."""
    chosen = set(options.only.split(","))
    found = {
        "binary_bytes": os.path.getsize(options.binary), "gpsd": programs.gpsd_version(),
        "processors": os.cpu_count(), "load": os.getloadavg()[0],
        "kernel": os.uname().release, "machine": os.uname().machine}
    if "idle" in chosen:
        tell("idle")
        found["idle"] = idle(options, folder)
    if "start" in chosen:
        tell("start")
        found["start"] = start(options, folder)
    for name in FEEDS:
        if name in chosen:
            tell(name)
            found[name] = served(options, folder, name)
    if "crowd" in chosen:
        tell("crowd")
        found["crowd"] = crowd(options, folder)
    return found


def tell(what):
    print(f"bench-service: {what} …", file=sys.stderr, flush=True)


def difference(before, after, by=1):
    return {name: (after[name] - before[name]) / by for name in before}


def idle(options, folder, seconds=20):
    """Wakes a second without a client: the receiver silent, and talking."""
    found = {}
    for name in ("silent", "talking"):
        bench, lines, torpord, gpsd = start_both(options, folder, "idle-" + name)
        if name == "talking":
            bench.feed = streams.Feed(lines, streams.nmea)
        # A receiver is listened to for its first message, ten seconds at most.
        bench.run(until=time.monotonic() + 15)
        both = {"torpord": torpord} | ({"gpsd": gpsd} if gpsd else {})
        before = {key: program.counts() for key, program in both.items()}
        bench.run(until=time.monotonic() + seconds)
        found[name] = {
            key: difference(before[key], program.counts(), seconds) for key, program in both.items()}
        stop(lines, torpord, gpsd)
    return found


def start(options, folder, times=11):
    """From the start to READY=1, seconds: the first time, when the ring is made, and then again."""
    taken = []
    for _ in range(times):
        line = programs.Line()
        torpord = programs.Torpord(options.binary, options.board, line, folder + "/start")
        taken.append(torpord.ready_s)
        torpord.stop()
        line.close()
    return {"first_s": taken[0], "median_s": statistics.median(taken[1:]), "longest_s": max(taken[1:])}


def start_both(options, folder, name, traced=False):
    """Both services, each on a line of its own."""
    lines = [programs.Line(), programs.Line()]
    here = f"{folder}/{name}{'-traced' if traced else ''}"
    torpord = programs.Torpord(
        options.binary, options.board, lines[0], here + "-torpord",
        trace=here + ".torpord.trace" if traced else None)
    gpsd = None
    if programs.gpsd_path():
        gpsd = programs.Gpsd(
            lines[1], here + "-gpsd", trace=here + ".gpsd.trace" if traced else None)
    bench = clients.Bench()
    bench.lines = lines
    return bench, lines, torpord, gpsd


def stop(lines, *both):
    for program in both:
        if program:
            program.stop()
    for line in lines:
        line.close()


def served(options, folder, name):
    """A receiver's epochs at 1 Hz, one client of each service: once to count, once under strace."""
    found = count(options, folder, name)
    if not FEEDS[name][1] and shutil.which("cc"):
        found["floor"] = floor(options, folder, name)
    if shutil.which("strace"):
        for service, calls in trace(options, folder, name).items():
            found[service]["calls"] = calls
    return found


def begin(options, folder, name, traced=False):
    make, pieces = FEEDS[name]
    bench, lines, torpord, gpsd = start_both(options, folder, name, traced)
    bench.feed = streams.Feed(lines, make, pieces)
    heard = {"torpord": clients.TorporClient(bench, torpord.socket, "bench")}
    if gpsd:
        heard["gpsd"] = clients.GpsdClient(bench, gpsd.port)
    bench.run_epochs(WARM_UP)
    return bench, lines, torpord, gpsd, heard


def count(options, folder, name):
    bench, lines, torpord, gpsd, heard = begin(options, folder, name)
    both = {"torpord": torpord} | ({"gpsd": gpsd} if gpsd else {})
    before = {key: program.counts() for key, program in both.items()}
    acknowledged = heard["torpord"].acknowledged
    known = set(bench.feed.ends)
    bench.run_epochs(options.epochs)
    found = {}
    for key, program in both.items():
        found[key] = difference(before[key], program.counts(), options.epochs)
        found[key]["resident_kb"] = program.resident_kb(torpord.ring)
    bench.run(until=time.monotonic() + 0.1)
    counted = [utc for utc in bench.feed.ends if utc not in known][:options.epochs]
    for key, client in heard.items():
        late = [
            (client.heard[utc] - bench.feed.ends[utc]) * 1e3 for utc in counted if utc in client.heard]
        found[key]["fixes"] = len(late)
        found[key]["latency_ms"] = {
            "median": statistics.median(late), "longest": max(late)} if late else None
        client.close()
    found["torpord"]["acknowledgements"] = (
        heard["torpord"].acknowledged - acknowledged) / options.epochs
    found["epochs"] = options.epochs
    found["bytes"] = len(bench.feed.epoch.data)
    stop(lines, torpord, gpsd)
    return found


def floor(options, folder, name):
    """The same for a program in C that does nothing but read and send."""
    binary = folder + "/floor"
    source = pathlib.Path(__file__).with_name("floor.c")
    subprocess.run(["cc", "-O2", "-o", binary, str(source)], check=True)
    line = programs.Line()
    path = f"{folder}/floor-{name}"
    program = programs.Program([binary, line.path, path])
    bench = clients.Bench()
    bench.lines = [line]
    client = clients.FloorClient(bench, path)
    bench.feed = streams.Feed([line], FEEDS[name][0])
    bench.run_epochs(WARM_UP)
    before = program.counts()
    bench.run_epochs(options.epochs)
    found = difference(before, program.counts(), options.epochs)
    client.close()
    stop([line], program)
    return found


def trace(options, folder, name):
    epochs = min(options.epochs, 15)
    bench, lines, torpord, gpsd, heard = begin(options, folder, name, traced=True)
    began = time.time()
    bench.run_epochs(epochs)
    ended = time.time()
    for client in heard.values():
        client.close()
    stop(lines, torpord, gpsd)
    both = {"torpord": torpord} | ({"gpsd": gpsd} if gpsd else {})
    return {
        key: {call: number / epochs for call, number in program.calls(began, ended).items()}
        for key, program in both.items()}


# What the crowd wants, in turn: six of ten hear every fix.
BACKGROUND = ("SetExecution", {"state": "background"})
WISHES = [
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
    """Two hundred clients of mixed services; again where another program had the processor."""
    for run in range(times):
        found = crowd_once(options, f"{folder}/crowd-{run}")
        found["runs"] = run + 1
        if found["longest_ms"] <= 50:
            break
    return found


def crowd_once(options, folder, seconds=20):
    """Two hundred clients of mixed services while the receiver tells ten fixes a second."""
    os.makedirs(folder)
    board = folder + "/fast.toml"
    text = pathlib.Path(options.board).read_text(encoding="utf-8")
    pathlib.Path(board).write_text(
        text.replace("fix_interval_ms = 1000", f"fix_interval_ms = {1000 // CROWD_RATE}")
        .replace("speed_baud = 9600", "speed_baud = 115200"), encoding="utf-8")
    line = programs.Line()
    torpord = programs.Torpord(options.binary, board, line, folder + "/crowd")
    bench = clients.Bench()
    bench.lines = [line]
    before = torpord.resident_kb(torpord.ring)
    all_clients = [
        clients.TorporClient(bench, torpord.socket, f"client-{number}", WISHES[number % len(WISHES)])
        for number in range(CROWD)]
    bench.feed = streams.Feed([line], streams.nav_pvt, rate=CROWD_RATE)
    bench.run_epochs(5 * CROWD_RATE)
    known = set(bench.feed.ends)
    counts = torpord.counts()
    middle = torpord.resident_kb(torpord.ring)
    bench.run_epochs(seconds * CROWD_RATE)
    bench.run(until=time.monotonic() + 0.2)
    counts = difference(counts, torpord.counts(), seconds * CROWD_RATE)
    late = []
    for number, client in enumerate(all_clients):
        # A deferring client hears late on purpose, and who wants no fixes hears none.
        if number % len(WISHES) in (4, 6, 7):
            continue
        late += [
            (at - bench.feed.ends[utc]) * 1e3 for utc, at in client.heard.items()
            if utc in bench.feed.ends and utc not in known]
    found = {
        "clients": len(all_clients), "told": len(late), "frames": sum(c.frames for c in all_clients),
        "epochs": seconds * CROWD_RATE, "median_ms": statistics.median(late), "longest_ms": max(late),
        "run_us": counts["run_ns"] / 1e3, "wait_us": counts["wait_ns"] / 1e3, "wakes": counts["wakes"],
        "resident_before_kb": before, "resident_middle_kb": middle,
        "resident_after_kb": torpord.resident_kb(torpord.ring)}
    for client in all_clients:
        client.close()
    stop([line], torpord)
    return found
