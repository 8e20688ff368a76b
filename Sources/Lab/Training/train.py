"""Trains the network that computes the probability of being outside the accuracy bound.

Three rounds: the planner with the network of the previous round (in the first round a simple rule)
runs over generated tracks, with random distances, prices, noise and receivers, and with a third of
its decisions changed at random. The network is fitted to the positions after each fix. Recorded
tracks are not used. Requires NumPy and the library of `make training`.
"""
import argparse
import os
import time

# One thread, so that sums are computed in the same order on every run.
os.environ["OPENBLAS_NUM_THREADS"] = os.environ["OMP_NUM_THREADS"] = "1"

import numpy as np  # noqa: E402

from simulator import (BINS, BOUNDS, EXPLORER, HIDDEN_1, HIDDEN_2, NETWORK,  # noqa: E402
                       Conditions, run, training_tracks, tuning)
import weights  # noqa: E402

LEAK = 0.05
EXPLORATION = 0.35
MAXIMUM_SAMPLES = 3_000  # of a run


def random_run(rng, has_line, net, start=0, most_fixes=0):
    """Conditions, constants and receiver of a run, at random."""
    if rng.random() < 0.5:
        bound = float(np.exp(rng.uniform(np.log(20), np.log(1500))))
    else:
        bound = float(rng.choice(BOUNDS))
    noise = float(rng.uniform(0.5, 5)) if rng.random() < 0.6 else 0.0
    receiver = "model" if rng.random() < 0.6 else "measured"
    constants = tuning(
        has_line, net, price=float(np.exp(rng.uniform(np.log(12), np.log(70)))), least_price=10,
        prior_energy=1800, prior_time=600, raises_price=False,
        explorer_scale=float(np.exp(rng.normal(0, 0.5))),
        policy=EXPLORER if net is None else NETWORK)
    conditions = Conditions(
        bound=bound, has_line=has_line, noise=noise, noise_time=float(rng.uniform(40, 300)),
        speed_noise=0.15 if noise else 0, accuracy=1.6 * noise if noise else 3,
        seed=int(rng.integers(1 << 30)), exploration=EXPLORATION, start=start,
        most_fixes=most_fixes)
    return receiver, constants, conditions


def collect(tracks, net, has_line, seed, runs, first_runs):
    """Features, labels, weights of labels and weights of rows, of runs over all tracks.

    `first_runs` start at a random second of the track and end after a few fixes, so that the samples
    include devices without history.
    """
    rng = np.random.default_rng(seed)
    collected = []
    for track in tracks:
        begins = [(0, 0)] * runs
        begins += [(int(rng.integers(0, max(track.seconds - 600, 1))), 12)
                   for _ in range(first_runs)]
        for start, most in begins:
            receiver, constants, conditions = random_run(rng, has_line, net, start, most)
            _, rows = run(track, receiver, constants, conditions, samples=most or 60_000)
            features, labels, known = rows
            if len(features) > MAXIMUM_SAMPLES:
                chosen = rng.choice(len(features), MAXIMUM_SAMPLES, replace=False)
                known = known[chosen] * np.float32(len(features) / MAXIMUM_SAMPLES)
                features, labels = features[chosen], labels[chosen]
            # The weight of a run is the square root of its length.
            row_weights = np.full(len(features), max(len(features), 20) ** -0.5)
            collected.append((features.copy(), labels.copy(), known.copy(), row_weights))
    features, labels, known, row_weights = (np.concatenate(part) for part in zip(*collected))
    return features, labels, known, (row_weights / row_weights.mean()).astype(np.float32)


def initial_network(features, rng):
    """Means, deviations and the initial weights."""
    mean, deviation = features.mean(0), features.std(0) + 1e-3
    widths = features.shape[1], HIDDEN_1, HIDDEN_2, BINS
    gains = 1, 1.4, 0.7
    layers = []
    for inputs, outputs, gain in zip(widths, widths[1:], gains):
        layers.append(rng.normal(0, gain / np.sqrt(inputs), (inputs, outputs)))
        layers.append(np.zeros(outputs) if outputs != BINS else np.full(outputs, -1.0))
    return mean, deviation, [layer.astype(np.float32) for layer in layers]


