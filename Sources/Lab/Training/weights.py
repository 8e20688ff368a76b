"""Converts the weights of a network between text files and Sources/Core/CCore/ExitWeights.c."""
import argparse
import re

import numpy as np

from simulator import (BINS, FEATURES, FOLDER, HIDDEN_1, HIDDEN_2, LAYERS, LINE_FEATURES, Network)

SOURCE = FOLDER.parents[1] / "Core/CCore/ExitWeights.c"
NAMES = {False: "fixes_alone", True: "with_line"}


def sizes(features):
    """Number of values in each part, in the order of the file."""
    return [features, features, HIDDEN_1 * features, HIDDEN_1, HIDDEN_2 * HIDDEN_1, HIDDEN_2,
            BINS * HIDDEN_2, BINS]


def network(parts):
    result = Network(features=len(parts[0]))
    for name, values in zip(LAYERS, parts):
        field = getattr(result, name)
        for i, value in enumerate(np.asarray(values, np.float32).ravel()):
            field[i] = value
    return result


def parts(net):
    counts = sizes(net.features)
    return [list(getattr(net, name))[:count] for name, count in zip(LAYERS, counts)]


def save(net, path):
    """Writes a line with the sizes, then a line per part with its name and values."""
    with open(path, "w") as file:
        print(net.features, HIDDEN_1, HIDDEN_2, BINS, file=file)
        for name, values in zip(LAYERS, parts(net)):
            print(name, *(f"{value:.6g}" for value in values), file=file)


def load(path):
    lines = open(path).read().strip().split("\n")
    features, *others = (int(word) for word in lines[0].split())
    assert others == [HIDDEN_1, HIDDEN_2, BINS], lines[0]
    rows = [[float(word) for word in line.split()[1:]] for line in lines[1:]]
    assert [len(row) for row in rows] == sizes(features), path
    return network(rows)


def shipped(has_line):
    """The network of Sources/Core/CCore/ExitWeights.c."""
    features = LINE_FEATURES if has_line else FEATURES
    body = re.search(NAMES[has_line] + r"\[\] = \{(.*?)\};", SOURCE.read_text(), re.S).group(1)
    values = [float(number) for number in body.replace("f,", " ").split()]
    assert len(values) == sum(sizes(features))
    return network(np.split(np.array(values), np.cumsum(sizes(features))[:-1]))


def literal(value):
    text = f"{value:.6g}"
    return (text if "." in text or "e" in text else text + ".0") + "f"


def write_source(networks):
    out = ["// Written by Training/weights.py from the trained networks; not by hand.",
           '#include "CExitWeights.h"', ""]
    for has_line, net in networks.items():
        values = [value for part in parts(net) for value in part]
        out.append(f"// {net.features} features: means, inverse deviations, then each layer.")
        out.append(f"static const float {NAMES[has_line]}[] = {{")
        for i in range(0, len(values), 8):
            out.append("  " + ", ".join(literal(v) for v in values[i:i + 8]) + ",")
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
