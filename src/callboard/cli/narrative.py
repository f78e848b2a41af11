"""How each event is shown to people who watch: no line, one, or a few."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import datetime

from callboard.cli.format import Signs, author, between, duration, error_text, one_line, preview
from callboard.display.lines import visible
from callboard.engine.tasks import KIND as OF_A_SESSION
from callboard.events import names
from callboard.events.envelope import Event
from callboard.events.payloads import agents, people, workflow
from callboard.interactions.answer_text import answer_text
from callboard.interactions.configs import KIND as INTERACTIVE

Line = tuple[str | tuple[str, str], ...]
"""Parts of a line, each plain or with the name of a style."""

_PREVIEW = 100


@dataclass(frozen=True, slots=True)
class Telling:
    """One event, and what decides how it is shown.

    `asks_here`: a prompt at this terminal shows the question.
    `spins`: a spinner shows the working agents.
    `started`: when the session started.
    """

    event: Event
    signs: Signs
    asks_here: bool
    spins: bool
    begun: datetime


_Tell = Callable[[Mapping[str, object], Telling], list[Line]]


def told(telling: Telling) -> list[Line]:
    """The lines for an event; agents' streamed output isn't included."""
    tell = _TOLD.get(telling.event.name)
    return tell(telling.event.payload, telling) if tell else []


def heading(workflow: str, session_id: str) -> Line:
    """The line that identifies a session."""
    return ((one_line(workflow), "name"), f"  session {session_id}")


def _started(payload: workflow.WorkflowStartedPayload, telling: Telling) -> list[Line]:
    return [heading(payload["workflow"], telling.event.session_id)]


def _forked(payload: workflow.SessionForkedPayload, telling: Telling) -> list[Line]:
    parent, position = payload["parentSessionId"], payload["forkPosition"]
    came = f"  forked from {parent} at position {position}"
    return [(*heading(payload["workflow"], telling.event.session_id), (came, "faint"))]


def _entered(payload: workflow.PhaseEnteredPayload, telling: Telling) -> list[Line]:
    again = f"  (visit {payload['visit']})" if payload["visit"] > 1 else ""
    phase = f"{telling.signs.entered} {one_line(payload['phase'])}"
    return [((phase, "name"), (again, "faint"))]


def _exited(payload: workflow.PhaseExitedPayload, telling: Telling) -> list[Line]:
    return [_aside(telling, "skipped")] if payload["reason"] == "skipped" else []


def _agent_started(payload: agents.AgentStartedPayload, telling: Telling) -> list[Line]:
    if telling.spins:
        return []
    again = f", attempt {payload['attempt']}" if payload["attempt"] > 1 else ""
    return [((f"  {telling.signs.dot} {one_line(payload['agent'])} works{again}", "faint"),)]


def _agent_completed(payload: agents.AgentCompletedPayload, telling: Telling) -> list[Line]:
    took = duration(payload["durationMs"] / 1000)
    agent = one_line(payload["agent"])
    return [((f"  {telling.signs.done} {agent}", "done"), (f"  {took}", "faint"))]


_TAKEN_OFF = {
    "paused": "was interrupted",
    "crashed": "was lost when its process ended",
    "stopped": "was stopped",
    "postponed": "cannot work yet",
}


def _agent_interrupted(payload: agents.AgentInterruptedPayload, telling: Telling) -> list[Line]:
    said = _TAKEN_OFF.get(payload["reason"])
    if said is not None and "error" in payload:
        again = duration(payload.get("retryInMs", 0) / 1000)
        said = f"{said}: {error_text(payload['error'])}  again in {again}"
    return [_aside(telling, f"{one_line(payload['agent'])} {said}")] if said else []


def _failed(payload: workflow.PhaseFailedPayload, telling: Telling) -> list[Line]:
    retry = payload.get("retryInMs")
    again = "" if retry is None else f"  again in {duration(retry / 1000)}"
    said = f"  {telling.signs.failed} {error_text(payload['error'])}"
    return [((said, "failed"), (again, "faint"))]


def _tool_called(payload: agents.ToolCalledPayload, telling: Telling) -> list[Line]:
    given = "" if payload.get("input") is None else " " + preview(payload["input"], _PREVIEW)
    return [((f"    {telling.signs.arrow} {one_line(payload['toolName'])}{given}", "faint"),)]


def _tool_result(payload: agents.ToolResultPayload, telling: Telling) -> list[Line]:
    if not payload.get("isError"):
        return []
    said = preview(payload.get("output"), _PREVIEW)
    return [((f"    {telling.signs.failed} {said}", "failed"),)]


def _emitted(payload: agents.AgentEmittedPayload, telling: Telling) -> list[Line]:
    said = f"{one_line(payload['name'])}: {preview(payload.get('data'), _PREVIEW)}"
    return [((f"    {telling.signs.dot} {said}", "faint"),)]


def _requested(payload: people.InputRequestedPayload, telling: Telling) -> list[Line]:
    # The prompt here shows the question; an interactive session is held elsewhere.
    if telling.asks_here and payload["type"] != INTERACTIVE:
        return []
    first, *others = visible(payload["prompt"]).split("\n")
    options = enumerate(payload.get("options") or [], 1)
    return [
        ((f"  {telling.signs.asks} {first}", "asks"),),
        *((f"    {line}",) for line in others),
        *((f"    {number}. {one_line(option)}",) for number, option in options),
    ]


def _received(payload: people.InputReceivedPayload, telling: Telling) -> list[Line]:
    via, who = payload.get("via"), author(payload)
    if telling.asks_here and via == "handler":
        return []
    how = f"  via {one_line(via)}" if via and via != "handler" else ""
    answer = one_line(answer_text(payload.get("value")), _PREVIEW)
    said = f"  {telling.signs.done} answered: {answer}"
    return [((said, "done"), ((f" {who}" if who else "") + how, "faint"))]


def _expired(payload: people.InputExpiredPayload, telling: Telling) -> list[Line]:
    value = payload.get("value")
    rest = "" if value is None else f": {one_line(answer_text(value), _PREVIEW)} is taken"
    return [((f"  {telling.signs.off} timed out without an answer{rest}", "here"),)]


def _withdrawn(payload: people.InputCancelledPayload, telling: Telling) -> list[Line]:
    return [_aside(telling, f"the question was withdrawn{_because(payload)}")]


def _detached(payload: people.InputDetachedPayload, telling: Telling) -> list[Line]:
    return [_aside(telling, f"the interactive session {payload['id']} stays open")]


def _failed_to_decide(payload: people.InputFailedPayload, telling: Telling) -> list[Line]:
    said = preview(payload.get("error", ""), _PREVIEW)
    return [((f"  {telling.signs.failed} the session failed: {said}", "failed"),)]


def _task_started(payload: workflow.TaskStartedPayload, telling: Telling) -> list[Line]:
    if payload.get("kind") == OF_A_SESSION:
        return []  # Its question was just shown.
    return [
        ((f"  {telling.signs.dot} task started: {preview(payload.get('title', ''))}", "faint"),)
    ]


def _completed(payload: workflow.WorkflowCompletedPayload, telling: Telling) -> list[Line]:
    took = between(telling.begun, telling.event.timestamp)
    return [((f"{telling.signs.done} completed", "done"), (f"  {took}", "faint"))]


def _standing(sign: str, word: str, style: str, *, why: bool = False) -> _Tell:
    """Shows the status of the whole session, and the reason if the event has one."""

    def tell(payload: Mapping[str, object], telling: Telling) -> list[Line]:
        because = _because(payload) if why else ""
        return [((f"{getattr(telling.signs, sign)} {word}{because}", style),)]

    return tell


def _aside(telling: Telling, said: str) -> Line:
    return ((f"  {telling.signs.off} {said}", "faint"),)


def _because(payload: Mapping[str, object]) -> str:
    return f": {one_line(str(payload['reason']))}" if payload.get("reason") else ""


_TOLD = dict(
    [
        names.STARTED.to(_started),
        names.FORKED.to(_forked),
        names.PHASE_ENTERED.to(_entered),
        names.PHASE_EXITED.to(_exited),
        names.PHASE_FAILED.to(_failed),
        names.AGENT_STARTED.to(_agent_started),
        names.AGENT_COMPLETED.to(_agent_completed),
        names.AGENT_INTERRUPTED.to(_agent_interrupted),
        names.TOOL_CALLED.to(_tool_called),
        names.TOOL_RESULT.to(_tool_result),
        names.EMITTED.to(_emitted),
        names.REQUESTED.to(_requested),
        names.RECEIVED.to(_received),
        names.EXPIRED.to(_expired),
        names.INPUT_CANCELLED.to(_withdrawn),
        names.DETACHED.to(_detached),
        names.INPUT_FAILED.to(_failed_to_decide),
        names.TASK_STARTED.to(_task_started),
        names.PAUSING.to(_standing("paused", "pausing", "here", why=True)),
        names.PAUSED.to(_standing("paused", "paused", "here")),
        names.RESUMED.to(_standing("entered", "resumed", "name")),
        names.COMPLETED.to(_completed),
        names.FAILED.to(_standing("failed", "failed", "failed")),
        names.CANCELLED.to(_standing("off", "cancelled", "here", why=True)),
    ]
)
