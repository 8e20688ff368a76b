"""Python interface of the C part (planner, simulator, generated tracks).

The C part is compiled on first use, without options that differ between machines, into a
subfolder of the system's temporary directory.
"""
import ctypes
import hashlib
import math
import os
import pathlib
import subprocess
import tempfile

import numpy as np

FOLDER = pathlib.Path(__file__).resolve().parent
SOURCES = ["planner.c", "baselines.c", "simulate.c", "motion.c", "recorder.c", "tracks.c"]
COMPILER = ["cc", "-std=c11", "-O2", "-ffp-contract=off", "-shared", "-fPIC"]

BINS, FEATURES, LINE_FEATURES, HIDDEN_1, HIDDEN_2 = 24, 31, 36, 24, 16
LAYERS = ["mean", "scale", "weights_1", "biases_1", "weights_2", "biases_2", "weights_3",
          "biases_3"]
NETWORK, ENTRACKED, ENTRACKED_CAUTIOUS, EXPLORER = range(4)
LONGEST_TRACK = 50_400  # s
BOUNDS = (50, 100, 200, 500)  # m

F, D, I, P = ctypes.c_float, ctypes.c_double, ctypes.c_int, ctypes.c_void_p


class Profile(ctypes.Structure):
    _fields_ = [("acquire", D), ("track", D), ("standby", D), ("points", I),
                ("off", D * 8), ("search", D * 8)]


class Network(ctypes.Structure):
    _fields_ = [("features", I), ("mean", F * LINE_FEATURES), ("scale", F * LINE_FEATURES),
                ("weights_1", F * (HIDDEN_1 * LINE_FEATURES)), ("biases_1", F * HIDDEN_1),
                ("weights_2", F * (HIDDEN_2 * HIDDEN_1)), ("biases_2", F * HIDDEN_2),
                ("weights_3", F * (BINS * HIDDEN_2)), ("biases_3", F * BINS)]


class Tuning(ctypes.Structure):
    _fields_ = [(name, D) for name in (
        "price", "least_price", "prior_energy", "prior_time", "guard", "acceleration",
        "run_limit", "first_run_limit")]
    _fields_ += [("first_fixes", I), ("standing_rate", D), ("false_alarm", D),
                 ("longest_alarm", D), ("explorer_scale", D), ("policy", I)]


class FixSample(ctypes.Structure):
    _fields_ = [("time", D), ("east", D), ("north", D), ("speed", D), ("accuracy", D),
                ("is_moving", I), ("motion", D), ("since_change", D)]


class CTrack(ctypes.Structure):
    _fields_ = [("seconds", I), ("east", P), ("north", P), ("speed", P), ("is_known", P),
                ("is_moving", P)]


class Conditions(ctypes.Structure):
    _fields_ = [("bound", D), ("has_line", I), ("noise", D), ("noise_time", D),
                ("speed_noise", D), ("accuracy", D), ("seed", ctypes.c_uint64),
                ("exploration", D), ("start", I), ("most_fixes", I)]


class Outcome(ctypes.Structure):
    _fields_ = [("energy", D), ("seconds", D), ("outside", D), ("checked", D), ("fixes", I)]


class Samples(ctypes.Structure):
    _fields_ = [("features", P), ("labels", P), ("weights", P), ("capacity", I), ("count", I)]


def _load():
    text = b"".join((FOLDER / name).read_bytes() for name in
                    SOURCES + ["planner.h", "simulate.h", "motion.h", "random.h"])
    name = hashlib.sha256(text + " ".join(COMPILER).encode()).hexdigest()[:16]
    built = pathlib.Path(tempfile.gettempdir()) / f"exit-training-{os.getuid()}" / f"{name}.so"
    if not built.exists():
        built.parent.mkdir(mode=0o700, exist_ok=True)
        partial = built.with_suffix(f".{os.getpid()}")
        subprocess.run(COMPILER + ["-o", partial] + [FOLDER / name for name in SOURCES] + ["-lm"],
                       check=True)
        partial.rename(built)
    return ctypes.CDLL(str(built))


