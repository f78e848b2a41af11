"""Drives sessions in this process, as many at once as it is allowed to."""

import asyncio
from collections.abc import AsyncGenerator, Callable, Mapping
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass

from callboard.clock import Clock
from callboard.engine.live import Listener, LiveSession
from callboard.engine.loading import load
from callboard.engine.perform import Scene
from callboard.engine.ports import HumanInput
from callboard.engine.runner import LINGER, NOBODY_HERE, Drive
from callboard.engine.workflow import Workflow
from callboard.errors import OwnershipLost, PositionConflict, SessionOwned, WorkflowNotFound
from callboard.events.rows import Query
from callboard.log.protocol import EventLog, Writing
from callboard.state.session import SessionView


@dataclass(frozen=True, slots=True)
class Manner:
    """How to drive: who can be asked in this process, who hears of each event, and for how
    many seconds to keep an agent in memory that waits for a person."""

    people: HumanInput | None = None
    listener: Listener | None = None
    linger: float | None = None

    @property
    def patience(self) -> float:
        """How long to keep a waiting agent, unless told."""
        if self.linger is not None:
            return self.linger
        return LINGER if self.people else NOBODY_HERE


class LocalDriver:
    """Sessions of the workflows it knows, one drive each at a time."""

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
        self._driving: set[str] = set()

    def workflow(self, name: str) -> Workflow:
        """A workflow by its name; WorkflowNotFound says which there are."""
        known = self._workflows.get(name)
        if known is None:
            names = ", ".join(sorted(self._workflows)) or "none"
            raise WorkflowNotFound(
                f"Workflow {name!r} is not registered here (registered: {names}). "
                "Pass it in workflows=[...].",
                workflow=name,
            )
        return known

    async def begin(
        self,
        workflow: Workflow,
        session_id: str,
        prelude: Callable[[Scene], None],
        manner: Manner,
    ) -> SessionView:
        """Start a new session and drive it; its first events and first step share a commit."""
        return await self._drive(workflow, session_id, manner, prelude)

    async def drive(self, session_id: str, manner: Manner | None = None) -> SessionView:
        """Drive a session until it waits, pauses or ends. Where nothing is to do, do nothing."""
        rows = await self._log.rows(Query("sessions", {"id": session_id}))
        if not rows or rows[0]["ended"] or rows[0]["paused"]:
            return (await load(self._log, session_id)).view
        return await self._drive(self.workflow(rows[0]["workflow"]), session_id, manner or Manner())

    async def _drive(
        self,
        workflow: Workflow,
        session_id: str,
        manner: Manner,
        prelude: Callable[[Scene], None] | None = None,
    ) -> SessionView:
        live = LiveSession(self._log, workflow, session_id, self._clock)
        if manner.listener:
            live.listeners.append(manner.listener)
        async with self._alone(session_id):
            drive = Drive(live, people=manner.people, linger=manner.patience)
            return await drive.run(prelude)

    async def recover(self, manner: Manner | None = None) -> list[SessionView]:
        """Drive every session that has something to do and that nobody living drives.

        What one of them raises is raised when all the others have come to their stop.
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
        return list(dict.fromkeys([*unsettled, *(row["session"] for row in due)]))

    async def _recoverable(self, session_id: str) -> str | None:
        rows = await self._log.rows(Query("sessions", {"id": session_id}))
        if not rows or rows[0]["ended"] or rows[0]["paused"]:
            return None
        return session_id if rows[0]["workflow"] in self._workflows else None

    async def _recover(self, session_id: str, manner: Manner) -> SessionView | None:
        async with self._slots:
            try:
                view = await self.drive(session_id, manner)
                await self._settle(view)
            except (OwnershipLost, SessionOwned):
                return None  # Somebody else drives it, or has taken it over.
            return view

    async def _settle(self, view: SessionView) -> None:
        """Note that nothing is left to do, which a driver that died while waiting could not."""
        lease = await self._log.lease(view.session_id)
        if lease is not None and lease.settled < view.position:
            with suppress(PositionConflict):  # Something new: then there is something to do.
                writing = Writing(expect=view.position, settle=True)
                await self._log.append(view.session_id, [], writing)

    @asynccontextmanager
    async def _alone(self, session_id: str) -> AsyncGenerator[None]:
        if session_id in self._driving:
            raise SessionOwned(
                f"Session {session_id} is being driven already, by this process.",
                session=session_id,
            )
        self._driving.add(session_id)
        try:
            yield
        finally:
            self._driving.discard(session_id)
