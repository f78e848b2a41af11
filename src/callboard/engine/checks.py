"""What makes a definition wrong: said where it is defined, with the phase and the fix."""

from collections.abc import Mapping, Sequence
from typing import NoReturn

from callboard.engine.phase import Phase, Step
from callboard.errors import DefinitionError
from callboard.interactions.questions import seconds
from callboard.interactions.rendering import is_question
from callboard.state.shape import StateType


def check_phases(workflow: str, phases: Sequence[Phase], on_uncertain: str) -> None:
    """Each phase by itself, and their names together."""
    if not isinstance(workflow, str) or not workflow.strip():  # pyright: ignore[reportUnnecessaryIsInstance]
        raise DefinitionError("A workflow needs a name: Workflow('trip', ...).")
    if not phases:
        raise DefinitionError(f"Workflow {workflow!r} has no phases. Give it at least one.")
    if on_uncertain not in ("retry", "ask", "fail"):
        raise DefinitionError(
            f"Workflow {workflow!r}: on_uncertain={on_uncertain!r} is not known. "
            'Use "retry", "ask" or "fail".'
        )
    seen: set[str] = set()
    for index, phase in enumerate(phases):
        name = phase.name
        if not name:
            _wrong(
                workflow,
                f"number {index + 1}",
                "it has neither a name nor an agent to take one from",
            )
        if name in seen:
            _wrong(workflow, name, "there are two phases of this name; rename one")
        seen.add(name)
        _check_phase(workflow, name, phase)


def _check_phase(workflow: str, name: str, phase: Phase) -> None:
    if phase.terminal and phase.next is not None:
        _wrong(workflow, name, "it has both next and terminal; remove one of them")
    if not phase.terminal and phase.next is None:
        _wrong(workflow, name, "it leads nowhere; add next='...' or terminal=True")
    if phase.agent is None:
        for option in ("update", "retry", "timeout", "for_each", "on_uncertain"):
            if getattr(phase, option) is not None:
                _wrong(workflow, name, f"{option} needs an agent; add agent=...")
    if phase.human is not None and not _can_ask(phase.human):
        _wrong(
            workflow,
            name,
            "human must be Approval(...), Choice(...), Interactive(...) or a function that gives "
            "one",
        )
    if phase.on_answer is not None and phase.human is None:
        _wrong(workflow, name, "on_answer needs human; add human=Approval(...) or Choice(...)")
    _check_numbers(workflow, name, phase)


def _check_numbers(workflow: str, name: str, phase: Phase) -> None:
    if phase.parallel is not None and phase.for_each is None:
        _wrong(workflow, name, "parallel needs for_each; add for_each=lambda state: [...]")
    if phase.parallel is not None and phase.parallel < 1:
        _wrong(workflow, name, "parallel must be at least 1")
    limit = None if callable(phase.timeout) else phase.timeout
    if limit is not None and seconds(limit) <= 0:
        _wrong(workflow, name, "timeout must be more than 0 seconds")
    if phase.on_item_error not in ("fail", "skip", "tell"):
        known = '"fail", "skip" or "tell"'
        _wrong(workflow, name, f"on_item_error={phase.on_item_error!r}; use {known}")
    if phase.on_uncertain not in (None, "retry", "ask", "fail"):
        _wrong(workflow, name, f'on_uncertain={phase.on_uncertain!r}; use "retry", "ask" or "fail"')


def check_routes(workflow: str, steps: Mapping[str, Step]) -> None:
    """Every route leads to a phase that exists, and from the first one an end can be reached."""
    for name, step in steps.items():
        for target in step.leads_to or ():
            if target not in steps:
                known = ", ".join(steps)
                _wrong(
                    workflow,
                    name,
                    f"next leads to {target!r}, which does not exist; known: {known}",
                )
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
    """A state used with questions has a place for the answers."""
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


def _can_ask(human: object) -> bool:
    return callable(human) or is_question(human)


def _wrong(workflow: str, phase: str, what: str) -> NoReturn:
    raise DefinitionError(
        f"Workflow {workflow!r}, phase {phase!r}: {what}.", workflow=workflow, phase=phase
    )
