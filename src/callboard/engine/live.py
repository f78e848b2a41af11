"""A session while it is driven: its view, its live state, and writing to it."""

import asyncio
from collections.abc import Callable, Sequence
from dataclasses import replace

from callboard.clock import Clock
from callboard.engine.batch import Batch, LiveState
from callboard.engine.checkpoints import SinceCheckpoint, write
from callboard.engine.loading import Loaded, load
from callboard.engine.questions import QuestionRows
from callboard.engine.scene import Changes, Scene
from callboard.engine.warm import Memory, WarmSession
from callboard.engine.workflow import Workflow
from callboard.errors import PositionConflict
from callboard.events import names
from callboard.events.envelope import Event
from callboard.events.json_values import as_text
from callboard.interactions.records import Interaction
from callboard.log.protocol import EventLog, Writing
from callboard.state.fold import apply
from callboard.state.session import SessionView
from callboard.state.visits import Asked

Build = Callable[[Scene], object]
Listener = Callable[[list[Event]], None]

# If others have written more events than this, loading the session is faster than reading them.
_NEWS = 1024


class LiveSession:
    """Reads and writes one session's stream, and keeps the view up to date.

    All writing goes through `commit`: one writer at a time, each building its events on the current
    view, so that two agents of one session cannot contradict each other.
    """

    def __init__(self, log: EventLog, workflow: Workflow, session_id: str, clock: Clock) -> None:
        self.log = log
        self.workflow = workflow
        self.session_id = session_id
        self.clock = clock
        self.view = SessionView(session_id=session_id)
        self.state = LiveState(workflow.state_type, self.view)
        self.epoch: int | None = None
        self.listeners: list[Listener] = []
        self._writing = asyncio.Lock()
        self._waiters: dict[str, list[asyncio.Future[Asked]]] = {}
        self._last_id: str | None = None
        self._since = SinceCheckpoint()
        self._memory: Memory | None = None
        self._told = 0
        self._incarnation = log.incarnation
        self._stale = False
        self._changed: Changes = {}

    async def take_up(self, warm: WarmSession | None = None) -> None:
        """Load an existing session; listeners get only what happens from now on.

        `warm` is the session as an earlier drive left it. Then only newer events are read.
        """
        known = self.log.incarnation
        if warm is None or not await self._continue(warm):
            self._adopt(await load(self.log, self.session_id, weighed=True))
        self._incarnation = known or self.log.incarnation
        self._told = self.view.position

    async def _continue(self, warm: WarmSession) -> bool:
        """Continue with a session that was kept; returns False if it has to be loaded."""
        # Read its last event again: a restored log may have another one at that position.
        after = warm.view.position - 1
        events = await self.log.read(self.session_id, after, limit=_NEWS)
        if not events or events[0].id != warm.last_id or len(events) == _NEWS:
            return False
        self._adopt(Loaded(warm.view.copy(), warm.last_id, replace(warm.since)))
        self.state = warm.state.copy(self.view)
        self._memory = warm.memory
        self._fold(events[1:])
        await self._since.count(events[1:])
        return True

    def put_aside(self) -> WarmSession | None:
        """The session for a later drive; None if it has ended, or may differ from the log."""
        view, last_id = self.view, self._last_id
        if self._stale or last_id is None or view.ended is not None:
            return None
        return WarmSession(self.workflow, view, self.state, last_id, self._since, self._memory)

    def _adopt(self, loaded: Loaded) -> None:
        self.view = loaded.view
        self.state = LiveState(self.workflow.state_type, self.view)
        self._last_id = loaded.last_id
        self._since = loaded.since

    async def commit(
        self,
        build: Build,
        *,
        settle: Callable[[], bool] | None = None,
        narration: bool = False,
    ) -> list[Event]:
        """Build events on the current view and append them; start over after a conflict.

        `settle` is called after building and returns whether nothing is left to do.
        """
        async with self._writing:
            while True:
                if self._is_stale:
                    await self._reload()
                # From the first event built until the log has accepted them, the view is ahead of
                # the log.
                self._stale = True
                scene = self.scene()
                build(scene)
                done_here = settle() if settle else False
                # A driver with something left to do keeps the lease, even while it only waits.
                moves_lease = settle is not None and done_here == (self.epoch is not None)
                if not scene.batch.events and not moves_lease:
                    self._stale = False
                    return []
                try:
                    committed = await self._append(scene.batch, done_here, narration)
                except PositionConflict:
                    await self._yield_to_others(scene.batch)
                    continue
                self._stale = False
                self._changed.clear()
                return committed

    def scene(self) -> Scene:
        """A new batch on the current view."""
        batch = Batch(self.view, self.clock, self._last_id)
        return Scene(self.workflow, batch, self.state, self._changed)

    async def _append(self, batch: Batch, settle: bool, narration: bool) -> list[Event]:
        before = self.view.position - len(batch.events)
        writing = Writing(expect=before, epoch=self.epoch, claim=self.epoch is None, settle=settle)
        appended = await self.log.append(self.session_id, batch.events, writing)
        self.epoch = None if settle else appended.epoch
        if batch.events:
            self._last_id = batch.events[-1].id
        if batch.has_checkpoint:
            self._since.start_over(appended.size)
        elif not narration:
            self._since.add(appended.size, len(batch.events))
        self._tell(batch.placed)
        return batch.placed

    @property
    def _is_stale(self) -> bool:
        """Whether the view may contain what the log doesn't."""
        return self._stale or self._incarnation not in (0, self.log.incarnation)

    async def _reload(self) -> None:
        """Fold the log again, which drops anything uncommitted, and report new events."""
        told = self._told
        self._incarnation = self.log.incarnation
        self._adopt(await load(self.log, self.session_id, weighed=True))
        self._stale = False
        # Only up to the view's position: a listener must find each event in the view.
        self._tell(await self.log.read(self.session_id, told, upto=self.view.position))

    async def _yield_to_others(self, batch: Batch) -> None:
        """Another writer was first: roll back the batch and fold what they wrote."""
        batch.take_back()
        if any(event.name in (names.STARTED, names.INTENT) for event in batch.events):
            self.state = LiveState(self.workflow.state_type, self.view)
        # If there is nothing new to read, something else is wrong: reload.
        self._stale = not await self._read_on()

    async def catch_up(self) -> bool:
        """Read what others have written; returns whether there was anything."""
        if await self.log.head(self.session_id) == self.view.position and not self._is_stale:
            return False
        async with self._writing:
            if self._is_stale:
                await self._reload()
                return True
            return await self._read_on()

    async def _read_on(self) -> bool:
        """Fold what others have written, and report it; returns whether there was anything."""
        events = await self.log.read(self.session_id, self.view.position)
        self._fold(events)
        self._tell(events)
        await self._since.count(events)
        return bool(events)

    def _fold(self, events: Sequence[Event]) -> None:
        for event in events:
            apply(self.view, event)
            self._last_id = event.id
        if any(event.name == names.INTENT for event in events):
            self.state = LiveState(self.workflow.state_type, self.view)

    def _tell(self, events: list[Event]) -> None:
        if not events:
            return
        self._told = events[-1].position
        if self._waiters:
            for event in events:
                if event.name in names.CLOSES_QUESTION:
                    self._resolve(as_text(event.payload["id"]))
        for listener in self.listeners:
            listener(events)

    def checkpoint(self, batch: Batch) -> None:
        """Write a checkpoint, between two phases, if enough has happened since the last one."""
        if self._since.is_due(batch.view.state):
            write(batch)

    async def question(self, question: str) -> Interaction:
        """The full record of a question, which has more than the view."""
        return await QuestionRows(self.log, self.clock).find(question)

    async def answer_to(self, question: str) -> Asked:
        """Wait until a question is closed."""
        asked = self.view.questions.get(question)
        if asked is not None and asked.status != "pending":
            return asked
        waiter = asyncio.get_running_loop().create_future()
        self._waiters.setdefault(question, []).append(waiter)
        return await waiter

    def _resolve(self, question: str) -> None:
        asked = self.view.questions.get(question)
        for waiter in self._waiters.pop(question, []):
            if asked is not None and not waiter.done():
                waiter.set_result(asked)

    def unwind(self, questions: set[str], error: BaseException) -> None:
        """Raise an error in the tasks that wait for these questions."""
        for question in questions:
            for waiter in self._waiters.pop(question, []):
                if not waiter.done():
                    waiter.set_exception(error)

    async def release(self) -> None:
        """Release the lease with work left to do, so that another owner can take over."""
        if self.epoch is not None:
            writing = Writing(epoch=self.epoch, release=True)
            self.epoch = None
            await self.log.append(self.session_id, [], writing)
