"""Compares the measurements with their bounds, and formats the table."""

TITLES = {
    "pieces": "14 sentences in 16-byte pieces at 9600 baud",
    "whole": "the same as whole epochs",
    "nav-pvt": "NAV-PVT as whole epochs",
}
# Wakes per fix: one, and one more if a timer waits for the pieces of an epoch. The wake that reads
# a client's acknowledgement is reported but not counted, because the client is awake then.
WAKES = {"pieces": 2, "whole": 1, "nav-pvt": 1}
CALLS = {"pieces": 8, "whole": 5, "nav-pvt": 5}
RATIO = {"pieces": 0.1, "whole": 0.6, "nav-pvt": 1.2}
LATENCY_MS = 50
RESIDENT_KB = 8_000
READY_S = 0.020
BINARY = 10_000_000
# Growth of memory while the service serves two hundred clients.
CROWD_GROWTH_KB = 1_000
# From the service's system call to the delegate of a program that imports CoreLocation.
DELEGATE_MS = 5
PROGRAM_KB = 20_000
# Fixes per second of a drain.
DRAIN_RATE = 500_000


def row(name, value, bound, gpsd_value=None, least=False):
    """`bound` is the maximum, or with `least` the minimum."""
    holds = None
    if bound is not None and value is not None:
        holds = value >= bound if least else value <= bound
    return {"name": name, "value": value, "must": bound, "gpsd": gpsd_value, "holds": holds}


def evaluated(figures):
    """One row per measurement; `holds` is None if there is no bound or no value."""
    rows = []
    for state, counts in figures.get("idle", {}).items():
        rows.append(row(
            f"wakes a second without a client, receiver {state}", counts["torpord"]["wakes"], 0,
            counts.get("gpsd", {}).get("wakes")))
    for feed in TITLES:
        if feed in figures:
            rows += served(feed, figures[feed])
    if "gpsd-clients" in figures:
        rows += gpsd_clients(figures["gpsd-clients"])
    if "clock" in figures:
        clock = figures["clock"]
        rows.append(row(
            "wakes a fix that feeding the system clock adds, median",
            clock["with"]["median_wakes"] - clock["without"]["median_wakes"], 0))
        rows.append(row("  mean", clock["with"]["wakes"] - clock["without"]["wakes"], None))
        rows.append(row("  processor a fix that it adds, µs", (clock["with"]["run_ns"] - clock["without"]["run_ns"]) / 1e3, None))
        rows.append(row("  epochs without a sample", clock["epochs"] - clock["samples"], 0))
    rows.append(row("stripped binary, bytes", figures["binary_bytes"], BINARY))
    if "start" in figures:
        rows.append(row("start to ready, s, median", figures["start"]["median_s"], READY_S))
        rows.append(row("first start, which creates the ring, s", figures["start"]["first_s"], None))
    if "crowd" in figures:
        crowd = figures["crowd"]
        rows.append(row(
            f"{crowd['clients']} clients at 10 Hz: longest time to a client, ms", crowd["longest_ms"], LATENCY_MS))
        rows.append(row("  median, ms", crowd["median_ms"], None))
        rows.append(row("  processor an epoch, µs", crowd["run_us"], None))
        rows.append(row("  waited for a processor an epoch, µs", crowd["wait_us"], None))
        rows.append(row("  runs", crowd["runs"], None))
        rows.append(row("  resident, kB", crowd["resident_after_kb"], None))
        rows.append(row(
            "  growth while they are served, kB", crowd["resident_after_kb"] - crowd["resident_middle_kb"],
            CROWD_GROWTH_KB))
    if "drain" in figures:
        drain = figures["drain"]
        for client, title in (("c", "a client in C"), ("library", "LocationClient")):
            if client in drain:
                rows.append(row(
                    f"drain of {drain['fixes']:,} fixes, {title}: fixes a second, slowest",
                    drain[client]["slowest"], DRAIN_RATE, least=True))
                rows.append(row("  median", drain[client]["median"], None))
                rows.append(row("  the service's processor, ns a fix", drain[client]["run_ns_a_fix"], None))
    if "delegate" in figures:
        delegate = figures["delegate"]
        rows.append(row(
            f"{delegate['sent']:,} fixes to a delegate of CoreLocation: 99th percentile, ms", delegate["p99_ms"],
            DELEGATE_MS))
        rows.append(row("  median, ms", delegate["median_ms"], None))
        rows.append(row("  longest, ms", delegate["longest_ms"], None))
        rows.append(row("  fixes not delivered", delegate["sent"] - delegate["fixes"], 0))
        rows.append(row("  resident memory of the program, kB", delegate["resident_kb"], PROGRAM_KB))
    return rows


