"""Claim: the state at any of 1,000,000 positions, p99 ≤ 10 ms cold; a fork there ≤ 10 ms, < 10 KB.

The session is one run of a looping workflow with a state of 10 KB: 100 texts of about 90 bytes, of
which every step replaces one. Its events, with the intents and checkpoints among them, are those
that the engine itself writes for it; only their commits are merged, 5,000 events to one append,
because a million events one step at a time would take the better part of an hour.

Cold means: the database's pages dropped from the operating system's cache, the database opened
again, one position asked for. What the disk's own controller or host has cached cannot be dropped.
LangGraph's `get_state` and `update_state` at a checkpoint stand beside it, in a shorter history.
"""

import argparse
import asyncio
import bisect
import contextlib
import json
import random
import time
from collections.abc import Callable, Collection, Sequence
from pathlib import Path
from typing import Any

from common import (
    PEERS,
    Result,
    Row,
    Side,
    cached_bytes,
    drop_caches,
    finish,
    folder_bytes,
    progress,
    random_text,
    scratch,
    spread,
)

FIELDS, SIZE = 100, 90
SESSION = "long"
MERGED = 5000


class Enough(Exception):
    """The log is as long as it has to be."""


class Merging:
    """A log for one session and one writer, which hands its appends on in large groups.

    Knows what the engine asks while it drives a session: to append, and how long the stream is.
    """

    def __init__(self, log: Any, length: int) -> None:
        self.owner, self.tokens = log.owner, log.tokens
        self.intents: list[int] = []
        self.checkpoints = 0
        self._log = log
        self._length = length
        self._head = 0
        self._waiting: list[Any] = []

    async def append(self, stream: str, events: Sequence[Any], writing: Any = None) -> Any:
        from callboard.events.codec import encode
        from callboard.events.envelope import place
        from callboard.log.protocol import Appended

        if self._head >= self._length:
            raise Enough
        placed = [place(event, stream, self._head + 1 + n) for n, event in enumerate(events)]
        for event in placed:
            if event.name == "state:intent" and event.payload["reason"] == "update":
                self.intents.append(event.position)
            self.checkpoints += event.name == "state:checkpoint"
        self._head += len(placed)
        self._waiting += events
        if len(self._waiting) >= MERGED or self._head >= self._length:
            merged, self._waiting = self._waiting, []
            await self._log.append(stream, merged)
        return Appended(self._head, 1, sum(len(encode(event)) for event in events))

    async def head(self, stream: str) -> int:
        return self._head

    async def read(self, stream: str, after: int = 0, **more: Any) -> list[Any]:
        return []

    async def checkpoint(self, stream: str, upto: int) -> int:
        raise Enough  # The engine looks only when it gives the session back.

    async def lease(self, stream: str) -> None:
        return None

    async def rows(self, query: Any) -> list[Any]:
        return []

    def on_change(self, stream: str, notify: Callable[[], None]) -> Callable[[], None]:
        return lambda: None


def define(outputs: list[str]) -> Any:
    from pydantic import Field

    from callboard import Context, Phase, State, Workflow, agent

    rng = random.Random(1)
    first = {f"field{n:02d}": random_text(rng, SIZE) for n in range(FIELDS)}

    class Table(State):
        cells: dict[str, str] = Field(default_factory=lambda: dict(first))

    @agent
    async def work(state: Table, ctx: Context) -> str:
        outputs.append(f"field{rng.randrange(FIELDS):02d} {random_text(rng, SIZE)}")
        return outputs[-1]

    def keep(state: Table, output: str) -> None:
        name, _, text = output.partition(" ")
        state.cells[name] = text

    return first, Workflow(
        "table",
        state=Table,
        start=lambda state, input: None,
        phases=[
            Phase("work", agent=work, update=keep, next=lambda state: "work", to=["work", "end"]),
            Phase("end", terminal=True),
        ],
    )


async def build(path: Path, length: int) -> dict[str, Any]:
    """Fill the database; returns what is needed to know the state at any position."""
    from callboard import Callboard
    from callboard.log.sqlite.log import SqliteLog
    from callboard.state.rows import project

    outputs: list[str] = []
    first, table = define(outputs)
    log = SqliteLog.open(path, project=project)
    merging = Merging(log, length)
    started = time.perf_counter()
    with contextlib.suppress(Enough):
        await Callboard(merging, [table]).run(table, input="go", session_id=SESSION)
    seconds = time.perf_counter() - started
    head = await log.head(SESSION)
    await log.close()
    assert head >= length, head
    return {
        "first": first,
        "outputs": outputs,
        "intents": merging.intents,
        "head": head,
        "checkpoints": merging.checkpoints,
        "build_seconds": seconds,
    }


def expected(built: dict[str, Any], position: int) -> dict[str, str]:
    """The cells at a position, by repeating the outputs and nothing of the engine."""
    cells = dict(built["first"])
    for output in built["outputs"][: bisect.bisect_right(built["intents"], position)]:
        name, _, text = output.partition(" ")
        cells[name] = text
    return cells


