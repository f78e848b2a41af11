"""Callboard as a library: the one place that picks a log, a driver and handlers."""

from collections.abc import Awaitable, Callable, Generator, Mapping, Sequence
from os import PathLike
from pathlib import Path
from typing import Any, Self

from callboard.board.hosts import local_host
from callboard.board.human import Human
from callboard.board.plates import Plates
from callboard.board.tokens import AccessTokens
from callboard.clock import Clock, SystemClock
from callboard.drivers.execution import Execution, Runtime, Starting
from callboard.drivers.local import LocalDriver, Manner
from callboard.drivers.session_reader import SessionReader
from callboard.engine.forking import Edits, Forking
from callboard.engine.inbox import Inbox
from callboard.engine.observers import Observation
from callboard.engine.operations import Forked, Operations
from callboard.engine.sessions import SessionInfo, retry_point
from callboard.engine.statistics import Statistics
from callboard.engine.workflow import Workflow
from callboard.errors import ValidationError
from callboard.events.authors import By
from callboard.events.envelope import Event
from callboard.handlers.custom import as_handler
from callboard.ids import short_id
from callboard.interactions.records import Interaction
from callboard.log.location import database_path
from callboard.log.memory import MemoryLog
from callboard.log.protocol import EventLog
from callboard.log.sqlite.backup import Progress
from callboard.log.sqlite.log import SqliteLog
from callboard.state.rows import project
from callboard.statusfiles.publishing import noting, with_status_files

Database = str | Path | None
Folder = str | PathLike[str] | None


class Callboard(SessionReader):
    """A database and the workflows that this program knows.

    Every operation works from any process that opens the same database. What needs a
    workflow's code (`run`, `drive`, `recover`) works for the workflows given here.
    """

    def __init__(
        self, log: EventLog, workflows: Sequence[Workflow] = (), clock: Clock | None = None
    ) -> None:
        self.workflows = {workflow.name: workflow for workflow in workflows}
        super().__init__(log, clock or SystemClock())
        noted = noting(log)
        self.operations = Operations(noted, self.clock)
        self.people = Inbox(noted, self.clock)
        self.human = Human(self.people)
        self.plates = Plates(log, self.clock, local_host)
        self.tokens = AccessTokens(log.tokens, self.clock)
        self.statistics = Statistics(log, self.clock)
        self.driver = LocalDriver(log, self.workflows, self.clock)

    @classmethod
    def open(
        cls,
        db: Database = None,
        workflows: Sequence[Workflow] = (),
        *,
        clock: Clock | None = None,
        lock_timeout: float = 30.0,
    ) -> Self:
        """Open a database: `sqlite:///path`, a path, or None for memory.

        lock_timeout: seconds to wait for other processes that have locked it, before StoreBusy.
        """
        return cls(_open_log(db, clock, lock_timeout), workflows, clock)

    def __await__(self) -> Generator[object, None, Self]:
        """Opening needs no waiting; `await Callboard.open(...)` reads well all the same."""
        return self
        yield

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *error: object) -> None:
        await self.close()

    async def close(self) -> None:
        """Let go of the database; sessions that ran here can be driven by others."""
        await self.log.close()

    def run(  # noqa: PLR0913 - the public face, all by keyword
        self,
        workflow: Workflow | str,
        input: object = None,
        *,
        human_input: object | None = None,
        session_id: str | None = None,
        observer: object | None = None,
        on_event: Callable[[Event], object] | None = None,
        source: Mapping[str, str] | None = None,
        status_files: Folder = None,
        title: str | None = None,
    ) -> Execution:
        """Start a session here; see `callboard.run`."""
        known = self.driver.workflow(workflow) if isinstance(workflow, str) else workflow
        self.workflows.setdefault(known.name, known)
        running, told = _running(self, _keep_open), with_status_files(source, status_files)
        return Execution(
            lambda: running,
            Starting(known, session_id or short_id(), input, told, title),
            people=as_handler(human_input),
            observation=Observation(observer, on_event),
        )

    async def start(
        self,
        workflow: str | None = None,
        input: object = None,
        *,
        session_id: str | None = None,
        by: By = None,
        status_files: Folder = None,
        title: str | None = None,
    ) -> str:
        """Start a session and leave it to the driver; returns its id.

        The name may be left out when only one workflow is known here.
        """
        known = self.driver.startable(workflow)
        known.check_input(input)
        source, start = with_status_files(None, status_files), self.operations.start
        return await start(known, input, session_id=session_id, source=source, by=by, title=title)

    async def state(self, session_id: str, at: int | None = None) -> Any:
        """The state at a position, in the workflow's own type if that is known here."""
        view = await self.view(session_id, at)
        known = self.workflows.get(view.workflow)
        return known.state_type.read(view.state) if known else view.state

    async def inbox(self, session_id: str = "*") -> list[Interaction]:
        """The questions that wait for a person, oldest first; of all sessions, or of one."""
        return await self.people.find(status="pending", session_id=session_id)

    async def interaction(self, interaction_id: str) -> Interaction:
        """One question, open or closed."""
        return await self.people.get(interaction_id)

    async def answer(
        self,
        interaction_id: str,
        value: object = None,
        *,
        approved: bool | None = None,
        by: By = None,
        via: str | None = None,
    ) -> Interaction:
        """Answer a question. The first answer counts; a second is told so."""
        answered = await self.operations.answer(
            interaction_id, value, approved=approved, by=by, via=via or "python"
        )
        return await self.people.receipt(answered)

    async def pause(
        self,
        session_id: str,
        *,
        interrupt: bool = False,
        by: By = None,
        reason: str | None = None,
    ) -> bool:
        """Pause a session wherever it runs; whether that was new."""
        return await self.operations.pause(session_id, interrupt=interrupt, by=by, reason=reason)

    async def resume(self, session_id: str, *, by: By = None) -> bool:
        """Let a paused session continue; `drive` it, unless a driver watches."""
        return await self.operations.resume(session_id, by=by)

    async def cancel(self, session_id: str, *, by: By = None, reason: str | None = None) -> bool:
        """End a session permanently; whether it had not ended already."""
        return await self.operations.cancel(session_id, by=by, reason=reason)

    async def delete(self, session_id: str, *, by: By = None) -> None:
        """Permanently delete a session; cancel it first if it is still open. Forks are kept."""
        await self.operations.delete(session_id, by=by)

    async def rename(self, session_id: str, title: str | None, *, by: By = None) -> SessionInfo:
        """Give a session another title, also after it ended; None takes its title away."""
        await self.operations.rename(session_id, title, by=by)
        return await self.session(session_id)

    async def fork(  # noqa: PLR0913 - the public face, all by keyword
        self,
        session_id: str,
        *,
        phase: str | None = None,
        occurrence: int | str | None = None,
        event_index: int | None = None,
        position: int | None = None,
        where: Callable[..., object] | None = None,
        edits: Edits | None = None,
        run: bool = True,
        session: str | None = None,
        human_input: object | None = None,
        by: By = None,
    ) -> Forked:
        """Start a new session from a point of this one, driven if `run`; `session` is its id."""
        if event_index is not None and position is not None:
            raise ValidationError("Give event_index or position, not both.", field="position")
        at = Forking(phase, occurrence, event_index if position is None else position, where)
        known = self.workflows.get((await self.session(session_id)).workflow)
        forked = await self.operations.fork(
            session_id, at, workflow=known, edits=edits, child_id=session, run=run, by=by
        )
        if run and known:
            await self.drive(forked.session_id, human_input=human_input)
        return forked

    async def retry(
        self,
        session_id: str,
        *,
        at: int | str | None = None,
        edits: Edits | None = None,
        run: bool = True,
        by: By = None,
    ) -> Forked:
        """Retry a failed session as a fork at the failed phase, or `at` a position or phase."""
        point = retry_point(await self.session(session_id), at)
        return await self.fork(session_id, **point, edits=edits, run=run, by=by)

    async def drive(
        self,
        session_id: str,
        *,
        human_input: object | None = None,
        on_event: Callable[[Event], object] | None = None,
    ) -> SessionInfo:
        """Carry a session forward until it waits, pauses or ends."""
        observation = Observation(None, on_event)
        listener = observation.tell if observation.wanted else None
        await self.driver.drive(session_id, Manner(as_handler(human_input), listener))
        await observation.finish()
        return await self.session(session_id)

    async def recover(self) -> list[SessionInfo]:
        """Drive every session that has something to do and that no living process drives."""
        return [await self.session(view.session_id) for view in await self.driver.recover()]

    async def rebuild(self) -> int:
        """Make every view again from the log; returns how many events that took."""
        return await self.log.rebuild()

    async def backup(
        self, path: str | Path, progress: Progress | None = None, *, overwrite: bool = False
    ) -> Path:
        """Copy the database while it is in use; returns where to.

        `progress` is called with how many pages are done, and of how many.
        """
        return await self._file().backup(path, progress, overwrite=overwrite)

    async def compact(self) -> int | None:
        """Make the file shorter by what is free in it, in bytes; None while others use it."""
        return await self._file().compact()

    def _file(self) -> SqliteLog:
        if not isinstance(self.log, SqliteLog):
            raise ValidationError("An in-memory log has no file.", field="db")
        return self.log


