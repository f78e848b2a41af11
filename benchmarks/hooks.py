"""Claims: a hook into the spool takes at most 1.5× `sh -c 'cat >f && mv f g'`; one that the client
takes to the server at most 1.5× `python -I -S -c pass`; and the server answers 500 hooks a second
with a p99 of at most 5 ms.

The first two are whole processes, started in turn many times, with the payload of a tool's call on
their input; medians are compared. For the client a server runs, and every hook it reports is on
the disk before it ends; beside it stands the client that finds no server and uses the spool.

For the third, 20 sessions of agents keep a connection each, as their clients do, and report the
start and the end of tools by the clock, 500 a second together, whatever the answers take. A latency
counts from the moment at which the clock sent the hook off, also while it waits for the one before
it, so a server that stalls is not spared. The same load of `GET /health`, which does nothing, is
the floor under it. Then both as quickly as they go. Of all rounds those count in which the host of
the machine took the least from it. What a hook costs inside a real client is measured elsewhere.
"""

import argparse
import asyncio
import gc
import json
import os
import statistics
import subprocess
import sys
import time
from functools import partial
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from common import Result, Row, call, finish, progress, quietest, scratch, spread
from serving import TOKEN, running, serve

BAR_RATIO = 1.5
BAR_MS = 5
PER_SECOND = 500
SESSIONS = 20
MOST_PER_SECOND = 8000
HERE = Path(__file__).resolve()


def payload(session: int, number: int) -> bytes:
    """What a client reports about a tool: its start, then its end."""
    tool = {"command": "pytest tests/unit -q", "description": "Run the tests " * 8}
    hook: dict[str, Any] = {
        "session_id": f"5f1c7a52-0000-4000-8000-{session:012}",
        "transcript_path": f"/home/sam/.claude/projects/-home-sam-shop/{session}.jsonl",
        "cwd": "/home/sam/shop",
        "prompt_id": "b6a8875e-9935-410c-a8b2-7f549c803f58",
        "permission_mode": "default",
        "hook_event_name": "PreToolUse",
        "tool_name": "Bash",
        "tool_input": tool,
        "tool_use_id": f"toolu_{session}_{number // 2}",
    }
    if number % 2:
        out = "................................................ [100%]\n" * 12
        hook |= {"hook_event_name": "PostToolUse", "duration_ms": 412}
        hook |= {"tool_response": {"stdout": out, "stderr": "", "interrupted": False}}
    return json.dumps(hook).encode()


# -------------------------------------------------------------------------------------------------
# Processes


def took(command: list[str], body: bytes, folder: Path) -> float:
    began = time.perf_counter()
    subprocess.run(command, input=body, cwd=folder, check=True)
    return 1000 * (time.perf_counter() - began)


def processes(rounds: int) -> dict[str, list[float]]:
    from callboard import hookclient
    from callboard.board.hook_folders import hooks_folder, make_folders, spool_folder
    from callboard.vendors.settings.commands import spool_command

    python = os.path.realpath(sys.executable)
    client = [python, "-I", "-S", hookclient.__file__]
    with scratch() as folder:
        served, alone = hooks_folder(folder / "callboard.db"), folder / "alone"
        make_folders(alone)
        commands = {
            "sh": ["sh", "-c", "cat >f && mv f g"],
            "spool": ["sh", "-c", spool_command(alone, "claude")],
            "python": [python, "-I", "-S", "-c", "pass"],
            "client": [*client, str(served), "claude"],
            "client, no server": [*client, str(alone), "claude"],
        }
        samples: dict[str, list[float]] = {name: [] for name in commands}
        with running(serve(folder)) as server:
            for number in range(rounds + 5):
                for name, command in commands.items():
                    one = took(command, payload(1, number), folder)
                    if number >= 5:  # so that everything is compiled, and in the cache
                        samples[name].append(one)
            heard = asyncio.run(plates(server.url))
        spooled = len(list(spool_folder(alone).glob("*.json")))
    if heard != 1 or spooled != 2 * (rounds + 5):
        raise RuntimeError(f"hooks were lost: {heard} plates, {spooled} files")
    return samples


# -------------------------------------------------------------------------------------------------
# HTTP


