"""Which functions a fix runs through, so that the linker can put them beside each other.

A second after the last fix the service's code is in no cache, and what it costs to bring it back goes by
pages as well as by lines.
"""

import os
import re
import subprocess

from service_cost import instructions, streams

EPOCHS = 20


def learned(binary, board, folder):
    """Symbols of the functions that fixes run through, those of every feed first, each group by name."""
    own = instructions.readable(binary, folder)
    by_feed = [functions(own, board, folder, name) for name in streams.FEEDS]
    everywhere = set.intersection(*by_feed)
    return sorted(everywhere) + sorted(set.union(*by_feed) - everywhere)


def functions(binary, board, folder, name):
    """Those of the binary itself that run between two epochs of a feed, once it is warm."""
    return own_functions(instructions.profile(binary, board, folder, name, EPOCHS), binary)


def own_functions(path, binary):
    """The functions of `binary` that callgrind saw at work."""
    found = set()
    is_own = False
    with open(path, encoding="utf-8", errors="replace") as file:
        for row in file:
            if row.startswith("ob="):
                is_own = os.path.basename(row[3:].strip()) == os.path.basename(binary)
            elif is_own and (name := re.match(r"fn=(\S+)", row)) and not name[1].startswith("0x"):
                # A function that calls itself is told once more for each of its depths.
                found.add(name[1].split("'")[0])
    return found


def present(symbols, binary):
    """Those of `symbols` that the binary has."""
    table = subprocess.run(["nm", "--defined-only", binary], capture_output=True, text=True, check=True).stdout
    known = {row.split()[-1] for row in table.splitlines()}
    return [symbol for symbol in symbols if symbol in known]
