"""Workflows that between them use everything, and the world that their agents change.

What an agent returns depends on its place alone, never on how often it was tried: so a run that
was crashed must end like one that was not.
"""

import asyncio
from collections import Counter
from collections.abc import AsyncGenerator, Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from callboard import (
    Approval,
    Choice,
    Context,
    Escalate,
    Interactive,
    Output,
    Phase,
    Retry,
    State,
    Text,
    Thinking,
    ToolCall,
    ToolResult,
    Workflow,
    agent,
)
from callboard.board.human import Human
from callboard.clock import Clock
from callboard.engine.context import PhaseContext
from callboard.engine.phase import Uncertain
from callboard.testing.faults import Crashed


class Notes(State):
    seen: list[Any] = []
    count: int = 0


def note(state: Notes, output: Any) -> None:
    state.seen.append(output)
    state.count += 1


@dataclass
class World:
    """What lies outside every process: it remembers, and does nothing for the dead."""

    clock: Clock
    uncertain: Uncertain = "retry"
    dead: Callable[[], bool] = lambda: False
    pause: Callable[[str], Awaitable[Any]] | None = None
    human: Human | None = None
    calls: Counter[str] = field(default_factory=Counter[str])
    effects: Counter[str] = field(default_factory=Counter[str])

    def call(self, ctx: Context | PhaseContext) -> int:
        """An agent begins to work, or a function of a phase; which time that is."""
        self._check()
        self.calls[ctx.key] += 1
        return self.calls[ctx.key]

    def do(self, ctx: Context, what: str) -> str:
        """An effect that must not be repeated."""
        self._check()
        self.effects[f"{ctx.key}:{what}"] += 1
        return f"{what} done"

    def _check(self) -> None:
        if self.dead():
            raise Crashed


Build = Callable[[World], Workflow]


@dataclass(frozen=True)
class Ending:
    """How people end an interactive session."""

    outcome: str
    response: Any = None


@dataclass(frozen=True)
class Scenario:
    """A workflow, and how people answer its questions; to the others nobody answers."""

    name: str
    build: Build
    answers: Mapping[str, Any] = field(default_factory=dict[str, Any])

    def __str__(self) -> str:
        return self.name


def flow(world: World, name: str, *phases: Phase, start: Any = None) -> Workflow:
    return Workflow(name, state=Notes, phases=phases, start=start, on_uncertain=world.uncertain)


def worker(world: World, name: str = "worker") -> Any:
    @agent(name=name)
    async def work(state: Notes, ctx: Context) -> str:
        world.call(ctx)
        await asyncio.sleep(0)
        return f"{ctx.phase} {ctx.visit}"

    return work


def approval_loop(world: World) -> Workflow:
    def route(state: Notes) -> str:
        return "send" if state.approved else "draft"

    return flow(
        world,
        "approval loop",
        Phase("draft", agent=worker(world), update=note, next="review"),
        Phase("review", human=Approval(lambda s: f"Send draft {s.count}?"), next=route),
        Phase("send", agent=worker(world), update=note, terminal=True),
    )


def choice(world: World) -> Workflow:
    return flow(
        world,
        "choice",
        Phase(
            "pick",
            agent=worker(world),
            update=note,
            human=lambda state, output: Choice("Which way?", ["left", "right"], other=True),
            next=lambda state: state.human_response["value"],
            to=["left", "right"],
        ),
        Phase("left", agent=worker(world), update=note, terminal=True),
        Phase("right", agent=worker(world), update=note, terminal=True),
    )


def items(world: World) -> Workflow:
    async def work(state: Notes, ctx: Context) -> str:
        world.call(ctx)
        await world.clock.sleep(1 + (ctx.index or 0) % 2)
        if ctx.item == "c":
            raise ValueError("c never works")
        return f"{ctx.item}{ctx.index}"

    return flow(
        world,
        "items",
        Phase(
            "each",
            agent=agent(work),
            for_each=lambda state: list("abcde"),
            parallel=2,
            on_item_error="skip",
            update=note,
            next="end",
        ),
        Phase("end", agent=worker(world), update=note, terminal=True),
    )


def retry(world: World) -> Workflow:
    async def work(state: Notes, ctx: Context) -> str:
        if world.call(ctx) < 3:
            raise ConnectionError("not yet")
        return "at last"

    return flow(
        world,
        "retry",
        Phase("try", agent=agent(work), update=note, retry=Retry(9, backoff=60), next="end"),
        Phase("end", terminal=True),
    )


