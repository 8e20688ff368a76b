"""Changes the core at random places, and reports the changes that no test notices: `make mutate`.

    mutate.py --seed N --count N [--modules NAMES] [--list]

Draws COUNT changes in each module, builds all of them at once in .build-mutate, and runs the module's tests with each.
A mutant is killed if a test fails, traps, or exceeds the time limit; otherwise it survives. The run can be interrupted
and continued. Exits with 1 if a mutant survived.
"""

import argparse
import os
import pathlib
import shlex
import sys

import changes
import records
import schema
import workspace

ROOT = pathlib.Path(__file__).resolve().parents[3]
FOLDER = ROOT / ".build-mutate"
CORE = "Sources/Core"
MODULES = ("DeferralCache", "LocationPolicy", "ReceiverDrivers", "LocationEngine")
# Time limit of the tests with a mutant, as a multiple of the time without one, and at least these seconds.
TIME_FACTOR = 5
LEAST_LIMIT = 20
# More mutants are built than run, because some of them do not compile.
SPARE = 1.25


class Module:
    """The drawn mutants of a module, in the order in which they run."""

    def __init__(self, name, index, options, equivalents):
        self.name = name
        self.count = options.count
        self.seed = options.seed
        self.equivalents = equivalents
        self.texts = {}
        drawn = []
        for path in sorted((ROOT / CORE / name).rglob("*.swift")):
            relative = str(path.relative_to(ROOT))
            self.texts[relative] = path.read_text()
            if not path.name.endswith("+Table.swift"):
                drawn += changes.changes(relative, self.texts[relative], options.seed)
        drawn.sort(key=lambda change: change.rank)
        # The numbers stay the same if a mutant is dropped, so that only its file is built again.
        self.mutants = [(10_000 * (index + 1) + number, change) for number, change in enumerate(drawn)]
        self.tests = records.digest([ROOT / "Tests/Core" / f"{name}Tests", ROOT / "Tests/Support"])

    def key(self, change):
        return change.key(self.seed, self.name)

    def drop(self, results):
        """Removes the mutants that are known not to compile."""
        self.mutants = [
            (number, change) for number, change in self.mutants
            if (results.rows.get(tuple(self.key(change))) or {}).get("result") != records.NOT_COMPILED]

    @property
    def selected(self):
        return self.mutants[:self.count]

    @property
    def built(self):
        return self.mutants[:int(self.count * SPARE)]

    def sources(self):
        """The mutated files of the module by their path."""
        files = {f"{CORE}/{self.name}/Mutants.swift": schema.declarations(self.built, self.name)}
        for path, text in self.texts.items():
            of_file = [(number, change) for number, change in self.built if change.file == path]
            if of_file:
                files[path] = schema.rewrite(text, of_file, self.name)
        return files


def build(modules, space, results):
    """Builds all mutants; drops those that do not compile until the build succeeds."""
    dropped = 0
    while True:
        files = {}
        for module in modules:
            module.drop(results)
            files.update(module.sources())
        space.update(files)
        print(f"building {sum(len(module.built) for module in modules)} mutants", flush=True)
        errors = space.build()
        if not errors:
            return dropped
        found = rejected(modules, errors)
        if not found:
            path, line = min(errors)
            raise workspace.BuildError(f"{path}:{line} does not compile without a mutant, see {space.log}")
        for module, change in found:
            dropped += 1
            results.add(module.key(change), records.NOT_COMPILED)
            print(f"not compiled  {place(change)}  {change.before}  ->  {change.after}", flush=True)


def rejected(modules, errors):
    """The mutants in the lines of the errors; or if there are none, those nearest to an error in its file."""
    found = {}
    for path, line in sorted(errors):
        candidates = [
            (module, number, change) for module in modules for number, change in module.built
            if change.file == path or path.endswith(f"{module.name}/Mutants.swift")]
        if not candidates:
            continue

        def distance(change):
            return max(change.first_line - line, line - change.last_line, 0)

        if path.endswith("Mutants.swift"):
            raise workspace.BuildError(f"{path}:{line} does not compile")
        nearest = min(distance(change) for _, _, change in candidates)
        found.update({number: (module, change) for module, number, change in candidates if distance(change) == nearest})
    return list(found.values())


