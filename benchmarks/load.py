"""Claim: under a load that does not end, the server's memory is flat: less than 1 MB a minute.

For 5 minutes (a quick run: one), 20 sessions start every second. Each runs an agent and waits for
a person, who answers after about two seconds; one in five is forked first, and the fork is answered
too. 50 readers follow sessions from their start to their end, one after the other, and five
more follow everything. The server's RSS is sampled every second and drawn over time in memory.png,
with the latency of the commands.

Flat means: the slope of a straight line through the samples of the last two thirds. Every session
must have completed at the end, and every reader must have seen every position once.
"""

import argparse
import asyncio
import json
import random
import sqlite3
import statistics
import sys
import time
from collections import deque
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from common import HERE, Result, Row, call, finish, percentile, progress, scratch, spread
from serving import TOKEN, Process, mb, running, serve

PLOT = HERE / "memory.png"
PER_SECOND = 20
ANSWER_AFTER = 2.0
FORKED = 0.2
SESSION_READERS = 50
ALL_READERS = 5
KEPT_FOR = 2.0
BAR_MB = 1.0
BUCKET = 10
DRAIN = 120.0


class Wire:
    """Connections to one server, kept for further requests; and streams of events."""

    def __init__(self, url: str) -> None:
        place = urlsplit(url)
        assert place.hostname is not None
        assert place.port is not None
        self._host, self._port, self._name = place.hostname, place.port, place.netloc
        self._kept: list[tuple[float, Any]] = []

    def _head(self, method: str, path: str, *more: str) -> str:
        lines = [f"{method} {path} HTTP/1.1", f"Host: {self._name}"]
        return "\r\n".join([*lines, f"Authorization: Bearer {TOKEN}", *more, "", ""])

    async def ask(self, method: str, path: str, body: object = None) -> tuple[int, Any]:
        data = b"" if body is None else json.dumps(body).encode()
        length = f"Content-Length: {len(data)}"
        head = self._head(method, path, "Content-Type: application/json", length)
        reading, writing = kept = await self._connection()
        try:
            writing.write(head.encode() + data)
            found = (await reading.readuntil(b"\r\n\r\n")).decode().lower()
            size = int(found.partition("content-length: ")[2].partition("\r\n")[0] or 0)
            text = await reading.readexactly(size)
        except BaseException:
            writing.close()
            raise
        self._kept.append((time.monotonic(), kept))
        return int(found.split(" ", 2)[1]), json.loads(text) if text else None

    async def _connection(self) -> Any:
        """The one that was used last: the server drops those that no one has used for long."""
        if self._kept:
            used, kept = self._kept.pop()
            if time.monotonic() - used < KEPT_FOR:
                return kept
            for _, (_, writing) in [*self._kept, (used, kept)]:
                writing.close()
            self._kept.clear()
        return await asyncio.open_connection(self._host, self._port)

    async def events(self, path: str) -> AsyncIterator[tuple[int, bytes]]:
        """Places and events of a stream, until the server ends it."""
        reading, writing = await asyncio.open_connection(self._host, self._port, limit=2**20)
        writing.write(self._head("GET", path, "Accept: text/event-stream").encode())
        place, rest = 0, b""
        try:
            await reading.readuntil(b"\r\n\r\n")
            while size := int(await reading.readline() or b"0", 16):
                *lines, rest = (rest + await reading.readexactly(size)).split(b"\n")
                await reading.readexactly(2)
                for line in lines:
                    if line.startswith(b"id: "):
                        place = int(line[4:])
                    elif line.startswith(b"data: "):
                        yield place, line[6:]
        finally:
            writing.close()


