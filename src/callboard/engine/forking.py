"""Where a fork starts, and what its first event contains."""

from collections.abc import AsyncIterator, Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final, cast

from callboard.drafts import patch
from callboard.drafts.draft import change
from callboard.drafts.plain import written
from callboard.engine.loading import not_found
from callboard.engine.workflow import Workflow
from callboard.errors import ValidationError
from callboard.events import names
from callboard.events.codec import load_json
from callboard.events.envelope import Event
from callboard.events.payloads.workflow import SessionForkedPayload
from callboard.log.protocol import EventLog
from callboard.state.fold import apply
from callboard.state.session import SessionView

_COPIED: Final = 4 * 1_048_576
"""How much data the edits of a fork may copy."""
_FIRST_PAGE, _PAGE = 16, 4096
"""How many positions to read at once when searching; few at first, from the end."""

Edits = Sequence[Mapping[str, object]] | Callable[..., object]


@dataclass(frozen=True, slots=True)
class Forking:
    """A point in a session: a phase's occurrence, a position or a condition; else, its end."""

    phase: str | None = None
    occurrence: int | str | None = None
    position: int | None = None
    where: Callable[..., object] | None = None

    def __post_init__(self) -> None:
        given = [self.phase, self.position, self.where]
        if sum(one is not None for one in given) > 1:
            raise ValidationError(
                "Give exactly one of phase, event_index, position or where.", field="at"
            )
        if self.occurrence is not None and self.phase is None:
            raise ValidationError("occurrence needs a phase.", field="occurrence")


async def fork_position(
    log: EventLog, session_id: str, at: Forking, workflow: Workflow | None
) -> int:
    """The position of a point; an error if the session doesn't have it."""
    head = await log.head(session_id)
    if head == 0:
        raise not_found(session_id)
    if at.phase is not None:
        which = "last" if at.occurrence is None else at.occurrence
        return await _before_phase(log, session_id, at.phase, which)
    if at.where is not None:
        return await _first_where(log, session_id, at.where, workflow)
    position = head if at.position is None else at.position
    if not 1 <= position <= head:
        raise ValidationError(
            f"Session {session_id} can be forked at positions 1 to {head}, not {position}.",
            field="position",
            last_position=head,
        )
    return position


async def _before_phase(log: EventLog, session_id: str, phase: str, which: int | str) -> int:
    if which == "last":
        last = await _last_entered(log, session_id, phase)
        if last is not None:
            return last - 1
    index, found = _index(which), 0
    seen: dict[str, None] = {}
    async for event in _story(log, session_id):
        entered = names.PHASE_ENTERED.of(event)
        if entered is None:
            continue
        seen[entered["phase"]] = None
        if entered["phase"] == phase:
            if found == index:
                return event.position - 1
            found += 1
    raise _never_there(session_id, phase, which, found, seen)


def _never_there(
    session_id: str, phase: str, which: int | str, found: int, seen: Iterable[str]
) -> ValidationError:
    if found:
        message = f"Session {session_id} was in phase {phase!r} {found} times, not {which}."
        return ValidationError(message, field="occurrence")
    known = ", ".join(seen) or "none"
    message = f"Session {session_id} was never in phase {phase!r}. It was in: {known}."
    return ValidationError(message, field="phase")


async def _story(log: EventLog, session_id: str) -> AsyncIterator[Event]:
    """A session's events from the start, read as needed."""
    after, head = 0, await log.head(session_id)
    while after < head:
        upto = min(head, after + _PAGE)
        for event in await log.read(session_id, after, upto, skip=names.NARRATION):
            yield event
        after = upto


async def _last_entered(log: EventLog, session_id: str, phase: str) -> int | None:
    """Where a session last entered a phase; searched from the end, where it usually is."""
    upto, page = await log.head(session_id), _FIRST_PAGE
    while upto > 0:
        after = max(upto - page, 0)
        for event in reversed(await log.read(session_id, after, upto, skip=names.NARRATION)):
            entered = names.PHASE_ENTERED.of(event)
            if entered is not None and entered["phase"] == phase:
                return event.position
        upto, page = after, min(page * 2, _PAGE)
    return None


def _index(which: int | str) -> int:
    if which == "first":
        return 0
    if which == "last":
        return -1
    if isinstance(which, int) and not isinstance(which, bool) and which >= 1:
        return which - 1
    raise ValidationError(
        f"occurrence must be 'first', 'last' or a number from 1, not {which!r}.", field="occurrence"
    )


async def _first_where(
    log: EventLog, session_id: str, where: Callable[..., object], workflow: Workflow | None
) -> int:
    view = SessionView(session_id=session_id)
    load_state = workflow.state_type.load if workflow else None
    async for event in _story(log, session_id):
        before = view.state
        apply(view, event)
        if view.state is before:
            continue
        if where(load_state(view.state) if load_state else view.state):
            return event.position
    raise ValidationError(f"The condition never held in session {session_id}.", field="where")


async def start_patches(log: EventLog, session_id: str, position: int) -> list[patch.Patch]:
    """What `start` did to the state, for a fork from before that was recorded."""
    while position == 1:
        second = await log.read(session_id, 1, upto=2)
        if not second:
            break
        forked, intent = names.FORKED.of(second[0]), names.INTENT.of(second[0])
        if forked is None:
            return list(intent["patches"]) if intent and intent["reason"] == "start" else []
        if "startEdits" in forked:
            return forked.get("edits", [])[: forked["startEdits"]]
        session_id = forked["parentSessionId"]  # Written before forks recorded this.
    return []


def forked_payload(
    view: SessionView,
    workflow: Workflow | None,
    edits: Edits | None,
    starting: Sequence[patch.Patch] = (),
) -> SessionForkedPayload:
    """The payload of `session:forked`, after validating the edits against the state."""
    payload: SessionForkedPayload = {
        "parentSessionId": view.session_id,
        "forkPosition": view.position,
        "workflow": view.workflow,
        "version": view.version,
        "phase": view.phase,
    }
    started = patch.apply(view.state, starting)
    patches = _patches(view.workflow, started, workflow, edits)
    edited = patch.apply(started, patches, most=None if callable(edits) else _COPIED)
    if starting or patches:
        if workflow is not None:
            workflow.state_type.load(load_json(written(edited, "")))
        payload["edits"] = [*starting, *patches]
    if view.position == 1:
        payload["startEdits"] = len(starting)
    if view.source:
        payload["source"] = view.source
    return payload


def _patches(
    name: str, state: object, workflow: Workflow | None, edits: Edits | None
) -> list[patch.Patch]:
    if not callable(edits):
        # Their contents are checked below, when they are applied.
        return [cast("patch.Patch", dict(edit)) for edit in edits or ()]
    if workflow is None:
        raise ValidationError(
            f"To edit with a function, the workflow {name!r} must be registered here; "
            "otherwise use a JSON Patch.",
            field="edits",
        )
    return change(workflow.state_type, workflow.state_type.load(state), edits).patches
