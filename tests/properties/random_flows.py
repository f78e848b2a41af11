"""Small workflows made by chance, and the histories they leave when they are really run."""

import asyncio
import zlib
from collections.abc import AsyncGenerator, Sequence
from dataclasses import dataclass
from typing import Any

from hypothesis import strategies as st

from callboard import (
    Approval,
    Callboard,
    Choice,
    Context,
    Interactive,
    Output,
    Phase,
    Retry,
    State,
    Text,
    Workflow,
    agent,
)
from callboard.engine.context import PhaseContext
from callboard.events.envelope import Event
from callboard.interactions.records import Interaction
from callboard.log.memory import MemoryLog, SharedMemory
from callboard.state.rows import project
from callboard.testing.fake_clock import FakeClock
from callboard.testing.faults import Crashed, FaultyLog

SESSION = "s"
ENDED = ("completed", "failed", "cancelled")


class Notes(State):
    seen: list[Any] = []
    laps: int = 0


@dataclass(frozen=True)
class Spec:
    """One phase, by what it has."""

    agent: bool = True
    streams: bool = False
    asks: int = 0
    decides: bool = False
    at_once: bool = False
    once: bool = False
    fails: int = 0
    items: int | None = None
    parallel: int = 1
    skips: bool = True
    human: str | None = None
    deadline: bool = False
    guard: bool | None = None
    rounds: int = 1
    back: bool = False
    around: str | None = None
    asks_on_error: bool = False


specs = st.builds(
    Spec,
    agent=st.sampled_from([True, True, True, False]),
    streams=st.booleans(),
    asks=st.integers(0, 2),
    decides=st.booleans(),
    at_once=st.booleans(),
    once=st.booleans(),
    fails=st.integers(0, 3),
    items=st.none() | st.integers(0, 3),
    parallel=st.integers(1, 3),
    skips=st.booleans(),
    human=st.sampled_from([None, "approval", "choice", "function", "interactive", "halting"]),
    deadline=st.booleans(),
    guard=st.sampled_from([None, None, True, False]),
    rounds=st.integers(1, 2),
    back=st.booleans(),
    around=st.sampled_from([None, None, "before", "after", "both", "looking"]),
    asks_on_error=st.booleans(),
)
flows = st.lists(specs, min_size=1, max_size=3)
moves = st.lists(
    st.sampled_from(["answer", "pause", "interrupt", "crash 1", "crash 2", "crash 3", "wrong"]),
    max_size=6,
)


def note(state: Notes, output: Any) -> None:
    state.seen.append(output)


def _lap(state: Notes, response: Any) -> None:
    state.laps += 1


def _until(state: Notes, output: Any) -> bool:
    return not output or len(state.seen) % 2 == 0 or len(state.seen) > 6


def build(phases: Sequence[Spec]) -> Workflow:
    """The workflow; every phase leads to the next, or back to the first for a lap or two."""
    listed = [_phase(number, spec, len(phases)) for number, spec in enumerate(phases)]
    return Workflow("random", state=Notes, start=lambda s, given: note(s, given), phases=listed)


def _phase(number: int, spec: Spec, count: int) -> Phase:
    options: dict[str, Any] = {"terminal": True} if number == count - 1 else {}
    if not options:
        following = f"p{number + 1}"
        options["next"] = following
        if spec.back:
            options["to"] = ["p0", following]
            options["next"] = lambda s: "p0" if s.approved is False and s.laps < 3 else following
    if spec.agent:
        options |= _working(spec)
    if spec.human:
        options |= {"human": _question(spec), "on_answer": _lap}
    options |= _around(spec)
    if spec.guard is not None:
        options["guard"] = lambda state: spec.guard
    if spec.rounds > 1 and spec.agent:
        options["until"] = _until
    return Phase(f"p{number}", **options)


def _around(spec: Spec) -> dict[str, Any]:
    """Functions before and after the work; some only look."""

    def before(state: Notes, ctx: PhaseContext) -> None:
        if spec.around != "looking":
            state.seen.append(["before", ctx.phase, ctx.visit])

    def after(state: Notes, output: Any, ctx: PhaseContext) -> None:
        if spec.around != "looking":
            state.seen.append(["after", ctx.phase, ctx.visit, state.approved])

    wanted = {
        "before": spec.around in ("before", "both", "looking"),
        "after": spec.around in ("after", "both", "looking"),
    }
    functions: dict[str, Any] = {"before": before, "after": after}
    return {name: functions[name] for name, is_wanted in wanted.items() if is_wanted}


def _working(spec: Spec) -> dict[str, Any]:
    options: dict[str, Any] = {"agent": _agent(spec), "update": note}
    options["retry"] = Retry(attempts=3, backoff=5)
    options["on_error"] = "ask" if spec.asks_on_error else "fail"
    if spec.items is not None:
        options["for_each"] = lambda state: list(range(spec.items or 0))
        options["parallel"] = spec.parallel
        options["on_item_error"] = "skip" if spec.skips else "fail"
    return options


