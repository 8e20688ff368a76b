"""Encodes messages of the uplink in the simplest way that the format permits, for tests of stores and brokers."""

import struct
import zlib


def message(kind, device, ring, generation, first, count, preceding, body):
    before = preceding or (0, 0)
    head = struct.pack("<4sBBBB", b"TPUP", 1, kind, 1 if preceding else 0, len(device))
    rest = struct.pack("<IQQQIQ", generation, ring, first, count, *before) + device.encode() + body
    data = head + struct.pack("<I", len(head) + 4 + len(rest) + 4) + rest
    return data + struct.pack("<I", zlib.crc32(data))


def checksum(data):
    """The checksum at the end of a message, as a receipt names it."""
    return f"{int.from_bytes(data[-4:], 'little'):08x}"


def varint(value):
    result = bytearray()
    while value >= 0x80:
        result.append(value & 0x7F | 0x80)
        value >>= 7
    result.append(value)
    return bytes(result)


def column(values):
    """A column without differences; None in all rows is unknown."""
    if values[0] is None:
        return b"\x08"
    return b"\x00\x00" + b"".join(varint((value << 1 ^ value >> 63) % 2**64) for value in values)


def fixes(device, ring, generation, first, count, preceding=None, utc=True):
    """A message of `count` fixes, a second apart."""
    rows = range(count)
    times = [1_767_225_600_000_000 + (first + row) * 1_000_000 for row in rows] if utc else [None] * count
    boot = [(first + row + 1000) * 1_000_000 - (time or 0) for row, time in zip(rows, times)]
    columns = [list(rows), times, boot, [52_516_274_500 + (first + row) * 100_000 for row in rows],
               [13_377_704_100] * count] + [[None] * count] * 9 + [[1] * count]
    return message(1, device, ring, generation, first, count, preceding, b"".join(column(values) for values in columns))


def gap(device, ring, generation, first, following, preceding=None, until=(-2**63, -2**63)):
    """A gap from 5 µs until these times of the boot clock and in UTC; without numbers, it may be of any number of fixes."""
    body = struct.pack("<QqqqqB", following, 5, -2**63, *until, first == following)
    return message(2, device, ring, generation, first, following - first, preceding, body)


def event(device, ring, number, json):
    return message(3, device, ring, 0, number, 1, None, json.encode())