def run(  # noqa: PLR0913 - the public face, all by keyword
    workflow: Workflow,
    input: object = None,
    *,
    human_input: object | None = None,
    db: Database = None,
    session_id: str | None = None,
    observer: object | None = None,
    on_event: Callable[[Event], object] | None = None,
    status_files: Folder = None,
    title: str | None = None,
) -> Execution:
    """Run a workflow here, with no server: something to await, to pause, to resume, to abort.

    Args:
        workflow: What to run.
        input: What `start` receives; anything that JSON can hold.
        human_input: Whom to ask: cli_prompt(), auto_approve(), or an object or mapping with
            `approval`, `choice` and `interactive`. Without one, the run stops at the first
            question.
        db: Where to keep it: `sqlite:///path`, a path, or None for memory only.
        session_id: An id of your own choosing.
        observer: An object with any of `on_event`, `on_started`, `on_phase_changed`, ….
        on_event: Called with each event.
        status_files: A project's folder, in whose `.claude` the session is to be read at any
            time: `state/workflow.json`, and `workflow_state_system.md` for people.
        title: What people call the session, in place of the workflow's own title.
    """
    memory = None if db is not None else _running(Callboard.open(None, [workflow]), _keep_open)

    def open_log() -> Runtime:
        if memory is not None:  # There is nowhere else to resume from.
            return memory
        board = Callboard.open(db, [workflow])
        return _running(board, board.close)

    return Execution(
        open_log,
        Starting(
            workflow,
            session_id or short_id(),
            input,
            with_status_files(None, status_files),
            title,
        ),
        people=as_handler(human_input),
        observation=Observation(observer, on_event),
    )


def _running(board: Callboard, close: Callable[[], Awaitable[None]]) -> Runtime:
    return Runtime(board.log, board.driver, board.operations, board.clock, close)


async def _keep_open() -> None:
    """Leave a log open that belongs to someone else."""


def _open_log(db: Database, clock: Clock | None, lock_timeout: float) -> EventLog:
    if db is None or db == "memory:":
        return MemoryLog(project, clock)
    return SqliteLog.open(database_path(db), project, clock, lock_timeout=lock_timeout)
