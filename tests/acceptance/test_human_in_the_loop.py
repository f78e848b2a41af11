"""The examples of the architecture decision on people in workflows, as its authors wrote them.

They are in TypeScript there. What differs here is the language: functions are lambdas,
`humanResponse` is `human_response`, and a config with a `type` is `Approval` or `Choice`.
"""

from dataclasses import dataclass
from typing import Any

import pytest
from pydantic import BaseModel

from callboard import Approval, Choice, Phase, State, Workflow, auto_approve, run
from callboard.events.envelope import Event


class Build(State):
    plan: list[str] = []
    made: list[str] = []
    input: str = ""


def begin(state: Build, given: str) -> None:
    state.input = given


def make(state: Build, output: Any) -> None:
    state.made.append(str(output))


def phases_of(events: list[Event]) -> list[str]:
    return [str(event.payload["phase"]) for event in events if event.name == "phase:entered"]


class Answers:
    """A handler as the seed has it, which answers in turn and remembers what it was asked."""

    def __init__(self, *answers: bool | str) -> None:
        self._answers = list(answers)
        self.prompts: list[str] = []

    async def approval(self, prompt: str) -> bool:
        self.prompts.append(prompt)
        return bool(self._answers.pop(0))

    async def choice(self, prompt: str, options: list[str]) -> str:
        self.prompts.append(f"{prompt} {options}")
        return str(self._answers.pop(0))


async def test_planned_checkpoint() -> None:
    """Always needs approval; a plan that was refused is made again."""

    async def planner(state: Build) -> list[str]:
        return [*state.plan, f"step {len(state.plan) + 1}"]

    async def execute(state: Build) -> str:
        return f"did {', '.join(state.plan)}"

    def keep(state: Build, output: list[str]) -> None:
        state.plan = output

    flow = Workflow(
        "planned",
        state=Build,
        start=begin,
        phases=[
            Phase(
                agent=planner,
                update=keep,
                human=Approval(lambda s: "Approve plan?\n" + "\n".join(s.plan)),
                next=lambda s: "execute" if s.approved else "planner",
                to=["execute", "planner"],
            ),
            Phase(agent=execute, update=make, terminal=True),
        ],
    )
    people = Answers(False, True)
    result = await run(flow, input="Hello", human_input=people)
    assert people.prompts == ["Approve plan?\nstep 1", "Approve plan?\nstep 1\nstep 2"]
    assert result.state.made == ["did step 1, step 2"]
    assert phases_of(result.events) == ["planner", "planner", "execute"]


class Label(BaseModel):
    label: str
    confidence: float


@pytest.mark.parametrize(("confidence", "asked"), [(0.7, ['Verify: "spam"?']), (0.9, [])])
async def test_conditional_question(confidence: float, asked: list[str]) -> None:
    """The agent returns a model and does not say so."""

    async def classifier(state: Build):  # type: ignore[no-untyped-def]
        return Label(label="spam", confidence=confidence)

    flow = Workflow(
        "conditional",
        state=Build,
        phases=[
            Phase(
                agent=classifier,
                human=lambda s, output: (
                    Approval(f'Verify: "{output.label}"?') if output.confidence < 0.8 else None
                ),
                terminal=True,
            )
        ],
    )
    people = Answers(True)
    result = await run(flow, human_input=people)
    assert (result.status, people.prompts) == ("completed", asked)
    assert result.state.approved is (True if asked else None)


async def test_dynamic_question() -> None:
    """The agent asks for help, with a question and options of its own."""
    reviews = [
        {
            "approved": False,
            "needsHuman": True,
            "humanPrompt": "Which?",
            "humanOptions": ["Redesign", "Patch"],
        },
        {"approved": False, "needsHuman": False},
        {"approved": True, "needsHuman": False},
    ]

    async def planner(state: Build) -> str:
        return f"planned after {state.human_response and state.human_response.value}"

    async def coder(state: Build) -> str:
        return "coded"

    def reviewer(state: Build) -> Any:
        return reviews.pop(0)

    def route(s: Build, output: Any) -> str:
        if output.approved:
            return "done"
        if s.human_response and s.human_response.value == "Redesign":
            return "planner"
        return "coder"

    flow = Workflow(
        "dynamic",
        state=Build,
        phases=[
            Phase(agent=coder, update=make, next="reviewer"),
            Phase(
                agent=reviewer,
                human=lambda s, output: (
                    Choice(output.humanPrompt, output.humanOptions) if output.needsHuman else None
                ),
                next=route,
                to=["done", "planner", "coder"],
            ),
            Phase(agent=planner, update=make, next="coder"),
            Phase("done", terminal=True),
        ],
    )
    people = Answers("Redesign")
    result = await run(flow, human_input=people)
    assert people.prompts == ["Which? ['Redesign', 'Patch']"]
    assert result.state.made == ["coded", "planned after Redesign", "coded", "coded"]


