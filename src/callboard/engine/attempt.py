"""One attempt at an agent's run: turns requests from its context into events of the session."""

import asyncio
from collections import defaultdict
from collections.abc import Callable, Generator, Mapping
from contextlib import aclosing, contextmanager, nullcontext
from typing import TYPE_CHECKING, NamedTuple

from callboard.clock import Clock
from callboard.engine.agent_output import Narrator
from callboard.engine.context import Context, RunPlace
from callboard.engine.current_execution import enter
from callboard.engine.function_agent import FunctionAgent
from callboard.engine.live import LiveSession
from callboard.engine.perform import broke, complete, interrupt
from callboard.engine.phase import Timeout
from callboard.engine.ports import Agent, Item, Output
from callboard.engine.scene import Scene
from callboard.engine.slots import RunSlot
from callboard.engine.tasks import ask, close
from callboard.errors import (
    AgentError,
    AgentTimedOut,
    OwnershipLost,
    RetryAfter,
    StoreError,
    Unwound,
)
from callboard.events import names
from callboard.events.envelope import Json
from callboard.events.event_name import Entry
from callboard.events.payloads.agents import Interruption, Narrated
from callboard.interactions.questions import Rendered, seconds
from callboard.interactions.records import Interaction
from callboard.state.session import SessionView
from callboard.state.visits import Asked
from callboard.waiting import wait_any

if TYPE_CHECKING:
    from callboard.events.payloads.people import Asker


class Budget:
    """Counts down an attempt's working time and calls `expire` when it is used up."""

    def __init__(self, seconds: float, clock: Clock, expire: Callable[[], object]) -> None:
        self.expired = False
        self.limit = seconds
        self._left = seconds
        self._clock = clock
        self._expire = expire
        self._waiting = 0
        self._working = asyncio.Event()
        self._working.set()
        self._stopped = asyncio.Event()

    @contextmanager
    def waiting(self) -> Generator[None]:
        """Stop the countdown while waiting for a person."""
        self._waiting += 1
        self._working.clear()
        self._stopped.set()
        try:
            yield
        finally:
            self._waiting -= 1
            if not self._waiting:
                self._stopped.clear()
                self._working.set()

    async def watch(self) -> None:
        """Run alongside the attempt until cancelled, or until the time is used up."""
        while self._left > 0:
            await self._working.wait()
            begun = self._clock.monotonic()
            await wait_any(self._clock.sleep(self._left), self._stopped.wait())
            self._left -= self._clock.monotonic() - begun
        self.expired = True
        self._expire()


class Done(NamedTuple):
    """The agent finished."""

    output: object
    duration_ms: int
    usage: Mapping[str, Json] | None


class Broke(NamedTuple):
    """The agent failed."""

    error: Exception


class Interrupted(NamedTuple):
    """The agent was stopped, or asked to be started again later."""

    reason: Interruption
    later: RetryAfter | None = None


Outcome = Done | Broke | Interrupted


