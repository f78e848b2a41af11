"""Drives sessions in this process, with a limit on how many at once."""

import asyncio
from collections.abc import Callable, Generator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from pathlib import Path

from callboard.clock import Clock
from callboard.engine.detached import expire_detached
from callboard.engine.live import Listener, LiveSession
from callboard.engine.loading import load
from callboard.engine.ports import HumanInput
from callboard.engine.runner import LINGER, NOBODY_HERE, Drive
from callboard.engine.scene import Scene
from callboard.engine.slots import STAYING, SlotWait
from callboard.engine.warm import WarmSessions
from callboard.engine.workflow import Workflow
from callboard.errors import (
    OwnershipLost,
    PositionConflict,
    SessionOwned,
    ValidationError,
    WorkflowNotFound,
)
from callboard.events.rows import Query, Row
from callboard.log.protocol import EventLog, Writing
from callboard.log.registry import Description, LoadedWorkflow
from callboard.state.session import SessionView
from callboard.statusfiles.publishing import Publication, published_in, root_of


@dataclass(frozen=True, slots=True)
class Manner:
    """How to drive a session: handler, listener, and how long to keep a waiting agent in memory.

    `parks` and `leaving` are for a driver that keeps watching: release a session while it only
    waits for its next attempt, and start no more agents once `leaving` returns true. `slot_wait`
    says what to do while a session only waits for a slot of a limit.
    """

    people: HumanInput | None = None
    listener: Listener | None = None
    linger: float | None = None
    parks: bool = False
    leaving: Callable[[], bool] = lambda: False
    slot_wait: SlotWait = STAYING

    @property
    def patience(self) -> float:
        """How many seconds to keep a waiting agent in memory."""
        if self.linger is not None:
            return self.linger
        return LINGER if self.people else NOBODY_HERE


