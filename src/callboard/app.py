"""Callboard as a library: the one module that chooses the log, the driver and the handlers."""

from collections.abc import Awaitable, Callable, Generator, Mapping, Sequence
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

from callboard.board.coding_agents import CodingAgents
from callboard.board.human import Human
from callboard.board.usage_reports import UsageReports
from callboard.clock import Clock, SystemClock
from callboard.drivers.execution import Execution, Runtime, Starting
from callboard.drivers.local import LocalDriver, Manner
from callboard.drivers.session_reader import SessionReader
from callboard.engine.current_execution import waiting_elsewhere
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
from callboard.log.location import database_path, postgres_address, postgres_installed
from callboard.log.memory import MemoryLog
from callboard.log.protocol import EventLog
from callboard.log.sqlite.backup import Progress
from callboard.log.sqlite.log import SqliteLog
from callboard.log.sqlite.setup import schema_version
from callboard.state.rows import project
from callboard.statusfiles.publishing import noting, with_status_files

if TYPE_CHECKING:
    from callboard.log.postgres.copying import CopyProgress, CopyResult

Database = str | Path | None
Folder = str | PathLike[str] | None


class Callboard(SessionReader, CodingAgents):
    """A database, and the workflows that this program can run.

    Every operation works from any process that opens the same database. Operations that need a
    workflow's code (`run`, `drive`, `recover`) work for the workflows passed in here.
    """

    def __init__(
        self, log: EventLog, workflows: Sequence[Workflow] = (), clock: Clock | None = None
    ) -> None:
        self.workflows = {workflow.name: workflow for workflow in workflows}
        SessionReader.__init__(self, log, clock or SystemClock())
        CodingAgents.__init__(self, log, self.clock)
        noted = noting(log)
        self.operations = Operations(noted, self.clock)
        self.people = Inbox(noted, self.clock)
        self.human = Human(self.people)
        self.statistics = Statistics(log, self.clock)
        self.usage = UsageReports(log, self.people, self.clock, lambda: self.prices())
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
        """Open a database: a path, `sqlite:///path`, `postgresql://…`, or None for memory only.

        lock_timeout: How many seconds to wait for a lock held by another process before raising
        StoreBusy.
        """
        clock = clock or SystemClock()  # One for both: PostgreSQL corrects it.
        return cls(_open_log(db, clock, lock_timeout), workflows, clock)

    def __await__(self) -> Generator[object, None, Self]:
        """Allow `await Callboard.open(...)`, which connects, as `async with` does."""
        return self.__aenter__().__await__()

    async def __aenter__(self) -> Self:
        try:
            await self.connect()
        except BaseException:
            await self.close()
            raise
        return self

    async def connect(self) -> None:
        """Connect to the database server, if there is one, as `async with` does."""
        if not self.log.incarnation:
            await self.log.last_sequence()

    async def __aexit__(self, *error: object) -> None:
        await self.close()

    async def close(self) -> None:
        """Close the database. Sessions that ran here can then be driven by other processes."""
        await self.log.close()

    def run(  # noqa: PLR0913 - public API, all by keyword
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
        """Start a session in this process; see `callboard.run`."""
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
        """Start a session, leave it to a driver, and return its id.

        The workflow's name is optional if this board has only one.
        """
        known = self.driver.startable(workflow)
        known.check_input(input)
        source, start = with_status_files(None, status_files), self.operations.start
        return await start(known, input, session_id=session_id, source=source, by=by, title=title)

    async def state(self, session_id: str, at: int | None = None) -> Any:
        """The state at a position, in the workflow's own type if the workflow is loaded here."""
        view = await self.view(session_id, at)
        known = self.workflows.get(view.workflow)
        return known.state_type.read(view.state) if known else view.state

    async def inbox(self, session_id: str = "*") -> list[Interaction]:
        """The open questions of all sessions or of one, oldest first."""
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
        """Answer a question. The first answer counts; any later one raises AlreadyAnswered."""
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
        """Pause a session wherever it runs; False if it was paused or had already ended."""
        return await self.operations.pause(session_id, interrupt=interrupt, by=by, reason=reason)

    async def resume(self, session_id: str, *, by: By = None) -> bool:
        """Resume a paused session; False if it was not paused, NotResumable if it has ended.

        If no driver is watching, `drive` it afterwards.
        """
        return await self.operations.resume(session_id, by=by)

    async def cancel(self, session_id: str, *, by: By = None, reason: str | None = None) -> bool:
        """Cancel a session; False if it had already ended."""
        return await self.operations.cancel(session_id, by=by, reason=reason)

    async def delete(self, session_id: str, *, by: By = None) -> None:
        """Permanently delete a session, cancelling it first if it is still open. Forks are kept."""
        await self.operations.delete(session_id, by=by)

    async def rename(self, session_id: str, title: str | None, *, by: By = None) -> SessionInfo:
        """Change a session's title, even after it ended; None removes it."""
        await self.operations.rename(session_id, title, by=by)
        return await self.session(session_id)

    async def fork(  # noqa: PLR0913 - public API, all by keyword
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
        """Fork a session: start a new one from a point in this one.

        `session` is the id of the new session. With `run`, it is driven here if its workflow is
        loaded here, otherwise left to a driver.
        """
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
        """Retry a failed session: fork it at the phase that failed, or `at` a position or phase."""
        point = retry_point(await self.session(session_id), at)
        return await self.fork(session_id, **point, edits=edits, run=run, by=by)

    async def drive(
        self,
        session_id: str,
        *,
        human_input: object | None = None,
        on_event: Callable[[Event], object] | None = None,
    ) -> SessionInfo:
        """Drive a session until it waits, pauses or ends."""
        observation = Observation(None, on_event)
        listener = observation.tell if observation.wanted else None
        async with waiting_elsewhere():
            await self.driver.drive(session_id, Manner(as_handler(human_input), listener))
        await observation.finish()
        return await self.session(session_id)

    async def recover(self) -> list[SessionInfo]:
        """Drive every session that has work to do and that no living process is driving."""
        return [await self.session(view.session_id) for view in await self.driver.recover()]

    async def rebuild(self) -> int:
        """Rebuild every view from the log; returns the number of events read."""
        return await self.log.rebuild()

    async def backup(
        self, path: str | Path, progress: Progress | None = None, *, overwrite: bool = False
    ) -> Path:
        """Copy the database while it is in use; returns the path of the copy.

        `progress` is called with the number of pages copied and the total.
        """
        file = self._file("copy it with pg_dump, or with your server's point-in-time recovery")
        return await file.backup(path, progress, overwrite=overwrite)

    async def compact(self) -> int | None:
        """Return the file's free space to the disk; returns how many bytes.

        None if it isn't possible: other processes use the database, or the disk has no room.
        """
        return await self._file("its server reuses free space by itself (autovacuum)").compact()

    async def copy(self, target: str, progress: "CopyProgress | None" = None) -> "CopyResult":
        """Copy the database into an empty one in PostgreSQL, at `postgresql://…`, and compare them.

        No other process may have the database open. If this is interrupted, the next call
        continues. `progress` is called with what is being done, how much is done, and the total.
        """
        file = self._file("copy it with pg_dump and pg_restore")
        with postgres_installed():
            from callboard.log.postgres.copying import copy_log
        return await copy_log(file, target, progress)

    def _file(self, instead: str) -> SqliteLog:
        if isinstance(self.log, MemoryLog):
            raise ValidationError("An in-memory log has no file.", field="db")
        if not isinstance(self.log, SqliteLog):
            raise ValidationError(f"This database is in PostgreSQL: {instead}.", field="db")
        return self.log


def run(  # noqa: PLR0913 - public API, all by keyword
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
    """Run a workflow in this process, without a server. Await, pause, resume or cancel the result.

    Args:
        workflow: The workflow to run.
        input: The input for `start`: anything that can be JSON.
        human_input: What answers questions: cli_prompt(), auto_approve(), or an object or mapping
            with `approval`, `choice` and `interactive`. Without it, the run stops at the first
            question.
        db: Where to store the session: `sqlite:///path`, a path, `postgresql://user@host/name`, or
            None for memory only.
        session_id: An id for the session. Generated by default.
        observer: An object with any of `on_event`, `on_started`, `on_phase_changed`, ….
        on_event: Called with each event.
        status_files: A project folder. The session's current status is kept in its `.claude`
            folder: `state/workflow.json`, and `workflow_state_system.md` for people.
        title: What people call the session. Overrides the workflow's own title.
    """
    memory = None if db is not None else _running(Callboard.open(None, [workflow]), _keep_open)

    def open_log() -> Runtime:
        if memory is not None:  # An in-memory session can only resume from this log.
            return memory
        board = Callboard.open(db, [workflow])
        return _running(board, board.close)

    told = with_status_files(None, status_files)
    return Execution(
        open_log,
        Starting(workflow, session_id or short_id(), input, told, title),
        people=as_handler(human_input),
        observation=Observation(observer, on_event),
    )


def _running(board: Callboard, close: Callable[[], Awaitable[None]]) -> Runtime:
    return Runtime(board.log, board.driver, board.operations, board.clock, board.connect, close)


async def _keep_open() -> None:
    """Don't close a log that belongs to someone else."""


def _open_log(db: Database, clock: Clock | None, lock_timeout: float) -> EventLog:
    if db is None or db == "memory:":
        return MemoryLog(project, clock)
    if (address := postgres_address(db)) is not None:
        with postgres_installed():
            from callboard.log.postgres.log import PostgresLog  # Most programs don't need psycopg.
        return PostgresLog.open(address, project, clock, lock_timeout=lock_timeout)
    return SqliteLog.open(database_path(db), project, clock, lock_timeout=lock_timeout)


async def migrate(db: str | Path, *, lock_timeout: float = 30.0) -> tuple[int, int]:
    """Create a database or bring it to this version's schema, as opening it does.

    Returns the version of its schema before, 0 if it had none, and after.
    """
    before = _schema_version(db, lock_timeout)
    async with Callboard.open(db, lock_timeout=lock_timeout):
        pass
    return before, _schema_version(db, lock_timeout)


def _schema_version(db: str | Path, lock_timeout: float) -> int:
    if (address := postgres_address(db)) is None:
        return schema_version(database_path(db), lock_timeout)
    with postgres_installed():
        from callboard.log.postgres import connections, setup
    return setup.schema_version(connections.PostgresAddress.parse(address, lock_timeout))
