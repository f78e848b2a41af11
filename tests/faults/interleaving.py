"""Processes, sessions and a clock, moved in any order that Hypothesis can think of."""

import asyncio
import tempfile
from collections.abc import Callable, Coroutine, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any, TypeVar

import pytest
from hypothesis import strategies as st
from hypothesis.stateful import (
    Bundle,
    RuleBasedStateMachine,
    consumes,
    initialize,
    invariant,
    multiple,
    precondition,
    rule,
)
from tests.faults.laws import check_laws

from callboard import Approval, Callboard, Choice, Context, Phase, Retry, State, Workflow, agent
from callboard.drivers.local import Manner
from callboard.engine.forking import Forking
from callboard.engine.operations import begin
from callboard.errors import (
    AlreadyAnswered,
    AnswerInvalid,
    InteractionClosed,
    NotResumable,
    OwnershipLost,
    SessionOwned,
)
from callboard.events import names
from callboard.events.envelope import Event, NewEvent
from callboard.events.rows import KEYS, Query
from callboard.interactions.records import Interaction
from callboard.log.memory import MemoryLog, SharedMemory
from callboard.log.protocol import ANYHOW, Appended, Writing
from callboard.log.sqlite.log import SqliteLog
from callboard.state.fold import fold
from callboard.state.rows import project
from callboard.testing.fake_clock import FakeClock
from callboard.testing.faults import Crashed, FaultyLog, Mortal

T = TypeVar("T")

ENDED = ("completed", "failed", "cancelled")


class Notes(State):
    seen: list[Any] = []
    laps: int = 0


def note(state: Notes, output: Any) -> None:
    state.seen.append(output)


def lap(state: Notes, response: Any) -> None:
    state.laps += 1


class Work:
    """One attempt of an agent that a rule will let go on, or fail."""

    def __init__(self, ctx: Context) -> None:
        self.key = ctx.key
        self.attempt = ctx.attempt
        self.end: asyncio.Future[str] = asyncio.get_running_loop().create_future()


class SlowLog(FaultyLog):
    """Lets the others have a few turns before each append: in memory it would take none."""

    async def append(
        self, stream: str, events: Sequence[NewEvent], writing: Writing = ANYHOW
    ) -> Appended:
        for _ in range(3):
            await asyncio.sleep(0)
        return await super().append(stream, events, writing)


class Process:
    """A process with its handle, and the sessions it drives."""

    def __init__(self, log: FaultyLog, workflow: Workflow, clock: FakeClock) -> None:
        self.log = log
        self.board = Callboard(log, [workflow], clock)
        self.drives: list[asyncio.Task[Any]] = []

    async def die(self) -> None:
        self.log.crash()
        for task in self.drives:
            task.cancel()
        await asyncio.gather(*self.drives, return_exceptions=True)


