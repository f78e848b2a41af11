"""Hooks in the shape that Claude Code gave them, and that others took over in part.

A hook's name stands in `hook_event_name`, the client's session in `session_id`. What a hook with a
given name tells is a reading; each agent has a table of them.
"""

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any, Final

from callboard.events import plates
from callboard.vendors.asking import ASKS, PLANS, asks, request
from callboard.vendors.fields import (
    LONGEST_PATH,
    LONGEST_WORD,
    Object,
    as_object,
    json_value,
    objects,
    present,
    text,
    word,
)
from callboard.vendors.metadata import with_sender
from callboard.vendors.reports import Report, Signal

Reading = Callable[[Object], tuple[Signal, ...]]

_WAKES_ITSELF: Final = "<task-notification>"
_DONE: Final = frozenset({"completed", "failed", "killed", "stopped", "cancelled"})


def translated(agent: str, payload: Any, readings: Mapping[str, Reading]) -> Report | None:
    """What a payload tells; None for what belongs to no session.

    A hook that says nothing here, or that nobody knows, is heard all the same.
    """
    told = as_object(payload)
    session_id = word(told.get("session_id"))
    if session_id is None:
        return None
    hook = word(told.get("hook_event_name")) or "unknown"
    read = readings.get(hook)
    signals = (read(told) if read is not None else ()) or (heard(hook),)
    report = Report(
        agent,
        session_id,
        tuple(_within(signal, word(told.get("agent_id"))) for signal in signals),
        told,
        project_path=word(told.get("cwd"), LONGEST_PATH),
        transcript_path=word(told.get("transcript_path"), LONGEST_PATH),
        model=word(told.get("model")),
        name=text(told.get("session_title"), LONGEST_WORD),
        continues=hook == "SessionStart" and told.get("source") == "clear",
    )
    return with_sender(report, told)


def answerable(report: Report, suggestions: Any = None) -> Report:
    """The report with what a person is asked, if its hook can be held for the answer.

    While that of a subagent runs, the terminal shows no dialog: it must not be held, or nobody
    could answer there.
    """
    if not any(
        signal.name == plates.PERMISSION_REQUEST and "subagent" not in signal.details
        for signal in report.signals
    ):
        return report
    told = as_object(report.raw)
    tool, cwd = word(told.get("tool_name")) or "", report.project_path
    return replace(report, request=request(tool, told.get("tool_input"), cwd, suggestions))


def heard(hook: str, **details: Any) -> Signal:
    """A hook that says nothing of the status."""
    return Signal(plates.HOOK_HEARD, {"hook": hook, **present(**details)})


def _within(signal: Signal, subagent: str | None) -> Signal:
    if subagent is None:
        return signal
    return replace(signal, details={**signal.details, "subagent": subagent})


# ---------------------------------------------------------------------- readings


def session_start(payload: Object) -> tuple[Signal, ...]:
    """A session that has started waits for its first prompt. Compacting starts none."""
    details = present(source=word(payload.get("source")))
    if details.get("source") == "compact":
        return (Signal(plates.COMPACT, details),)
    return Signal(plates.SESSION_START, details), Signal(plates.TURN_IDLE)


def session_end(payload: Object) -> tuple[Signal, ...]:
    """The session is over."""
    return (Signal(plates.SESSION_END, present(reason=word(payload.get("reason")))),)


def prompt_submit(payload: Object) -> tuple[Signal, ...]:
    """Somebody wrote a prompt; or the client did, when its work in the background was done."""
    prompt = text(payload.get("prompt"))
    if prompt is not None and prompt.lstrip().startswith(_WAKES_ITSELF):
        return (Signal(plates.PROMPT_SUBMIT, {"origin": "self"}),)
    return (Signal(plates.PROMPT_SUBMIT, present(prompt=prompt)),)


def tool_start(payload: Object) -> tuple[Signal, ...]:
    """A tool is about to be used. Two of them are nothing but a question to a person."""
    details = tool_details(payload)
    if details.get("toolName") in (ASKS, PLANS):
        details["asks"] = asks(details["toolName"], details.get("toolInput"))
    return (Signal(plates.TOOL_START, details),)


def tool_call(payload: Object) -> tuple[Signal, ...]:
    """A tool was used, well or not."""
    failure = present(failure=text(payload.get("error")))
    return (Signal(plates.TOOL_CALL, tool_details(payload) | failure),)


def permission_request(payload: Object) -> tuple[Signal, ...]:
    """A dialog is open, and waits for a person."""
    details = tool_details(payload)
    sentence = asks(details.get("toolName", ""), details.get("toolInput"))
    return (Signal(plates.PERMISSION_REQUEST, {**details, "asks": sentence}),)


def stop(payload: Object) -> tuple[Signal, ...]:
    """A turn is over. What goes on by itself may wake the session again."""
    message = text(payload.get("last_assistant_message"))
    details = present(message=message, background=_background(payload))
    return (Signal(plates.STOP, details),)


def stop_failure(payload: Object) -> tuple[Signal, ...]:
    """A turn has failed."""
    kind = word(payload.get("error")) or "unknown"
    more = text(payload.get("error_details"))
    return (Signal(plates.STOP_FAILURE, {"error": f"{kind}: {more}" if more else kind}),)


def compact(payload: Object) -> tuple[Signal, ...]:
    """The client shortens what it remembers."""
    return (Signal(plates.COMPACT, present(trigger=word(payload.get("trigger")))),)


def subagent_start(payload: Object) -> tuple[Signal, ...]:
    """A subagent has begun."""
    return _subagent(plates.SUBAGENT_START, payload)


def subagent_stop(payload: Object) -> tuple[Signal, ...]:
    """A subagent has ended."""
    return _subagent(plates.SUBAGENT_STOP, payload)


def _subagent(name: str, payload: Object) -> tuple[Signal, ...]:
    # Compacting is done by agents without a type, which nobody should see.
    kind = word(payload.get("agent_type"))
    if kind is None or word(payload.get("agent_id")) is None:
        return ()
    return (Signal(name, {"agentType": kind}),)


def tool_details(payload: Object) -> dict[str, Any]:
    """Which tool, which call, and with what."""
    details = present(
        toolName=word(payload.get("tool_name")), toolUseId=word(payload.get("tool_use_id"))
    )
    if "tool_input" in payload:
        details["toolInput"] = json_value(payload["tool_input"])
    return details


def _background(payload: Object) -> list[dict[str, Any]] | None:
    """What goes on after the turn; None where the client does not say."""
    if "background_tasks" not in payload and "session_crons" not in payload:
        return None
    tasks = [
        _going_on(task, word(task.get("type")) or "task", "description", "command")
        for task in objects(payload.get("background_tasks"))
        if task.get("status") not in _DONE
    ]
    crons = objects(payload.get("session_crons"))
    return tasks + [_going_on(cron, "schedule", "prompt", "schedule") for cron in crons]


def _going_on(told: Object, kind: str, *described_by: str) -> dict[str, Any]:
    found = (text(told.get(key), LONGEST_WORD) for key in described_by)
    return {
        "id": word(told.get("id")) or "",
        "kind": kind,
        "description": next((one for one in found if one is not None), ""),
    }
