"""Runs the service under valgrind's callgrind: the number of instructions per fix is the same in each run."""

import os
import re
import subprocess

from service_cost import clients, programs, streams


def readable(binary, folder):
    """A copy of the binary without debug information, which valgrind cannot parse."""
    stripped = f"{folder}/{os.path.basename(binary)}"
    subprocess.run(["strip", "-g", "-o", stripped, binary], check=True)
    return stripped


def profile(binary, board, folder, name, epochs):
    """Runs `epochs` epochs of the feed after a warm-up; returns the path of callgrind's profile."""
    out = f"{folder}/{name}.callgrind"
    wrapper = f"{folder}/{name}.sh"
    with open(wrapper, "w", encoding="utf-8") as file:
        file.write("#!/bin/sh\nexec valgrind --tool=callgrind --demangle=no --compress-strings=no "
                   f"--callgrind-out-file={out} {binary} \"$@\"\n")
    os.chmod(wrapper, 0o755)
    line = programs.Line()
    service = programs.Torpord(wrapper, board, line, f"{folder}/{name}")
    bench = clients.Bench()
    bench.lines = [line]
    client = clients.TorporClient(bench, service.socket, "profile")
    make, pieces = streams.FEEDS[name]
    bench.feed = streams.Feed([line], make, pieces)
    bench.run_epochs(streams.WARM_UP)
    control(service, "-z")
    bench.run_epochs(epochs)
    control(service, "-d")
    client.close()
    programs.stop([line], service)
    return out + ".1"


def control(service, option):
    subprocess.run(["callgrind_control", option, str(service.pid)], check=True, capture_output=True)


def per_fix(binary, board, folder, name, epochs):
    """Instructions per epoch of the feed: read, decode, store, send, and read the acknowledgement."""
    with open(profile(readable(binary, folder), board, folder, name, epochs), encoding="utf-8", errors="replace") as file:
        total = re.search(r"^(?:summary|totals): (\d+)", file.read(), re.MULTILINE)
    return int(total[1]) / epochs