class Interleavings(RuleBasedStateMachine):
    """One machine: several processes, several sessions of one workflow, one clock."""

    sessions = Bundle("sessions")

    def __init__(self) -> None:
        super().__init__()
        self.runner = asyncio.Runner()
        self.clock = FakeClock()
        self.workflow = self._workflow()
        self.open = self._store()
        self.outside = Callboard(SlowLog(self.open(), self.clock), [self.workflow], self.clock)
        self.processes = [self._process(), self._process()]
        self.working: list[Work] = []
        self.answers: dict[str, Any] = {}
        self.known: list[str] = []
        self.violations: list[str] = []

    def _store(self) -> Callable[[], Mortal]:
        memory = SharedMemory()
        return lambda: MemoryLog(project, self.clock, memory)

    def _process(self) -> Process:
        return Process(SlowLog(self.open(), self.clock), self.workflow, self.clock)

    def run(self, work: Coroutine[Any, Any, T]) -> T:
        """Do something, and let everything run that can."""

        async def settle() -> T:
            try:
                return await work
            finally:
                await self.settled()

        return self.runner.run(settle())

    async def settled(self) -> None:
        await self.clock.advance(0)

    def _workflow(self) -> Workflow:
        @agent
        async def worker(state: Notes, ctx: Context) -> list[Any]:
            await self._work(ctx)
            once = await ctx.once("effect", lambda: ctx.key)
            asked = [await ctx.ask("Sure?", timeout=100, on_timeout="approve")]
            asked += await asyncio.gather(ctx.ask("Left?"), ctx.ask("Right?"))
            return [ctx.phase, ctx.visit, *asked, once]

        @agent
        async def item(state: Notes, ctx: Context) -> Any:
            await self._work(ctx)
            return [ctx.item, await ctx.choose(f"{ctx.item}?", ["x", "y"])]

        def route(state: Notes) -> str:
            return "work" if not state.approved and state.laps < 3 else "each"

        escalating = Approval("Again?", timeout=500, on_timeout="reject")
        return Workflow(
            "w",
            state=Notes,
            phases=[
                Phase("work", agent=worker, update=note, retry=Retry(2, backoff=50), next="review"),
                Phase("review", human=escalating, on_answer=lap, next=route, to=["work", "each"]),
                Phase(
                    "each",
                    agent=item,
                    for_each=lambda state: ["a", "b", "c"],
                    parallel=2,
                    on_item_error="skip",
                    update=note,
                    timeout=1000,
                    human=Choice("Which?", ["x", "y"]),
                    terminal=True,
                ),
            ],
        )

    async def _work(self, ctx: Context) -> None:
        """Check that this run was not completed before, and wait for a rule."""
        run = ctx.key.partition(":")[2]
        events = await self.outside.log.read(ctx.session_id)
        done = [e.payload["run"] for e in events if e.name == names.AGENT_COMPLETED]
        if run in done:
            self.violations.append(f"{run} was completed and runs again")
        work = Work(ctx)
        self.working.append(work)
        try:
            if await work.end == "fail":
                raise ConnectionError("no")
        finally:
            self.working.remove(work)

    @initialize(target=sessions)
    def begins(self) -> Any:
        return self._begin(0)

    @rule(target=sessions, process=st.integers(0, 1))
    @precondition(lambda self: len(self.known) < 2)
    def begin(self, process: int) -> Any:
        return self._begin(process)

    def _begin(self, process: int) -> Any:
        session = f"s{len(self.known)}"
        driver = self.processes[process].board.driver
        prelude = begin(self.workflow, None)
        self._drive(process, driver.begin(self.workflow, session, prelude, Manner(linger=30)))
        if not self.run(self.outside.log.head(session)):
            return multiple()  # The process died before it could begin.
        self.known.append(session)
        return session

    def _drive(self, process: int, driving: Coroutine[Any, Any, Any]) -> None:
        async def start() -> None:
            self.processes[process].drives.append(asyncio.create_task(driving))

        self.run(start())

    @rule(session=sessions, process=st.integers(0, 1))
    def drive(self, session: str, process: int) -> None:
        driver = self.processes[process].board.driver
        self._drive(process, driver.drive(session, Manner(linger=30)))

    @rule(process=st.integers(0, 1))
    def recover(self, process: int) -> None:
        self._drive(process, self.processes[process].board.driver.recover(Manner(linger=30)))

    @rule(process=st.integers(0, 1))
    def crash(self, process: int) -> None:
        """Die now; another process takes the place."""
        self.run(self.processes[process].die())
        self.processes[process] = self._process()

    @rule(process=st.integers(0, 1), appends=st.integers(1, 3), after=st.booleans())
    def crash_soon(self, process: int, appends: int, after: bool) -> None:
        """Die around one of the next appends, whenever that is."""
        log = self.processes[process].log
        number = log.appends + appends
        log.crash(**{"after" if after else "before": number})

    @rule(pick=st.integers(0, 9), how=st.sampled_from(["done", "done", "fail"]))
    @precondition(lambda self: self.working)
    def finish(self, pick: int, how: str) -> None:
        if not self.working:
            return
        work = self.working[pick % len(self.working)]

        async def end() -> None:
            if not work.end.done():
                work.end.set_result(how)

        self.run(end())

    @rule(pick=st.integers(0, 9), coin=st.booleans(), again=st.booleans())
    def answer(self, pick: int, coin: bool, again: bool) -> None:
        """Answer a question; once more, and otherwise, is refused."""
        pending = self.run(self.outside.inbox())
        if not pending:
            return
        question = sorted(pending, key=_place)[pick % len(pending)]
        value = question.options[coin] if question.options else ("yes", "no")[coin]
        try:
            self.run(self.outside.answer(question.id, value))
        except InteractionClosed:
            return
        self.answers[question.id] = value
        if again:
            with pytest.raises(AlreadyAnswered):
                self.run(self.outside.answer(question.id, value))

    @rule(process=st.integers(0, 1), rounds=st.integers(1, 6))
    def move_on(self, process: int, rounds: int) -> None:
        """Let things go well for a while, so that sessions come far."""
        for _ in range(rounds):
            if not self.processes[process].drives:
                self.recover(process)
            for _ in list(self.working):
                self.finish(0, "done")
            self.answer(0, True, False)
            self.drives_end_well()
            self.the_dead_are_replaced()

    @rule(pick=st.integers(0, 9), turns=st.lists(st.integers(0, 4), min_size=2, max_size=3))
    def answer_together(self, pick: int, turns: list[int]) -> None:
        """Several people answer the same question: one of them counts, the others are told."""
        pending = self.run(self.outside.inbox())
        if not pending:
            return
        question = sorted(pending, key=_place)[pick % len(pending)]
        values = question.options or ["yes", "no"]

        async def say(number: int, after: int) -> str | None:
            for _ in range(after):
                await asyncio.sleep(0)
            with suppress(AlreadyAnswered, InteractionClosed):
                value = values[number % 2]
                await self.outside.answer(question.id, value)
                return value
            return None

        async def all_of_them() -> list[str | None]:
            return await asyncio.gather(*(say(*one) for one in enumerate(turns)))

        taken = [value for value in self.run(all_of_them()) if value is not None]
        assert len(taken) <= 1
        for value in taken:
            self.answers[question.id] = value

    @rule(
        session=sessions,
        moves=st.lists(
            st.tuples(st.sampled_from(["finish", "answer", "pause", "resume"]), st.integers(0, 6)),
            min_size=2,
            max_size=5,
        ),
    )
    def at_once(self, session: str, moves: list[tuple[str, int]]) -> None:
        """Several things in the same few turns of the loop, so that writers meet."""

        async def all_of_them() -> None:
            await asyncio.gather(*(self._soon(session, *move) for move in moves))

        self.run(all_of_them())

    async def _soon(self, session: str, move: str, turns: int) -> None:
        pending = await self.outside.inbox()
        for _ in range(turns):
            await asyncio.sleep(0)
        with suppress(AlreadyAnswered, InteractionClosed, NotResumable):
            if move == "finish":
                for work in self.working:
                    if not work.end.done():
                        work.end.set_result("done")
            elif move == "answer" and pending:
                question = min(pending, key=_place)
                value = question.options[0] if question.options else "yes"
                await self.outside.answer(question.id, value)
                self.answers[question.id] = value
            elif move == "pause":
                await self.outside.pause(session)
            else:
                await self.outside.resume(session)

    @rule(pick=st.integers(0, 9))
    def answer_wrongly(self, pick: int) -> None:
        pending = self.run(self.outside.inbox())
        if pending:
            with pytest.raises((AnswerInvalid, InteractionClosed)):
                self.run(self.outside.answer(pending[pick % len(pending)].id, "perhaps"))

    @rule(session=sessions, interrupt=st.booleans())
    def pause(self, session: str, interrupt: bool) -> None:
        self.run(self.outside.pause(session, interrupt=interrupt))

    @rule(session=sessions)
    def resume(self, session: str) -> None:
        try:
            self.run(self.outside.resume(session))
        except NotResumable:
            assert self._info(session).status in ENDED

    @rule(session=consumes(sessions))
    def cancel(self, session: str) -> None:
        self.run(self.outside.cancel(session))
        assert self._info(session).status in ENDED

    @rule(target=sessions, session=sessions, place=st.floats(0, 1))
    def fork(self, session: str, place: float) -> Any:
        if len(self.known) >= 5:
            return multiple()
        head = self.run(self.outside.log.head(session))
        at = Forking(position=max(1, round(head * place)))
        child = f"s{len(self.known)}"
        self.run(self.outside.operations.fork(session, at, child_id=child))
        self.known.append(child)
        return child

    @rule(seconds=st.sampled_from([1.0, 29.0, 50.0, 100.0, 600.0]))
    def time(self, seconds: float) -> None:
        self.runner.run(self.clock.advance(seconds))

    def _info(self, session: str) -> Any:
        return self.run(self.outside.session(session))

    @invariant()
    def drives_end_well(self) -> None:
        for process in self.processes:
            for task in [one for one in process.drives if one.done()]:
                process.drives.remove(task)
                error = None if task.cancelled() else task.exception()
                if isinstance(error, Crashed):
                    assert process.log.crashed
                elif error and not isinstance(error, SessionOwned | OwnershipLost):
                    raise error

    @invariant()
    def nothing_completed_runs_again(self) -> None:
        assert self.violations == []

    @invariant()
    def the_dead_are_replaced(self) -> None:
        for number, process in enumerate(self.processes):
            if process.log.crashed:
                self.crash(number)

    @invariant()
    def every_law_holds(self) -> None:
        pending: set[str] = set()
        for session in self.known:
            events = self.run(self.outside.log.read(session))
            if not events:
                continue
            check_laws(events)
            view = fold(events)
            assert self._info(session).status == view.status
            pending |= {asked.id for asked in view.pending()}
            self._check_answers(events)
        assert {one.id for one in self.run(self.outside.inbox())} == pending

    def _check_answers(self, events: list[Event]) -> None:
        """What was acknowledged is recorded, and what was recorded is used."""
        forked = any(event.name == names.FORKED for event in events)
        asked: dict[str, Mapping[str, Any]] = {}
        said: dict[tuple[str | None, str], Any] = {}
        for event in events:
            payload: Mapping[str, Any] = event.payload
            if event.name == names.REQUESTED:
                asked[payload["id"]] = payload
            elif event.name in (names.RECEIVED, names.EXPIRED):
                question = asked[payload["id"]]
                said[question.get("run"), question["prompt"]] = payload["value"]
                if event.name == names.RECEIVED:
                    assert self.answers.pop(payload["id"], payload["value"]) == payload["value"]
            elif event.name == names.AGENT_COMPLETED:
                assert payload["output"] == _told(payload, said)
            elif event.name == names.INTENT and payload["reason"] == "human":
                assert said[None, _PROMPTS[fold(events[: event.position]).phase]] in str(payload)
        # A fork leaves the questions of its prefix, and so their answers, to its parent.
        lost = [question for question in self.answers if question in asked]
        assert forked or not lost, "an answer was lost"

    def teardown(self) -> None:
        try:
            self._finish_all()
        finally:
            for process in self.processes:
                self.run(process.die())
            self.run(self.outside.close())
            self.runner.close()

    def _finish_all(self) -> None:
        """Whatever happened, each session can still be brought to its end."""
        if not self.known:
            return
        for _ in range(300):
            if all(self._over(session) for session in self.known):
                break
            self._help()
        else:
            raise AssertionError("a session never ends")
        self.drives_end_well()
        self.every_law_holds()
        self._rebuild()

    def _over(self, session: str) -> bool:
        head = self.run(self.outside.log.head(session))
        return not head or self._info(session).status in ENDED

    def _help(self) -> None:
        """One round of everything that moves sessions on."""
        for session in self.known:
            if not self._over(session):
                self.run(self.outside.resume(session))
        if not any(process.drives for process in self.processes):
            self.recover(0)
        for work in list(self.working):
            if not work.end.done():
                work.end.set_result("done")
        self.answer(0, True, False)
        self.time(31)
        self.drives_end_well()
        self.the_dead_are_replaced()

    def _rebuild(self) -> None:
        async def tables() -> dict[str, Any]:
            return {table: await self.outside.log.rows(Query(table)) for table in KEYS}

        before = self.run(tables())
        self.run(self.outside.log.rebuild())
        assert self.run(tables()) == before