LIBRARY = _load()
LIBRARY.optimum.restype = D
LIBRARY.planner_off_time.restype = D
LIBRARY.acquisition_time.restype = D
LIBRARY.kind_name.restype = ctypes.c_char_p
for _index, _type in ((0, Profile), (1, Network), (2, Tuning), (3, FixSample), (5, CTrack),
                      (6, Conditions), (7, Outcome), (8, Samples)):
    assert LIBRARY.size_of(_index) == ctypes.sizeof(_type), _type
PLANNER_SIZE = LIBRARY.size_of(4)
KINDS = LIBRARY.kind_count()


def profile(points, acquire=27.6, track=24.6, standby=0.106):
    """A receiver: power in mW, and points (seconds off, seconds of acquisition)."""
    result = Profile(acquire, track, standby, len(points))
    for i, (off, search) in enumerate(points):
        result.off[i], result.search[i] = off, search
    return result


#: Times to fix: of the receiver model, and measured.
PROFILES = {
    "model": profile([(0, 1), (5, 1), (5.0001, 3), (7200, 3), (14400, 28)]),
    "measured": profile([(0, 1), (5, 1), (60, 3), (600, 10.5), (7200, 10.5), (14400, 29)]),
}


def tuning(has_line=False, **changes):
    """The constants of MovementTuning in Sources/Core/LocationPolicy/Movement/MovementModel.swift."""
    values = dict(
        price=26 if has_line else 18, least_price=10 if has_line else 70, prior_energy=5400,
        prior_time=1200, guard=0.5, acceleration=1.5, run_limit=3, first_run_limit=1,
        first_fixes=3, standing_rate=0.5, false_alarm=0.3, longest_alarm=60,
        explorer_scale=1, policy=NETWORK)
    return Tuning(**(values | changes))


class Track:
    """Positions in metres at intervals of one second, the motion line, and which seconds count."""

    def __init__(self, name, east, north, speed, is_known, is_moving, is_day=False):
        self.name = name
        self.arrays = [np.ascontiguousarray(a, float) for a in (east, north, speed)]
        self.arrays += [np.ascontiguousarray(a, np.uint8) for a in (is_known, is_moving)]
        self.east, self.north, self.speed, self.is_known, self.is_moving = self.arrays
        self.seconds = len(self.east)
        self.is_day = is_day
        self.c = CTrack(self.seconds, *(a.ctypes.data for a in self.arrays))
        self._optima = {}

    def optimum(self, bound, receiver):
        """Energy of the optimal schedule with knowledge of the whole track, mJ."""
        key = bound, receiver
        if key not in self._optima:
            self._optima[key] = LIBRARY.optimum(
                ctypes.byref(self.c), ctypes.byref(PROFILES[receiver]), D(bound), 9000)
        return self._optima[key]

    def part(self, start, seconds):
        arrays = (a[start:start + seconds] for a in self.arrays)
        return Track(self.name, *arrays, is_day=self.is_day)


def run(track, receiver, network, constants, conditions, samples=0):
    """Runs the planner over a track.

    Returns the outcome; for `samples` above 0 also at most that many rows of features, labels and
    weights.
    """
    outcome, rows = Outcome(), None
    if samples:
        features = LINE_FEATURES if conditions.has_line else FEATURES
        arrays = [np.empty((samples, n), np.float32) for n in (features, BINS, BINS)]
        rows = Samples(*(a.ctypes.data for a in arrays), samples, 0)
    LIBRARY.simulate(
        ctypes.byref(track.c), ctypes.byref(PROFILES[receiver]),
        ctypes.byref(network) if network else None, ctypes.byref(constants),
        ctypes.byref(conditions), ctypes.byref(outcome), ctypes.byref(rows) if rows else None)
    return (outcome, [a[:rows.count] for a in arrays]) if samples else outcome