def served(feed, figures):
    torpord, gpsd = figures["torpord"], figures.get("gpsd", {})
    wakes = torpord["wakes"] - torpord["acknowledgements"]
    # On a busy machine preemptions change the kernel's count slightly.
    wakes = round(wakes, 1)
    gpsd_run_ns = gpsd.get("run_ns")
    calls = gpsd.get("calls")
    return [
        row(f"{feed}: wakes a fix", wakes, WAKES[feed], gpsd.get("wakes")),
        row("  including the acknowledgement's", torpord["wakes"], None),
        row("  system calls a fix, client served",
            sum(torpord["calls"].values()) if "calls" in torpord else None, CALLS[feed],
            sum(calls.values()) if calls else None),
        row("  processor a fix, µs", torpord["run_ns"] / 1e3, None, gpsd_run_ns and gpsd_run_ns / 1e3),
        row("  the same, LocationClient with batched acknowledgements, µs",
            figures["library"]["run_ns"] / 1e3 if "library" in figures else None, None),
        row("  instructions a fix", figures.get("instructions"), None),
        row("  page faults a fix", torpord["faults"], None, gpsd.get("faults")),
        row("  processor of a C program that only reads and sends, µs",
            figures["floor"]["run_ns"] / 1e3 if "floor" in figures else None, None),
        row("  ratio of processor to gpsd's", torpord["run_ns"] / gpsd_run_ns if gpsd_run_ns else None,
            RATIO.get(feed)),
        row("  epoch's last byte to the client, longest, ms",
            torpord["latency_ms"]["longest"] if torpord["latency_ms"] else float("inf"), LATENCY_MS,
            gpsd["latency_ms"]["longest"] if gpsd.get("latency_ms") else None),
        row("    median, ms", torpord["latency_ms"]["median"] if torpord["latency_ms"] else None, None,
            gpsd["latency_ms"]["median"] if gpsd.get("latency_ms") else None),
        row("  epochs not delivered", figures["epochs"] - torpord["fixes"], 0),
        row("  resident without the ring, kB", torpord["resident_kb"], RESIDENT_KB, gpsd.get("resident_kb")),
    ]


# System calls of a fix without those that write to the clients.
GPSD_CALLS = {"pieces": 6, "whole": 5}
GPSD_RATIO = {"pieces": 0.1, "whole": 1}
GPSD_MEMORY_KB = 500
GPSD_COUNT = 10


def gpsd_clients(figures):
    """Clients of gpsd's protocol, of both services."""
    rows = []
    for feed in ("pieces", "whole"):
        torpord, gpsd = figures[feed]["torpord"], figures[feed].get("gpsd", {})
        gpsd_run_ns = gpsd.get("run_ns")
        # A program that only reads wakes for each part of an epoch that the terminal hands over.
        least = figures[feed].get("floor", {}).get("wakes", 0)
        rows += [
            row(f"{GPSD_COUNT} clients of gpsd's protocol, {feed}: wakes a fix", round(torpord["wakes"], 1),
                max(WAKES[feed], round(least, 1)), gpsd.get("wakes")),
            row("  of a C program that only reads", least or None, None),
            row("  of the helper that accepts the connections", figures[feed]["helper"]["wakes"], 0),
            row("  system calls a fix", torpord.get("calls"), GPSD_CALLS[feed] + GPSD_COUNT, gpsd.get("calls")),
            row("  processor a fix, µs", torpord["run_ns"] / 1e3, None, gpsd_run_ns and gpsd_run_ns / 1e3),
            row("  ratio of processor to gpsd's", torpord["run_ns"] / gpsd_run_ns if gpsd_run_ns else None,
                GPSD_RATIO[feed]),
            row("  epoch's last byte to the client, 99th percentile, ms", torpord["p99_ms"], LATENCY_MS,
                gpsd.get("p99_ms")),
            row("  fixes not delivered", figures[feed]["epochs"] * GPSD_COUNT - torpord["fixes"], 0),
            row("  wakes in ten seconds after the last client", figures[feed]["idle_wakes"], 0),
        ]
    rows.append(row("memory of 40 clients of gpsd's protocol, kB", figures["memory_kb"], GPSD_MEMORY_KB))
    return rows


def formatted(value):
    if value is None:
        return "–"
    if isinstance(value, int) or value >= 10_000:
        return f"{value:,.0f}"
    return f"{value:.4g}"


def table(figures, rows):
    lines = [
        f"{figures['gpsd'] or 'without gpsd'}; {figures['processors']} processors, load {figures['load']:.1f}, "
        f"Linux {figures['kernel']}, {figures['machine']}", "",
        f"{'':72}{'torpord':>12}{'bound':>12}{'gpsd':>12}"]
    for entry in rows:
        mark = "  EXCEEDED" if entry["holds"] is False else ""
        lines.append(
            f"{entry['name']:72}{formatted(entry['value']):>12}{formatted(entry['must']):>12}"
            f"{formatted(entry['gpsd']):>12}{mark}")
    missed = sum(entry["holds"] is False for entry in rows)
    lines += ["", f"{missed} bounds are exceeded" if missed else "all bounds are met"]
    return "\n".join(lines)