def asking(world: World) -> Workflow:
    async def work(state: Notes, ctx: Context) -> list[Any]:
        world.call(ctx)
        charged = await ctx.once("charge", lambda: world.do(ctx, "charge"))
        sure = await ctx.ask("Really?")
        whom = await ctx.choose("Whom?", ["Ann", "Bob"])
        sent = await ctx.once("send", lambda: world.do(ctx, f"send to {whom}"))
        return [charged, sure, whom, sent]

    return flow(
        world,
        "asking",
        Phase("pay", agent=agent(work), update=note, next="end"),
        Phase("end", agent=worker(world), update=note, terminal=True),
    )


def gathering(world: World) -> Workflow:
    async def work(state: Notes, ctx: Context) -> list[Any]:
        world.call(ctx)
        answers = await asyncio.gather(
            ctx.ask("First?"), ctx.ask("Second?"), ctx.ask("Same?", key="a"), ctx.ask("First?")
        )
        return [*answers, await ctx.ask("Same?", key="b")]

    return flow(
        world,
        "gathering",
        Phase("ask", agent=agent(work), update=note, timeout=30, terminal=True),
    )


def asking_items(world: World) -> Workflow:
    async def work(state: Notes, ctx: Context) -> str:
        world.call(ctx)
        return await ctx.choose(f"{ctx.item}?", ["x", "y"])

    return flow(
        world,
        "asking items",
        Phase(
            "each",
            agent=agent(work),
            for_each=lambda state: ["a", "b", "c"],
            parallel=2,
            update=note,
            human=Approval("All fine?"),
            terminal=True,
        ),
    )


def deadlines(world: World) -> Workflow:
    async def work(state: Notes, ctx: Context) -> list[bool]:
        world.call(ctx)
        return [
            await ctx.ask("Anyone?", timeout=10, on_timeout="approve"),
            await ctx.ask("No one?", timeout=10, on_timeout="reject"),
        ]

    escalating = Escalate("boss", after=60, then=Escalate("owner", after=60, then="reject"))
    return flow(
        world,
        "deadlines",
        Phase("wait", human=Approval("In time?", 60, on_timeout=escalating), next="ask"),
        Phase("ask", agent=agent(work), update=note, next="remind"),
        Phase("remind", human=Approval("Still there?", timeout=60), next="end"),
        Phase("end", agent=worker(world), update=note, terminal=True),
    )


def streaming(world: World) -> Workflow:
    async def work(state: Notes, ctx: Context) -> AsyncGenerator[Any, None]:
        world.call(ctx)
        yield Thinking("hmm")
        yield Text("one ")
        await world.clock.sleep(0.1)
        yield Text("two ")
        yield ToolCall("t", "look", {"at": 1})
        yield ToolResult("t", "seen")
        yield Text("three")
        yield Output("one two three", {"tokens": 3})

    return flow(
        world,
        "streaming",
        Phase("talk", agent=agent(work), update=note, next="end"),
        Phase("end", terminal=True),
    )


def guards(world: World) -> Workflow:
    return flow(
        world,
        "guards",
        Phase(
            "count",
            agent=worker(world),
            update=note,
            until=lambda state, output: state.count == 3,
            next="never",
        ),
        Phase("never", agent=worker(world), guard=lambda s: s.count > 3, next="loop"),
        Phase(
            "loop",
            agent=worker(world),
            update=note,
            human=lambda s: Approval("Again?") if s.count < 5 else None,
            next=lambda s: "loop" if s.approved else "end",
            to=["loop", "end"],
        ),
        Phase("end", guard=lambda s: False, agent=worker(world), terminal=True),
    )


def pausing(world: World) -> Workflow:
    async def work(state: Notes, ctx: Context) -> str:
        if world.call(ctx) == 1 and world.pause:
            await world.pause(ctx.session_id)
        sure = await ctx.ask(f"Sure of {ctx.phase}?")
        return f"{ctx.phase} {sure}"

    return flow(
        world,
        "pausing",
        Phase("one", agent=agent(work), update=note, next="two"),
        Phase("two", agent=agent(work), update=note, human=Approval("Done?"), terminal=True),
    )


def deciding(world: World) -> Workflow:
    """Interactive sessions on a phase and in an agent, one left open behind, one that halts."""

    async def work(state: Notes, ctx: Context) -> list[Any]:
        world.call(ctx)
        looked = await ctx.interactive("Look at it", outcome_schema={"type": "approval"})
        nobody = await ctx.interactive("Anyone?", within=60)
        assert world.human is not None
        await world.human.request_interactive("And later?", key=ctx.key)
        return [looked.approved, looked.duration, nobody.outcome]

    def keep(state: Notes, response: Any) -> None:
        state.seen.append([response.value, response.approved, response.outcome])

    return flow(
        world,
        "deciding",
        Phase("look", agent=agent(work), update=note, next="review"),
        Phase("review", human=Interactive("Review it"), on_answer=keep, next="halt"),
        Phase(
            "halt",
            human=Interactive("All of you", halt_execution=True, required_participants=["a", "b"]),
            on_answer=keep,
            next="end",
        ),
        Phase("end", agent=worker(world), update=note, terminal=True),
    )


