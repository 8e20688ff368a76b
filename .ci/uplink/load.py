"""Measures a broker with uploads like those of torpor-uplink: `load.py mosquitto|nats FOLDER [--rates 1,10,100] [--store]`.

Each upload is a connection of another board: TLS and a certificate with mosquitto, a name and a password with NATS, where MQTT 5
is tried first as torpor-uplink does; a subscription to the receipts, one message, the receipt, the end. The message is one that
torpor-uplink has sent (message.hex), with the board's name and new numbers. Without --store a small program confirms
each message; with it the example store does, with PostgreSQL. Prints a line per rate.
"""

import argparse
import asyncio
import json
import os
import pathlib
import socket
import ssl
import statistics
import struct
import sys
import time
import zlib

from brokers import KINDS, Postgres, Programs, end_on_signals
from clients import is_store_ready

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "Sources" / "Lab" / "Store"))
import torpor_payload  # noqa: E402

MESSAGE = bytes.fromhex((pathlib.Path(__file__).resolve().parent / "message.hex").read_text())
BOARDS = 200  # each uploads at most every two seconds
TIMEOUT = 20


def renamed(device, first):
    """The recorded message as one of another board, with other sequence numbers."""
    size = MESSAGE[7]
    head = bytearray(MESSAGE[:52])
    head[6:8] = 0, len(device)
    struct.pack_into("<I", head, 8, len(MESSAGE) - size + len(device))
    struct.pack_into("<Q", head, 24, first)
    struct.pack_into("<IQ", head, 40, 0, 0)
    data = bytes(head) + device.encode() + MESSAGE[52 + size:-4]
    return data + struct.pack("<I", zlib.crc32(data))


def text(value):
    return struct.pack(">H", len(value)) + value.encode()


def packet(first, body):
    size, length = len(body), b""
    while True:
        size, byte = size >> 7, size & 0x7F
        length += bytes([byte | (0x80 if size else 0)])
        if not size:
            return bytes([first]) + length + body


class Session:
    """One connection with MQTT."""

    def __init__(self, version):
        self.version, self.properties, self.packets = version, b"\0" if version == 5 else b"", 0

    async def open(self, broker, user, port, client_id, clean=True):
        context = None
        if broker.uses_tls:
            context = broker.contexts.get(user)
        self.reader, self.writer = await asyncio.open_connection("127.0.0.1", port, ssl=context)
        # The code of the answer; 255 if the broker ends the connection.
        flags, login = (2 if clean else 0), b""
        if not broker.uses_tls:
            flags, login = flags | 0xC0, text(user) + text(broker.users[user])
        self.send(0x10, text("MQTT") + bytes([self.version, flags]) + struct.pack(">H", 600) + self.properties
                  + text(client_id) + login)
        try:
            return (await self.receive())[1][1]
        except asyncio.IncompleteReadError:
            return 255

    def send(self, first, body):
        self.packets += 1
        self.writer.write(packet(first, body))

    def publish(self, topic, payload, number, retain=False):
        self.send(0x32 | retain, text(topic) + struct.pack(">H", number) + self.properties + payload)

    def subscribe(self, topic, quality=1):
        self.send(0x82, struct.pack(">H", 1) + self.properties + text(topic) + bytes([quality]))

    async def receive(self):
        """First byte and body of the next packet."""
        first = (await self.reader.readexactly(1))[0]
        size = shift = 0
        while True:
            byte = (await self.reader.readexactly(1))[0]
            size |= (byte & 0x7F) << shift
            shift += 7
            if byte < 0x80:
                break
        self.packets += 1
        return first, await self.reader.readexactly(size)

    def message(self, first, body):
        """Topic and payload of a published message; confirms it."""
        size, = struct.unpack_from(">H", body)
        at = 2 + size
        if first & 6:
            self.send(0x40, body[at:at + 2])
            at += 2
        if self.version == 5:
            at += 1 + body[at]
        return body[2:2 + size].decode(), body[at:]

    async def close(self):
        """Ends the session; returns bytes and segments of TCP in both directions until then."""
        info = self.writer.get_extra_info("socket").getsockopt(socket.IPPROTO_TCP, socket.TCP_INFO, 216)
        self.send(0xE0, b"")
        await self.writer.drain()
        self.writer.close()
        received, out, incoming = struct.unpack_from("<QII", info, 128)
        return struct.unpack_from("<Q", info, 200)[0] + received, out + incoming


async def confirm(broker, port):
    """A store that keeps nothing."""
    session = Session(4)
    assert await session.open(broker, "store", port, "store" if broker.uses_tls else "torpor-store-load", clean=False) == 0
    session.subscribe("torpor/+/fixes")
    number = 0
    while True:
        first, body = await session.receive()
        if first >> 4 != 3:
            continue
        topic, payload = session.message(first, body)
        generation, ring, start, count = struct.unpack_from("<IQQQ", payload, 12)
        receipt = {"ring": f"{ring:016x}", "generation": generation, "sequence": start + count - 1}
        number = number % 65535 + 1
        session.publish(topic.replace("/fixes", "/receipt"), json.dumps(receipt, separators=(",", ":")).encode(), number, True)
        await session.writer.drain()


