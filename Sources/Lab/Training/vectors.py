"""Writes Tests/Core/LocationPolicyTests/Movement/MovementVectors.swift: decisions of the planner.

Each decision is an off time: for how long the receiver is off after a fix. The test `Off times match
those of the training program` passes the same fixes to the planner. Run this program after the weights
have changed, with a library that is built with them (README.md).
"""
import argparse
import ctypes
import math

import numpy as np

from simulator import (LIBRARY, P, PROFILES, REPOSITORY, Decision, FixSample, generated, tuning)

OUT = REPOSITORY / "Tests/Core/LocationPolicyTests/Movement/MovementVectors.swift"
#: For each test: name, kind and seed of the generated track, accuracy bound in metres, whether the board
#: has a motion line, receiver (a key of PROFILES).
VECTORS = [
    ("cityAt100", 4, 901, 100, False, "model"),
    ("walkAt50", 0, 902, 50, False, "measured"),
    ("dayAt500", 18, 904, 500, False, "model"),
    ("dayWithLineAt100", 17, 905, 100, True, "model"),
    ("deliveriesWithLineAt50", 15, 906, 50, True, "measured"),
]


def rows(kind, seed, bound, has_line, receiver, count):
    rng = np.random.default_rng(seed)
    track = generated(kind, seed)
    profile = PROFILES[receiver]
    planner = P(LIBRARY.planner_create(ctypes.byref(profile), ctypes.byref(tuning(has_line)),
                                       ctypes.c_double(bound), has_line))
    decision = Decision()
    line = track.is_moving if has_line else np.zeros(track.seconds, np.uint8)
    changes = np.flatnonzero(np.diff(line.astype(int))) + 1
    second = previous = 0
    while second < track.seconds and count > 0:
        before = changes[changes <= second]
        sample = FixSample(
            time=second, east=round(track.east[second] + rng.normal(0, 1.5), 2),
            north=round(track.north[second] + rng.normal(0, 1.5), 2),
            speed=round(abs(track.speed[second] + rng.normal(0, 0.1)), 2),
            accuracy=round(rng.uniform(2, 6), 1), is_moving=int(line[second]),
            motion=int(line[previous + 1:second + 1].sum()),
            since_change=second - (before[-1] if len(before) else 0) if has_line else 0)
        LIBRARY.planner_decide(planner, ctypes.byref(sample), ctypes.byref(decision))
        off = int(decision.off_time)
        yield (f"{second} {sample.east:.2f} {sample.north:.2f} {sample.speed:.2f} {sample.accuracy:.1f} "
               f"{sample.is_moving} {sample.motion:.0f} {sample.since_change:.0f} {off}")
        previous = second
        wall = off
        if has_line and off and not sample.is_moving:  # the off clock is stopped, for 10 min at most
            moves = np.flatnonzero(line[second + 1:second + 601])
            wall += int(moves[0]) if len(moves) else 600
        search = LIBRARY.acquisition_time(ctypes.byref(profile), ctypes.c_double(wall)) if wall else 0
        second += 1 + wall + math.ceil(search)
        count -= 1


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--count", type=int, default=120, help="fixes each (%(default)s)")
    given = parser.parse_args()
    out = ["// Written by Sources/Lab/Training/vectors.py; not by hand.", "",
           '/// Rows of "time east north speed accuracy motion motionSeconds sinceChange off".',
           "enum MovementVectors {"]
    for name, *parameters in VECTORS:
        out += [f'  static let {name} = """']
        out += ["    " + text for text in rows(*parameters, given.count)]
        out += ['    """', ""]
    out[-1] = "}"
    OUT.write_text("\n".join(out) + "\n")


if __name__ == "__main__":
    main()
