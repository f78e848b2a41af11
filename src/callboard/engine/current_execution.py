"""The current execution: the session whose agent is running, wherever in its code one is asked.

A context variable, so that each agent sees its own session, however many run at once.
"""

import asyncio
import os
from collections.abc import Generator
from contextlib import contextmanager
from contextvars import ContextVar
from pathlib import Path
from typing import NamedTuple

from callboard.errors import NoExecution


class CurrentExecution(NamedTuple):
    """A session that runs here, and where its agent works, if that was said.

    `asking` holds questions that its agent has put and that are not recorded yet.
    """

    session_id: str
    asking: set[asyncio.Future[str]]
    cwd: str | None = None

    async def recorded(self) -> None:
        """Wait until what the agent asked for is recorded, or could not be.

        Else its session could complete before the task is known that keeps it open.
        """
        while self.asking:
            await asyncio.wait(self.asking)


_current: ContextVar[CurrentExecution | None] = ContextVar("callboard_execution", default=None)


def enter(session_id: str) -> CurrentExecution:
    """From here on, in this task, this session is the current one."""
    execution = CurrentExecution(session_id, set())
    _current.set(execution)
    return execution


def asks(question: asyncio.Future[str]) -> None:
    """Note that someone, an agent perhaps, has put a question that is still to be recorded."""
    running = current()
    if running is not None:
        running.asking.add(question)
        question.add_done_callback(running.asking.discard)


def current() -> CurrentExecution | None:
    """The current execution; None outside any agent."""
    return _current.get()


def chosen_session(session_id: str | None, *, standalone: bool) -> str | None:
    """The session that a question belongs to; NoExecution where no one said, and none runs."""
    if standalone or session_id is not None:
        return session_id
    running = current()
    if running is None:
        raise NoExecution
    return running.session_id


@contextmanager
def worktree(path: str | os.PathLike[str]) -> Generator[Path]:
    """Work in this folder: interactive sessions asked for within start there."""
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
    """Where an interactive session starts unless told: the agent's worktree, else right here."""
    running = current()
    if running is not None and running.cwd is not None:
        return running.cwd
    try:
        return str(Path.cwd())
    except OSError:  # The folder is gone: the harness that holds the session chooses.
        return None
