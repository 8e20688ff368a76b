"""The musts, and the table."""

TITLES = {
    "pieces": "14 sentences in 16-byte pieces at 9600 baud",
    "whole": "the same as whole epochs",
    "nav-pvt": "NAV-PVT as whole epochs",
}
# Wakes for a fix: one, and one more where the pieces of an epoch are waited for by a timer. The wake by
# which a client's acknowledgement is heard is told and not counted: the client is awake then.
WAKES = {"pieces": 2, "whole": 1, "nav-pvt": 1}
CALLS = {"pieces": 8, "whole": 5, "nav-pvt": 5}
RATIO = {"whole": 0.25, "nav-pvt": 0.25}
LATENCY_MS = 50
RESIDENT_KB = 8_000
READY_S = 0.020
BINARY = 10_000_000
# Growth of a service with two hundred clients while it serves them.
CROWD_GROWTH_KB = 1_000
# Fixes a second to a client that comes back.
DRAIN_RATE = 500_000


def row(name, value, bound, beside=None, least=False):
    """`bound` is the most that may be, or with `least` the least."""
    holds = None
    if bound is not None and value is not None:
        holds = value >= bound if least else value <= bound
    return {"name": name, "value": value, "must": bound, "gpsd": beside, "holds": holds}


def judged(figures):
    """One row for each must; `holds` is None where it could not be measured."""
    rows = []
    for state, counts in figures.get("idle", {}).items():
        rows.append(row(
            f"wakes a second without a client, receiver {state}", counts["torpord"]["wakes"], 0,
            counts.get("gpsd", {}).get("wakes")))
    for feed in TITLES:
        if feed in figures:
            rows += served(feed, figures[feed])
    rows.append(row("stripped binary, bytes", figures["binary_bytes"], BINARY))
    if "start" in figures:
        rows.append(row("start to ready, s, median", figures["start"]["median_s"], READY_S))
        rows.append(row("the first start, which makes the ring, s", figures["start"]["first_s"], None))
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
    return rows


def served(feed, figures):
    torpord, gpsd = figures["torpord"], figures.get("gpsd", {})
    wakes = torpord["wakes"] - torpord["acknowledgements"]
    # A machine with other work to do preempts: the kernel's count is off by some in a run.
    wakes = round(wakes, 1)
    beside = gpsd.get("run_ns")
    calls = gpsd.get("calls")
    return [
        row(f"{feed}: wakes a fix", wakes, WAKES[feed], gpsd.get("wakes")),
        row("  with the acknowledgement's", torpord["wakes"], None),
        row("  system calls a fix, client served",
            sum(torpord["calls"].values()) if "calls" in torpord else None, CALLS[feed],
            sum(calls.values()) if calls else None),
        row("  processor a fix, µs", torpord["run_ns"] / 1e3, None, beside and beside / 1e3),
        row("  the same, LocationClient acknowledging seldom, µs",
            figures["library"]["run_ns"] / 1e3 if "library" in figures else None, None),
        row("  instructions a fix", figures.get("instructions"), None),
        row("  page faults a fix", torpord["faults"], None, gpsd.get("faults")),
        row("  processor of a C program that only reads and sends, µs",
            figures["floor"]["run_ns"] / 1e3 if "floor" in figures else None, None),
        row("  ratio of processor to gpsd's", torpord["run_ns"] / beside if beside else None, RATIO.get(feed)),
        row("  epoch's last byte to the client, longest, ms",
            torpord["latency_ms"]["longest"] if torpord["latency_ms"] else float("inf"), LATENCY_MS,
            gpsd["latency_ms"]["longest"] if gpsd.get("latency_ms") else None),
        row("    median, ms", torpord["latency_ms"]["median"] if torpord["latency_ms"] else None, None,
            gpsd["latency_ms"]["median"] if gpsd.get("latency_ms") else None),
        row("  epochs that did not arrive", figures["epochs"] - torpord["fixes"], 0),
        row("  resident, ring not counted, kB", torpord["resident_kb"], RESIDENT_KB, gpsd.get("resident_kb")),
    ]


def told(value):
    if value is None:
        return "–"
    if isinstance(value, int) or value >= 10_000:
        return f"{value:,.0f}"
    return f"{value:.4g}"


def table(figures, rows):
    lines = [
        f"{figures['gpsd'] or 'no gpsd here'}; {figures['processors']} processors, load {figures['load']:.1f}, "
        f"Linux {figures['kernel']}, {figures['machine']}", "",
        f"{'':72}{'torpord':>12}{'must':>12}{'gpsd':>12}"]
    for entry in rows:
        verdict = "  MISSED" if entry["holds"] is False else ""
        lines.append(
            f"{entry['name']:72}{told(entry['value']):>12}{told(entry['must']):>12}{told(entry['gpsd']):>12}{verdict}")
    missed = sum(entry["holds"] is False for entry in rows)
    lines += ["", f"{missed} missed" if missed else "every must holds"]
    return "\n".join(lines)
