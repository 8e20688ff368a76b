"""Finds the functions that process a fix, so that the linker can place them next to each other.

One second after the last fix, none of the service's code is in a cache. The cost of loading it depends on the number
of pages as well as of cache lines.
"""

import os
import re
import subprocess

from service_cost import instructions, streams

EPOCHS = 20


def traced_functions(binary, board, folder):
    """Symbols of the functions that process fixes: those common to all feeds first, each group sorted by name."""
    stripped = instructions.readable(binary, folder)
    by_feed = [functions(stripped, board, folder, name) for name in streams.FEEDS]
    everywhere = set.intersection(*by_feed)
    return sorted(everywhere) + sorted(set.union(*by_feed) - everywhere)


def functions(binary, board, folder, name):
    """Functions of the binary that run between two epochs of a feed after a warm-up."""
    return own_functions(instructions.profile(binary, board, folder, name, EPOCHS), binary)


def own_functions(path, binary):
    """The functions of `binary` in callgrind's profile."""
    found = set()
    is_own = False
    with open(path, encoding="utf-8", errors="replace") as file:
        for row in file:
            if row.startswith("ob="):
                is_own = os.path.basename(row[3:].strip()) == os.path.basename(binary)
            elif is_own and (name := re.match(r"fn=(\S+)", row)) and not name[1].startswith("0x"):
                # callgrind lists a recursive function once for each depth.
                found.add(name[1].split("'")[0])
    return found


def present(symbols, binary):
    """The elements of `symbols` that the binary defines."""
    table = subprocess.run(["nm", "--defined-only", binary], capture_output=True, text=True, check=True).stdout
    defined = {row.split()[-1] for row in table.splitlines()}
    return [symbol for symbol in symbols if symbol in defined]