def run(modules, space, results):
    """Runs the tests of each module without a mutant, then with each mutant that has no result."""
    for module in modules:
        missing = [
            (number, change) for number, change in module.selected
            if not module.equivalents.reason(change) and not results.find(module.key(change), module.tests)]
        if not missing:
            continue
        clean = space.test(module.name, 0, limit=600)
        if clean.failure or not clean.tests:
            raise workspace.BuildError(
                f"{module.name}Tests fail without a mutant: {clean.failure or 'no test was found'}")
        limit = max(LEAST_LIMIT, TIME_FACTOR * clean.seconds)
        print(f"{module.name}: {clean.tests} tests in {clean.seconds:.1f} s, limit {limit:.0f} s", flush=True)
        for position, (number, change) in enumerate(missing):
            outcome = space.test(module.name, number, limit)
            row = results.add(
                module.key(change), records.KILLED if outcome.failure else records.SURVIVED, module.tests,
                outcome.failure or "", outcome.seconds)
            by = f"  by {outcome.failure}" if outcome.failure else ""
            print(f"{position + 1:3}/{len(missing)}  {row['result']:8}  {outcome.seconds:5.1f} s  {place(change)}  "
                  f"{change.before}  ->  {change.after}{by}", flush=True)


def place(change):
    return f"{change.file}:{change.line}"


def report(modules, results):
    """Prints the totals and the survivors. Returns the number of survivors."""
    total = 0
    for module in modules:
        rows = [(change, results.find(module.key(change), module.tests)) for _, change in module.selected
                if not module.equivalents.reason(change)]
        equivalent = len(module.selected) - len(rows)
        done = [(change, row) for change, row in rows if row]
        survivors = [change for change, row in done if row["result"] == records.SURVIVED]
        killed = len(done) - len(survivors)
        share = 100 * killed / len(done) if done else 0
        notes = [f"{equivalent} equivalent"] * bool(equivalent) + [f"{len(rows) - len(done)} not run"] * (len(done) < len(rows))
        print(f"\n{module.name}: {killed}/{len(done)} killed, {share:.0f} %{''.join(', ' + note for note in notes)}")
        for change in survivors:
            print(f"  {place(change)}\n    - {change.before}\n    + {change.after}")
        total += len(survivors)
    return total


def report_stale(equivalents):
    """Prints the entries of equivalent.txt whose line no longer exists."""
    for path, before, after in equivalents.reasons:
        file = ROOT / path
        if not file.exists() or before not in {
                change.before for change in changes.changes(path, file.read_text(), 0)}:
            print(f"equivalent.txt: {path} has no line '{before}'")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seed", type=int, default=1, help="selects the changes (default: 1)")
    parser.add_argument("--count", type=int, default=50, help="number of changes in each module (default: 50)")
    parser.add_argument("--modules", default=" ".join(MODULES), help="modules of the core (default: %(default)s)")
    parser.add_argument("--list", action="store_true", help="only print the changes")
    options = parser.parse_args()
    equivalents = records.Equivalents(pathlib.Path(__file__).with_name("equivalent.txt"))
    known = sorted(path.name for path in (ROOT / CORE).iterdir() if list(path.rglob("*.swift")))
    names = options.modules.replace(",", " ").split()
    if unknown := [name for name in names if name not in known]:
        parser.error(f"no module '{unknown[0]}' in {CORE}; modules: {' '.join(known)}")
    FOLDER.mkdir(exist_ok=True)
    results = records.Results(FOLDER / "results.jsonl")
    modules = [Module(name, known.index(name), options, equivalents) for name in names]
    if options.list:
        for module in modules:
            for _, change in module.selected:
                print(f"{place(change)}  {change.before}  ->  {change.after}")
        return 0
    report_stale(equivalents)
    space = workspace.Workspace(ROOT, FOLDER, shlex.split(os.environ.get("SWIFT", "swift")))
    try:
        build(modules, space, results)
        run(modules, space, results)
    except workspace.BuildError as error:
        print(f"mutate: {error}")
        return 2
    except KeyboardInterrupt:
        print("\ninterrupted; the same command continues")
        report(modules, results)
        return 130
    return 1 if report(modules, results) else 0


if __name__ == "__main__":
    sys.exit(main())
