"""Output of a receiver: epochs of NMEA sentences or of one UBX NAV-PVT, each with its own time."""

import calendar
import struct
import time


class Epoch:
    """The bytes of one epoch, and its UTC in microseconds."""

    def __init__(self, utc_us, data):
        self.utc_us = utc_us
        self.data = data


def _sentence(body):
    check = 0
    for byte in body.encode("ascii"):
        check ^= byte
    return f"${body}*{check:02X}\r\n".encode("ascii")


def _degrees(value, digits):
    """Degrees in NMEA's format: degrees and minutes in one number."""
    whole = int(value)
    return f"{whole:0{digits}d}{(value - whole) * 60:07.4f}"


def _position(number):
    """A position on a slow walk to the north-east, so that consecutive epochs differ."""
    return 48.1173 + number * 1e-6, 11.5167 + number * 1e-6


def nmea(number, utc_us):
    """Fourteen sentences, about 820 bytes: the default output of a receiver of three constellations."""
    moment = time.gmtime(utc_us // 1_000_000)
    clock = time.strftime("%H%M%S", moment) + f".{utc_us % 1_000_000 // 10_000:02d}"
    latitude, longitude = _position(number)
    position = f"{_degrees(latitude, 2)},N,{_degrees(longitude, 3)},E"
    date = time.strftime("%d%m%y", moment)
    satellites = "01,40,083,46,02,17,308,41,12,07,344,39,14,22,228,45"
    bodies = [
        f"GNRMC,{clock},A,{position},0.5,45.0,{date},,,A,V",
        "GNVTG,45.0,T,,M,0.5,N,0.9,K,A",
        f"GNGGA,{clock},{position},1,12,0.8,545.4,M,46.9,M,,",
        "GNGSA,A,3,01,02,12,14,,,,,,,,,1.5,0.8,1.2,1",
        "GNGSA,A,3,65,66,75,,,,,,,,,,1.5,0.8,1.2,2",
        "GNGSA,A,3,03,05,09,,,,,,,,,,1.5,0.8,1.2,3",
        f"GPGSV,3,1,12,{satellites},1",
        f"GPGSV,3,2,12,{satellites},1",
        f"GPGSV,3,3,12,{satellites},1",
        "GLGSV,2,1,07,65,40,083,46,66,17,308,41,75,07,344,39,1",
        "GLGSV,2,2,07,76,07,344,39,1",
        "GAGSV,1,1,03,03,40,083,46,05,17,308,41,09,07,344,39,7",
        f"GNGLL,{position},{clock},A,A",
        f"GNZDA,{clock},{time.strftime('%d,%m,%Y', moment)},00,00",
    ]
    return Epoch(utc_us, b"".join(_sentence(body) for body in bodies))


def ubx(kind, identifier, payload):
    """A UBX frame."""
    body = bytes([kind, identifier]) + struct.pack("<H", len(payload)) + payload
    a = b = 0
    for byte in body:
        a = (a + byte) & 255
        b = (b + a) & 255
    return b"\xb5\x62" + body + bytes([a, b])


def nav_pvt(number, utc_us):
    """One NAV-PVT: 100 bytes."""
    moment = time.gmtime(utc_us // 1_000_000)
    latitude, longitude = _position(number)
    week_us = 7 * 86_400 * 1_000_000
    # GPS time began on 1980-01-06 and is 18 leap seconds ahead of UTC.
    tow_ms = (utc_us - calendar.timegm((1980, 1, 6, 0, 0, 0)) * 1_000_000 + 18_000_000) % week_us // 1_000
    payload = struct.pack(
        "<IHBBBBBBIiBBBBiiiiIIiiiiiIIHHIihH",
        tow_ms, moment.tm_year, moment.tm_mon, moment.tm_mday, moment.tm_hour, moment.tm_min, moment.tm_sec,
        0x37, 30, utc_us % 1_000_000 * 1_000, 3, 0x01, 0xEA, 12,
        round(longitude * 1e7), round(latitude * 1e7), 592_300, 545_400, 2_500, 3_500,
        180, 180, 0, 255, 4_500_000, 300, 500_000, 150, 0, 0, 0, 0, 0)
    return Epoch(utc_us, ubx(0x01, 0x07, payload))


class Feed:
    """Epochs at a rate, written to the masters of pseudo-terminals, at once or in pieces at 9600 baud.

    `due` is the time of the monotonic clock for the next call of `step`.
    """

    PIECE = 16
    PIECE_TIME = PIECE * 10 / 9600

    def __init__(self, masters, make, pieces=False, rate=1):
        self.masters = masters
        self.make = make
        self.pieces = pieces
        self.period = 1 / rate
        self.number = 0
        self.began = time.monotonic() + 0.2
        self.first_us = int(time.time()) * 1_000_000
        self.due = self.began
        self.ends = {}
        self.remaining = b""
        self.piece = 0
        self.epoch = None

    def step(self):
        """Writes the due bytes. The time of an epoch's end is taken before its last byte is written."""
        if not self.remaining:
            self.epoch = self.make(self.number, self.first_us + round(self.number * self.period * 1e6))
            self.remaining = self.epoch.data
            self.piece = 0
        size = self.PIECE if self.pieces else len(self.remaining)
        piece, self.remaining = self.remaining[:size], self.remaining[size:]
        if not self.remaining:
            self.ends[self.epoch.utc_us] = time.monotonic()
        for master in self.masters:
            master.write(piece)
        start = self.began + self.number * self.period
        self.piece += 1
        if self.remaining:
            self.due = start + self.piece * self.PIECE_TIME
        else:
            # Rotate: the first receiver of the bytes also bears the cost of waking a processor, and of shared caches.
            self.masters = self.masters[1:] + self.masters[:1]
            self.number += 1
            self.due = self.began + self.number * self.period


# The measured feeds: generator of an epoch, and whether it is written in pieces.
FEEDS = {
    "pieces": (nmea, True),
    "whole": (nmea, False),
    "nav-pvt": (nav_pvt, False),
}
# Number of epochs before the measurement.
WARM_UP = 12