def gradients(layers, x, labels, known):
    """Gradient of the loss for each layer, and the network's outputs: cross-entropy per bin."""
    w1, b1, w2, b2, w3, b3 = layers
    z1 = x @ w1 + b1
    a1 = np.where(z1 > 0, z1, LEAK * z1)
    z2 = a1 @ w2 + b2
    a2 = np.where(z2 > 0, z2, LEAK * z2)
    z3 = a2 @ w3 + b3
    d3 = (1 / (1 + np.exp(-z3)) - labels) * known / np.float32(len(x))
    d2 = d3 @ w3.T * np.where(z2 > 0, np.float32(1), np.float32(LEAK))
    d1 = d2 @ w2.T * np.where(z1 > 0, np.float32(1), np.float32(LEAK))
    slopes = x.T @ d1, d1.sum(0), a1.T @ d2, d2.sum(0), a2.T @ d3, d3.sum(0)
    return slopes, z3


def fit(samples, seed, epochs, rate=3e-3, batch=2048):
    """Adam with a rate that falls as half a cosine; returns the network and the mean loss."""
    features, labels, known, row_weights = samples
    rng = np.random.default_rng(seed)
    mean, deviation, layers = initial_network(features, rng)
    x = np.clip((features - mean) / deviation, -4, 4).astype(np.float32)
    known = known * row_weights[:, None]
    first = [np.zeros_like(layer) for layer in layers]
    second = [np.zeros_like(layer) for layer in layers]
    step, steps = 0, epochs * (len(x) // batch)
    for _ in range(epochs):
        order = rng.permutation(len(x))
        loss = total = 0.0
        for i in range(0, len(x) - batch + 1, batch):
            rows = order[i:i + batch]
            slopes, z = gradients(layers, x[rows], labels[rows], known[rows])
            if i % (batch * 10) == 0:
                loss += (known[rows] * (np.logaddexp(0, z) - labels[rows] * z)).sum()
                total += known[rows].sum()
            step += 1
            now = rate * 0.5 * (1 + np.cos(np.pi * step / steps))
            for layer, slope, m, v in zip(layers, slopes, first, second):
                m += 0.1 * (slope - m)
                v += 0.001 * (slope * slope - v)
                layer -= (now * (m / (1 - 0.9 ** step))
                          / (np.sqrt(v / (1 - 0.999 ** step)) + 1e-8)).astype(np.float32)
    parts = [mean, 1 / deviation] + [layer.T if layer.ndim == 2 else layer for layer in layers]
    return np.concatenate([np.ravel(part) for part in parts]).astype(np.float32), loss / total


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("out", help="text file for the weights")
    parser.add_argument("--line", action="store_true", help="for boards with a motion line")
    parser.add_argument("--tracks", type=int, help="generated tracks (600; 500 with --line)")
    parser.add_argument("--first-runs", type=int, default=0,
                        help="short runs from random seconds, per track and round (%(default)s)")
    parser.add_argument("--seed", type=int, default=10,
                        help="seed of the runs and the fit, not of the tracks (%(default)s)")
    given = parser.parse_args()
    began = time.monotonic()

    def log(*words):
        print(f"{time.monotonic() - began:5.0f} s", *words, flush=True)

    tracks = training_tracks(given.tracks or (500 if given.line else 600))
    log(len(tracks), "tracks,", sum(t.seconds for t in tracks) // 3600, "hours")
    net = None
    for number in range(3):
        is_last = number == 2
        samples = collect(tracks, net, given.line, given.seed + number, 4 if is_last else 2,
                          given.first_runs)
        log("round", number + 1, "samples", len(samples[0]))
        net, loss = fit(samples, number + given.seed - 10, epochs=12 if is_last else 6)
        weights.save(net, given.out)
        log("round", number + 1, f"loss {loss:.5f}")


if __name__ == "__main__":
    main()
