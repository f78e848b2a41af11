"""Hooks of coding agents: show, install, test and remove them from the dashboard.

This covers only the user's own settings files, and hooks that use the spool: these need no token,
and work without a server. `callboard hooks install` can do more.
"""

import asyncio
import re
import threading
import time
from collections.abc import Iterator
from dataclasses import dataclass
from difflib import unified_diff
from pathlib import Path
from typing import Final, Literal

import orjson

from callboard.board.hook_folders import hooks_folder, make_folders
from callboard.board.intake import PROBE
from callboard.errors import ConflictError, NotFound, SettingsUnusable
from callboard.events.shapes import Shape
from callboard.ids import short_id
from callboard.server.service import Service
from callboard.vendors.claude.settings import has_status_hooks
from callboard.vendors.hook_targets import INSTALLABLE, HooksState, Installable
from callboard.vendors.settings.commands import calling, spooling
from callboard.vendors.settings.files import read
from callboard.vendors.settings.installing import (
    InstallPlan,
    InstallState,
    install,
    installed_text,
    uninstall,
    uninstalled_text,
)

_ARRIVES_WITHIN: Final = 10.0
_CHANGING: Final = threading.Lock()
"""Held from the comparison of a diff to the end of its change."""
_SECRET: Final = re.compile(r"cb_[A-Za-z0-9_-]{16,}")


@dataclass(frozen=True, slots=True)
class AgentHooks(Shape):
    """A coding agent's hooks, and what installing or removing them would change.

    found: whether the agent is installed on this machine. An empty diff means no change.
    """

    agent: str
    title: str
    found: bool
    path: str
    state: HooksState | Literal["absent"]
    transport: str | None
    answers: bool | None
    problems: list[str]
    install_diff: str
    remove_diff: str


@dataclass(frozen=True, slots=True)
class HooksList(Shape):
    """The hooks of every coding agent."""

    agents: list[AgentHooks]


@dataclass(frozen=True, slots=True)
class HookTest(Shape):
    """Whether a test payload arrived by the same path as an agent's."""

    arrived: bool
    duration_ms: int


def all_hooks(database: Path) -> HooksList:
    """The state of every agent's hooks. Reads files."""
    return HooksList([agent_hooks(one, database) for one in INSTALLABLE.values()])


def installable(agent: str) -> Installable:
    """The agent with this name; NotFound if there is no such agent."""
    found = INSTALLABLE.get(agent)
    if found is None:
        raise NotFound(f"No coding agent is called {agent!r}. Use {', '.join(INSTALLABLE)}.")
    return found


def agent_hooks(one: Installable, database: Path) -> AgentHooks:
    """The state of an agent's hooks. Reads files."""
    path = _path(one)
    try:
        text = read(path).text
        standing = None if text is None else one.settings.standing(text)
        state = _state(one, database, text, standing)
        plan = _plan(one, database, text, standing)
        added = _diff(path, *installed_text(one.settings, path, plan))
        removed = _diff(path, *uninstalled_text(one.settings, path, plan.folder))
        problems = [*_problems(one, text)]
    except SettingsUnusable as error:
        return AgentHooks(
            one.name,
            one.title,
            one.is_here,
            str(path),
            "unusable",
            None,
            None,
            [error.message],
            "",
            "",
        )
    return AgentHooks(
        one.name,
        one.title,
        one.is_here,
        str(path),
        state,
        standing.transport if standing else None,
        standing.answers if standing else None,
        problems,
        added,
        removed,
    )


def install_hooks(one: Installable, database: Path, diff: str) -> AgentHooks:
    """Install an agent's hooks, if the change is still the one that was shown."""
    with _CHANGING:
        _check_shown(agent_hooks(one, database).install_diff, diff)
        path = _path(one)
        make_folders(hooks_folder(database))
        text = read(path).text
        standing = None if text is None else one.settings.standing(text)
        install(one.settings, path, _plan(one, database, text, standing))
        return agent_hooks(one, database)


def remove_hooks(one: Installable, database: Path, diff: str) -> AgentHooks:
    """Remove an agent's hooks, if the change is still the one that was shown."""
    with _CHANGING:
        _check_shown(agent_hooks(one, database).remove_diff, diff)
        uninstall(one.settings, _path(one), hooks_folder(database))
        return agent_hooks(one, database)


async def try_hooks(serving: Service, one: Installable, database: Path) -> HookTest:
    """Send a test payload as the agent's hook would, and check that it arrives."""
    standing = await asyncio.to_thread(_standing, one)
    folder = hooks_folder(database)
    is_spooled = standing is None or standing.transport == "spool"
    command = (spooling if is_spooled else calling)(folder, one.name)
    id, arrived = short_id(), asyncio.Event()
    probes = serving.listener.probes
    probes[id] = arrived
    began = time.monotonic()
    try:
        await _run(command, orjson.dumps({PROBE: id}))
        async with asyncio.timeout(_ARRIVES_WITHIN):
            while not arrived.is_set():
                await serving.spool.catch_up(1.0)
                await asyncio.sleep(0.05)
    except TimeoutError:
        pass
    finally:
        del probes[id]
    return HookTest(arrived.is_set(), round((time.monotonic() - began) * 1000))


async def _run(command: str, body: bytes) -> None:
    started = await asyncio.create_subprocess_exec(
        "/bin/sh",
        "-c",
        command,
        stdin=asyncio.subprocess.PIPE,
        stdout=asyncio.subprocess.DEVNULL,
        stderr=asyncio.subprocess.DEVNULL,
    )
    try:
        async with asyncio.timeout(_ARRIVES_WITHIN):
            await started.communicate(body)
    except TimeoutError:
        started.kill()
        await started.wait()
        raise


def _path(one: Installable) -> Path:
    return one.settings.place("user", Path.home())


def _standing(one: Installable) -> InstallState | None:
    try:
        text = read(_path(one)).text
        return None if text is None else one.settings.standing(text)
    except SettingsUnusable:
        return None


def _state(
    one: Installable, database: Path, text: str | None, standing: InstallState | None
) -> HooksState | Literal["absent"]:
    if text is None or standing is None:
        return "absent"
    return one.state(text, standing, database, hooks_folder(database))


def _plan(
    one: Installable, database: Path, text: str | None, standing: InstallState | None
) -> InstallPlan:
    """What to install: the same kind as before, or by default through the spool."""
    folder = hooks_folder(database)
    is_ours = standing is not None and standing.folder in (None, folder)
    return InstallPlan(
        folder=folder,
        database=database.absolute(),
        transport=standing.transport if standing and is_ours else "spool",
        answers=standing.answers if standing and is_ours else None,
        port=(standing.port if standing and is_ours else None) or 2255,
        token=standing.token if standing and is_ours else None,
        status_files=one.name == "claude" and has_status_hooks(text),
    )


def _problems(one: Installable, text: str | None) -> Iterator[str]:
    if text is not None:
        yield from one.obstacles(text)
    if one.remark:
        yield one.remark


def _diff(path: Path, before: str | None, after: str | None) -> str:
    """The changes to a file as a unified diff, without secrets."""
    old, new = (text.splitlines() if text else [] for text in (before, after))
    names = (
        str(path) if before is not None else "/dev/null",
        str(path) if after is not None else "/dev/null",
    )
    lines = unified_diff(old, new, *names, lineterm="")
    return _SECRET.sub("cb_…", "\n".join(lines))


def _check_shown(now: str, shown: str) -> None:
    if now != shown:
        raise ConflictError(
            "The settings file has changed since the diff was shown, so nothing was done. Look at "
            "the new diff and try again.",
            diff=now,
        )
