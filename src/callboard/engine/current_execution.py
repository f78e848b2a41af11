"""The current execution: the session whose agent is running, from anywhere in the agent's code.

Kept in a context variable, so that each agent sees its own session, no matter how many run at once.
"""

import asyncio
import os
from collections.abc import AsyncGenerator, Generator
from contextlib import asynccontextmanager, contextmanager
from contextvars import ContextVar
from pathlib import Path
from typing import NamedTuple

from callboard.engine.slots import RunSlot
from callboard.errors import NoExecution


class CurrentExecution(NamedTuple):
    """A session that runs here, and the folder that its agent works in, if known.

    `asking` has the questions that the agent asked and that are not recorded yet; `slot` is the
    agent's slot, if its phase has a limit.
    """

    session_id: str
    asking: set[asyncio.Future[str]]
    cwd: str | None = None
    slot: RunSlot | None = None

    async def recorded(self) -> None:
        """Wait until everything that the agent asked for is recorded, or has failed to be.

        Otherwise its session could complete before the task that keeps it open is known.
        """
        while self.asking:
            await asyncio.wait(self.asking)


_current: ContextVar[CurrentExecution | None] = ContextVar("callboard_execution", default=None)


def enter(session_id: str, slot: RunSlot | None = None) -> CurrentExecution:
    """Make this session the current one for the rest of this task."""
    execution = CurrentExecution(session_id, set(), slot=slot)
    _current.set(execution)
    return execution


def asks(question: asyncio.Future[str]) -> None:
    """Note that a question was asked and is yet to be recorded."""
    running = current()
    if running is not None:
        running.asking.add(question)
        question.add_done_callback(running.asking.discard)


def current() -> CurrentExecution | None:
    """The current execution; None outside of an agent."""
    return _current.get()


@asynccontextmanager
async def waiting_elsewhere() -> AsyncGenerator[None]:
    """Wait for another session: an agent that does so gives up its slot meanwhile.

    Otherwise the other session's agents might wait for the slot that this one has.
    """
    running = current()
    if running is None or running.slot is None:
        yield
        return
    async with running.slot.given_up():
        yield


def chosen_session(session_id: str | None, *, standalone: bool) -> str | None:
    """The session that a question belongs to; NoExecution if none was given and none is running."""
    if standalone or session_id is not None:
        return session_id
    running = current()
    if running is None:
        raise NoExecution
    return running.session_id


@contextmanager
def worktree(path: str | os.PathLike[str]) -> Generator[Path]:
    """Work in this folder: interactive sessions requested inside the block start there."""
    running = current()
    if running is None:
        raise NoExecution
    folder = Path(path).expanduser().absolute()
    token = _current.set(running._replace(cwd=str(folder)))
    try:
        yield folder
    finally:
        _current.reset(token)


def folder() -> str | None:
    """Where interactive sessions start by default: the agent's worktree or the current folder."""
    running = current()
    if running is not None and running.cwd is not None:
        return running.cwd
    try:
        return str(Path.cwd())
    except OSError:  # The folder is gone; the harness chooses another.
        return None