class Load:
    """Everything that continues, and what was seen of it."""

    def __init__(self, server: Process, seed: int) -> None:
        self.wire = Wire(server.url)
        self.rng = random.Random(seed)
        self.began = time.monotonic()
        self.started = self.forked = self.answered = self.read = self.frames = 0
        self.latencies: list[tuple[float, str, float]] = []
        self.wrong: list[str] = []
        self.recent: deque[str] = deque(maxlen=2 * PER_SECOND)
        self.stopping = False
        self._people: set[asyncio.Task[None]] = set()

    async def timed(self, name: str, method: str, path: str, body: object = None) -> Any:
        began = time.monotonic()
        status, found = await self.wire.ask(method, path, body)
        now = time.monotonic()
        self.latencies.append((now - self.began, name, 1000 * (now - began)))
        if status >= 400:
            self.wrong.append(f"{name}: {status} {found}")
        return found

    async def start(self, seconds: float) -> None:
        for number in range(int(seconds * PER_SECOND)):
            await asyncio.sleep(self.began + number / PER_SECOND - time.monotonic())
            self.later(self.start_one())

    def later(self, doing: Any) -> None:
        task = asyncio.create_task(doing)
        self._people.add(task)
        task.add_done_callback(self._done)

    def _done(self, task: asyncio.Task[None]) -> None:
        self._people.discard(task)
        if not task.cancelled() and task.exception() is not None:
            self.wrong.append(repr(task.exception()))

    async def start_one(self) -> None:
        given = {"workflowId": "letter", "input": "go"}
        found = await self.timed("start", "POST", "/sessions", given)
        self.started += 1
        self.recent.append(found["sessionId"])

    async def answer_all(self) -> None:
        """The people: they follow everything, and answer each question after a while."""
        async for _, data in self.wire.events("/stream"):
            if b'"input:requested"' in data:
                event = json.loads(data)
                self.later(self.answer(event["sessionId"], event["payload"]["id"]))

    async def answer(self, session: str, question: str) -> None:
        await asyncio.sleep(self.rng.expovariate(1 / ANSWER_AFTER))
        if self.rng.random() < FORKED:
            given = {"at": {"phase": "draft"}}
            await self.timed("fork", "POST", f"/sessions/{session}/fork", given)
            self.forked += 1
        given = {"value": "yes", "approved": True}
        await self.timed("answer", "POST", f"/interactions/{question}/answer", given)
        self.answered += 1

    async def read_sessions(self) -> None:
        while not self.stopping:
            if not self.recent:
                await asyncio.sleep(0.1)
                continue
            session = self.rng.choice(self.recent)
            last = 0
            async for place, _ in self.wire.events(f"/sessions/{session}/events"):
                if place != last + 1:
                    self.wrong.append(f"{place} after {last} in {session}")
                last = place
                self.frames += 1
            self.read += 1

    async def read_everything(self) -> None:
        last = 0
        async for place, _ in self.wire.events("/stream?after=0"):
            if place <= last:
                self.wrong.append(f"{place} after {last} in everything")
            last = place
            self.frames += 1


async def sample(server: Process, load: Load, samples: list[tuple[float, int]]) -> None:
    while True:
        samples.append((time.monotonic() - load.began, server.memory()))
        await asyncio.sleep(1)


def counts(path: Path) -> dict[str, int]:
    """Sessions by how they ended, by a reader beside the server."""
    database = sqlite3.connect(f"file:{path}?mode=ro", uri=True)
    try:
        rows = database.execute("SELECT coalesce(ended, 'open'), count(*) FROM sessions GROUP BY 1")
        return dict(rows.fetchall())
    finally:
        database.close()


async def drained(load: Load, path: Path) -> None:
    end = time.monotonic() + DRAIN
    while True:
        found = counts(path)
        if found == {"completed": load.started + load.forked}:
            return
        if time.monotonic() > end:
            load.wrong.append(f"not completed: {found} of {load.started} + {load.forked}")
            return
        await asyncio.sleep(0.2)


async def run(folder: Path, seconds: float, seed: int) -> dict[str, Any]:
    server = serve(folder)
    with running(server):
        load, samples = Load(server, seed), []
        sampling = asyncio.create_task(sample(server, load, samples))
        people = asyncio.create_task(load.answer_all())
        everything = [asyncio.create_task(load.read_everything()) for _ in range(ALL_READERS)]
        readers = [asyncio.create_task(load.read_sessions()) for _ in range(SESSION_READERS)]
        busy = server.busy()
        await load.start(seconds)
        took = time.monotonic() - load.began
        sampling.cancel()
        load.stopping = True
        await drained(load, folder / "callboard.db")
        busy = server.busy() - busy
        await asyncio.wait(readers, timeout=30)
        for task in (people, *everything, *readers):
            if task.done() and not task.cancelled() and task.exception() is not None:
                load.wrong.append(repr(task.exception()))
            task.cancel()
        last = server.memory()
    return {
        "seconds": took,
        "samples": samples,
        "memory_at_end": last,
        "latencies": [(round(at, 2), name, round(ms, 2)) for at, name, ms in load.latencies],
        "started": load.started,
        "forked": load.forked,
        "answered": load.answered,
        "read": load.read,
        "frames": load.frames,
        "wrong": load.wrong[:20],
        "wrongs": len(load.wrong),
        "busy": busy / took,
        "bytes": (folder / "callboard.db").stat().st_size,
    }


def slope(samples: list[tuple[float, int]]) -> float:
    """Bytes a minute, through the last two thirds."""
    later = [(at, size) for at, size in samples if at >= samples[-1][0] / 3]
    times, sizes = zip(*later, strict=True)
    return 60 * statistics.linear_regression(times, sizes).slope