async def ours(folder: Path, length: int, samples: int, forks: int) -> dict[str, Any]:
    from callboard import Callboard

    path = folder / "callboard.db"
    address = f"sqlite:///{path}"
    built = await build(path, length)
    progress(f"  built {built['head']:,} events in {built['build_seconds']:.0f} s")
    stored = folder_bytes(folder)
    _, table = define([])
    rng = random.Random(2)

    def positions(count: int) -> Collection[int]:
        return [rng.randint(1, length) for _ in range(count)]

    for position in [1, length, *positions(20)]:
        async with Callboard.open(address, workflows=[table]) as board:
            state = await board.state(SESSION, at=position)
            assert dict(state.cells) == expected(built, position), position

    cold, opening, how, left = [], [], "", 0
    for position in positions(samples):
        how = drop_caches(folder)
        left = max(left, cached_bytes(path) or 0)
        started = time.perf_counter()
        async with Callboard.open(address, workflows=[table]) as board:
            opened = time.perf_counter()
            await board.state(SESSION, at=position)
            cold.append((time.perf_counter() - opened) * 1000)
            opening.append((opened - started) * 1000)

    async with Callboard.open(address, workflows=[table]) as board:
        warm = []
        for position in positions(samples * 2):
            started = time.perf_counter()
            await board.state(SESSION, at=position)
            warm.append((time.perf_counter() - started) * 1000)

    before = folder_bytes(folder)
    forking = []
    for position in positions(forks):
        drop_caches(folder)
        async with Callboard.open(address, workflows=[table]) as board:
            started = time.perf_counter()
            await board.fork(SESSION, position=position, run=False)
            forking.append((time.perf_counter() - started) * 1000)
    added = (folder_bytes(folder) - before) / forks
    return {
        "events": built["head"],
        "checkpoints": built["checkpoints"],
        "stored": stored,
        "build_seconds": built["build_seconds"],
        "cold": how,
        "left_in_cache": left,
        "state_ms": spread(cold),
        "open_ms": spread(opening),
        "warm_ms": spread(warm),
        "fork_ms": spread(forking),
        "fork_bytes": added,
    }


def measure(quick: bool = False) -> Result:
    length, samples, forks, steps = (100_000, 60, 30, 500) if quick else (1_000_000, 500, 200, 5000)
    progress(f"state_at: a session of {length:,} events")
    load = (f"--samples={samples}", f"--forks={forks}")
    mine = Side(
        "ours", Path(__file__).resolve(), ("--side", f"--length={length}", *load), peer=False
    ).run()
    peer = Side("LangGraph", PEERS / "langgraph_state_at.py", (f"--steps={steps}", *load)).run()

    def times(spread: dict[str, float]) -> str:
        return f"p50 {spread['p50']:.1f} ms, p99 {spread['p99']:.1f} ms"

    p99, fork_p99 = mine["state_ms"]["p99"], mine["fork_ms"]["p99"]
    there = f"(LangGraph, {peer['checkpoints']:,} checkpoints)"
    return Result(
        "state_at",
        rows=[
            Row(
                f"state at any of {length:,} positions, 10 KB state, cold cache",
                "p99 ≤ 10 ms",
                times(mine["state_ms"]),
                f"{times(peer['state_ms'])} {there}",
                f"{p99 / peer['state_ms']['p99']:.1f}",
                p99 <= 10,
            ),
            Row(
                "fork there, cold cache",
                "≤ 10 ms",
                times(mine["fork_ms"]),
                f"{times(peer['fork_ms'])} {there}",
                f"{fork_p99 / peer['fork_ms']['p99']:.1f}",
                fork_p99 <= 10,
            ),
            Row(
                "bytes that a fork adds",
                "< 10 KB",
                f"{mine['fork_bytes']:,.0f} B",
                f"{peer['fork_bytes']:,.0f} B (LangGraph)",
                f"{mine['fork_bytes'] / peer['fork_bytes']:.2f}",
                mine["fork_bytes"] < 10_000,
            ),
        ],
        notes=[
            f"Cold: {mine['cold']}; at most {mine['left_in_cache']:,} bytes of it were left there. "
            f"Opening the database is not in the figure; it took p50 {mine['open_ms']['p50']:.1f} "
            f"ms. With a warm cache: {times(mine['warm_ms'])}.",
            f"{mine['events']:,} events with {mine['checkpoints']:,} checkpoints take "
            f"{mine['stored'] / 1e6:,.0f} MB; LangGraph's {peer['checkpoints']:,} checkpoints take "
            f"{peer['stored'] / 1e6:,.0f} MB. It stores the whole state at every step, so that "
            "reading one is a single look-up, at that price.",
        ],
        data={"ours": mine, "LangGraph": peer},
    )


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--side", action="store_true", help="run our side once and print its JSON")
    parser.add_argument("--length", type=int, default=1_000_000)
    parser.add_argument("--samples", type=int, default=500)
    parser.add_argument("--forks", type=int, default=200)
    options = parser.parse_args()
    if not options.side:
        finish(measure(options.quick))
        return
    with scratch() as folder:
        result = asyncio.run(ours(folder, options.length, options.samples, options.forks))
        print(json.dumps(result))


if __name__ == "__main__":
    main()
