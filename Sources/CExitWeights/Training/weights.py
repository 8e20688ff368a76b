"""Writes ../weights.c from the two text files that train.py leaves: weights.py NO_LINE WITH_LINE."""
import sys

LAYERS = ["mu", "sd", "w1", "b1", "w2", "b2", "w3", "b3"]
SIZES = {"fixes_alone": [31, 24, 16, 24], "with_line": [36, 24, 16, 24]}


def numbers(path, name):
    lines = open(path).read().strip().split("\n")
    assert [int(v) for v in lines[0].split()] == SIZES[name], lines[0]
    rows = {key: values for key, *values in (line.split() for line in lines[1:])}
    return [float(v) for key in LAYERS for v in rows[key]]


def literal(value):
    text = f"{value:.6g}"
    return (text if "." in text or "e" in text else text + ".0") + "f"


def main(paths):
    out = ["// Written by Training/weights.py from the trained networks; not by hand.",
           '#include "CExitWeights.h"', ""]
    for name, path in zip(SIZES, paths):
        values = numbers(path, name)
        out.append(f"// {SIZES[name][0]} features: means, inverse deviations, then each layer.")
        out.append(f"static const float {name}[] = {{")
        for i in range(0, len(values), 8):
            out.append("  " + ", ".join(literal(v) for v in values[i:i + 8]) + ",")
        out += ["};", ""]
    out.append("const float *torpor_exit_weights(int has_line) {")
    out += ["  return has_line ? with_line : fixes_alone;", "}", ""]
    open("../weights.c", "w").write("\n".join(out))


main(sys.argv[1:])
