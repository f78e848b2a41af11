"""Who drives sessions now, what each of them can drive, and which sessions none of them can.

Everything comes from rows: the owners of the log, and the sessions that have work to do. The cost
does not depend on how many sessions wait or have ended.
"""

import asyncio
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Annotated, Final, NamedTuple

from callboard.clock import Clock
from callboard.engine.loading import not_found
from callboard.events.rows import Query, Row
from callboard.events.shapes import Millis, Shape
from callboard.log.protocol import EventLog
from callboard.log.registry import LoadedWorkflow, OwnerInfo

LOOKED_AT: Final = 1000
"""How many sessions of each kind to look at: with work, due, and held."""
WORKERS_SHOWN: Final = 200
SESSIONS_SHOWN: Final = 20
"""How many sessions to list for each worker."""
STRANDED_SHOWN: Final = 100

_COLUMNS: Final = (
    "id", "title", "workflow", "version", "phase", "phase_since", "held", "ended", "paused",
    "created_at", "updated_at", "owner",
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class WorkflowVersion(Shape):
    """A workflow that a worker has loaded."""

    name: str
    version: str | None

    def __str__(self) -> str:
        """Its name, with its version if it has one."""
        return self.name if self.version is None else f"{self.name} {self.version}"


@dataclass(frozen=True, slots=True)
class WorkerSession(Shape):
    """A session that a worker drives now."""

    session_id: str
    title: str | None
    workflow: str
    phase: str | None
    since: Annotated[
        Millis | None, "When it entered its phase, or when it was created if it has none yet."
    ]


@dataclass(frozen=True, slots=True)
class WorkerInfo(Shape):
    """A process that drives sessions, or can: a worker, a server, or a program."""

    id: str
    host: str
    pid: int
    since: Annotated[Millis | None, "When it opened the database; null if that is not known."]
    alive: Annotated[bool, "Whether it is running. A dead worker is listed for about a minute."]
    engine_worker: Annotated[str | None, "Its id in the engine that gives it work, if it has one."]
    workflows: list[WorkflowVersion]
    sessions: Annotated[
        list[WorkerSession], f"The sessions that it drives, at most {SESSIONS_SHOWN}."
    ]
    session_count: int

    def has(self, workflow: str) -> bool:
        """Whether it is running and has this workflow."""
        return self.alive and any(one.name == workflow for one in self.workflows)


@dataclass(frozen=True, slots=True)
class StrandedSession(Shape):
    """A session that has work to do and that no running worker can drive."""

    session_id: str
    title: str | None
    workflow: str
    version: str | None
    phase: str | None
    since: Annotated[Millis, "When something last happened in it."]
    reason: str
    next_step: str


@dataclass(frozen=True, slots=True)
class WorkerOverview(Shape):
    """The workers of a database, and the sessions that none of them can drive."""

    workers: Annotated[list[WorkerInfo], f"Those that are running first; at most {WORKERS_SHOWN}."]
    worker_count: Annotated[int, "How many workers are running."]
    driven_count: Annotated[int, "How many sessions are driven now."]
    ready_count: Annotated[int, "How many sessions wait for a worker that can drive them."]
    stranded: Annotated[
        list[StrandedSession], f"The longest stranded first; at most {STRANDED_SHOWN}."
    ]
    stranded_count: int
    limited: Annotated[
        bool,
        f"Whether there were more than {LOOKED_AT:,} sessions to look at; if so, the counts are "
        "too low.",
    ]
    start_command: Annotated[str, "The command that starts a worker; FILE has its workflows."]

    def driver_of(self, session_id: str) -> tuple[WorkerInfo, WorkerSession] | None:
        """The running worker that drives a session, and what it does there."""
        for worker in self.workers:
            for session in worker.sessions:
                if worker.alive and session.session_id == session_id:
                    return worker, session
        return None


async def look_at_workers(log: EventLog, clock: Clock) -> WorkerOverview:
    """All workers, and all sessions that have work to do."""
    rows, limited = await _with_work(log, clock.now_ms())
    owners = await _workers(log, {row["owner"] for row in rows})
    return _overview(owners, rows, _start_command(log), limited=limited)


async def look_at_workers_of(log: EventLog, clock: Clock, session_id: str) -> WorkerOverview:
    """The workers that drive a session or have its workflow, and whether it is stranded."""
    rows = await log.rows(Query("sessions", {"id": session_id}, with_stream=True))
    if not rows:
        raise not_found(session_id)
    [row] = rows
    owners = await _workers(log, {row["owner"]})
    working = [row] if await _has_work(log, row, clock.now_ms()) else []
    found = _overview(owners, working, _start_command(log), limited=False)
    concerned = [one for one in found.workers if one.sessions or one.has(row["workflow"])]
    return replace(found, workers=concerned)


# ---------------------------------------------------------------------- reading


async def _with_work(log: EventLog, now: int) -> tuple[list[Row], bool]:
    """The sessions that have work to do, and whether there may be more."""
    unsettled = await log.unsettled(LOOKED_AT)
    due = await log.rows(Query("wakeups", at_most=("at", now), order="at", limit=LOOKED_AT))
    found = list(dict.fromkeys([*unsettled, *(row["session"] for row in due)]))
    rows = await _rows(log, found)
    # A driver settles what it holds, so held sessions are found by their status.
    running = Query("sessions", {"status": "running"}, order="created_at", descending=True)
    open_ones = await log.rows(replace(running, columns=_COLUMNS, limit=LOOKED_AT))
    known = {row["id"] for row in rows}
    rows += [row for row in open_ones if row["held"] is not None and row["id"] not in known]
    pages = (unsettled, due, open_ones)
    is_limited = any(len(page) == LOOKED_AT for page in pages)
    return [row for row in rows if not row["ended"] and not row["paused"]], is_limited


async def _rows(log: EventLog, sessions: Sequence[str]) -> list[Row]:
    if not sessions:
        return []
    return await log.rows(Query("sessions", one_of=("id", sessions), columns=_COLUMNS))


async def _has_work(log: EventLog, row: Row, now: int) -> bool:
    if row["ended"] or row["paused"]:
        return False
    if row["held"] is not None or row["stream_settled"] < row["stream_head"]:
        return True
    due = Query("wakeups", {"session": row["id"]}, at_most=("at", now), limit=1)
    return bool(await log.rows(due))


async def _workers(log: EventLog, driving: Iterable[str | None]) -> list[OwnerInfo]:
    """The owners that drive something or can, each alive or not. Other handles only read."""
    busy = set(driving)
    owners = [one for one in await log.owners.list() if one.id in busy or one.described.workflows]
    died = await asyncio.gather(*(log.owners.has_died(one.id) for one in owners))
    return [replace(one, alive=not dead) for one, dead in zip(owners, died, strict=True)]


def _start_command(log: EventLog) -> str:
    """What starts a worker: an engine needs a database that several machines can share."""
    return "callboard worker FILE" if log.path is None else "callboard worker FILE --driver local"


# ---------------------------------------------------------------------- judging


class _Obstacle(NamedTuple):
    reason: str
    next_step: str


def _overview(
    owners: Sequence[OwnerInfo], rows: Sequence[Row], start: str, *, limited: bool
) -> WorkerOverview:
    living = [one for one in owners if one.alive]
    alive = {one.id for one in living}
    driven = [row for row in rows if row["owner"] in alive]
    left = [row for row in rows if row["owner"] not in alive]
    stranded = [
        (row, obstacle) for row in left if (obstacle := _obstacle(row, living, start)) is not None
    ]
    stranded.sort(key=lambda one: (one[0]["updated_at"] or 0, one[0]["id"]))
    listed = sorted(owners, key=lambda one: (not one.alive, one.host, one.pid, one.id))
    return WorkerOverview(
        workers=[_info(one, rows) for one in listed[:WORKERS_SHOWN]],
        worker_count=len(living),
        driven_count=len(driven),
        ready_count=len(left) - len(stranded),
        stranded=[_stranded(row, why) for row, why in stranded[:STRANDED_SHOWN]],
        stranded_count=len(stranded),
        limited=limited,
        start_command=start,
    )


def _info(owner: OwnerInfo, rows: Sequence[Row]) -> WorkerInfo:
    mine = [row for row in rows if row["owner"] == owner.id]
    mine.sort(key=lambda row: (row["phase_since"] or row["created_at"], row["id"]))
    return WorkerInfo(
        id=owner.id,
        host=owner.host,
        pid=owner.pid,
        since=owner.started_at,
        alive=owner.alive,
        engine_worker=owner.described.engine_worker,
        workflows=[WorkflowVersion(one.name, one.version) for one in owner.described.workflows],
        sessions=[_driven(row) for row in mine[:SESSIONS_SHOWN]],
        session_count=len(mine),
    )


def _driven(row: Row) -> WorkerSession:
    since = row["created_at"] if row["phase"] is None else row["phase_since"]
    return WorkerSession(row["id"], row["title"], row["workflow"], row["phase"], since)


def _stranded(row: Row, why: _Obstacle) -> StrandedSession:
    since = row["updated_at"] or row["created_at"]
    about = (row["id"], row["title"], row["workflow"], row["version"], row["phase"])
    return StrandedSession(*about, since, *why)


def _obstacle(row: Row, living: Sequence[OwnerInfo], start: str) -> _Obstacle | None:
    """Why none of the running workers can drive a session; None if one can."""
    workflow, phase = row["workflow"], row["phase"]
    loaded = [one for owner in living for one in _loaded(owner, workflow)]
    start_it = f"Start a worker that has it: {start}"
    if not any(owner.described.workflows for owner in living):
        return _Obstacle("No worker is running.", f"Start one: {start}")
    if not loaded:
        return _Obstacle(f"No running worker has the workflow {workflow!r}.", start_it)
    if row["held"] is not None:
        resume = f"callboard resume {row['id']}"
        return _Obstacle(row["held"], f"Once a worker has the phase, resume the session: {resume}")
    if phase is not None and not any(phase in one.phases for one in loaded):
        return _Obstacle(_other_version(row, loaded), start_it)
    return None


def _loaded(owner: OwnerInfo, workflow: str) -> Iterator[LoadedWorkflow]:
    return (one for one in owner.described.workflows if one.name == workflow)


def _other_version(row: Row, loaded: Iterable[LoadedWorkflow]) -> str:
    said = f"No running worker has the phase {row['phase']!r} of the workflow {row['workflow']!r}"
    versions = sorted({one.version for one in loaded if one.version is not None})
    if row["version"] is None or not versions:
        return f"{said}."
    theirs = " and ".join(versions)
    return f"{said}: the session has version {row['version']}, running workers have {theirs}."