def derived_line(east, north, seed):
    """A motion line derived from a recorded track.

    A second is in motion if the track, smoothed over 9 s, moves more than 12 m in 30 s or 5 m in
    8 s. Each period of motion is trimmed to speeds over 6 s above 0.35 m/s and starts up to 2 s
    late. A false alarm of 10 s occurs once an hour.
    """
    count = len(east)

    def smooth(values):
        padded = np.pad(values, 4, mode="edge")
        return np.median(np.lib.stride_tricks.sliding_window_view(padded, 9), axis=1)

    def net(seconds):
        before = np.clip(np.arange(count) - seconds // 2, 0, count - 1)
        after = np.clip(np.arange(count) + seconds // 2, 0, count - 1)
        return np.hypot(x[after] - x[before], y[after] - y[before])

    x, y = smooth(east), smooth(north)
    moves = (net(30) > 12) | (net(8) > 5)
    fast = net(6) / 6 >= 0.35
    line = np.zeros(count, np.uint8)
    edges = np.flatnonzero(np.diff(np.r_[0, moves, 0]))
    for begin, end in zip(edges[::2], edges[1::2]):
        inside = begin + np.flatnonzero(fast[begin:end])
        if len(inside):
            line[inside[0]:inside[-1] + 1] = 1
    rng = np.random.default_rng(seed)
    for start in np.flatnonzero(np.diff(np.r_[0, line]) == 1):
        line[start:start + rng.integers(0, 3)] = 0
    for start in np.flatnonzero(rng.random(count) < 1 / 3600):
        line[start:start + 10] = 1
    return line


def generated(kind, seed):
    """A generated track. Even seeds have the motion line of recorder.c, odd ones a derived one."""
    arrays = [np.zeros(LONGEST_TRACK) for _ in range(3)] + [np.zeros(LONGEST_TRACK, np.uint8)]
    count = LIBRARY.make_track(kind, ctypes.c_uint64(seed), LONGEST_TRACK,
                               *(P(a.ctypes.data) for a in arrays))
    east, north, speed, line = (a[:count].copy() for a in arrays)
    if seed % 2:
        line = derived_line(east, north, seed)
    name = f"{LIBRARY.kind_name(kind).decode()} {seed}"
    return Track(name, east, north, speed, np.ones(count), line, bool(LIBRARY.kind_is_day(kind)))


def hold_out(count=60, base=900_000):
    """Tracks that are never used for training; their seeds are reserved for evaluation."""
    return [generated(i % KINDS, base + i) for i in range(count)]


def training_tracks(count, base=1_000):
    return [generated(i % KINDS, base + i) for i in range(count)]


def from_samples(name, time, latitude, longitude, speed):
    """A recorded track at intervals of one second; gaps of more than 30 s do not count."""
    rising = np.r_[True, np.diff(np.maximum.accumulate(time)) > 0]
    time, latitude, longitude, speed = (a[rising] for a in (time, latitude, longitude, speed))
    time = time - time[0]
    metres = math.radians(1) * 6_371_008.8
    east = (longitude - longitude[0]) * metres * math.cos(math.radians(np.median(latitude)))
    north = (latitude - latitude[0]) * metres
    seconds = np.arange(int(time[-1]) + 1)
    x, y = np.interp(seconds, time, east), np.interp(seconds, time, north)
    is_known = np.ones(len(seconds), np.uint8)
    for i in np.flatnonzero(np.diff(time) > 30):
        is_known[int(time[i]) + 1:math.ceil(time[i + 1])] = 0
    if np.isfinite(speed).mean() > 0.9:
        v = np.interp(seconds, time, np.nan_to_num(speed))
    else:
        v = np.hypot(np.diff(x, prepend=x[0]), np.diff(y, prepend=y[0]))
        v[1:] = (v[1:] + v[:-1]) / 2
        v[is_known == 0] = 0
    line = derived_line(x, y, sum(map(ord, name)))
    return Track(name, x, y, v, is_known, line)


def recorded(folder):
    """The tracks of a folder of CSV files with unix_time, lat, lon and speed."""
    tracks = []
    for path in sorted(pathlib.Path(folder).glob("*.csv")):
        if path.name.endswith(".pauses.csv"):
            continue
        table = np.genfromtxt(path, delimiter=",", names=True)
        tracks.append(from_samples(path.stem, table["unix_time"], table["lat"], table["lon"],
                                   table["speed"]))
    return tracks
