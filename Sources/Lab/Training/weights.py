"""Converts the weights of a network between text files and Sources/Core/CCore/ExitWeights.c.

A network is one array: means and inverse deviations of the features, then for each of three layers
the weights, a row for each output, and the biases.
"""
import argparse

import numpy as np

from simulator import (BINS, FEATURES, HIDDEN_1, HIDDEN_2, LIBRARY, LINE_FEATURES, REPOSITORY)

SOURCE = REPOSITORY / "Sources/Core/CCore/ExitWeights.c"
NAMES = {False: "fixes_alone", True: "with_line"}
LAYERS = ["mean", "scale", "weights_1", "biases_1", "weights_2", "biases_2", "weights_3",
          "biases_3"]


def sizes(features):
    """Number of values in each part of a network."""
    return [features, features, HIDDEN_1 * features, HIDDEN_1, HIDDEN_2 * HIDDEN_1, HIDDEN_2,
            BINS * HIDDEN_2, BINS]


def features(net):
    return next(n for n in (FEATURES, LINE_FEATURES) if len(net) == sum(sizes(n)))


def save(net, path):
    """Writes a line with the sizes, then a line per part with its name and values."""
    counts = sizes(features(net))
    with open(path, "w") as file:
        print(features(net), HIDDEN_1, HIDDEN_2, BINS, file=file)
        for name, values in zip(LAYERS, np.split(net, np.cumsum(counts)[:-1])):
            print(name, *(f"{value:.6g}" for value in values), file=file)


def load(path):
    lines = open(path).read().strip().split("\n")
    count, *others = (int(word) for word in lines[0].split())
    assert others == [HIDDEN_1, HIDDEN_2, BINS], lines[0]
    rows = [[float(word) for word in line.split()[1:]] for line in lines[1:]]
    assert [len(row) for row in rows] == sizes(count), path
    return np.concatenate(rows).astype(np.float32)


def shipped(has_line):
    """The network of the built library, which is that of Sources/Core/CCore/ExitWeights.c."""
    count = sum(sizes(LINE_FEATURES if has_line else FEATURES))
    return np.ctypeslib.as_array(LIBRARY.torpor_exit_weights(has_line), (count,)).copy()


def literal(value):
    text = f"{value:.6g}"
    return (text if "." in text or "e" in text else text + ".0") + "f"


def write_source(networks):
    out = ["// Written by Training/weights.py from the trained networks; not by hand.",
           '#include "CExitWeights.h"', ""]
    for has_line, net in networks.items():
        out.append(f"// {features(net)} features: means, inverse deviations, then each layer.")
        out.append(f"static const float {NAMES[has_line]}[] = {{")
        for i in range(0, len(net), 8):
            out.append("  " + ", ".join(literal(value) for value in net[i:i + 8]) + ",")
        out += ["};", ""]
    out += ["const float *torpor_exit_weights(int has_line) {",
            "  return has_line ? with_line : fixes_alone;", "}", ""]
    SOURCE.write_text("\n".join(out))


def main():
    parser = argparse.ArgumentParser(description="Writes Sources/Core/CCore/ExitWeights.c; a network that is not "
                                     "given stays unchanged.")
    parser.add_argument("--no-line", metavar="FILE", help="output of train.py without --line")
    parser.add_argument("--line", metavar="FILE", help="output of train.py with --line")
    given = parser.parse_args()
    write_source({False: load(given.no_line) if given.no_line else shipped(False),
                  True: load(given.line) if given.line else shipped(True)})


if __name__ == "__main__":
    main()
