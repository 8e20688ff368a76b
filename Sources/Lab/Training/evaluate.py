"""Evaluates a network: energy relative to the optimum, and the share of time outside the bound.

Prints a Markdown table for generated tracks that were not used for training, and for folders of
recorded tracks. Pairs of track and distance whose optimal schedule needs fewer than five fixes are
omitted: there the ratio only measures the first minutes.
"""
import argparse
import math
import zlib

import numpy as np

from simulator import (BOUNDS, ENTRACKED, ENTRACKED_CAUTIOUS, PROFILES, Conditions, hold_out,
                       least_energy, recorded, run, tuning)
import weights


def has_enough_fixes(track, bound, receiver):
    """Whether the optimal schedule needs at least five fixes."""
    return track.optimum(bound, receiver) >= least_energy(PROFILES[receiver], track.seconds)


def conditions(track, bound, has_line, is_noisy):
    seed = zlib.crc32(f"{track.name} {bound}".encode()) % 99_991
    if is_noisy:
        return Conditions(bound=bound, has_line=has_line, noise=2.5, noise_time=120,
                          speed_noise=0.15, accuracy=4, seed=seed)
    return Conditions(bound=bound, has_line=has_line, noise_time=120, accuracy=3, seed=seed)


def evaluate(tracks, has_line, receiver, is_noisy, constants, bounds=BOUNDS):
    """Rows of (track, bound, logarithm of the ratio, seconds outside, seconds checked)."""
    rows = []
    for track in tracks:
        for bound in bounds:
            if not has_enough_fixes(track, bound, receiver):
                continue
            out = run(track, receiver, constants, conditions(track, bound, has_line, is_noisy))
            ratio = math.log(out.energy / track.optimum(bound, receiver))
            rows.append((track.name, bound, ratio, out.outside, max(out.checked, 1)))
    return rows


def summary(rows):
    """Ratio (geometric mean), mean and pooled share outside, and the worst track with its share."""
    ratio = math.exp(np.mean([row[2] for row in rows]))
    mean = np.mean([row[3] / row[4] for row in rows])
    pooled = sum(row[3] for row in rows) / sum(row[4] for row in rows)
    by_track = {}
    for name, _, _, outside, checked in rows:
        sums = by_track.setdefault(name, [0, 0])
        sums[0] += outside
        sums[1] += checked
    worst, name = max((outside / checked, name) for name, (outside, checked) in by_track.items())
    return ratio, mean, pooled, worst, name


def cell(rows):
    if not rows:
        return "–"
    return f"{summary(rows)[0]:.2f} @ {100 * summary(rows)[1]:.2f}"


def first_minutes(tracks, has_line, constants, count=20):
    """Mean power and share outside over the first ten minutes from random positions."""
    rng = np.random.default_rng(7)
    energy = seconds = outside = checked = 0
    for track in tracks:
        for _ in range(count):
            start = int(rng.integers(0, max(track.seconds - 600, 1)))
            part = track.part(start, 600)
            for bound in BOUNDS:
                out = run(part, "model", constants, conditions(part, bound, has_line, True))
                energy += out.energy
                seconds += out.seconds
                outside += out.outside
                checked += out.checked
    return energy / seconds, outside / checked


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--no-line", metavar="FILE", help="weights instead of the shipped ones")
    parser.add_argument("--line", metavar="FILE", help="weights for boards with a motion line")
    parser.add_argument("--tracks", type=int, default=60, help="generated tracks (%(default)s)")
    parser.add_argument("--recorded", metavar="FOLDER", action="append", default=[],
                        help="CSV files with unix_time, lat, lon, speed; may be given again")
    parser.add_argument("--baselines", action="store_true", help="also EnTracked, in two variants")
    parser.add_argument("--brief", action="store_true", help="noisy fixes only")
    parser.add_argument("--set", metavar="NAME=VALUE", action="append", default=[],
                        help="changes a constant of all planners: price, least_price, prior_energy, "
                        "prior_time")
    parser.add_argument("--first", action="store_true", help="also the first ten minutes")
    given = parser.parse_args()
    changes = {name: float(value) for name, value in (text.split("=") for text in given.set)}
    generated_tracks = hold_out(given.tracks)
    sets = {"generated, moving": [t for t in generated_tracks if not t.is_day],
            "generated, days with long stops": [t for t in generated_tracks if t.is_day]}
    sets |= {folder: recorded(folder) for folder in given.recorded}
    sets = {name: tracks for name, tracks in sets.items() if tracks}
    net = weights.load(given.no_line) if given.no_line else None
    line_net = weights.load(given.line) if given.line else None
    designs = {"planner": (False, tuning(False, net, **changes)),
               "planner + line": (True, tuning(True, line_net, **changes))}
    if given.baselines:
        rules = {"EnTracked": ENTRACKED, "EnTracked, cautious": ENTRACKED_CAUTIOUS}
        designs = {name: (False, tuning(policy=policy))
                   for name, policy in rules.items()} | designs
    print("| tracks | times to fix | fix noise | design | pairs | ratio | outside, mean | pooled "
          "| worst track | E = " + " | ".join(map(str, BOUNDS)) + " |")
    print("|---" * (9 + len(BOUNDS)) + "|")
    for name, tracks in sets.items():
        for receiver in PROFILES:
            for is_noisy in (True,) if given.brief else (False, True):
                for design, (has_line, constants) in designs.items():
                    rows = evaluate(tracks, has_line, receiver, is_noisy, constants)
                    ratio, mean, pooled, worst, worst_track = summary(rows)
                    cells = [cell([r for r in rows if r[1] == bound]) for bound in BOUNDS]
                    print(f"| {name} | {receiver} | {'2.5 m' if is_noisy else 'none'} | {design} "
                          f"| {len(rows)} | {ratio:.3f} | {mean:.2%} | {pooled:.2%} "
                          f"| {worst:.2%} {worst_track[:20]} | " + " | ".join(cells) + " |", flush=True)
    if given.first:
        for design, (has_line, constants) in designs.items():
            for name, tracks in sets.items():
                power, share = first_minutes(tracks, has_line, constants)
                print(f"First ten minutes, {name}, {design}: {power:.2f} mW, {share:.2%} outside")


if __name__ == "__main__":
    main()
