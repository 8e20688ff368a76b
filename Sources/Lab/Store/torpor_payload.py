"""Decodes the messages of torpor-uplink (Docs/Reference/uplink-payload.md). Needs only Python's standard library.

    message = torpor_payload.decode(bytes)        raises ValueError if the bytes are cut or changed
    python3 torpor_payload.py FILE…               prints one JSON object per message

The module shares no code with the encoder in Swift: .ci/check-payload compares both.
"""

import json
import re
import struct
import sys
import zlib

LONGEST = 1 << 20  # bytes of a message
MOST_FIXES = 4096
SEQUENCES = 1 << 40  # exclusive limit
COLUMNS = (
    "sequence", "utc_us", "boot_us", "latitude_e9", "longitude_e9", "altitude_mm", "ellipsoidal_altitude_mm",
    "speed_mmps", "course_e4", "horizontal_accuracy_mm", "vertical_accuracy_mm", "speed_accuracy_mmps",
    "course_accuracy_e2", "satellites", "flags")
RANGES = {
    "latitude_e9": (-90 * 10**9, 90 * 10**9), "longitude_e9": (-180 * 10**9, 180 * 10**9),
    "altitude_mm": (1 - 2**31, 2**31 - 1), "ellipsoidal_altitude_mm": (1 - 2**31, 2**31 - 1),
    "speed_mmps": (0, 2**24 - 2), "course_e4": (0, 3_599_999), "horizontal_accuracy_mm": (0, 2**24 - 2),
    "vertical_accuracy_mm": (0, 2**24 - 2), "speed_accuracy_mmps": (0, 2**16 - 2), "course_accuracy_e2": (0, 36_000),
    "satellites": (0, 254), "flags": (0, 255)}
NEVER_UNKNOWN = ("sequence", "boot_us", "latitude_e9", "longitude_e9", "flags")
STEPS = {e: (10**e, 1) for e in range(10)}
STEPS |= {16 + e: (5 * 10**e, 3) for e in range(5)}
STEPS |= {32 + e: (463, 9 * 10**e) for e in range(3)}
HEADER = struct.Struct("<4sBBBBIIQQQIQ")


def require(condition, what):
    if not condition:
        raise ValueError("not a message of torpor-uplink: " + what)


def checksum(data):
    """The checksum of a message without compression, which names it in a refusal. The CRC-32 of all bytes is the same number for
    each message, because its own CRC-32 is at its end."""
    return int.from_bytes(data[-4:], "little")


def signed64(value):
    """The value modulo 2**64, as a signed number."""
    return (value + 2**63) % 2**64 - 2**63


