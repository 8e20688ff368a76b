"""What a check is, and helpers for all."""

import json
import os
import signal
import subprocess

CHECKS_SECONDS = 12


class Check:
    """A program and what it must do."""

    def __init__(self, run, needs=(), is_full=False, reference=True):
        self.run = run
        self.name = run.__name__.replace("_", "-")
        self.needs = needs
        self.is_full = is_full
        self.reference = reference


def output(command, seconds=CHECKS_SECONDS, ends=True, **more):
    """The output of a command. It must end by itself within that time; with `ends` false it must not; None permits both."""
    process = subprocess.Popen(
        command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
        errors="replace", start_new_session=True, **more)
    try:
        out, error = process.communicate(timeout=seconds)
    except subprocess.TimeoutExpired:
        # Also the programs that it has started, which hold its output open.
        os.killpg(process.pid, signal.SIGTERM)
        try:
            out, error = process.communicate(timeout=3)
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)
            out, error = process.communicate()
        if ends is True:
            raise AssertionError(f"{command[0]} does not end: {out[-300:]} {error[-300:]}") from None
        return out + error
    if ends is False:
        raise AssertionError(f"{command[0]} ended with {process.returncode}: {out[-300:]} {error[-300:]}")
    return out + error


def require(condition, text):
    if not condition:
        raise AssertionError(text)


def objects(text):
    """The JSON objects of a text, one in each line."""
    found = []
    for line in text.splitlines():
        if line.startswith("{"):
            found.append(json.loads(line))
    return found


def of_class(text, name):
    return [one for one in objects(text) if one["class"] == name]


def is_valid(sentence):
    """Whether an NMEA sentence has a correct checksum."""
    if not sentence.startswith("$") or sentence[-3:-2] != "*":
        return False
    check = 0
    for byte in sentence[1:-3].encode():
        check ^= byte
    return f"{check:02X}" == sentence[-2:].upper()