def _question(spec: Spec) -> Any:
    late: dict[str, Any] = {"timeout": 60, "on_timeout": "reject"} if spec.deadline else {}
    match spec.human:
        case "choice":
            late = {"timeout": 60, "on_timeout": "a"} if spec.deadline else {}
            return Choice(lambda s: f"Which {s.laps}?", ["a", "b"], **late)
        case "interactive" | "halting":
            late = {"within": 60} if spec.deadline else {}
            halts = spec.human == "halting"
            return Interactive(lambda s: f"Decide {s.laps}", halt_execution=halts, **late)
        case "function":
            return lambda s: Approval(f"Lap {s.laps}?", **late) if len(s.seen) % 2 else None
        case _:
            return Approval(lambda s: f"Fine {s.laps}?", **late)


def _agent(spec: Spec) -> Any:
    async def work(state: Notes, ctx: Context) -> AsyncGenerator[Any, None]:
        if spec.streams:
            yield Text("thinking aloud")
        # Crashes and forks change which attempt it is, and must not change what comes out.
        if (spec.fails == 3 or ctx.attempt <= spec.fails) and (ctx.index or 0) % 2 == 0:
            raise ConnectionError("not yet")
        answers = await _ask(spec, ctx)
        done = await ctx.once("effect", lambda: ctx.key.partition(":")[2]) if spec.once else None
        yield Output([ctx.phase, ctx.visit, ctx.index, answers, done])

    return agent(name="worker")(work)


async def _ask(spec: Spec, ctx: Context) -> list[Any]:
    if spec.decides:
        ended = [await ctx.interactive(f"{n}", key=f"d{n}") for n in range(spec.asks)]
        return [(end.outcome, end.response) for end in ended]
    if spec.at_once:
        return list(await asyncio.gather(*(ctx.ask(f"{n}?") for n in range(spec.asks))))
    return [await ctx.ask(f"{n}?", key=f"k{n}") for n in range(spec.asks)]


def answer_to(question: Interaction) -> str:
    """What people say: always the same to the same question."""
    options = question.options or ["yes", "no"]
    return options[zlib.crc32(question.prompt.encode()) % len(options)]


OUTCOMES = ("completed", "cancelled", "timeout", "failed")


async def respond(board: Callboard, question: Interaction) -> None:
    """Answer a question, or end the session that it asks for."""
    if question.type != "interactive_session":
        await board.answer(question.id, answer_to(question))
        return
    outcome = OUTCOMES[zlib.crc32(question.prompt.encode()) % len(OUTCOMES)]
    response = "decided" if outcome == "completed" else None
    await board.people.complete(question.id, outcome, response=response)


@dataclass
class Play:
    """Runs a workflow on a memory, with moves in between, to its end."""

    workflow: Workflow
    moves: Sequence[str] = ()

    def __post_init__(self) -> None:
        self.clock = FakeClock(autojump=True)
        self.memory = SharedMemory()
        self.outside = Callboard(self._open(), [self.workflow], self.clock)

    def _open(self) -> MemoryLog:
        return MemoryLog(project, self.clock, self.memory)

    async def history(self) -> list[Event]:
        """The events of a session, from its start to its end."""
        ahead = list(self.moves)
        await self._drive(None)
        while not await self._is_over(SESSION):
            await self._move(ahead.pop(0) if ahead else "answer")
        return await self.outside.log.read(SESSION)

    async def _is_over(self, session: str) -> bool:
        return (await self.outside.session(session)).status in ENDED

    async def _move(self, move: str) -> None:
        crash = int(move[-1]) if move.startswith("crash") else None
        if move in ("pause", "interrupt"):
            driving = asyncio.create_task(self._drive(None))
            await self.outside.pause(SESSION, interrupt=move == "interrupt")
            await driving
        info = await self.outside.session(SESSION)
        if info.status == "paused":
            await self.outside.resume(SESSION)
        elif info.pending:
            # Ids are random; the history must not be.
            question = max(info.pending, key=lambda one: (one.run or "", one.prompt))
            await respond(self.outside, question)
        await self._drive(crash)

    async def _drive(self, crash: int | None) -> None:
        log = FaultyLog(self._open())
        if crash:
            log.crash(**{"before" if crash % 2 else "after": crash})
        board = Callboard(log, [self.workflow], self.clock)
        try:
            if await self.outside.log.head(SESSION):
                await board.recover()
            else:
                await board.run(self.workflow, "given", session_id=SESSION)
        except Crashed:
            await self._drive(None)

    async def finish(self, session: str) -> list[Event]:
        """Drive a session to its end, answering whatever it asks."""
        while not await self._is_over(session):
            info = await self.outside.drive(session)
            for question in info.pending:
                await respond(self.outside, question)
            if info.status == "paused":
                await self.outside.resume(session)
        return await self.outside.log.read(session)


def history(phases: Sequence[Spec], moves: Sequence[str] = ()) -> tuple[Play, list[Event]]:
    """Run a workflow made by chance; gives the play, and the events of its session."""
    play = Play(build(phases), moves)
    return play, asyncio.run(play.history())