@pytest.mark.parametrize("picked", ["Fast", "Thorough", "Custom"])
async def test_branching_on_a_choice(picked: str) -> None:
    async def planner(state: Build) -> None:
        return None

    async def executor(state: Build, ctx: Any) -> str:
        # The answer is still there for the agent of the phase that it led to.
        assert state.human_response is not None
        return f"{ctx.phase} for {state.human_response.value}"

    paths = {"Fast": "fastPath", "Thorough": "thoroughPath", "Custom": "customPath"}
    flow = Workflow(
        "branching",
        state=Build,
        phases=[
            Phase(
                agent=planner,
                human=Choice("Choose approach:", ["Fast", "Thorough", "Custom"]),
                next=lambda s: paths[s.human_response.value],
                to=list(paths.values()),
            ),
            Phase(name="fastPath", agent=executor, update=make, terminal=True),
            Phase(name="thoroughPath", agent=executor, update=make, terminal=True),
            Phase(name="customPath", agent=executor, update=make, terminal=True),
        ],
    )
    result = await run(flow, human_input=Answers(picked))
    assert result.state.made == [f"{paths[picked]} for {picked}"]


async def test_human_only_phase() -> None:
    """A phase with neither agent nor name; the agent after it has the answer."""

    async def planner(state: Build) -> str:
        assert state.human_response is not None
        return f"a plan for {state.human_response.value}"

    async def execute(state: Build) -> str:
        return "done"

    flow = Workflow(
        "human only",
        state=Build,
        phases=[
            Phase(
                human=Choice("What do you want to build?", ["App", "API", "Library"]),
                next="planner",
            ),
            Phase(agent=planner, update=make, next="execute"),
            Phase(agent=execute, terminal=True),
        ],
    )
    result = await run(flow, human_input=Answers("API"))
    assert phases_of(result.events) == ["human-1", "planner", "execute"]
    assert result.state.made == ["a plan for API"]


async def test_several_approvals() -> None:
    """Research, approve, write, approve, publish."""

    async def research(state: Build) -> str:
        return "facts"

    async def write(state: Build) -> str:
        return "text"

    async def publish(state: Build) -> str:
        return "published"

    flow = Workflow(
        "several",
        state=Build,
        phases=[
            Phase(agent=research, update=make, human=Approval("Good facts?"), next="write"),
            Phase(
                agent=write,
                update=make,
                human=Approval("Good text?"),
                next=lambda s: "publish" if s.approved else "write",
                to=["publish", "write"],
            ),
            Phase(agent=publish, update=make, terminal=True),
        ],
    )
    people = Answers(True, False, True)
    result = await run(flow, human_input=people)
    assert people.prompts == ["Good facts?", "Good text?", "Good text?"]
    assert result.state.made == ["facts", "text", "text", "published"]


async def test_iterative_refinement() -> None:
    """The agent revises by what the person said, until they accept it."""

    async def draft(state: Build) -> str:
        said = state.human_response
        return f"draft {len(state.made) + 1}, told {said.value if said else 'nothing'}"

    flow = Workflow(
        "refine",
        state=Build,
        phases=[
            Phase(
                agent=draft,
                update=make,
                human=Choice("Good?", ["Accept"], other=True),
                until=lambda s: s.human_response.value == "Accept",
                terminal=True,
            )
        ],
    )
    result = await run(flow, human_input=Answers("shorter", "bolder", "Accept"))
    assert result.state.made == [
        "draft 1, told nothing",
        "draft 2, told shorter",
        "draft 3, told bolder",
    ]


async def test_event_flow_and_built_in_handlers() -> None:
    @dataclass
    class Plan:
        steps: list[str]

    async def planner(state: Build):  # type: ignore[no-untyped-def]
        return Plan(["one"])

    flow = Workflow(
        "events",
        state=Build,
        start=begin,
        phases=[
            Phase(
                agent=planner,
                update=lambda s, output: s.plan.extend(output.steps),
                human=Choice("Which?", ["first", "second"]),
                next="end",
            ),
            Phase("end", terminal=True),
        ],
    )
    result = await run(flow, input="Hello", human_input=auto_approve())
    flown = ["agent:completed", "input:requested", "input:received", "phase:exited"]
    assert [event.name for event in result.events if event.name in flown] == [
        *flown,
        "phase:exited",
    ]
    told = {event.name: event.payload for event in result.events}
    asked, received = told["input:requested"], told["input:received"]
    assert (asked["prompt"], asked["type"]) == ("Which?", "choice")
    assert asked["options"] == ["first", "second"]
    assert (received["id"], received["value"]) == (asked["id"], "first")
    assert result.state.plan == ["one"]
