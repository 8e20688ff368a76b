"""Results of the shipped engine, end to end: `torpor simulate` over tracks, as a Markdown table.

Does not use the simulator of the training: the engine receives bytes with errors, commands the
receiver through its driver, and writes its configuration after each start.
"""
import argparse
import csv
import json
import math
import pathlib
import re
import subprocess
import tempfile

from evaluate import summary
from simulator import (BOUNDS, METRES, POINTS, PROFILES, REPOSITORY, hold_out, least_energy,
                       recorded_files)


def export(track, path):
    """Writes a track as a CSV table, around 47° N in the Atlantic."""
    latitude = 47 + track.north / METRES
    longitude = -30 + track.east / METRES / math.cos(math.radians(47))
    with open(path, "w", newline="") as file:
        table = csv.writer(file)
        table.writerow(["unix_time", "lat", "lon", "alt", "speed"])
        for i in range(track.seconds):
            table.writerow([1_600_000_000 + i, f"{latitude[i]:.7f}", f"{longitude[i]:.7f}", "",
                            f"{track.speed[i]:.2f}"])


def with_measured_times(profile, path):
    """A copy of a profile with measured times to fix."""
    rows = "".join(f"  {{ off_s = {off}, fix_s = {fix} }},\n" for off, fix in POINTS["measured"])
    text = re.sub(r"after_off = \[.*?\]", f"after_off = [\n{rows}]", profile.read_text(),
                  flags=re.S)
    text = re.sub(r"cold_s = .*", "cold_s = 29", text)
    path.write_text(text)


def simulate_bound(torpor, board, track, bound, motion, seed):
    """The result of a run, or None if the optimal schedule needs fewer than five fixes."""
    command = [torpor, "simulate", "-q", "--json", "--service", "standard", "--accuracy",
               str(bound), "--track", track, "--board", board, "--seed", str(seed)]
    out = subprocess.run(command + (["--motion"] if motion else []), check=True,
                         capture_output=True, text=True).stdout
    totals = json.loads(out.strip().split("\n")[-1])
    result = totals["promise"]
    least = least_energy(PROFILES["model"], totals["duration_s"])
    return result if result["optimum_mj"] >= least else None


def cell(results):
    """Ratio, share outside, and the 95th percentile of the error, over runs of one distance."""
    if not results:
        return "–"
    ratio, share, *_ = summary([rows for rows, _ in results])
    return f"{ratio:.2f} @ {share:.2%}, {max(run['p95_m'] for _, run in results):.0f} m"


def row(name, times, motion, results):
    """`results` are pairs of a row as of `evaluate.evaluate` and the run."""
    ratio, share, _, worst, _ = summary([rows for rows, _ in results])
    by_bound = [cell([pair for pair in results if pair[0][1] == bound]) for bound in BOUNDS]
    print(f"| {name} | {times} | {'yes' if motion else 'no'} | {len(results)} | **{ratio:.2f}** | "
          f"{share:.2%} | {worst:.2%} | " + " | ".join(by_bound) + " |", flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--torpor", default=REPOSITORY / ".build/release/torpor", metavar="PATH",
                        help="the command (%(default)s)")
    parser.add_argument("--board", default="zero2w-max-m10s", help="(%(default)s)")
    parser.add_argument("--recorded", metavar="FOLDER", type=pathlib.Path,
                        help="CSV files with unix_time, lat, lon, alt, speed")
    parser.add_argument("--generated", type=int, default=40, metavar="N",
                        help="generated tracks, not used for training (%(default)s)")
    parser.add_argument("--seed", type=int, default=1, help="of torpor simulate (%(default)s)")
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        shipped = REPOSITORY / "Boards" / given.board / "profile.toml"
        measured = folder / "profile.toml"
        with_measured_times(shipped, measured)
        sets = {}
        if given.recorded:
            sets["recorded"] = recorded_files(given.recorded)
        for i, track in enumerate(hold_out(given.generated)):
            kind = "generated, days" if track.is_day else "generated, moving"
            path = folder / f"{i}.csv"
            export(track, path)
            sets.setdefault(kind, []).append(path)
        print("| tracks | times to fix | line | runs | ratio | outside | worst track | "
              + " | ".join(f"E = {bound} m" for bound in BOUNDS) + " |")
        print("|---" * (7 + len(BOUNDS)) + "|")
        for kind, paths in sets.items():
            for times, board in (("profile", shipped), ("measured", measured)):
                for motion in (False, True):
                    results = []
                    for path in paths:
                        for bound in BOUNDS:
                            run = simulate_bound(given.torpor, board, path, bound, motion, given.seed)
                            if run:
                                rows = (path.name, bound, math.log(run["ratio"]),
                                        run["broken_share"] * run["seconds"], run["seconds"])
                                results.append((rows, run))
                    row(kind, times, motion, results)


if __name__ == "__main__":
    main()
