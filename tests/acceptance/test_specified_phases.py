"""What the document on people in phases says beside its examples, shown by whole runs."""

from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

import callboard
from callboard import (
    Approval,
    Callboard,
    Choice,
    Event,
    Phase,
    State,
    Workflow,
    agent,
    auto_approve,
    run,
)
from callboard.drivers.execution import Execution
from callboard.engine.ports import Agent
from callboard.events import names


class Work(State):
    plan: list[str] = []


@dataclass
class Person:
    """Answers from a list, and remembers what was asked."""

    answers: list[Any]
    asked: list[tuple[str, list[str] | None]] = field(default_factory=list[Any])

    async def approval(self, prompt: str) -> bool:
        self.asked.append((prompt, None))
        return self.answers.pop(0)

    async def choice(self, prompt: str, options: list[str]) -> str:
        self.asked.append((prompt, options))
        return self.answers.pop(0)


def saying(name: str, output: Any = None) -> Agent:
    """An agent that returns this."""

    async def says(state: Work) -> Any:
        return output

    says.__name__ = name
    return agent(says)


def plans(state: Work, output: Any) -> None:
    state.plan = list(output)


def defined(*phases: Phase) -> Workflow:
    return Workflow("w", state=Work, phases=list(phases))


def a_planned_checkpoint() -> Workflow:
    return defined(
        Phase(
            agent=saying("planner", ["ask", "write"]),
            update=plans,
            human=Approval(lambda s: "Approve plan?\n" + "\n".join(s.plan)),
            next=lambda s: "execute" if s.approved else "planner",
        ),
        Phase(agent=saying("execute"), terminal=True),
    )


async def test_prompt_and_options_follow_from_the_state():
    flow = defined(
        Phase(
            agent=saying("planner", ["north", "south"]),
            update=plans,
            human=Choice(lambda s: f"{len(s.plan)} ways:", lambda s: s.plan),
            terminal=True,
        )
    )
    person = Person(["south"])
    result = await run(flow, human_input=person)
    assert person.asked == [("2 ways:", ["north", "south"])]
    assert result.state.human_response.value == "south"


HANDLERS: list[Callable[[], Any]] = [
    lambda: Person([True, "Fast"]),
    lambda: {"approval": Person([True]).approval, "choice": Person(["Fast"]).choice},
    auto_approve,
]


@pytest.mark.parametrize("handler", HANDLERS, ids=["object", "mapping", "auto_approve"])
async def test_who_calls_brings_the_handler(handler: Callable[[], Any]):
    flow = defined(
        Phase("first", human=Approval("Go?"), next="second"),
        Phase("second", human=Choice("How?", ["Fast", "Slow"]), terminal=True),
    )
    result = await run(flow, input="Hello", human_input=handler())
    answers = [(one["value"], one.get("approved")) for one in names.RECEIVED.among(result.events)]
    assert answers == [("yes", True), ("Fast", None)]


async def test_the_flow_of_events():
    """Agent completed, input requested, input received, then routing, then the next phase."""
    result = await run(a_planned_checkpoint(), human_input=Person([True]))
    wanted = {
        "agent:completed",
        "input:requested",
        "input:received",
        "phase:exited",
        "phase:entered",
    }
    order = [event for event in result.events if event.name in wanted]
    first = order[1:6]
    assert [event.name for event in first] == [
        "agent:completed",
        "input:requested",
        "input:received",
        "phase:exited",
        "phase:entered",
    ]
    assert first[3].payload["next"] == "execute"
    assert _answered_before_routing(result.events)


def _answered_before_routing(events: list[Event]) -> bool:
    """The answer is in the state before the phase is left."""
    at = {event.name: event.position for event in events if event.name == "input:received"}
    written = [e.position for e in events if e.name == names.INTENT and _sets_answer(e)]
    left = next(e.position for e in events if e.name == "phase:exited")
    return any(at["input:received"] < position < left for position in written)


def _sets_answer(event: Event) -> bool:
    return any(
        patch["path"] == "/humanResponse"
        for change in names.INTENT.among([event])
        for patch in change["patches"]
    )


async def test_each_request_has_an_id_of_its_own_and_its_answer_the_same():
    result = await run(a_planned_checkpoint(), human_input=Person([False, False, True]))
    asked = [one["id"] for one in names.REQUESTED.among(result.events)]
    assert len(set(asked)) == 3
    assert [one["id"] for one in names.RECEIVED.among(result.events)] == asked


async def test_human_and_next_are_evaluated_once_over_processes(tmp_path: Path):
    """What they answered is recorded, so that a session that continues asks nothing else."""
    calls: list[str] = []

    def human(state: Work, output: Any) -> Approval:
        calls.append("human")
        return Approval(f"Question {len(calls)}")

    def route(state: Work) -> str:
        calls.append("next")
        return "planner"

    flow = defined(
        Phase("ask", agent=saying("asker"), human=human, next=route),
        Phase(agent=saying("planner"), human=Approval("Done?"), terminal=True),
    )
    waiting = await run(flow, db=tmp_path / "x.db")
    for answered in range(2):
        async with Callboard.open(tmp_path / "x.db", [flow]) as board:
            await board.drive(waiting.session_id)
            [question] = await board.inbox(waiting.session_id)
            assert question.prompt == ("Done?" if answered else "Question 1")
            await board.answer(question.id, "yes")
            await board.drive(waiting.session_id)
    assert calls == ["human", "next"]


async def test_what_was_removed_is_not_there():
    assert not hasattr(Execution, "respond")
    assert not {"Interaction", "create_interaction"} & set(callboard.__all__)
