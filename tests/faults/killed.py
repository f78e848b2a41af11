"""A process to be killed: runs sessions on a file, and writes down every effect it has.

    python -m tests.faults.killed DATABASE EFFECTS SESSIONS [--step]

Standard output tells what was acknowledged. With --step it halts before and after each append
until it is told to go on, or is killed there.
"""

import asyncio
import os
import sys
from collections.abc import AsyncGenerator, Sequence
from pathlib import Path
from typing import Any

from callboard import (
    Approval,
    Callboard,
    Choice,
    Context,
    Event,
    Output,
    Phase,
    Retry,
    State,
    Text,
    Workflow,
    agent,
)
from callboard.engine.ports import Request
from callboard.events.envelope import NewEvent
from callboard.log.protocol import ANYHOW, Appended, Writing
from callboard.log.sqlite.log import SqliteLog
from callboard.state.rows import project
from callboard.testing.faults import FaultyLog


class Notes(State):
    seen: list[Any] = []


def note(state: Notes, output: Any) -> None:
    state.seen.append(output)


class Effects:
    """A file that gets one line for each effect, on the disk before the effect counts."""

    def __init__(self, path: Path) -> None:
        self._file = os.open(path, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600)

    def write(self, *words: object) -> str:
        os.write(self._file, (" ".join(map(str, words)) + "\n").encode())
        os.fsync(self._file)
        return str(words[-1])


class People:
    """Say yes, or take the last option; what they were asked is an effect as well."""

    def __init__(self, effects: Effects) -> None:
        self._effects = effects

    async def answer(self, request: Request) -> Any:
        self._effects.write("asked", request.session_id, request.id)
        return request.options[-1] if request.options else True


def workflow(effects: Effects) -> Workflow:
    """Every kind of step, each with an effect."""

    @agent
    async def draft(state: Notes, ctx: Context) -> str:
        effects.write("ran", ctx.key)
        charged = await ctx.once("charge", lambda: effects.write("once", f"{ctx.key}:charge"))
        sure = await ctx.ask("Sure?")
        return f"{charged.partition(':')[2]} {sure}"

    @agent
    async def item(state: Notes, ctx: Context) -> str:
        effects.write("ran", ctx.key)
        await asyncio.sleep(0)
        if ctx.item == 1:
            raise ValueError("never works")
        return f"item {ctx.item}"

    @agent
    async def talk(state: Notes, ctx: Context) -> AsyncGenerator[Any, None]:
        effects.write("ran", ctx.key)
        yield Text("one ")
        yield Text("two")
        yield Output(await ctx.choose("Which?", ["a", "b"]))

    return Workflow(
        "killed",
        state=Notes,
        phases=[
            Phase("draft", agent=draft, update=note, next="review"),
            Phase("review", human=Approval("Go on?"), next="each"),
            Phase(
                "each",
                agent=item,
                for_each=lambda state: [0, 1, 2],
                parallel=2,
                retry=Retry(2, backoff=0.01),
                on_item_error="skip",
                update=note,
                next="talk",
            ),
            Phase("talk", agent=talk, update=note, human=Choice("End?", ["x", "y"]), terminal=True),
        ],
    )


class SteppedLog(FaultyLog):
    """Halts before and after every append, until a line comes on standard input."""

    async def append(
        self, stream: str, events: Sequence[NewEvent], writing: Writing = ANYHOW
    ) -> Appended:
        halt("before")
        appended = await super().append(stream, events, writing)
        halt("after")
        return appended


def halt(when: str) -> None:
    print("halt", when, flush=True)
    sys.stdin.readline()


def tell(event: Event) -> None:
    print("event", event.session_id, event.position, event.id, event.name, flush=True)


async def main(database: str, effects: Effects, count: int, step: bool) -> None:
    """Begin or go on with every session, all at once."""
    log = SqliteLog.open(database, project)
    board = Callboard(SteppedLog(log) if step else log, [workflow(effects)])
    people = People(effects)

    async def session(name: str) -> None:
        if await board.log.head(name):
            await board.drive(name, human_input=people, on_event=tell)
        else:
            await board.run("killed", session_id=name, human_input=people, on_event=tell)

    await asyncio.gather(*(session(f"s{number}") for number in range(count)))
    await board.close()
    print("done", flush=True)


if __name__ == "__main__":
    arguments = sys.argv[1:]
    given = Effects(Path(arguments[1]))
    asyncio.run(main(arguments[0], given, int(arguments[2]), "--step" in arguments))