class Wire(asyncio.Protocol):
    """One kept connection. It does as little as it can: what it takes, the server has not."""

    def __init__(self) -> None:
        self._told = b""
        self._answered: asyncio.Future[bytes] | None = None
        self._transport: Any = None

    @classmethod
    async def to(cls, url: str) -> "Wire":
        place = urlsplit(url)
        loop = asyncio.get_running_loop()
        _, wire = await loop.create_connection(cls, place.hostname, place.port)
        return wire

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = transport

    def data_received(self, data: bytes) -> None:
        self._told += data
        head, found, body = self._told.partition(b"\r\n\r\n")
        if found and len(body) >= int(head.lower().partition(b"content-length:")[2].split()[0]):
            self._told = b""
            assert self._answered is not None
            if head.startswith(b"HTTP/1.1 200"):
                self._answered.set_result(body)
            else:
                self._answered.set_exception(RuntimeError(f"{head[:200]!r} {body[:200]!r}"))

    async def ask(self, request: bytes) -> bytes:
        """Send one request; gives the body of its answer."""
        self._answered = asyncio.get_running_loop().create_future()
        self._transport.write(request)
        return await self._answered

    def close(self) -> None:
        self._transport.close()


def request(url: str, line: str, body: bytes = b"") -> bytes:
    head = f"{line} HTTP/1.1\r\nHost: {urlsplit(url).netloc}\r\nAuthorization: Bearer {TOKEN}\r\n"
    head += f"Content-Type: application/json\r\nContent-Length: {len(body)}\r\n\r\n"
    return head.encode() + body


def requests(url: str, what: str, session: int, count: int) -> list[bytes]:
    """What one session sends, made beforehand."""
    if what == "health":
        return [request(url, "GET /health")] * count
    told = [payload(session, number) for number in range(count)]
    return [request(url, "POST /hooks/claude", body) for body in told]


async def plates(url: str) -> int:
    """How many plates there are now."""
    wire = await Wire.to(url)
    found = json.loads(await wire.ask(request(url, "GET /plates")))["plates"]
    wire.close()
    return len(found)


