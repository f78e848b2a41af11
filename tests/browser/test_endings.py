"""A person at the real Claude Code ends sessions in every way there is, and all who wait see it.

Those who wait are a phase, a program that awaits, one that listens, and a component in Chromium.
"""

import asyncio
import os
import signal
from collections.abc import AsyncGenerator, Awaitable, Iterable
from pathlib import Path
from typing import Any, NamedTuple

import pytest_asyncio
from playwright.async_api import Browser
from tests.browser.own_page import built, served
from tests.browser.watchers import End, Stand, Watchers
from tests.real_clients import scenes
from tests.real_clients.attendance import (
    APPROVAL,
    DECISIONS,
    DIALOG,
    PATIENT,
    TOOL,
    Attendance,
    agree,
    deciding,
    exit_agent,
    leave,
    refuse,
    told_once,
)
from tests.real_clients.board import Board
from tests.real_clients.claude import Claude, ClaudeTerminal
from tests.real_clients.home import Home
from tests.real_clients.messages import Messages
from tests.real_clients.model import Model
from tests.real_clients.script import Call, Say
from tests.servers import TOKEN, serving

from callboard import Client

FLOW = Path(__file__).with_name("review_flow.py")
KEPT, NOTHING = "It is kept.", "Nothing to do."


class Room(NamedTuple):
    """A person's terminal, and those who wait for what happens there."""

    stand: Stand
    harness: Attendance
    model: Model

    async def watched(self, script: str, **options: Any) -> Watchers:
        told = {"cwd": str(self.harness.claude.home.project), "outcome_schema": APPROVAL}
        return await self.stand.watched(
            prompt=f"Review it. play:{script}", options={**told, **options}
        )

    def terminal(self, watchers: Watchers, *options: str) -> ClaudeTerminal:
        """Where the person attends to what is watched."""
        return self.harness.terminal(f"--session={watchers.session}", *options)


@pytest_asyncio.fixture(scope="module", loop_scope="session")
async def examples(tmp_path_factory) -> Path:
    return await built(tmp_path_factory.mktemp("endings"))


@pytest_asyncio.fixture(loop_scope="session")
async def room(browser: Browser, examples: Path, tmp_path: Path) -> AsyncGenerator[Room]:
    home = Home.made_in(tmp_path)
    with served(examples) as origin, Model(Messages()) as model:
        options = [f"--cors-origin={origin}"]
        async with (
            serving(home.database, FLOW, options=options, env=home.env) as server,
            Client(server.url, TOKEN) as client,
        ):
            claude = Claude(home, model)
            claude.prepare()
            model.scripts |= {"say": scenes.SAY, "decide": deciding("approved")}
            yield Room(
                Stand(server, origin, browser, client), Attendance(claude, Board(server)), model
            )


async def _side_by_side(works: Iterable[Awaitable[None]]) -> None:
    """Two people at a time; when one does not get through, nobody goes on."""
    places = asyncio.Semaphore(2)

    async def seated(work: Awaitable[None]) -> None:
        async with places:
            await work

    async with asyncio.TaskGroup() as group:
        for work in works:
            group.create_task(seated(work))


async def test_a_decision_of_each_form(room: Room):
    async def decided(form: str) -> None:
        schema, decision = DECISIONS[form]
        room.model.scripts[form] = deciding(decision)
        watchers = await room.watched(form, outcome_schema=schema)
        with room.terminal(watchers) as terminal:
            await agree(terminal)
            await terminal.shows(KEPT)
            await watchers.see_nothing()
            await leave(terminal)
            assert "completed" in terminal.screen
        record = await watchers.see(End("completed", decision))
        assert (record.answered_by, record.via) == ("ann", "attend")
        assert record.transcript is None
        assert (record.duration_ms or 0) > 0

    await _side_by_side(decided(form) for form in DECISIONS)
    assert room.harness.kept() == []


async def test_a_person_leaves_without_a_decision(room: Room):
    async def refused() -> None:
        room.model.scripts["refused"] = [
            [Call(TOOL, {"decision": "approved"})],
            [Say("APPROVED")],
        ]
        watchers = await room.watched("refused")
        with room.terminal(watchers) as terminal:
            await refuse(terminal, "3")
            await leave(terminal)
        await watchers.see(End("cancelled"))

    async def pressed_ctrl_c() -> None:
        watchers = await room.watched("say")
        with room.terminal(watchers) as terminal:
            await terminal.shows(NOTHING, within=PATIENT)
            await told_once(terminal, "Press Ctrl-C again to exit")  # It has nothing left to stop.
            terminal.press("C-c", "C-c")
            await terminal.ends()
        await watchers.see(End("cancelled"))

    async def said_exit() -> None:
        watchers = await room.watched("say")
        with room.terminal(watchers) as terminal:
            await terminal.shows(NOTHING, within=PATIENT)
            await leave(terminal)
            assert "cancelled" in terminal.screen
        await watchers.see(End("cancelled"))

    async def closed_the_terminal() -> None:
        watchers = await room.watched("say")
        with room.terminal(watchers) as terminal:
            await terminal.shows(NOTHING, within=PATIENT)
        await watchers.see(End("cancelled", error="The terminal was closed"))

    await _side_by_side([refused(), pressed_ctrl_c(), said_exit(), closed_the_terminal()])


async def test_a_session_is_ended_for_the_person(room: Room):
    async def by_the_clock() -> None:
        watchers = await room.watched("say", timeout=4)
        with room.terminal(watchers, "--grace=4") as terminal:
            await terminal.shows("Time is up. This session ends in", within=PATIENT)
            await watchers.see_nothing()
            await terminal.ends()
        await watchers.see(End("timeout", error="The session timed out without a decision"))

    async def by_a_crash() -> None:
        watchers = await room.watched("say")
        with room.terminal(watchers) as terminal:
            await terminal.shows(NOTHING, within=PATIENT)
            os.kill(_agent(terminal), signal.SIGKILL)
            await terminal.ends()
        await watchers.see(End("failed", error="The agent was ended by SIGKILL"))

    await _side_by_side([by_the_clock(), by_a_crash()])


def _agent(terminal: ClaudeTerminal) -> int:
    """The agent's process: the only child that the harness has."""
    children = Path(f"/proc/{terminal.pid}/task/{terminal.pid}/children").read_text().split()
    assert len(children) == 1, children
    return int(children[0])


async def test_the_harness_is_killed(room: Room):
    watchers = await room.watched("decide")
    with room.terminal(watchers) as terminal:
        await agree(terminal)
        await terminal.shows(KEPT)
        os.kill(terminal.pid, signal.SIGKILL)
        await terminal.ends()
    await watchers.see_nothing()
    with room.terminal(watchers):
        await watchers.see(End("completed", "approved"))


async def test_the_server_is_killed(room: Room):
    room.harness.by_server = True
    watchers = await room.watched("decide")
    with room.terminal(watchers) as terminal:
        await terminal.shows(DIALOG, within=PATIENT)
        await room.stand.server.kill()
        await agree(terminal)
        await terminal.shows(KEPT)
        await exit_agent(terminal)
        await terminal.shows("No server is running")
        await room.stand.server.restart()
        await terminal.ends()
    await watchers.see(End("completed", "approved"))