def _place(question: Interaction) -> tuple[str, str, str]:
    """Where a question stands; ids are random, and what is done must not be."""
    return str(question.session_id), str(question.run), question.prompt


_PROMPTS: dict[Any, str] = {"review": "Again?", "each": "Which?"}


def _told(payload: Mapping[str, Any], said: Mapping[tuple[str | None, str], Any]) -> list[Any]:
    """What a run must have made of the answers it got."""
    run = payload["run"]
    if payload["phase"] == "each":
        item = "abc"[int(run.rpartition("/")[2])]
        return [item, said[run, f"{item}?"]]
    answers = [said[run, prompt] == "yes" for prompt in ("Sure?", "Left?", "Right?")]
    return ["work", payload["visit"], *answers, payload["output"][-1]]


class FileInterleavings(Interleavings):
    """The same on a file, where one process hears of another by a socket."""

    def _store(self) -> Callable[[], Mortal]:
        self.folder = tempfile.TemporaryDirectory()
        path = Path(self.folder.name) / "log.db"
        return lambda: SqliteLog.open(path, project)

    async def settled(self) -> None:
        await self.clock.advance(0)
        await asyncio.sleep(0.002)
        await self.clock.advance(0)

    def teardown(self) -> None:
        super().teardown()
        self.folder.cleanup()