async def by_the_clock(url: str, what: str, seconds: float) -> dict[str, float]:
    """So many requests a second, each when it is due."""
    each = round(PER_SECOND * seconds / SESSIONS)
    wires = [await Wire.to(url) for _ in range(SESSIONS)]
    turns = [asyncio.Lock() for _ in range(SESSIONS)]
    sending = [requests(url, what, session, each) for session in range(SESSIONS)]
    latencies: list[float] = []

    async def one(number: int, sent: float) -> None:
        session = number % SESSIONS
        async with turns[session]:  # A client's connection carries one request at a time.
            await wires[session].ask(sending[session][number // SESSIONS])
        latencies.append(1000 * (time.perf_counter() - sent))

    begin = time.perf_counter() + 0.1
    async with asyncio.TaskGroup() as group:
        for number in range(each * SESSIONS):
            due = begin + number / PER_SECOND
            while (left := due - time.perf_counter()) > 0:
                await asyncio.sleep(left)
            # Not from when it was due: this loop's timers count in milliseconds.
            group.create_task(one(number, time.perf_counter()))
    for wire in wires:
        wire.close()
    warm = latencies[PER_SECOND // 2 :]
    return spread(warm) | {"rate": len(latencies) / (time.perf_counter() - begin)}


async def all_out(url: str, what: str, seconds: float) -> dict[str, float]:
    """As many as the server takes."""
    wires = [await Wire.to(url) for _ in range(SESSIONS)]
    enough = round(MOST_PER_SECOND * seconds / SESSIONS)
    sending = [requests(url, what, session, enough) for session in range(SESSIONS)]
    began = time.perf_counter()

    async def one(session: int) -> int:
        number = 0
        while time.perf_counter() < began + seconds:
            await wires[session].ask(sending[session][number])
            number += 1
        return number

    done = sum(await asyncio.gather(*map(one, range(SESSIONS))))
    for wire in wires:
        wire.close()
    return {"rate": done / (time.perf_counter() - began)}


def one_load(how: str, what: str, seconds: float) -> dict[str, float]:
    with scratch() as folder, running(serve(folder)) as server:
        figures = call(sys.executable, HERE, "--load", how, what, server.url, str(seconds))
    progress(f"  {how} {what}: {figures}")
    return figures


def measured_load(rounds: int, seconds: float, *, quick: bool) -> dict[str, list[dict[str, float]]]:
    """The load comes from a process of its own, as real clients' does."""
    found: dict[str, list[dict[str, float]]] = {}
    for how in ("clock", "all"):
        for what in ("health", "hooks"):
            # Rates are medians anyhow; a p99 needs rounds in which nothing else happened.
            most = rounds if quick else 20 if how == "clock" else 2 * rounds
            found[f"{how} {what}"] = quietest(rounds, most, partial(one_load, how, what, seconds))
    return found


def load(how: str, what: str, url: str, seconds: float) -> dict[str, float]:
    import uvloop

    # Its pauses would be taken for the server's, and it ends before any of them is needed.
    gc.disable()
    side = by_the_clock if how == "clock" else all_out
    with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
        return runner.run(side(url, what, seconds))


# -------------------------------------------------------------------------------------------------


def measure(quick: bool = False) -> Result:
    rounds, seconds, repeats = (30, 4.0, 1) if quick else (200, 5.0, 3)
    progress("hooks: processes")
    samples = processes(rounds)
    middle = {name: statistics.median(found) for name, found in samples.items()}
    progress("hooks: HTTP")
    runs = measured_load(repeats, seconds, quick=quick)

    def http(name: str, figure: str) -> float:
        return statistics.median(run[figure] for run in runs[name])

    def row(claim: str, name: str, peer: str, bar: bool = True) -> Row:
        ratio = middle[name] / middle[peer]
        return Row(
            claim,
            f"≤ {BAR_RATIO}×" if bar else "–",
            f"{middle[name]:.1f} ms",
            f"{middle[peer]:.1f} ms ({PEERS[peer]})",
            f"{ratio:.2f}×",
            ratio <= BAR_RATIO if bar else None,
        )

    p99, floor = http("clock hooks", "p99"), http("clock health", "p99")
    most, most_floor = http("all hooks", "rate"), http("all health", "rate")
    return Result(
        "hooks",
        rows=[
            row("a hook into the spool", "spool", "sh"),
            row("a hook by the client, on the server's disk", "client", "python"),
            row("a hook by the client, into the spool", "client, no server", "python", bar=False),
            Row(
                f"hooks over HTTP at {PER_SECOND}/s",
                f"p99 ≤ {BAR_MS} ms",
                f"p50 {http('clock hooks', 'p50'):.2f} ms, p99 {p99:.2f} ms",
                f"p50 {http('clock health', 'p50'):.2f} ms, p99 {floor:.2f} ms (GET /health)",
                f"{p99 / floor:.1f}×",
                p99 <= BAR_MS,
            ),
            Row(
                "hooks over HTTP, the most",
                "–",
                f"{most:,.0f}/s",
                f"{most_floor:,.0f}/s (GET /health)",
                f"{most / most_floor:.2f}",
                None,
            ),
        ],
        notes=[
            f"{rounds} processes of each kind, in turn; p90 of the spool "
            f"{spread(samples['spool'])['p90']:.1f} ms, of the client "
            f"{spread(samples['client'])['p90']:.1f} ms.",
            f"{repeats} × {seconds:g} s of HTTP at {http('clock hooks', 'rate'):.0f}/s, "
            f"{SESSIONS} kept connections, payloads of {len(payload(1, 0))} and "
            f"{len(payload(1, 1))} bytes; slowest {http('clock hooks', 'max'):.1f} ms. Every hook "
            "is on the disk before it is answered. Medians over the rounds, during which the host "
            f"took {http('clock hooks', 'stolen'):.2%} of the processors' time.",
        ],
        data={"samples": samples, "runs": runs},
    )


PEERS = {"sh": "sh -c 'cat >f && mv f g'", "python": "python -I -S -c pass"}


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--quick", action="store_true")
    parser.add_argument(
        "--load", nargs=4, metavar=("HOW", "WHAT", "URL", "SECONDS"), help="only send requests"
    )
    given = parser.parse_args()
    if given.load:
        how, what, url, seconds = given.load
        print(json.dumps(load(how, what, url, float(seconds))))
    else:
        finish(measure(given.quick))


if __name__ == "__main__":
    main()