class LocalDriver:
    """Drives sessions of the workflows it knows, with at most one drive for each."""

    def __init__(
        self,
        log: EventLog,
        workflows: Mapping[str, Workflow],
        clock: Clock,
        concurrency: int = 64,
    ) -> None:
        self._log = log
        self._workflows = workflows
        self._clock = clock
        self._slots = asyncio.Semaphore(concurrency)
        self._driving: dict[str, Drive] = {}
        self._warm = WarmSessions()
        # Those whose last drive here left them in a queue for a slot.
        self._queued: set[str] = set()

    def workflow(self, name: str) -> Workflow:
        """A workflow by name; WorkflowNotFound lists the registered ones."""
        known = self._workflows.get(name)
        if known is None:
            names = ", ".join(sorted(self._workflows)) or "none"
            raise WorkflowNotFound(
                f"Workflow {name!r} is not registered here (registered: {names}). "
                "Pass it in workflows=[...].",
                workflow=name,
            )
        return known

    def startable(self, name: str | None) -> Workflow:
        """The workflow to start: by name, or the only one that is registered."""
        if name is not None:
            return self.workflow(name)
        if len(self._workflows) == 1:
            return next(iter(self._workflows.values()))
        if not self._workflows:
            raise WorkflowNotFound("No workflow is registered here. Pass it in workflows=[...].")
        names = ", ".join(sorted(self._workflows))
        raise ValidationError(f"Say which workflow to start: {names}.", field="workflowId")

    def knows(self, name: str) -> bool:
        """Whether sessions of this workflow can be driven here."""
        return name in self._workflows

    def described(self, engine_worker: str | None) -> Description:
        """What this process says about itself when it drives the sessions of a log."""
        loaded = [
            LoadedWorkflow(one.name, one.version, tuple(one.steps))
            for one in self._workflows.values()
        ]
        return Description(tuple(loaded), engine_worker)

    def drives(self, session_id: str) -> bool:
        """Whether a session is being driven here right now."""
        return session_id in self._driving

    def nudge(self) -> None:
        """Have every drive check again whether to leave."""
        for drive in tuple(self._driving.values()):
            drive.nudge()

    async def begin(
        self,
        workflow: Workflow,
        session_id: str,
        prelude: Callable[[Scene], None],
        manner: Manner,
        source: Mapping[str, str] | None = None,
    ) -> SessionView:
        """Start a new session and drive it; its first events and first step share a commit."""
        root = published_in(source)
        return await self._publish(workflow, session_id, root, manner, prelude)

    async def drive(self, session_id: str, manner: Manner | None = None) -> SessionView:
        """Drive a session until it waits, pauses or ends; does nothing if it is settled."""
        manner = manner or Manner()
        warm = self._warm.find(session_id)
        if warm is not None and self._workflows.get(warm.workflow.name) is warm.workflow:
            # Its row would say nothing that isn't known here or in the events that are new.
            return await self._publish(warm.workflow, session_id, warm.root, manner)
        rows = await self._log.rows(Query("sessions", {"id": session_id}))
        if not rows or rows[0]["ended"] or rows[0]["paused"]:
            await self._tell_again(rows)
            return (await load(self._log, session_id)).view
        workflow = self.workflow(rows[0]["workflow"])
        return await self._publish(workflow, session_id, root_of(rows[0]), manner)

    async def _tell_again(self, rows: list[Row]) -> None:
        """Update the status files of a session that doesn't need a drive from the log."""
        for row in rows:
            root = root_of(row)
            if root is not None and row["workflow"] in self._workflows:
                known = self._workflows[row["workflow"]]
                publication = Publication(self._log, known, row["id"], root)
                await publication.finish(takes_place=False)

    async def _publish(
        self,
        workflow: Workflow,
        session_id: str,
        root: Path | None,
        manner: Manner,
        prelude: Callable[[Scene], None] | None = None,
    ) -> SessionView:
        """Drive a session, and keep its status files up to date if it has any."""
        live = LiveSession(self._log, workflow, session_id, self._clock)
        if root is None:
            return await self._drive(live, manner, prelude, root)
        publication = Publication(self._log, workflow, session_id, root)
        live.listeners.append(publication.tell)
        try:
            return await self._drive(live, manner, prelude, root)
        finally:
            await publication.finish()

    async def _drive(
        self,
        live: LiveSession,
        manner: Manner,
        prelude: Callable[[Scene], None] | None,
        root: Path | None,
    ) -> SessionView:
        if manner.listener:
            live.listeners.append(manner.listener)
        drive = Drive(
            live,
            people=manner.people,
            linger=manner.patience,
            parks=manner.parks,
            leaving=manner.leaving,
            slot_wait=manner.slot_wait,
        )
        with self._alone(live.session_id, drive):
            self._queued.discard(live.session_id)
            view = await drive.run(prelude, self._warm.take(live.session_id, live.workflow))
            if drive.slots.kept:
                self._queued.add(live.session_id)
            if (left := live.put_aside()) is not None:
                await self._warm.keep(replace(left, root=root))
            return view

    async def carry_on(self, session_id: str, manner: Manner | None = None) -> SessionView:
        """Drive a session, and settle it if nothing is left to do."""
        view = await self.drive(session_id, manner)
        kept = session_id in self._queued
        self._queued.discard(session_id)
        if not kept and await self._is_called_in_vain(view):
            view = await self.drive(session_id, manner)
        # A session that was released halfway still has something to do.
        if manner is None or not manner.leaving():
            await self.settle(session_id, view.position)
        return view

    async def recover(self, manner: Manner | None = None) -> list[SessionView]:
        """Drive every session that has work to do and that no living process is driving.

        If one of them raises, the error is raised once all others have stopped.
        """
        found = [await self._recoverable(session_id) for session_id in await self._left()]
        drives = [self._recover(id, manner or Manner()) for id in found if id is not None]
        ended = await asyncio.gather(*drives, return_exceptions=True)
        for failure in ended:
            if isinstance(failure, BaseException):
                raise failure
        return [view for view in ended if isinstance(view, SessionView)]

    async def _left(self) -> list[str]:
        due = await self._log.rows(Query("wakeups", at_most=("at", self._clock.now_ms())))
        unsettled = await self._log.unsettled(limit=1_000_000)
        called = await self._log.slots.due()
        return list(dict.fromkeys([*unsettled, *(row["session"] for row in due), *called]))

    async def expire(self, stream: str) -> None:
        """Time out an interactive session that outlived its workflow, if its deadline passed."""
        await expire_detached(self._log, self._clock, stream)

    async def _recoverable(self, session_id: str) -> str | None:
        rows = await self._log.rows(Query("sessions", {"id": session_id}))
        if not rows:
            await self.expire(session_id)
        if not rows or rows[0]["ended"] or rows[0]["paused"]:
            return None
        return session_id if rows[0]["workflow"] in self._workflows else None

    async def _recover(self, session_id: str, manner: Manner) -> SessionView | None:
        async with self._slots:
            try:
                return await self.carry_on(session_id, manner)
            except (OwnershipLost, SessionOwned):
                return None  # Another process drives it, or has taken it over.

    async def _is_called_in_vain(self, view: SessionView) -> bool:
        """Whether the session had a turn for a slot that it didn't need; not any longer."""
        session_id = view.session_id
        if not self._may_queue(view.workflow) or not await self._log.slots.due(session_id):
            return False
        # It may just have kept another place elsewhere, so look again.
        return await self._log.slots.leave(session_id)

    def _may_queue(self, workflow: str) -> bool:
        """Whether agents of this workflow may wait for slots, as far as is known here."""
        known = self._workflows.get(workflow)
        return known is None or any(one.phase.limit for one in known.steps.values())

    async def leave_queues(self, session_id: str, workflow: str) -> bool:
        """Give up the places that a session kept in queues for slots; whether it had any."""
        return self._may_queue(workflow) and await self._log.slots.leave(session_id)

    async def settle(self, session_id: str, position: int) -> None:
        """Record that nothing is left to do; a driver that died while waiting couldn't."""
        lease = await self._log.lease(session_id)
        if lease is not None and lease.settled < position:
            with suppress(PositionConflict):  # Something new came in, so there is something to do.
                writing = Writing(expect=position, settle=True)
                await self._log.append(session_id, [], writing)

    @contextmanager
    def _alone(self, session_id: str, drive: Drive) -> Generator[None]:
        if session_id in self._driving:
            raise SessionOwned(
                f"This process is already driving session {session_id}.",
                session=session_id,
            )
        self._driving[session_id] = drive
        try:
            yield
        finally:
            del self._driving[session_id]
