"""Many machines with coding agents, in a few processes, and someone who looks at the board.

`relays` and `direct` print when each hook was sent off, `watch` when the board's stream showed it.
All of them read the same clock, which is the system's.
"""

import argparse
import asyncio
import json
import sys
import tempfile
import time
from collections.abc import AsyncGenerator, Awaitable, Callable, Coroutine, Iterator
from contextlib import asynccontextmanager
from functools import partial
from itertools import count
from pathlib import Path
from typing import Any

from hooks import payload
from serving import TOKEN, Caller

Send = Callable[[int, bytes], Awaitable[None]]
Finish = Callable[[], Awaitable[None]]
SESSIONS = 5
"""On each machine."""
THE_END = "the end of the load"
"""A prompt after which no one looks anymore."""


def started(session: int) -> bytes:
    told = json.loads(payload(session, 0))
    kept = {key: told[key] for key in ("session_id", "transcript_path", "cwd")}
    return json.dumps({**kept, "hook_event_name": "SessionStart", "source": "startup"}).encode()


def named(session: int, number: int) -> str:
    """How a hook is called where it was sent, and where it is seen."""
    return f"toolu_{session}_{number // 2}:{'tool_call' if number % 2 else 'tool_start'}"


# -------------------------------------------------------------------------------------------------
# Machines


class Machine:
    """A relay without its hooks folder: its outbox, both of its connections, and its protocol."""

    def __init__(self, folder: Path, url: str, token: str, host: int) -> None:
        from callboard.clock import SystemClock
        from callboard.relay.command_table import CommandJournal, CommandTable
        from callboard.relay.commands import Commands
        from callboard.relay.contact import ServerContact
        from callboard.relay.http import HttpConnection, ServerUrl
        from callboard.relay.outbox import Outbox
        from callboard.relay.processes import ProcessWatch
        from callboard.relay.settings import secret_of
        from callboard.relay.uplink import Uplink

        self._clock = SystemClock()
        contact = ServerContact(self._clock)
        self._outbox = Outbox(folder / "outbox", lambda: self._uplink.wake())
        self._outbox.open()
        at = ServerUrl.parse(url)
        self._up, self._down = HttpConnection(at, token), HttpConnection(at, token)
        name, secret = f"machine {host}", secret_of(folder)
        self._uplink = Uplink(self._outbox, self._up.post, contact, name, secret)
        now = self._clock.monotonic
        watch = ProcessWatch(self._outbox, now, list, lambda hold: True)
        hello: dict[str, Any] = {
            "name": name,
            "bootId": f"boot-{host}",
            "version": "0",
            "holds": [],
        }
        hello["secret"] = secret
        handlers = {"watch": watch.watch}
        table = CommandTable({}, (), CommandJournal(folder / "commands"))
        self._commands = Commands(self._outbox, lambda: hello, handlers, contact, table)

    def works(self) -> list[Coroutine[Any, Any, None]]:
        return [self._uplink.run(), self._commands.run(self._down, self._clock)]

    def hear(self, body: bytes) -> None:
        from callboard.relay.outbox import HookOrigin

        self._outbox.add("hook", body, HookOrigin("claude"))

    async def finish(self) -> None:
        """Wait until the server has confirmed everything."""
        while len(self._outbox):
            await asyncio.sleep(0.05)


@asynccontextmanager
async def relays(url: str, tokens: dict[int, str]) -> AsyncGenerator[tuple[Send, Finish]]:
    with tempfile.TemporaryDirectory(prefix="callboard-bench-") as folder:
        made = {host: Machine(Path(folder, str(host)), url, tokens[host], host) for host in tokens}
        works = [asyncio.create_task(work) for one in made.values() for work in one.works()]

        async def send(host: int, body: bytes) -> None:
            made[host].hear(body)

        async def finish() -> None:
            await asyncio.gather(*(one.finish() for one in made.values()))

        yield send, finish
        for work in works:
            work.cancel()
        await asyncio.wait(works)


@asynccontextmanager
async def direct(url: str, tokens: dict[int, str]) -> AsyncGenerator[tuple[Send, Finish]]:
    """The same machines, whose hooks go to the server over a kept connection each."""
    from callboard.relay.http import HttpConnection, HttpFailed, ServerUrl

    wires = {host: HttpConnection(ServerUrl.parse(url), TOKEN) for host in tokens}
    turns = {host: asyncio.Lock() for host in tokens}
    headers = {"Content-Type": "application/json"}

    async def send(host: int, body: bytes) -> None:
        async with turns[host]:
            try:
                reply = await wires[host].post("/hooks/claude", body, headers)
            except HttpFailed as error:
                if not error.is_stale:
                    raise
                reply = await wires[host].post("/hooks/claude", body, headers)
        if reply.status != 200:
            raise RuntimeError(f"{reply.status} {reply.body[:200]!r}")

    async def finish() -> None:
        """Each hook was confirmed in its response."""

    yield send, finish
    for wire in wires.values():
        wire.close()


def in_turn(hosts: list[int], first: int) -> Iterator[tuple[int, int, int]]:
    """Machine, session and number of each hook: every session once, and then again."""
    for number in count():
        for session in range(SESSIONS):
            for host in hosts:
                yield host, first + host * SESSIONS + session, number


async def load(how: str, url: str, tokens: dict[int, str], rate: float) -> dict[str, float]:
    """Send by the clock, from a line of input to its end; returns when each hook was due."""
    sent: dict[str, float] = {}
    sending: set[asyncio.Task[None]] = set()
    order = partial(in_turn, list(tokens), 0 if how == "relays" else 100_000)
    async with (relays if how == "relays" else direct)(url, tokens) as (send, finish):
        for host, session, number in order():
            if number:
                break
            await send(host, started(session))
        await finish()
        print("{}", flush=True)
        loop = asyncio.get_running_loop()
        await loop.run_in_executor(None, sys.stdin.readline)
        over = loop.run_in_executor(None, sys.stdin.read)
        began = time.perf_counter()
        for turn, (host, session, number) in enumerate(order()):
            due = began + turn / rate
            await asyncio.sleep(max(0.0, due - time.perf_counter()))
            if over.done():
                break
            sent[named(session, number)] = due
            task = asyncio.ensure_future(send(host, payload(session, number)))
            sending.add(task)
            task.add_done_callback(sending.discard)
        await asyncio.gather(*sending)
        await finish()
    return sent


# -------------------------------------------------------------------------------------------------
# Someone who looks


def watch(url: str) -> dict[str, float]:
    """Read the board's stream until the input ends; returns when each hook appeared."""
    seen: dict[str, float] = {}
    response = Caller(url).stream("/stream")
    print("{}", flush=True)
    while line := response.readline():
        at = time.perf_counter()
        if not line.startswith(b"data: "):
            continue
        if THE_END.encode() in line:
            break
        event = json.loads(line[6:])
        use = event["payload"].get("toolUseId")
        if use:
            seen[f"{use}:{event['name']}"] = at
    return seen


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("how", choices=["relays", "direct", "watch"])
    parser.add_argument("url")
    parser.add_argument("--tokens", type=Path)
    parser.add_argument("--part", type=int, nargs=2, default=(0, 1))
    parser.add_argument("--rate", type=float, default=0.0)
    given = parser.parse_args()
    if given.how == "watch":
        print(json.dumps(watch(given.url)))
        return
    first, step = given.part
    known = dict(enumerate(json.loads(given.tokens.read_text())))
    tokens = {host: known[host] for host in range(first, len(known), step)}
    print(json.dumps(asyncio.run(load(given.how, given.url, tokens, given.rate))))


if __name__ == "__main__":
    main()
