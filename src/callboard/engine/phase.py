"""One phase of a workflow: as users define it, and as the engine uses it."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal, Protocol

from callboard.engine.ports import Agent
from callboard.errors import DefinitionError
from callboard.interactions.questions import Duration, millis, seconds
from callboard.interactions.rendering import Question

OnError = Literal["fail", "ask"]
Uncertain = Literal["retry", "ask", "fail"]
AgentLike = Agent | Callable[..., object]
Timeout = Duration | Callable[..., Duration | None] | None


@dataclass(frozen=True, slots=True)
class Retry:
    """Retry a failed agent: at most `attempts` attempts in total, with a longer wait each time."""

    attempts: int = 3
    backoff: Duration = 1.0
    factor: float = 2.0

    def __post_init__(self) -> None:
        if self.attempts < 1:
            raise DefinitionError("Retry: attempts must be at least 1.")
        if seconds(self.backoff) < 0 or self.factor <= 0:
            raise DefinitionError(
                "Retry: backoff must not be negative, and factor must be greater than 0."
            )

    def delay_ms(self, failures: int) -> int | None:
        """How long to wait after this many failures; None if no attempts are left."""
        if failures >= self.attempts:
            return None
        return round(millis(self.backoff) * self.factor ** (failures - 1))


@dataclass(frozen=True, slots=True)
class Phase:
    """One step of a workflow: an optional agent, an optional question, and where to go next.

    Args:
        name: The phase's name. Defaults to the agent's name; a phase that only asks is called
            `human-N`, where N is its position from 1.
        agent: What does the work.
        update: `(state, output)`: updates the state with the agent's output.
        human: A question, or a function of `(state, output)` that returns one, or None to ask
            nothing.
        on_answer: `(state, response)`: updates the state with the person's answer. The answer
            itself stays in the state for the next phase's agent and `update`, and is reset before
            that phase asks or routes.
        next: The next phase's name, or a function of the state, or of state and output.
        terminal: The workflow ends after this phase.
        guard: `(state)`: if it returns false, the phase is skipped.
        retry: What to do when the agent fails.
        timeout: How long one attempt may run, or a function of the state that returns it. Time
            spent waiting for a person does not count.
        for_each: `(state)`: returns items; the agent runs once for each, with `ctx.item`.
        parallel: How many items to work on at once.
        until: `(state, output)`: if it returns false, the phase is entered again.
        on_item_error: Whether a failed item fails the phase (`"fail"`), is left out (`"skip"`), or
            is passed to `update` as ItemFailed (`"tell"`).
        to: The phases that a `next` function may return, for the graph and for the checks.
        on_uncertain: What to do with an agent that was running when its process died.
        before: `(state, ctx)`: updates the state once, before `for_each` and the agent. `ctx` has
            `session_id`, `workflow`, `phase`, `visit` and `key`.
        after: `(state, output, ctx)`: updates the state once, after the work is done and the
            question is answered, but before `until` and `next`. Not called if the phase was skipped
            or failed.
        on_error: What to do when the agent has failed and no attempts are left: `"fail"` the
            workflow, or `"ask"` a person, who can retry, skip the phase (with `for_each`, the item)
            or fail it.
        limit: The name of a limit. At most so many agents with this name run at once, in all
            processes and workflows that use the database. `callboard limit NAME NUMBER` sets the
            number; without one, there is no limit.
    """

    name: str | None = None
    agent: AgentLike | None = None
    update: Callable[..., object] | None = None
    human: Question | Callable[..., Question | None] | None = None
    on_answer: Callable[..., object] | None = None
    next: str | Callable[..., str] | None = None
    terminal: bool = False
    guard: Callable[..., object] | None = None
    retry: Retry | None = None
    timeout: Timeout = None
    for_each: Callable[..., Sequence[object]] | None = None
    parallel: int | None = None
    until: Callable[..., object] | None = None
    on_item_error: Literal["fail", "skip", "tell"] = "fail"
    to: Sequence[str] | None = None
    on_uncertain: Uncertain | None = None
    before: Callable[..., object] | None = None
    after: Callable[..., object] | None = None
    on_error: OnError = "fail"
    limit: str | None = None


@dataclass(frozen=True, slots=True)
class Step:
    """A phase with its name and agent settled and its functions ready to be called."""

    name: str
    phase: Phase
    before: Callable[..., object] | None
    agent: Agent | None
    update: Callable[..., object] | None
    human: Question | Callable[..., Question | None] | None
    on_answer: Callable[..., object] | None
    after: Callable[..., object] | None
    next: str | Callable[..., str] | None
    until: Callable[..., object] | None
    on_uncertain: Uncertain

    @property
    def is_straight(self) -> bool:
        """Whether only its agent can hold it up: it asks no one, and where it leads to is fixed."""
        if self.agent is None or self.before or self.after or self.human or self.until:
            return False
        phase = self.phase
        return not (phase.guard or phase.for_each or (callable(self.next) and not phase.terminal))

    @property
    def routes(self) -> bool:
        """Whether the next phase has to be decided: by `next`, or by `until`."""
        return not self.phase.terminal or self.until is not None

    @property
    def leads_to(self) -> tuple[str, ...] | None:
        """The phases that can follow this one; None if that is known only at run time."""
        phase = self.phase
        again = (self.name,) if phase.until else ()
        if phase.terminal:
            return again
        if isinstance(phase.next, str):
            return tuple(dict.fromkeys((phase.next, *again)))
        return tuple(dict.fromkeys((*phase.to, *again))) if phase.to else None


class Definition(Protocol):
    """What `decide` needs to know about a workflow."""

    @property
    def name(self) -> str:
        """The workflow's name."""
        ...

    @property
    def first(self) -> str:
        """The phase it starts with."""
        ...

    @property
    def steps(self) -> Mapping[str, Step]:
        """Its phases by name."""
        ...
