"""How to define a workflow: a name, a state, and phases."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace

from callboard.drafts.shape import StateType
from callboard.engine.checks import check_phases, check_routes, check_state
from callboard.engine.function_agent import FunctionAgent, fitting
from callboard.engine.inputs import InputType
from callboard.engine.phase import AgentLike, Phase, Step, Uncertain
from callboard.engine.ports import Agent, is_agent
from callboard.engine.titles import Title, checked_title
from callboard.errors import DefinitionError
from callboard.events.envelope import Json


class Workflow:
    """A definition that sessions run: checked when it is created, and immutable.

    Args:
        name: The name that sessions and people use.
        state: The type of its state: a `State`, a pydantic model, a dataclass, a TypedDict or dict.
        phases: The phases. Sessions start with the first one.
        start: `(state, input)`: prepares the state from the session's input.
        version: Recorded with every session that starts.
        title: What people call a session: text, or a function `(state, input)` that returns it,
            called once after `start`.
        on_uncertain: What to do with an agent that was running when its process died: see Phase.
        status_phases: What status files show instead of the phases: a function `(story)` that
            returns them, each with title, agent and status.
    """

    def __init__(  # noqa: PLR0913 - public API, nearly all by keyword
        self,
        name: str,
        *,
        state: object,
        phases: Sequence[Phase] | Mapping[str, Phase],
        start: Callable[..., object] | None = None,
        version: str | None = None,
        title: Title = None,
        on_uncertain: Uncertain = "retry",
        status_phases: Callable[..., Sequence[Mapping[str, Json]]] | None = None,
    ) -> None:
        self.name = name
        self.version = version
        self.title: Title = fitting(title, 2) if callable(title) else checked_title(title)
        self.on_uncertain: Uncertain = on_uncertain
        self.status_phases = status_phases
        self.start = fitting(start, 2) if start else None
        self._input = InputType(name, start)
        listed = [_named(phase, place) for place, phase in enumerate(_listed(name, phases), 1)]
        check_phases(name, listed, on_uncertain)
        steps = [_step(phase, on_uncertain) for phase in listed]
        self.steps: dict[str, Step] = {step.name: step for step in steps}
        self.first = steps[0].name
        self.state_type = StateType(state, name=name)
        check_routes(name, self.steps)
        check_state(name, self.steps, self.state_type)

    @property
    def input_schema(self) -> dict[str, Json] | None:
        """The JSON Schema of the input; None if `start` doesn't declare one."""
        return self._input.schema

    @property
    def input_name(self) -> str | None:
        """The name that `start` uses for its input; None if it takes no input."""
        return self._input.name

    @property
    def input_about(self) -> str | None:
        """What `start`'s docstring says about it, if it takes an input."""
        return self._input.about if self._input.name else None

    def check_input(self, value: object) -> None:
        """Raise ValidationError if `start` doesn't accept this value."""
        self._input.check(value)

    def __repr__(self) -> str:
        return f"Workflow({self.name!r}, {' → '.join(self.steps)})"


def _listed(name: str, phases: Sequence[Phase] | Mapping[str, Phase]) -> list[Phase]:
    if isinstance(phases, Mapping):
        return [replace(phase, name=key) for key, phase in phases.items()]
    if any(not isinstance(phase, Phase) for phase in phases):  # pyright: ignore[reportUnnecessaryIsInstance]
        raise DefinitionError(f"Workflow {name!r}: phases must be a list or dict of Phase(...).")
    return list(phases)


def _agent(given: AgentLike) -> Agent:
    if is_agent(given):
        return given
    if callable(given):
        return FunctionAgent(given)
    module = type(given).__module__.partition(".")[0]
    fix = (
        "Wrap it: callboard.agents.pydantic_ai.PydanticAgent(agent, prompt=...)."
        if module == "pydantic_ai"
        else "Give a function, or something made with @agent."
    )
    raise DefinitionError(f"{type(given).__name__} is not an agent. {fix}")


def _named(phase: Phase, place: int) -> Phase:
    """The phase with its agent and its name: its own name, its agent's, or `human-N`."""
    if phase.agent is None:
        asks = phase.human is not None
        return replace(phase, name=phase.name or f"human-{place}") if asks else phase
    agent = _agent(phase.agent)
    return replace(phase, agent=agent, name=phase.name or agent.name)


def _step(phase: Phase, on_uncertain: Uncertain) -> Step:
    human = phase.human
    return Step(
        name=phase.name or "",
        phase=phase,
        before=fitting(phase.before, 2) if phase.before else None,
        agent=phase.agent if is_agent(phase.agent) else None,
        update=fitting(phase.update, 2) if phase.update else None,
        human=fitting(human, 2) if callable(human) else human,
        on_answer=fitting(phase.on_answer, 2) if phase.on_answer else None,
        after=fitting(phase.after, 3) if phase.after else None,
        next=fitting(phase.next, 2) if callable(phase.next) else phase.next,
        until=fitting(phase.until, 2) if phase.until else None,
        on_uncertain=phase.on_uncertain or on_uncertain,
    )
