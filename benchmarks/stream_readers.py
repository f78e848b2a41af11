"""Readers of one stream of server-sent events, many in one process, each with its own place.

Every frame of every reader is looked at: its id must be the one after the last. At random moments
a reader drops its connection, in the middle of a frame if it so happens, and comes back with
`Last-Event-ID`. Prints one line when all are connected and one with what they saw when all streams
have ended. It reads any server, so it knows nothing of ours.
"""

import argparse
import asyncio
import json
import random
import re
import time
from typing import cast
from urllib.parse import urlsplit

# The moment at which an event was made is its number `at`, in nanoseconds.
FRAME = re.compile(rb'id: (\d+)\r?\ndata: (?:[^\r\n]*?"at":(\d+))?[^\r\n]*\r?\n\r?\n')
# The length of an HTTP chunk: between two frames, or anywhere in a large one.
LENGTH = re.compile(rb"\r\n[1-9a-f][0-9a-f]*\r\n")
MILLISECONDS = 60_000
SILENCE = 60.0


class Tally:
    """What all readers of this process saw together."""

    def __init__(self, readers: int) -> None:
        self.readers = readers
        self.connected = 0
        self.ended = 0
        self.frames = 0
        self.ticks = 0
        self.returns = 0
        self.wrong: list[str] = []
        self.lasts: set[int] = set()
        self.waits = [0] * MILLISECONDS
        self.heard = time.monotonic()
        self.all_connected = asyncio.Event()
        self.all_ended = asyncio.Event()

    def figures(self) -> dict[str, object]:
        return {
            "readers": self.readers,
            "ended": self.ended,
            "frames": self.frames,
            "ticks": self.ticks,
            "returns": self.returns,
            "wrong": self.wrong[:5],
            "wrongs": len(self.wrong),
            "lasts": sorted(self.lasts),
            "waits": {ms: count for ms, count in enumerate(self.waits) if count},
        }


class Reader(asyncio.Protocol):
    """One who reads; a new connection for each return, the same place."""

    def __init__(self, tally: Tally, request: bytes, rng: random.Random, leave: float) -> None:
        self.tally = tally
        self.request = request
        self.rng = rng
        self.leave = leave
        self.last = 0
        self.over = False
        self._buffer = b""
        self._since = 0
        self._head = False
        self._was_connected = False
        self._transport: asyncio.Transport | None = None
        self.lost = asyncio.Event()

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        transport = cast("asyncio.Transport", transport)  # uvloop's is not one by its class
        self._transport, self._buffer, self._head = transport, b"", False
        resumed = b"Last-Event-ID: %d\r\n" % self.last if self.last else b""
        transport.write(self.request + resumed + b"\r\n")

    def data_received(self, data: bytes) -> None:
        now, tally = time.time_ns(), self.tally
        tally.heard = time.monotonic()
        if not self._head:
            data = self._read_head(data, now)
        data = LENGTH.sub(b"", self._buffer + data if self._buffer else data)
        last, end, since, waits = self.last, 0, self._since, tally.waits
        for found in FRAME.finditer(data):
            place, at = int(found[1]), found[2]
            if place != last + 1:
                tally.wrong.append(f"{place} after {last}")
            last, end = place, found.end()
            tally.frames += 1
            if at is None:
                continue
            tally.ticks += 1
            # What happened while it was away says how long it was away, not how late the
            # server is.
            if (made := int(at)) >= since:
                waits[min((now - made) // 1_000_000, MILLISECONDS - 1)] += 1
        self.last = last
        self._buffer = data[end:]
        if self._buffer.endswith(b"0\r\n\r\n"):
            self._stop(over=True)

    def _read_head(self, data: bytes, now: int) -> bytes:
        whole = self._buffer + data
        head, found, rest = whole.partition(b"\r\n\r\n")
        if not found:
            self._buffer = whole
            return b""
        self._buffer, self._head, self._since = b"", True, now
        status = int(head.split(b" ", 2)[1])
        if status == 204:
            self._stop(over=True)
        elif status != 200:
            self.tally.wrong.append(f"status {status}")
            self._stop(over=True)
        if not self._was_connected:
            self._was_connected = True
            self.tally.connected += 1
            if self.tally.connected == self.tally.readers:
                self.tally.all_connected.set()
        return rest

    def _stop(self, *, over: bool) -> None:
        self.over = over or self.over
        if self._transport is not None:
            self._transport.abort()

    def connection_lost(self, exc: Exception | None) -> None:
        self.lost.set()

    async def follow(self, host: str, port: int) -> None:
        loop = asyncio.get_running_loop()
        while not self.over:
            self.lost.clear()
            await loop.create_connection(lambda: self, host, port)
            await self._stay()
            self.tally.returns += not self.over
        self.tally.lasts.add(self.last)
        self.tally.ended += 1
        if self.tally.ended == self.tally.readers:
            self.tally.all_ended.set()

    async def _stay(self) -> None:
        """Until the stream ends, or it is time to leave; no one leaves before all have come."""
        staying = asyncio.ensure_future(self.lost.wait())
        coming = asyncio.ensure_future(self.tally.all_connected.wait())
        await asyncio.wait({staying, coming}, return_when=asyncio.FIRST_COMPLETED)
        coming.cancel()
        seconds = self.rng.expovariate(1 / self.leave) if self.leave else None
        await asyncio.wait({staying}, timeout=seconds)
        if not self.lost.is_set():
            self._stop(over=False)
            await self.lost.wait()
        staying.cancel()


async def read(url: str, path: str, token: str, count: int, leave: float, seed: int) -> Tally:
    place = urlsplit(url)
    assert place.hostname is not None
    assert place.port is not None
    request = (
        f"GET {path} HTTP/1.1\r\nHost: {place.netloc}\r\nAccept: text/event-stream\r\n"
        f"Authorization: Bearer {token}\r\n"
    ).encode()
    tally, rng = Tally(count), random.Random(seed)
    readers = [Reader(tally, request, random.Random(rng.random()), leave) for _ in range(count)]
    tasks = []
    for number, reader in enumerate(readers):
        tasks.append(asyncio.create_task(reader.follow(place.hostname, place.port)))
        if number % 50 == 49:
            await asyncio.sleep(0.02)  # not all at once: the queue of new connections is short
    await asyncio.wait_for(tally.all_connected.wait(), SILENCE)
    print(json.dumps({"connected": count}), flush=True)
    while not tally.all_ended.is_set():
        if time.monotonic() - tally.heard > SILENCE:
            tally.wrong.append(f"nothing came for {SILENCE:g} s")
            break
        await asyncio.wait([asyncio.ensure_future(tally.all_ended.wait())], timeout=1)
    for task in tasks:
        task.cancel()
    failed = await asyncio.gather(*tasks, return_exceptions=True)
    tally.wrong += [repr(error) for error in failed if isinstance(error, Exception)]
    return tally


def main() -> None:
    import uvloop

    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("url")
    parser.add_argument("path")
    parser.add_argument("--token", default="")
    parser.add_argument("--count", type=int, default=100)
    parser.add_argument("--leave", type=float, default=0, help="mean seconds until one leaves")
    parser.add_argument("--seed", type=int, default=1)
    given = parser.parse_args()
    reading = read(given.url, given.path, given.token, given.count, given.leave, given.seed)
    with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
        print(json.dumps(runner.run(reading).figures()), flush=True)


if __name__ == "__main__":
    main()