async def upload(broker, port, device, first, last, quality):
    """One upload; returns its seconds, bytes, segments and packets."""
    start = time.monotonic()
    total = [0, 0, 0]
    for version in (5, 4):
        session = Session(version)
        code = await session.open(broker, device, port, device)
        if code == 0:
            break
        session.writer.close()
        total[2] += session.packets
    assert code == 0, code
    session.subscribe(f"torpor/{device}/receipt", quality)
    while (await session.receive())[0] >> 4 != 9:
        pass
    session.publish(f"torpor/{device}/fixes", renamed(device, first), 2)
    while True:
        head, body = await session.receive()
        if head >> 4 == 3 and json.loads(session.message(head, body)[1]).get("sequence", -1) >= last:
            break
    seconds = time.monotonic() - start
    size, segments = await session.close()
    return seconds, total[0] + size, total[1] + segments, total[2] + session.packets


def processor(programs):
    """Seconds of the processor of these programs and their children."""
    parents, ticks = {}, {}
    for path in pathlib.Path("/proc").glob("[0-9]*/stat"):
        try:
            fields = path.read_text().rpartition(")")[2].split()
        except OSError:
            continue
        number = int(path.parent.name)
        parents[number], ticks[number] = int(fields[1]), int(fields[11]) + int(fields[12])
    wanted, total = {process.pid for process in programs}, 0
    for number in ticks:
        one = number
        while one and one not in wanted:
            one = parents.get(one, 0)
        total += ticks[number] if one else 0
    return total / os.sysconf("SC_CLK_TCK")


def memory(programs):
    """Resident memory in MB."""
    return sum(int(line.split()[1]) for process in programs for line in pathlib.Path(
        f"/proc/{process.pid}/status").read_text().splitlines() if line.startswith("VmRSS")) / 1024


async def measure(broker, rate, options, count, groups):
    """Uploads at a rate; prints the costs of each group of programs."""
    async def one(number):
        device = f"load-{number % BOARDS}"
        return await asyncio.wait_for(upload(
            broker, broker.ports[number % len(broker.nodes)], device, number * count, number * count + count - 1,
            options.quality), TIMEOUT)
    before, start = {name: processor(group) for name, group in groups.items()}, time.monotonic()
    own = time.process_time()
    tasks = []
    for number in range(int(rate * options.seconds)):
        await asyncio.sleep(max(0, start + number / rate - time.monotonic()))
        measure.number += 1
        tasks.append(asyncio.create_task(one(measure.number)))
    if not tasks:
        await asyncio.sleep(options.seconds)
    results = await asyncio.gather(*tasks, return_exceptions=True)
    passed = time.monotonic() - start
    own = time.process_time() - own
    used = {name: processor(group) - before[name] for name, group in groups.items()}
    done = [result for result in results if not isinstance(result, BaseException)]
    line = {"rate": rate, "done": len(done), "failed": len(tasks) - len(done), "seconds": round(passed, 1)}
    for name, group in groups.items():
        line[f"{name} % of a core"] = round(100 * used[name] / passed, 2)
        if done:
            line[f"{name} ms an upload"] = round(1000 * used[name] / len(done), 2)
        line[f"{name} MB"] = round(memory(group))
    if done:
        times = sorted(result[0] for result in done)
        line |= {"median s": round(statistics.median(times), 4), "99 % s": round(times[int(0.99 * (len(times) - 1))], 3),
                 "bytes": round(statistics.mean(result[1] for result in done)),
                 "segments": round(statistics.mean(result[2] for result in done), 1),
                 "packets": round(statistics.mean(result[3] for result in done), 1),
                 "generator ms": round(1000 * own / len(done), 2), "load": os.getloadavg()[0]}
    else:
        line["errors"] = sorted({repr(result) for result in results})[:3]
    print(json.dumps(line), flush=True)


measure.number = 0


async def run(options, broker, groups):
    port = broker.ports[0]
    count = len(torpor_payload.decode(renamed("load-0", 0))["fixes"])
    print(f"message: {len(MESSAGE)} bytes, {count} fixes", flush=True)
    helper = None if options.store else asyncio.create_task(confirm(broker, port))
    await asyncio.sleep(2)
    for rate in (float(rate) for rate in options.rates.split(",")):
        if helper and helper.done():
            helper.result()
        await measure(broker, rate, options, count, groups)
        await asyncio.sleep(2)


def main():
    end_on_signals()
    parser = argparse.ArgumentParser(description=__doc__.split(":", 1)[0])
    parser.add_argument("broker", choices=["mosquitto", "nats"])
    parser.add_argument("folder", type=pathlib.Path)
    parser.add_argument("--rates", default="0,1,10,100", help="uploads a second")
    parser.add_argument("--seconds", type=float, default=30)
    parser.add_argument("--store", action="store_true")
    parser.add_argument("--quality", type=int, default=1, help="quality of service of the subscription to receipts")
    options = parser.parse_args()
    with KINDS[options.broker](options.folder / options.broker, [f"load-{number}" for number in range(BOARDS)]) as broker, \
            Postgres(options.folder / "postgres") as database, Programs(options.folder / "store") as store:
        broker.contexts = {}
        for user in broker.users if broker.uses_tls else ():
            broker.contexts[user] = ssl.create_default_context(cafile=str(broker.folder / "ca.crt"))
            broker.contexts[user].load_cert_chain(broker.folder / f"{user}.crt", broker.folder / f"{user}.key")
        groups = {"broker": [broker.running[name] for name in broker.nodes]}
        if options.store:
            assert is_store_ready(store, broker, database)
            groups |= {"store": [store.running["store"]], "database": [database.running["postgres"]]}
        asyncio.run(run(options, broker, groups))


if __name__ == "__main__":
    main()
