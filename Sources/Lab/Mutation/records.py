"""The results of earlier runs, and the list of equivalent mutants."""

import hashlib
import json

# A mutant that does not compile; another one is drawn instead.
NOT_COMPILED = "not compiled"
SURVIVED = "survived"
KILLED = "killed"


class Results:
    """The results in a file with one JSON object for each mutant, which is appended after each run."""

    def __init__(self, path):
        self.path = path
        self.rows = {}
        if path.exists():
            for line in path.read_text().splitlines():
                try:
                    row = json.loads(line)
                except ValueError:  # The last line of a run that was killed.
                    continue
                self.rows[tuple(row["key"])] = row

    def find(self, key, tests):
        """The row of a mutant; None if it must run: a survivor runs again if the tests were changed."""
        row = self.rows.get(tuple(key))
        return row if row and (row["result"] != SURVIVED or row["tests"] == tests) else None

    def add(self, key, result, tests="", cause="", seconds=0.0):
        row = {"key": key, "result": result, "cause": cause, "seconds": round(seconds, 1), "tests": tests}
        self.rows[tuple(key)] = row
        with self.path.open("a") as file:
            file.write(json.dumps(row) + "\n")
        return row


def digest(folders):
    """A hash of all files in the folders."""
    total = hashlib.sha256()
    for folder in folders:
        for path in sorted(folder.rglob("*")):
            if path.is_file():
                total.update(str(path).encode() + b"\0" + path.read_bytes())
    return total.hexdigest()[:16]


class Equivalents:
    """The mutants that behave as the original, from a file of entries that are separated by empty lines:

        PATH
        - the line, without indentation
        + the changed line
        The reason.
    """

    def __init__(self, path):
        self.reasons = {}
        text = "\n".join(line for line in path.read_text().splitlines() if not line.startswith("#"))
        for number, entry in enumerate(filter(None, (part.strip() for part in text.split("\n\n")))):
            lines = entry.split("\n")
            if len(lines) < 4 or lines[1][:2] != "- " or lines[2][:2] != "+ ":
                raise SystemExit(f"{path}: entry {number + 1} is not: file, '- ' line, '+ ' line, reason")
            self.reasons[(lines[0], lines[1][2:], lines[2][2:])] = " ".join(lines[3:])

    def reason(self, change):
        return self.reasons.get((change.file, change.before, change.after))
