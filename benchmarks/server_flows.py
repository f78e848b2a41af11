"""Workflows that the benchmarks of the server run: `callboard serve benchmarks/server_flows.py`."""

import asyncio
import os
import time
from pathlib import Path
from typing import Any

from pydantic import Field

from callboard import Approval, Context, Phase, State, Workflow, agent


class Ticks(State):
    gate: str = ""
    count: int = 0
    every: float = 0.01


def count_ticks(state: Ticks, given: dict[str, Any]) -> None:
    state.gate, state.count, state.every = given["gate"], given["count"], given["every"]


@agent
async def tick(state: Ticks, ctx: Context) -> int:
    """Emit an event at every beat from when the gate file appears, and end in time, however few."""
    while not Path(state.gate).exists():
        await asyncio.sleep(0.01)
    began = time.monotonic()
    for number in range(state.count):
        if (late := time.monotonic() - began) > state.count * state.every:
            break
        await asyncio.sleep(number * state.every - late)
        await ctx.emit("tick", {"at": time.time_ns()})
    return state.count


ticks = Workflow(
    "ticks", state=Ticks, start=count_ticks, phases=[Phase("tick", agent=tick, terminal=True)]
)


class Letter(State):
    items: list[str] = Field(default_factory=list)


def begin(state: Letter, first: str) -> None:
    state.items = [first]


@agent
async def draft(state: Letter) -> str:
    return "draft"


@agent
async def send(state: Letter) -> str:
    return str(time.monotonic_ns())


def keep(state: Letter, output: str) -> None:
    state.items.append(output)


letter = Workflow(
    "letter",
    state=Letter,
    start=begin,
    phases=[
        Phase("draft", agent=draft, update=keep, human=Approval("Send it?"), next="send"),
        Phase("send", agent=send, update=keep, terminal=True),
    ],
)


class Held(State):
    folder: str = ""
    at: str = ""
    done: list[str] = Field(default_factory=list)


def hold(state: Held, given: dict[str, str]) -> None:
    state.folder, state.at = given["folder"], given["at"]


@agent
async def work(state: Held, ctx: Context) -> str:
    """Note that it runs, then wait at the gate if this is where the session is to be held."""
    note(Path(state.folder) / "runs", f"{ctx.key} {ctx.attempt}")
    if ctx.phase == state.at:
        while not (Path(state.folder) / "gate").exists():
            await asyncio.sleep(0.25)
    return ctx.phase


def note(file: Path, line: str) -> None:
    """One write at the end of a file, which no other write can split."""
    handle = os.open(file, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600)
    try:
        os.write(handle, f"{line}\n".encode())
    finally:
        os.close(handle)


def did(state: Held, output: str) -> None:
    state.done.append(output)


held = Workflow(
    "held",
    state=Held,
    start=hold,
    phases=[
        Phase("first", agent=work, update=did, next="second"),
        Phase("second", agent=work, update=did, next="third"),
        Phase("third", agent=work, update=did, terminal=True),
    ],
)
