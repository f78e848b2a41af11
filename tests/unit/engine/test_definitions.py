"""A wrong definition fails where it is defined, naming workflow, phase and fix."""

from dataclasses import dataclass
from typing import Any

import pytest

from callboard import Approval, Choice, Escalate, Phase, Retry, State, Workflow, agent
from callboard.errors import DefinitionError


class Empty(State):
    """A state with nothing of its own."""


@agent
async def work(state: Any) -> str:
    return "done"


def define(*phases: Phase, state: Any = Empty) -> Workflow:
    return Workflow("w", state=state, phases=list(phases))


END = Phase("end", terminal=True)


async def _later(state: Any) -> Any:
    return None


later: Any = _later


@pytest.mark.parametrize(
    ("phases", "said"),
    [
        ([], "no phases"),
        ([Phase("a", agent=work)], "phase 'a': it has no next phase"),
        ([Phase("a", agent=work, next="a", terminal=True)], "both next and terminal"),
        ([Phase("a", next="end"), Phase("a", next="end"), END], "two phases have this name"),
        ([Phase("a", next="b"), END], "next leads to 'b', which does not exist; known: a, end"),
        ([Phase("a", next=lambda s: "x", to=["x"]), END], "next leads to 'x'"),
        ([Phase("a", next="b"), Phase("b", next="a"), END], "never ends"),
        ([Phase(terminal=True)], "neither a name nor an agent"),
        ([Phase("a", update=lambda s, o: None, terminal=True)], "update needs an agent"),
        ([Phase("a", retry=Retry(), terminal=True)], "retry needs an agent"),
        ([Phase("a", agent=work, parallel=2, terminal=True)], "parallel needs for_each"),
        (
            [Phase("a", agent=work, for_each=lambda s: [], parallel=0, terminal=True)],
            "parallel must be at least 1",
        ),
        ([Phase("a", agent=work, timeout=0, terminal=True)], "timeout must be more than 0"),
        ([Phase("a", human="Ok?", terminal=True)], "human must be Approval"),  # pyright: ignore
        ([Phase("a", on_answer=lambda s, r: None, terminal=True)], "on_answer needs human"),
        (
            [Phase("a", before="x", terminal=True)],  # pyright: ignore[reportArgumentType]
            "phase 'a': before must be a function of (state, ctx)",
        ),
        (
            [Phase("a", after=1, terminal=True)],  # pyright: ignore[reportArgumentType]
            "phase 'a': after must be a function of (state, output, ctx)",
        ),
        (
            [Phase("a", guard=True, terminal=True)],  # pyright: ignore[reportArgumentType]
            "phase 'a': guard must be a function of (state)",
        ),
        (
            [Phase("a", before=later, terminal=True)],
            "phase 'a': before is an `async def`, which is never awaited; write it with `def`",
        ),
        ([Phase("a", next=later), END], "phase 'a': next is an `async def`"),
        (
            [Phase("a", agent=work, on_error="pause", terminal=True)],  # pyright: ignore[reportArgumentType]
            "phase 'a': on_error='pause'; use \"fail\" or \"ask\"",
        ),
        ([Phase("a", on_error="ask", terminal=True)], "phase 'a': on_error needs an agent"),
    ],
)
def test_wrong_phases_are_named(phases: list[Phase], said: str) -> None:
    with pytest.raises(DefinitionError) as caught:
        define(*phases)
    assert said in caught.value.message
    assert "'w'" in caught.value.message
    assert caught.value.code == "WRONG_DEFINITION"


@pytest.mark.parametrize(
    ("make", "said"),
    [
        (lambda: Choice("Which?", []), "needs options"),
        (lambda: Choice("Which?", "abc"), "needs options"),
        (lambda: Choice("Which?", ["a", "a"]), "must be different"),
        (lambda: Approval("  "), "needs a prompt"),
        (lambda: Approval("Ok?", timeout=-1), "timeout must be more than 0"),
        (lambda: Approval("Ok?", on_timeout="approve"), "on_timeout needs a timeout"),
        (lambda: Approval("Ok?", timeout=1, on_timeout="maybe"), "'maybe' is not known"),
        (lambda: Choice("?", ["a"], timeout=1, on_timeout="b"), "not one of the options"),
        (lambda: Approval("Ok?", timeout=1, on_timeout=Escalate(to=[])), "someone to escalate to"),
        (lambda: Retry(attempts=0), "at least 1"),
    ],
)
def test_wrong_parts_are_named(make: Any, said: str) -> None:
    with pytest.raises(DefinitionError, match=said):
        make()


def test_a_plain_state_needs_a_place_for_answers() -> None:
    @dataclass
    class Plain:
        city: str = ""

    with pytest.raises(DefinitionError, match="no human_response and no approved"):
        define(Phase("ask", human=Approval("Ok?"), terminal=True), state=Plain)


def test_a_phase_takes_its_agents_name_and_phases_may_be_a_mapping() -> None:
    assert list(define(Phase(agent=work, terminal=True)).steps) == ["work"]
    by_name = Workflow(
        "w", state=Empty, phases={"a": Phase(agent=work, next="b"), "b": Phase(terminal=True)}
    )
    assert list(by_name.steps) == ["a", "b"]


def test_a_phase_that_only_asks_is_called_by_its_place() -> None:
    ask = Phase(human=Approval("Ok?"), next="human-2")
    assert list(define(ask, Phase(human=Approval("Sure?"), terminal=True), state=dict).steps) == [
        "human-1",
        "human-2",
    ]
    with pytest.raises(DefinitionError, match="'human-1': two phases have this name"):
        define(ask, Phase("human-1", human=Approval("Ok?"), terminal=True), state=dict)


def test_something_that_is_no_agent_is_refused() -> None:
    with pytest.raises(DefinitionError, match="int is not an agent"):
        define(Phase("a", agent=5, terminal=True))  # pyright: ignore


def test_a_plain_generator_is_refused() -> None:
    with pytest.raises(DefinitionError, match="async def"):

        @agent
        def stream(state: Any) -> Any:  # pyright: ignore[reportUnusedFunction]
            yield "x"
