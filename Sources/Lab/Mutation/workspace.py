"""A copy of the package in which mutants are built and tested, so that the developer's files never change."""

import os
import re
import resource
import selectors
import signal
import subprocess
import time

import schema

COPIED = ("Package.swift", "Sources", "Tests", "Boards", "Docs")
# Folders of Sources and Tests that the smaller package does not build.
SKIPPED = {"__pycache__", "VirtualBoard", "Firmware"}
ERROR = re.compile(r"^(/.*\.swift):(\d+):\d+: error: ", re.MULTILINE)
FAILED = re.compile(r"^✘ (?:Test|Suite) (?!run )(.*?) (?:recorded an issue|failed after|with \d+ test cases? failed)")
COLOUR = re.compile(r"\x1b\[[0-9;]*m")
COUNTED = re.compile(r"Test run with (\d+) tests?")
# Memory of a test process: a mutant can append to a list of the test without end.
MEMORY = 8 << 30


class BuildError(Exception):
    """The package does not build for a reason that is not a mutant."""


class TestRun:
    """The result of the tests of one module."""

    def __init__(self):
        self.failure = None  # None if all tests pass
        self.seconds = 0.0
        self.tests = 0


class Workspace:
    def __init__(self, root, folder, swift):
        self.root = root
        self.tree = folder / "tree"
        self.scratch = folder / "build"
        self.log = folder / "build.log"
        self.swift = swift
        self.binary = None

    def update(self, mutated):
        """Copies the package. Files that did not change keep their time, so that only changes are built.

        `mutated` has the contents of the changed files by their path.
        """
        wanted = dict(mutated)
        for name in COPIED:
            source = self.root / name
            for path in [source] if source.is_file() else sorted(source.rglob("*")):
                relative = path.relative_to(self.root)
                if path.is_file() and not SKIPPED.intersection(relative.parts):
                    wanted.setdefault(str(relative), None)
        if self.tree.exists():
            for path in self.tree.rglob("*"):
                if path.is_file() and str(path.relative_to(self.tree)) not in wanted:
                    path.unlink()
        for name, text in wanted.items():
            data = (self.root / name).read_bytes() if text is None else text.encode()
            path = self.tree / name
            if not path.exists() or path.read_bytes() != data:
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_bytes(data)

    def build(self):
        """Builds the tests. Returns the errors as pairs of path and line; raises BuildError if none has a location."""
        # A mutant can cause a warning, for example about code that is never reached.
        command = [*self.swift, "build", "--build-tests", "--package-path", str(self.tree), "--scratch-path",
                   str(self.scratch), "-Xswiftc", "-no-warnings-as-errors"]
        result = subprocess.run(
            command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, env=self._environment(0))
        self.log.write_text(result.stdout)
        if result.returncode == 0:
            found = sorted((self.scratch / "debug").glob("*.xctest"))
            if not found:
                raise BuildError(f"no test bundle in {self.scratch}/debug")
            self.binary = found[0]
            return set()
        errors = {(os.path.relpath(path, self.tree), int(line)) for path, line in ERROR.findall(result.stdout)}
        if not errors:
            raise BuildError(f"the package does not build, see {self.log}")
        return errors

    def test(self, module, mutant, limit):
        """Runs the module's tests with a mutant, 0 for none. Ends at the first failure, trap, or after `limit` seconds."""
        run = TestRun()
        command = [str(self.binary), "--testing-library", "swift-testing", "--filter", f"^{module}Tests\\."]
        started = time.monotonic()
        process = subprocess.Popen(
            command, cwd=self.tree, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
            env=self._environment(mutant), start_new_session=True, preexec_fn=_limit_memory)
        try:
            run.failure = self._follow(process, run, started + limit)
        finally:
            _kill_group(process)
            run.seconds = time.monotonic() - started
        return run

    def _follow(self, process, run, deadline):
        """Reads the output until the first failure. Returns its cause, or None."""
        selector = selectors.DefaultSelector()
        selector.register(process.stdout, selectors.EVENT_READ)
        partial = b""
        while True:
            if not selector.select(max(0, deadline - time.monotonic())):
                return "timeout"
            data = os.read(process.stdout.fileno(), 65536)
            *lines, partial = (partial + data).split(b"\n")
            for line in lines:
                line = COLOUR.sub("", line.decode(errors="replace"))
                if (match := FAILED.match(line)) and "known issue" not in line:
                    return match[1].strip('"')
                if match := COUNTED.search(line):
                    run.tests = int(match[1])
            if not data:
                break
        try:
            status = process.wait(max(0.1, deadline - time.monotonic()))
        except subprocess.TimeoutExpired:
            return "timeout"
        if status < 0:
            return f"trap ({signal.Signals(-status).name})"
        return f"exit status {status}" if status else None

    def _environment(self, mutant):
        environment = dict(os.environ, TORPOR_CHECK="1")
        environment.pop(schema.VARIABLE, None)
        # Recordings are next to the checkout, not next to the copy.
        environment.setdefault("TORPOR_DATA", str(self.root.parent / "shared" / "data"))
        # A backtrace of each trap would take longer than the tests.
        environment["SWIFT_BACKTRACE"] = "enable=no"
        if mutant:
            environment[schema.VARIABLE] = str(mutant)
        return environment


def _limit_memory():
    resource.setrlimit(resource.RLIMIT_DATA, (MEMORY, MEMORY))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))


def _kill_group(process):
    try:
        os.killpg(process.pid, signal.SIGKILL)
    except ProcessLookupError:
        pass
    process.wait()
    process.stdout.close()
