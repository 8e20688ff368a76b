"""The simulated day of `torpor simulate` as a track, for the programs of this folder that print tables of energies."""

import json
import os
import subprocess
import sys


def run(*arguments):
    """Standard output of a command, which must succeed."""
    result = subprocess.run(arguments, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, text=True)
    if result.returncode != 0:
        sys.exit(f"{os.path.basename(sys.argv[0])}: {' '.join(arguments)}: exit code {result.returncode}")
    return result.stdout


def records(text):
    """The JSON objects of a text with one in a line; other lines are ignored."""
    return [json.loads(line) for line in text.splitlines() if line.startswith("{")]


def track_of_day(torpor, folder):
    """Path of a file with the day: the fixes of a receiver without errors."""
    output, track = os.path.join(folder, "day.bytes"), os.path.join(folder, "day.csv")
    run(torpor, "simulate", "--board", "simulated", "--scenario", "day", "--service", "standard",
        "--noise", "none", "--bytes", output, "--quiet")
    with open(track, "w", encoding="utf-8") as file:
        file.write(run(torpor, "decode", "--quiet", "--format", "csv", output))
    return track