def leaving(world: World) -> Workflow:
    """An interactive session that nobody waits for: it outlives the workflow."""

    async def work(state: Notes, ctx: Context) -> str:
        world.call(ctx)
        assert world.human is not None
        await world.human.request_interactive(
            f"And {ctx.phase}?", key=ctx.key, block_orchestration=False
        )
        return "left"

    return flow(
        world,
        "leaving",
        Phase("one", agent=agent(work), update=note, next="two"),
        Phase("two", agent=agent(work), update=note, terminal=True),
    )


def around(world: World) -> Workflow:
    """Functions before and after the work of a phase, of which some change nothing."""

    def before(state: Notes, ctx: PhaseContext) -> None:
        world.call(ctx)
        state.seen.append(f"before {ctx.phase} {ctx.visit}")

    def after(state: Notes, output: Any, ctx: PhaseContext) -> None:
        world.call(ctx)
        state.seen.append([f"after {ctx.phase} {ctx.visit}", output, state.approved])

    def look(state: Notes, ctx: PhaseContext) -> None:
        world.call(ctx)

    return flow(
        world,
        "around",
        Phase(
            "work",
            agent=worker(world),
            update=note,
            before=before,
            after=after,
            human=lambda state: Approval(f"Enough at {state.count}?"),
            until=lambda state: state.approved,
            next="each",
        ),
        Phase(
            "each",
            agent=worker(world),
            before=before,
            for_each=lambda state: state.seen[-1:],
            after=after,
            next="alone",
        ),
        Phase("alone", before=look, after=after, next="end"),
        Phase("end", human=Approval("Done?"), before=look, terminal=True),
    )


def failing(world: World) -> Workflow:
    """Agents that never work: a person has them tried again, and then goes on without them."""

    async def work(state: Notes, ctx: Context) -> str:
        world.call(ctx)
        if ctx.item == "fine":
            return "fine"
        raise ConnectionError(f"{ctx.item} is out")

    def phase(name: str, **options: Any) -> Phase:
        options |= {"update": note, "on_error": "ask"}
        return Phase(name, agent=agent(name="work")(work), **options)

    return flow(
        world,
        "failing",
        phase("one", before=lambda state: None, after=lambda state: None, next="each"),
        phase("each", for_each=lambda state: ["a", "fine", "b"], parallel=2, next="end"),
        Phase("end", agent=worker(world), update=note, terminal=True),
    )


SCENARIOS = [
    Scenario("approval loop", approval_loop, {"Send draft 1?": "no", "Send draft 2?": "yes"}),
    Scenario("choice", choice, {"Which way?": "right"}),
    Scenario("items", items),
    Scenario("retry", retry),
    Scenario("asking", asking, {"Really?": "yes", "Whom?": "Bob"}),
    Scenario("gathering", gathering, {"First?": "yes", "Second?": "no", "Same?": "yes"}),
    Scenario("asking items", asking_items, {"a?": "x", "b?": "y", "c?": "x", "All fine?": "yes"}),
    Scenario("deadlines", deadlines, {"Still there?": "yes"}),
    Scenario("streaming", streaming),
    Scenario("guards", guards, {"Again?": "yes"}),
    Scenario(
        "deciding",
        deciding,
        {
            "Look at it": Ending("completed", "approved"),
            "Review it": Ending("cancelled"),
            "All of you": Ending("completed", "fine"),
            "And later?": Ending("failed"),
        },
    ),
    Scenario(
        "leaving",
        leaving,
        {"And one?": Ending("completed", "fine"), "And two?": Ending("failed")},
    ),
    Scenario(
        "around",
        around,
        {"Enough at 1?": "no", "Enough at 2?": "yes", "Done?": "yes"},
    ),
    Scenario(
        "failing",
        failing,
        {
            "'work' failed once in phase 'one': None is out": "Retry",
            "'work' failed 2 times in phase 'one': None is out": "Skip",
            "'work' failed once on item 1 of 3 in phase 'each': a is out": "Skip",
            "'work' failed once on item 3 of 3 in phase 'each': b is out": "Retry",
            "'work' failed 2 times on item 3 of 3 in phase 'each': b is out": "Skip",
        },
    ),
    Scenario("pausing", pausing, {"Sure of one?": "yes", "Sure of two?": "no", "Done?": "yes"}),
]