class RunDesk:
    """Runs one attempt and handles the requests from its context."""

    def __init__(
        self,
        live: LiveSession,
        agent: Agent,
        place: RunPlace,
        waiting: "dict[str, RunDesk]",
        waits: Callable[[], None],
        slot: RunSlot | None = None,
    ) -> None:
        """Prepare an attempt; `work` runs it.

        Args:
            live: the session.
            agent: the agent to run.
            place: the run that this is an attempt at.
            waiting: desks whose agents wait for a person, by run; the one that has waited longest
                first.
            waits: called whenever the agent starts to wait for an answer.
            slot: the agent's slot, if its phase has a limit.
        """
        self.place = place
        self.waiting_for: set[str] = set()
        self.waiting_since: float | None = None
        self.stopping: Interruption | None = None
        self._live = live
        self._agent = agent
        self._waiting = waiting
        self._waits = waits
        self._slot = slot
        self._narrator: Narrator | None = None
        self._asked: defaultdict[tuple[object, ...], int] = defaultdict(int)
        self._budget: Budget | None = None

    async def work(self, timeout: Timeout) -> Outcome:
        """Run the agent until it finishes, fails or is interrupted."""
        begun = self._live.clock.monotonic()
        watching: asyncio.Task[None] | None = None
        try:
            limit = timeout(self._live.state.read()) if callable(timeout) else timeout
            watching = None if limit is None else self._set_budget(seconds(limit))
            output = await self._consume()
            took = round((self._live.clock.monotonic() - begun) * 1000)
            return Done(self._agent.output.dump(output.value), took, output.usage)
        except Unwound:
            return Interrupted(self.stopping or "waiting")
        except asyncio.CancelledError:
            return self._cancelled()
        except RetryAfter as later:
            return Interrupted("postponed", later)
        except (OwnershipLost, StoreError):
            # Not the agent's failure: the process that drives the session has to handle it.
            raise
        except Exception as error:
            return Broke(error)
        finally:
            if watching is not None:
                watching.cancel()

    def end(self) -> None:
        """Give the slot back, also if the agent was stopped before it started."""
        if self._slot is not None:
            self._slot.end()

    def _set_budget(self, limit: float) -> asyncio.Task[None]:
        task = asyncio.current_task()
        assert task is not None
        self._budget = Budget(limit, self._live.clock, task.cancel)
        return asyncio.create_task(self._budget.watch())

    def _cancelled(self) -> Outcome:
        if self._budget is not None and self._budget.expired:
            return Broke(
                AgentTimedOut(
                    f"Agent {self._agent.name!r} ran for more than {self._budget.limit:g} s.",
                    agent=self._agent.name,
                )
            )
        if self.stopping is not None:
            return Interrupted(self.stopping)
        task = asyncio.current_task()
        if task is not None and not task.cancelling():
            # No one cancelled the agent; it awaited something of its own that was cancelled.
            return Broke(AgentError(f"Agent {self._agent.name!r} was cancelled by its own code."))
        raise asyncio.CancelledError

    async def _consume(self) -> Output:
        execution = enter(self.place.session_id, self._slot)
        state, agent = self._live.state.read(), self._agent
        try:
            if isinstance(agent, FunctionAgent) and not agent.streams:
                output = await agent.result(state, Context(self))
                await execution.recorded()
                return output
            async with aclosing(agent.stream(state, Context(self))) as stream:
                async for item in stream:
                    if isinstance(item, Output):
                        await execution.recorded()
                        return item
                    await self.narrate(item)
        finally:
            if self._narrator is not None:
                await self._narrator.close()
        raise AgentError(f"Agent {self._agent.name!r} ended without an output.")

    async def ask(self, question: Rendered, key: str | None) -> Asked:
        """Ask the question, or find it again after a restart, and wait until it is closed."""
        same = _identity(question, key)
        self._asked[same] += 1
        nth = self._asked[same]
        found: list[str] = []

        def build(scene: Scene) -> None:
            if scene.batch.view.ended:
                raise Unwound
            known = _same_question(scene.batch.view, self.place.run, same, nth)
            found[:] = [known.id if known else self._put(scene, question, key, nth)]

        await self._flush()
        await self._live.commit(build)
        return await self._wait(found[0])

    async def found(self, asked: Asked) -> Interaction:
        """The full record of a question, which has more than the view."""
        return await self._live.question(asked.id)

    async def take_back(self, key: str) -> None:
        """Withdraw the question with this key, if it is still open."""

        def build(scene: Scene) -> None:
            for asked in scene.batch.view.open.pending_of(self.place.run):
                if asked.key == key:
                    reason = "withdrawn by the agent"
                    close(scene.batch, names.INPUT_CANCELLED({"id": asked.id, "reason": reason}))

        await self._live.commit(build)

    def _put(self, scene: Scene, question: Rendered, key: str | None, nth: int) -> str:
        place = self.place
        asker: Asker = {"phase": place.phase, "run": place.run, "attempt": place.attempt}
        if key:
            asker["key"] = key
        if nth > 1:
            asker["nth"] = nth
        return ask(scene.batch, question, asker)

    async def _wait(self, question: str) -> Asked:
        asked = self._live.view.questions.get(question)
        is_open = asked is None or asked.status == "pending"
        with self._budget.waiting() if self._budget else nullcontext():
            async with self._slot.given_up() if self._slot and is_open else nullcontext():
                return await self._answer(question)

    async def _answer(self, question: str) -> Asked:
        self.waiting_for.add(question)
        if self.waiting_since is None:
            self.waiting_since = self._live.clock.monotonic()
            self._waiting[self.place.run] = self
        # If the question was found again, there is no event that would notify the driver.
        self._waits()
        try:
            return await self._live.answer_to(question)
        finally:
            self.waiting_for.discard(question)
            if not self.waiting_for:
                self.waiting_since = None
                self._waiting.pop(self.place.run, None)

    async def narrate(self, item: Item) -> None:
        """Record what the agent says or does."""
        if self._narrator is None:  # Most function agents never say anything.
            self._narrator = Narrator(self._narrated, self._write, self._live.clock)
        await self._narrator.tell(item)

    async def _flush(self) -> None:
        if self._narrator is not None:
            await self._narrator.flush()

    async def emit(self, name: str, data: object) -> None:
        """Record a custom event of the agent."""
        await self._flush()
        await self._write(names.EMITTED({**self._narrated, "name": name, "data": data}))

    def recorded(self, key: str) -> tuple[bool, object]:
        """Whether an effect was recorded, and its result."""
        visit = self._live.view.visit
        run = visit.runs.get(self.place.run) if visit else None
        return (True, run.once[key]) if run and key in run.once else (False, None)

    async def record(self, key: str, value: object) -> None:
        """Record an effect's result."""
        run, attempt = self.place.run, self.place.attempt
        done = names.ONCE_COMPLETED({"run": run, "attempt": attempt, "key": key, "value": value})
        await self._live.commit(lambda scene: _add(scene, done))

    async def still_ours(self) -> None:
        """Raise OwnershipLost if another process has taken over."""
        log = self._live.log
        lease = await log.lease(self.place.session_id)
        if lease is None or (lease.owner, lease.epoch) != (log.owner, self._live.epoch):
            raise OwnershipLost(session=self.place.session_id)

    @property
    def _narrated(self) -> Narrated:
        place = self.place
        return {"agent": self._agent.name, "run": place.run, "attempt": place.attempt}

    async def _write(self, said: Entry) -> None:
        await self._live.commit(lambda scene: _add(scene, said), narration=True)


def _add(scene: Scene, new: Entry) -> None:
    # Drop anything that an agent still says after its session has ended.
    if not scene.batch.view.ended:
        scene.batch.add(new)


def _identity(question: Rendered | Asked, key: str | None) -> tuple[object, ...]:
    """What identifies a question within its run; never the order of calls."""
    return (key,) if key else (question.type, question.prompt, tuple(question.options or ()))


def _same_question(view: SessionView, run: str, same: tuple[object, ...], nth: int) -> Asked | None:
    """The question asked earlier with the same identity."""
    for asked in view.open.by_run.get(run, {}).values():
        # A question that was withdrawn is asked again; a session that a person cancelled has ended.
        is_gone = asked.status == "cancelled" and asked.outcome is None
        if asked.nth == nth and not is_gone and _identity(asked, asked.key) == same:
            return asked
    return None


def record(scene: Scene, run: str, outcome: Outcome) -> None:
    """Record how an attempt ended."""
    match outcome:
        case Done(output, duration_ms, usage):
            complete(scene, run, output, duration_ms, usage)
        case Broke(error):
            broke(scene, run, error)
        case Interrupted(reason, later):
            interrupt(scene, run, reason, later)