class Reader:
    def __init__(self, data):
        self.data, self.at = data, 0

    def byte(self):
        require(self.at < len(self.data), "it ends within a value")
        self.at += 1
        return self.data[self.at - 1]

    def varint(self):
        value = 0
        for shift in range(0, 70, 7):
            byte = self.byte()
            value |= (byte & 0x7F) << shift
            if byte < 0x80:
                require(value < 2**64, "a number of more than 64 bits")
                return value
        raise ValueError("not a message of torpor-uplink: a number of more than ten bytes")

    def column(self, count):
        """A list of `count` numbers; None is unknown."""
        layout = self.byte()
        if layout == 8:
            return [None] * count
        order, runs, mixed = layout & 3, layout & 4, layout & 16
        require(order < 3 and layout & ~0b10111 == 0, "an unknown layout of a column")
        code = self.byte()
        require(code in STEPS, "an unknown step of a column")
        numerator, denominator = STEPS[code]
        known = [True] * count
        if mixed:
            known, present = [], True
            while len(known) < count:
                length = self.varint()
                require(length <= count - len(known) and (length > 0 or not known and present), "a run of wrong length")
                known += [present] * length
                present = not present
        differences, wanted = [], sum(known)
        while len(differences) < wanted:
            value = self.varint()
            value = value >> 1 ^ -(value & 1)
            if runs and value == 0:
                length = self.varint() + 1
                require(length <= wanted - len(differences), "a run of wrong length")
                differences += [0] * length
            else:
                differences.append(value)
        last = before = 0
        values = []
        for i, difference in enumerate(differences):
            predicted = (0, last, 2 * last - before)[min(order, i)]
            last, before = signed64(predicted + difference), last
            product = abs(last) * numerator
            require(code == 0 or product < 2**63 - denominator, "a number of more than 64 bits")
            size = (product + denominator // 2) // denominator
            values.append(-size if last < 0 else size)
        numbers = iter(values)
        return [next(numbers) if is_known else None for is_known in known]


def decode_fixes(reader, count, first, generation):
    require(1 <= count <= MOST_FIXES and first < SEQUENCES, "a wrong number of fixes")
    table = {name: reader.column(count) for name in COLUMNS}
    fixes = []
    for row in range(count):
        fix = {name: table[name][row] for name in COLUMNS}
        require(all(fix[name] is not None for name in NEVER_UNKNOWN), "a fix without a required value")
        fix["boot_us"] = signed64(fix["boot_us"] + (fix["utc_us"] or 0))
        if fix["ellipsoidal_altitude_mm"] is not None:
            fix["ellipsoidal_altitude_mm"] = signed64(fix["ellipsoidal_altitude_mm"] + (fix["altitude_mm"] or 0))
        for name, (low, high) in RANGES.items():
            require(fix[name] is None or low <= fix[name] <= high, f"{name} is out of range")
        require(fix["utc_us"] != -2**63, "utc_us is out of range")
        fix["sequence"] += first
        expected = fix["sequence"] == first if row == 0 else fix["sequence"] > fixes[-1]["sequence"]
        require(expected and fix["sequence"] < SEQUENCES, "the sequence numbers do not increase")
        flags = fix.pop("flags")
        fix["mode"], fix["quality"] = "3d" if flags & 1 else "2d", flags >> 1 & 15
        require(fix["quality"] <= 9, "quality is out of range")
        fix["date_uncertain"], fix["simulated"], fix["accessory"] = (bool(flags & bit) for bit in (32, 64, 128))
        fix["generation"] = generation
        fixes.append(fix)
    return fixes


def decode_gap(data, count, first):
    require(len(data) == 41, "a gap of wrong length")
    following, from_boot, from_utc, to_boot, to_utc, may_be_more = struct.unpack("<QqqqqB", data)
    require(first <= following < SEQUENCES and count <= following - first, "a gap with wrong sequence numbers")
    require(may_be_more <= 1 and (count or may_be_more), "a gap without fixes")

    def time(boot, utc):
        require(boot != -2**63 or utc == -2**63, "a gap with a wrong time")
        return None if boot == -2**63 else {"boot_us": boot, "utc_us": None if utc == -2**63 else utc}

    return {"count": count, "first": first, "next": following, "from": time(from_boot, from_utc),
            "to": time(to_boot, to_utc), "may_be_more": bool(may_be_more)}


def envelope(data):
    """The message without compression. Raises ValueError if it was cut or changed on the way."""
    if data[:1] == b"\x78":
        stream = zlib.decompressobj()
        try:
            data = stream.decompress(data, LONGEST)
        except zlib.error as error:
            raise ValueError(f"not a message of torpor-uplink: {error}") from None
        require(stream.eof and not stream.unused_data, "cut or extended")
    require(HEADER.size + 5 <= len(data) <= LONGEST, "too short or too long")
    require(data[:4] == b"TPUP", "it begins with other bytes")
    require(int.from_bytes(data[8:12], "little") == len(data), "cut or extended")
    require(zlib.crc32(data[:-4]) == int.from_bytes(data[-4:], "little"), "the checksum differs")
    return data


def decode(data):
    """The message as a dictionary with one of the members fixes, gap and event. Raises ValueError."""
    data = envelope(data)
    _, version, kind, flags, name_length, _, generation, ring, first, count, before_generation, before = HEADER.unpack_from(data)
    require(version == 1, f"version {version} of the format")
    require(flags <= 1 and before < SEQUENCES and (flags or (before_generation, before) == (0, 0)), "wrong flags")
    name = data[HEADER.size:HEADER.size + name_length]
    require(len(name) == name_length and re.fullmatch(rb"[A-Za-z0-9_-]{1,64}", name), "the device has a wrong name")
    message = {"device": name.decode(), "ring": ring, "generation": generation, "first": first, "count": count,
               "preceding": [before_generation, before] if flags else None}
    body = data[HEADER.size + name_length:-4]
    if kind == 1:
        reader = Reader(body)
        message["fixes"] = decode_fixes(reader, count, first, generation)
        require(reader.at == len(body), "bytes after the last column")
    elif kind == 2:
        message["gap"] = decode_gap(body, count, first)
    else:
        require(kind == 3 and count == 1 and generation == 0 and len(body) <= 16_384, "an unknown kind")
        try:
            message["event"] = json.loads(body.decode("utf-8"))
        except RecursionError:
            raise ValueError("not a message of torpor-uplink: its JSON is nested too deeply") from None
    return message


if __name__ == "__main__":
    for path in sys.argv[1:]:
        with open(path, "rb") as file:
            print(json.dumps(decode(file.read())))