def over_time(found: dict[str, Any], name: str) -> dict[int, dict[str, float]]:
    buckets: dict[int, list[float]] = {}
    for at, what, ms in found["latencies"]:
        if what == name:
            buckets.setdefault(int(at // BUCKET) * BUCKET, []).append(ms)
    return {
        at: {"p50": percentile(values, 0.5), "p99": percentile(values, 0.99)}
        for at, values in sorted(buckets.items())
    }


def measure(quick: bool = False) -> Result:
    seconds = 60 if quick else 300
    progress(f"load: {seconds / 60:g} minute(s) of sessions, people and readers")
    found = call(sys.executable, Path(__file__).resolve(), "--side", f"--seconds={seconds}")
    samples = found["samples"]
    growth = slope(samples)
    parts = {
        name: spread([ms for _, what, ms in found["latencies"] if what == name])
        for name in ("start", "answer", "fork")
    }
    curve = list(over_time(found, "answer").values())
    third = max(1, len(curve) // 3)
    early, late = (
        statistics.median(one["p99"] for one in part) for part in (curve[:third], curve[-third:])
    )
    if not quick:
        draw(found)
    lasted = f"{seconds // 60} minute{'s' if seconds > 60 else ''} of load"
    return Result(
        "load",
        rows=[
            Row(
                f"{lasted}: memory over the last two thirds",
                f"< {BAR_MB:g} MB a minute",
                f"{growth / 1e6:+.2f} MB a minute ({mb(samples[-1][1])} at the end)",
                "–",
                "–",
                None if quick else growth < BAR_MB * 1e6,
            ),
            Row(
                f"{lasted}: sessions or events lost or repeated",
                "none",
                f"{found['wrongs']} ({found['started'] + found['forked']:,} sessions, "
                f"{found['frames']:,} frames)",
                "–",
                "–",
                found["wrongs"] == 0,
            ),
            Row(
                f"{lasted}: latency of commands",
                "–",
                ", ".join(
                    f"{name} p50 {part['p50']:.1f} p99 {part['p99']:.1f} ms"
                    for name, part in parts.items()
                ),
                "–",
                f"p99 of an answer, last third against first: {late / early:.2f}×",
                None,
            ),
        ],
        notes=[
            f"{found['started']:,} sessions started, {found['forked']:,} forks, "
            f"{found['answered']:,} answers, {found['read']:,} sessions read from start to "
            f"end by {SESSION_READERS} readers, {ALL_READERS} of everything; the file grew to "
            f"{mb(found['bytes'])}. The server took {100 * found['busy']:.0f} % of a core; the "
            "load is made by one process on the same machine.",
            f"Memory: {mb(samples[0][1])} at first, {mb(found['memory_at_end'])} when all had "
            "ended. Encoded events are kept for further readers, up to a bound."
            + (" One minute is too short to judge a slope." if quick else ""),
            *(f"wrong: {text}" for text in found["wrong"][:5]),
        ],
        data={
            "slope": growth,
            "latencies": parts,
            **{key: value for key, value in found.items() if key != "latencies"},
        },
    )


def draw(found: dict[str, Any]) -> None:
    """Memory, and below it the latency of answers, over the same minutes."""
    try:
        import matplotlib
    except ImportError:
        progress("  matplotlib is not installed: memory.png is not drawn")
        return
    matplotlib.use("Agg")
    from matplotlib import pyplot

    figure, (above, below) = pyplot.subplots(
        2, 1, figsize=(8, 5.6), dpi=150, sharex=True, height_ratios=(3, 2)
    )
    times = [at / 60 for at, _ in found["samples"]]
    above.plot(times, [size / 1e6 for _, size in found["samples"]], color="#1d4ed8", linewidth=1.4)
    above.set_ylim(bottom=0)
    above.set_ylabel("memory (RSS), MB")
    above.set_title("The server under load: memory, and how long an answer takes", loc="left")
    for name, colour in (("p99", "#c2410c"), ("p50", "#1d4ed8")):
        curve = over_time(found, "answer")
        below.plot(
            [(at + BUCKET / 2) / 60 for at in curve],
            [one[name] for one in curve.values()],
            label=name,
            color=colour,
            linewidth=1.4,
        )
    below.set_ylim(bottom=0)
    below.set_ylabel(f"answer, ms (of {BUCKET} s)")
    below.set_xlabel("minutes")
    below.legend(frameon=False)
    for axes in (above, below):
        axes.grid(visible=True, which="both", alpha=0.2)
    figure.tight_layout()
    figure.savefig(PLOT)


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--side", action="store_true", help="run the load once and print its JSON")
    parser.add_argument("--seconds", type=float, default=600)
    parser.add_argument("--seed", type=int, default=1)
    given = parser.parse_args()
    if not given.side:
        finish(measure(given.quick))
        return
    with scratch() as folder:
        print(json.dumps(asyncio.run(run(folder, given.seconds, given.seed))))


if __name__ == "__main__":
    main()
