"""Python interface of the planner in the core, of the simulator and of the generated tracks.

All three are in the library that `make training` builds (Sources/Lab/TrainingCore and CTraining).
"""
import ctypes
import math
import pathlib

import numpy as np

FOLDER = pathlib.Path(__file__).resolve().parent
REPOSITORY = FOLDER.parents[2]

BINS, FEATURES, LINE_FEATURES, HIDDEN_1, HIDDEN_2 = 24, 31, 36, 24, 16
NETWORK, ENTRACKED, ENTRACKED_CAUTIOUS, EXPLORER = range(4)
LONGEST_TRACK = 50_400  # s
BOUNDS = (50, 100, 200, 500)  # m
METRES = math.radians(1) * 6_371_008.8  # of a degree

F, D, I, P = ctypes.c_float, ctypes.c_double, ctypes.c_int, ctypes.c_void_p


class Profile(ctypes.Structure):
    _fields_ = [("acquire", D), ("track", D), ("standby", D), ("points", I),
                ("off", D * 8), ("search", D * 8)]


class Tuning(ctypes.Structure):
    _fields_ = [("weights", ctypes.POINTER(F)), ("price", D), ("least_price", D),
                ("prior_energy", D), ("prior_time", D), ("raises_price", I), ("policy", I),
                ("explorer_scale", D)]


class FixSample(ctypes.Structure):
    _fields_ = [("time", D), ("east", D), ("north", D), ("speed", D), ("accuracy", D),
                ("is_moving", I), ("motion", D), ("since_change", D)]


class Decision(ctypes.Structure):
    _fields_ = [("off_time", D), ("time_scale", D), ("pause_limit", D),
                ("features", D * LINE_FEATURES)]


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
    path = REPOSITORY / ".build/release/libTrainingCore.so"
    if not path.exists():
        raise SystemExit(f"{path} is missing: run 'make training'")
    library = ctypes.CDLL(str(path))
    for name in ("optimum", "acquisition_time"):
        getattr(library, name).restype = D
    library.planner_create.restype = P
    library.kind_name.restype = ctypes.c_char_p
    library.torpor_exit_weights.restype = ctypes.POINTER(F)
    for index, kind in enumerate((Profile, Tuning, FixSample, Decision, CTrack, Conditions,
                                  Outcome, Samples)):
        assert library.size_of(index) == ctypes.sizeof(kind), kind
    return library


LIBRARY = _load()
KINDS = LIBRARY.kind_count()


#: Times to fix (seconds off, seconds of acquisition): of the receiver model, and measured.
POINTS = {
    "model": [(0, 1), (5, 1), (5.0001, 3), (7200, 3), (14400, 28)],
    "measured": [(0, 1), (5, 1), (60, 3), (600, 10.5), (7200, 10.5), (14400, 29)],
}
#: The receivers: power in mW, and their times to fix.
PROFILES = {name: Profile(27.6, 24.6, 0.106, len(points), *zip(*points))
            for name, points in POINTS.items()}


def tuning(has_line=False, network=None, **changes):
    """The constants of the core, with the weights of a network (weights.py) instead of its own."""
    result = Tuning()
    LIBRARY.set_product_tuning(ctypes.byref(result), has_line)
    if network is not None:
        result.network = network  # keeps the array
        result.weights = network.ctypes.data_as(ctypes.POINTER(F))
    for name, value in changes.items():
        setattr(result, name, value)
    return result


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
        """Energy of the optimal schedule with knowledge of the whole track, mJ (Optimum.swift)."""
        key = bound, receiver
        if key not in self._optima:
            self._optima[key] = LIBRARY.optimum(
                ctypes.byref(self.c), ctypes.byref(PROFILES[receiver]), D(bound))
        return self._optima[key]

    def part(self, start, seconds):
        arrays = (a[start:start + seconds] for a in self.arrays)
        return Track(self.name, *arrays, is_day=self.is_day)


def run(track, receiver, constants, conditions, samples=0):
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
        ctypes.byref(track.c), ctypes.byref(PROFILES[receiver]), ctypes.byref(constants),
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
    east = (longitude - longitude[0]) * METRES * math.cos(math.radians(np.median(latitude)))
    north = (latitude - latitude[0]) * METRES
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


def recorded_files(folder):
    """The recorded tracks of a folder: CSV files with unix_time, lat, lon, alt and speed."""
    return [path for path in sorted(pathlib.Path(folder).glob("*.csv"))
            if not path.name.endswith(".pauses.csv")]


def recorded(folder):
    """The tracks of a folder, without their altitudes."""
    tracks = []
    for path in recorded_files(folder):
        table = np.genfromtxt(path, delimiter=",", names=True)
        tracks.append(from_samples(path.stem, table["unix_time"], table["lat"], table["lon"],
                                   table["speed"]))
    return tracks


def least_energy(receiver, seconds):
    """Energy below which the optimal schedule has fewer than five fixes, mJ."""
    return 5 * (receiver.track + 3 * receiver.acquire) + receiver.standby * seconds
