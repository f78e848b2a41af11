"""Plays a scenario to its end, whatever crashes: with processes that die, and people outside."""

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

from tests.faults.flows import Ending as Decided
from tests.faults.flows import Scenario, World
from tests.faults.laws import check_laws

from callboard import Callboard
from callboard.engine.decide import RUN_AGAIN
from callboard.engine.phase import Uncertain
from callboard.errors import SessionNotFound, StoreError
from callboard.events import names
from callboard.events.codec import dump_json
from callboard.events.envelope import Event
from callboard.events.json_values import as_text
from callboard.interactions.records import Interaction
from callboard.log.memory import MemoryLog, SharedMemory
from callboard.log.sqlite.log import SqliteLog
from callboard.state.rows import project
from callboard.testing.fake_clock import FakeClock
from callboard.testing.faults import Crashed, FaultyLog, Mortal
from callboard.testing.scripted import ScriptedPeople

SESSION = "s"
UNCERTAIN = "The process died"
Place = tuple[str | None, str, int, str | None]
"""A question's place: run, prompt, which time, key."""
_PATIENCE = 100


class Store(Protocol):
    """A place that outlives the processes that open it."""

    def open(self, clock: FakeClock) -> Mortal: ...


class MemoryStore:
    def __init__(self) -> None:
        self.memory = SharedMemory()

    def open(self, clock: FakeClock) -> Mortal:
        return MemoryLog(project, clock, self.memory)


class SqliteStore:
    def __init__(self, path: Path) -> None:
        self.path = path

    def open(self, clock: FakeClock) -> Mortal:
        return SqliteLog.open(self.path, project)


@dataclass(frozen=True)
class Ending:
    """What must not depend on crashes."""

    status: str
    state: Any
    exit_phase: str | None
    answers: dict[Place, Any]
    completed: Counter[tuple[str, bytes]]


@dataclass(frozen=True)
class Played:
    """How a scenario went."""

    ending: Ending
    events: list[Event]
    world: World
    crashes: int
    appends: int


Plan = Callable[[FaultyLog], Any]


def no_fault(log: FaultyLog) -> None:
    """Nothing goes wrong."""


@dataclass
class Player:
    """One play: processes that may die one after the other, and a world that stays."""

    scenario: Scenario
    store: Store
    plans: Sequence[Plan] = ()
    handler: bool = False
    uncertain: Uncertain = "retry"
    verdict: str = RUN_AGAIN

    async def play(self) -> Played:
        clock = FakeClock(autojump=True)
        self.outside = Callboard(FaultyLog(self.store.open(clock), clock), clock=clock)
        self.clock, self.world = clock, World(clock, self.uncertain)
        self.workflow = self.scenario.build(self.world)
        self.world.pause = self.outside.pause
        self.crashes = 0
        plans = list(self.plans)
        log = self._process(plans)
        for _ in range(_PATIENCE):
            try:
                await self._drive(log)
            except StoreError:
                self.crashes += 1
                continue
            except Crashed:
                self.crashes += 1
                log = self._process(plans)
                continue
            if await self._outside():
                break
        else:
            raise AssertionError("The session never ends.")
        played = await self._played(log.appends)
        await log.close()
        await self.outside.close()
        return played

    def _process(self, plans: list[Plan]) -> FaultyLog:
        log = FaultyLog(self.store.open(self.clock), self.clock)
        if plans:
            plans.pop(0)(log)
        self.world.dead = lambda: log.crashed
        self.world.human = Callboard(log, clock=self.clock).human
        return log

    async def _drive(self, log: FaultyLog) -> None:
        """What a process does when it comes up: begin the session, or recover it."""
        board = Callboard(log, [self.workflow], self.clock)
        people = ScriptedPeople(_as_given(self.scenario.answers)) if self.handler else None
        try:
            await self.outside.session(SESSION)
        except SessionNotFound:
            await board.run(self.workflow, "given", session_id=SESSION, human_input=people)
        else:
            await (board.drive(SESSION, human_input=people) if people else board.recover())

    async def _outside(self) -> bool:
        """What people do meanwhile; whether the session has ended."""
        info = await self.outside.session(SESSION)
        if info.status in ("completed", "failed", "cancelled"):
            for left_behind in await self.outside.inbox(SESSION):
                assert await self._answer(left_behind)
            return True
        if info.status == "paused":
            await self.outside.resume(SESSION)
            return False
        answered = [await self._answer(question) for question in info.pending]
        if not any(answered):
            await self.clock.advance(30)
        return False

    async def _answer(self, question: Interaction) -> bool:
        answer = self.scenario.answers.get(question.prompt)
        if question.prompt.startswith(UNCERTAIN):
            answer = self.verdict
        # The reminder must have been given before somebody remembers.
        early = question.deadline and question.deadline.timestamp() * 1000 > self.clock.now_ms()
        if answer is None or early:
            return False
        if isinstance(answer, Decided):
            await self._decide(question, answer)
        else:
            await self.outside.answer(question.id, answer)
        return True

    async def _decide(self, question: Interaction, decided: Decided) -> None:
        told: dict[str, Any] = {"response": decided.response, "duration_ms": 1000}
        people = question.config.get("requiredParticipants") or ["somebody"]
        for person in people:
            if person not in (question.response or {}):
                await self.outside.people.complete(question.id, decided.outcome, by=person, **told)

    async def _played(self, appends: int) -> Played:
        view = await self.outside.view(SESSION)
        events = await self.outside.log.read(SESSION)
        check_laws(events)
        assert await self.outside.inbox() == []
        left = [one["stream"] for one in names.DETACHED.among(events)]
        answers = _answers(
            [*events, *[e for own in left for e in await self.outside.log.read(own)]]
        )
        ending = Ending(view.status, view.state, view.exit_phase, answers, _completed(events))
        return Played(ending, events, self.world, self.crashes, appends)


def _as_given(answers: Mapping[str, Any]) -> dict[str, Any]:
    """What people say who are there; interactive sessions end elsewhere."""
    said = {k: v for k, v in answers.items() if not isinstance(v, Decided)}
    return {k: {"yes": True, "no": False}.get(v, v) for k, v in said.items()}


def _answers(events: Sequence[Event]) -> dict[Place, Any]:
    asked = {one["id"]: one for one in names.REQUESTED.among(events)}
    found: dict[Place, Any] = {}
    for event in events:
        if event.name in (names.RECEIVED, names.EXPIRED, names.INPUT_FAILED):
            question = asked[as_text(event.payload["id"])]
            if not question["prompt"].startswith(UNCERTAIN):
                place = (question.get("run"), question["prompt"], question.get("nth", 1))
                found[*place, question.get("key")] = event.payload.get("value")
    return found


def _completed(events: Sequence[Event]) -> Counter[tuple[str, bytes]]:
    return Counter(
        (one["run"], dump_json(one.get("output"))) for one in names.AGENT_COMPLETED.among(events)
    )
