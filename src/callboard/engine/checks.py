"""Checks a definition and raises errors that name the phase and the fix."""

import inspect
from collections.abc import Iterator, Mapping, Sequence
from typing import NoReturn

from callboard.drafts.shape import StateType
from callboard.engine.phase import Phase, Step
from callboard.errors import DefinitionError
from callboard.events.limits import LIMIT_NAME, is_limit_name
from callboard.interactions.questions import seconds
from callboard.interactions.rendering import is_question


def check_phases(workflow: str, phases: Sequence[Phase], on_uncertain: str) -> None:
    """Check each phase on its own, and that their names are unique."""
    if not isinstance(workflow, str) or not workflow.strip():  # pyright: ignore[reportUnnecessaryIsInstance]
        raise DefinitionError("A workflow needs a name: Workflow('trip', ...).")
    if not phases:
        raise DefinitionError(f"Workflow {workflow!r} has no phases. Add at least one.")
    if on_uncertain not in ("retry", "ask", "fail"):
        raise DefinitionError(
            f"Workflow {workflow!r}: on_uncertain={on_uncertain!r} is not known. "
            'Use "retry", "ask" or "fail".'
        )
    seen: set[str] = set()
    for index, phase in enumerate(phases):
        name = phase.name
        if not name:
            what = "it has neither a name nor an agent to take one from; add name='...'"
            _wrong(workflow, f"number {index + 1}", what)
        if name in seen:
            _wrong(workflow, name, "two phases have this name; rename one")
        seen.add(name)
        for what in _faults(phase):
            _wrong(workflow, name, what)


def _faults(phase: Phase) -> Iterator[str]:
    """What is wrong with a phase on its own, first problem first."""
    if phase.terminal and phase.next is not None:
        yield "it has both next and terminal; remove one of them"
    if not phase.terminal and phase.next is None:
        yield "it has no next phase; add next='...' or terminal=True"
    if phase.agent is None:
        yield from _agentless_faults(phase)
    if phase.human is not None and not (callable(phase.human) or is_question(phase.human)):
        allowed = "Approval(...), Choice(...), Interactive(...) or a function that returns one"
        yield f"human must be {allowed}"
    if phase.on_answer is not None and phase.human is None:
        yield "on_answer needs human; add human=Approval(...) or Choice(...)"
    if phase.limit is not None and not is_limit_name(phase.limit):
        yield f"limit={phase.limit!r}; use {LIMIT_NAME}"
    yield from _function_faults(phase)
    yield from _number_faults(phase)


def _agentless_faults(phase: Phase) -> Iterator[str]:
    for option in ("update", "retry", "timeout", "for_each", "on_uncertain", "limit"):
        if getattr(phase, option) is not None:
            yield f"{option} needs an agent; add agent=..."
    if phase.on_error == "ask":
        yield "on_error needs an agent; add agent=..."


_FUNCTIONS = {
    "before": "(state, ctx)",
    "update": "(state, output)",
    "on_answer": "(state, response)",
    "after": "(state, output, ctx)",
    "guard": "(state)",
    "for_each": "(state)",
    "until": "(state, output)",
}


def _function_faults(phase: Phase) -> Iterator[str]:
    for option, takes in _FUNCTIONS.items():
        function = getattr(phase, option)
        if function is not None and not callable(function):
            yield f"{option} must be a function of {takes}"
    for option in (*_FUNCTIONS, "human", "next"):
        if inspect.iscoroutinefunction(getattr(phase, option)):
            fix = "write it with `def`, and await things in the agent"
            yield f"{option} is an `async def`, which is never awaited; {fix}"


def _number_faults(phase: Phase) -> Iterator[str]:
    if phase.parallel is not None and phase.for_each is None:
        yield "parallel needs for_each; add for_each=lambda state: [...]"
    if phase.parallel is not None and phase.parallel < 1:
        yield "parallel must be at least 1"
    limit = None if callable(phase.timeout) else phase.timeout
    if limit is not None and seconds(limit) <= 0:
        yield "timeout must be more than 0 seconds"
    if phase.on_item_error not in ("fail", "skip", "tell"):
        yield f'on_item_error={phase.on_item_error!r}; use "fail", "skip" or "tell"'
    if phase.on_error not in ("fail", "ask"):
        yield f'on_error={phase.on_error!r}; use "fail" or "ask"'
    if phase.on_uncertain not in (None, "retry", "ask", "fail"):
        yield f'on_uncertain={phase.on_uncertain!r}; use "retry", "ask" or "fail"'


def check_routes(workflow: str, steps: Mapping[str, Step]) -> None:
    """Check that every route leads to an existing phase, and that an end can be reached."""
    for name, step in steps.items():
        for target in step.leads_to or ():
            if target not in steps:
                what = f"next leads to {target!r}, which does not exist; known: {', '.join(steps)}"
                _wrong(workflow, name, what)
    reached, waiting = set[str](), [next(iter(steps))]
    while waiting:
        name = waiting.pop()
        if name not in reached:
            reached.add(name)
            targets = steps[name].leads_to
            waiting.extend(steps if targets is None else targets)
    if not any(steps[name].phase.terminal for name in reached):
        raise DefinitionError(
            f"Workflow {workflow!r} never ends: no phase with terminal=True can be reached from "
            f"{next(iter(steps))!r}. Mark the last phase terminal=True.",
            workflow=workflow,
        )


def check_state(workflow: str, steps: Mapping[str, Step], state_type: StateType) -> None:
    """Check that a state used with questions has fields for the answers."""
    asking = next((name for name, step in steps.items() if step.human is not None), None)
    if asking is None:
        return
    missing = [field for field in ("human_response", "approved") if not state_type.has(field)]
    if missing:
        _wrong(
            workflow,
            asking,
            f"it asks a person, but the state has no {' and no '.join(missing)}; derive the state "
            "from callboard.State, or declare human_response: dict | None = None "
            "and approved: bool | None = None",
        )


def _wrong(workflow: str, phase: str, what: str) -> NoReturn:
    raise DefinitionError(
        f"Workflow {workflow!r}, phase {phase!r}: {what}.", workflow=workflow, phase=phase
    )
