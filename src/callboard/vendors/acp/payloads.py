"""Translates what `agent_host` reports of an agent that speaks ACP into the board's terms.

Each payload is `{type, sessionId, cwd, …}`:

session: the session has started: `{agent: {name, title, version}, model, resumed}`.
prompt: a prompt was sent: `{text, within}`; within: during a turn that it doesn't end.
more: the text of the prompt before continues: `{text}`.
update: something new of the agent's own: `{update}`, as `updates` takes it apart.
permission: the agent asks: `{toolCall, options}`, and is held for the answer.
answered: what the agent was told: `{request, outcome}`.
turn: a turn is over: `{stopReason, error, usage}`.
notice: what a person should know: `{text}`.
end: the session is over: `{reason, error}`.

A call of a tool is `{tool_name, tool_input: {call}}` in all of them, so that the board knows which
one a question is about.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Final, get_args

from callboard.events import plates
from callboard.events.envelope import Json
from callboard.events.event_name import Entry
from callboard.events.json_values import Object, as_object, as_text, is_list, objects
from callboard.events.payloads.plates import OutcomeKind
from callboard.vendors.acp.tools import call_input, tool_named
from callboard.vendors.fields import LONGEST_PATH, LONGEST_WORD, present, text, word
from callboard.vendors.hooks import Reading, call_named, dialog, heard, prompted, todo_list
from callboard.vendors.metadata import with_sender
from callboard.vendors.reports import HookRequest, Report
from callboard.vendors.requests import ASKS
from callboard.vendors.requests import request as permission

if TYPE_CHECKING:
    from callboard.interactions.records import Interaction

NAME: Final = "acp"
UNDECIDED: Final[Mapping[str, Json]] = {"outcome": "closed"}
"""What is printed for a question that was closed without an answer: the agent is told so."""
OPTIONS: Final = "options"
"""The member of a question's config with what the agent offers."""
_ONCE: Final = ("allow_once", "reject_once", "allow_always", "reject_always")
_ENDED_WELL: Final = frozenset({"end_turn", ""})
_STOPPED: Final = "cancelled"
_OUTCOMES: Final[Mapping[str, OutcomeKind]] = {one: one for one in get_args(OutcomeKind)}
_LONGEST_ERROR: Final = 1_000


def translate(payload: Json) -> Report | None:
    """The report in a payload; None if it belongs to no session."""
    told = as_object(payload)
    session_id = word(told.get("sessionId"))
    if session_id is None:
        return None
    kind = word(told.get("type")) or "unknown"
    read = _READINGS.get(kind)
    report = Report(
        NAME,
        session_id,
        (read(told) if read is not None else ()) or (heard(kind),),
        told,
        project_path=word(told.get("cwd"), LONGEST_PATH),
        model=word(told.get("model")),
        name=_title(as_object(told.get("update"))),
        request=_request(told) if kind == "permission" else None,
    )
    return with_sender(report, told)


def _title(update: Object) -> str | None:
    is_named = update.get("sessionUpdate") == "session_info_update"
    return text(update.get("title"), LONGEST_WORD) if is_named else None


# ---------------------------------------------------------------------- readings


def _started(told: Object) -> tuple[Entry, ...]:
    source = "resume" if told.get("resumed") is True else "startup"
    return plates.SESSION_START({"source": source}), plates.TURN_IDLE({})


def _prompted(told: Object) -> tuple[Entry, ...]:
    return (prompted(text(told.get("text"))),)


def _updated(told: Object) -> tuple[Entry, ...]:
    update = as_object(told.get("update"))
    kind = word(update.get("sessionUpdate")) or "update"
    if kind == "plan":
        entries = todo_list(update.get("entries"), "content")
        return (plates.HOOK_HEARD({"hook": kind, **entries}),)
    details = call_named(told.get("tool_name"), update.get("toolCallId"))
    match kind, update.get("status"):
        case "tool_call" | "tool_call_update", "completed":
            return (plates.TOOL_CALL({**details}),)
        case "tool_call" | "tool_call_update", "failed":
            return (plates.TOOL_CALL({**details, "failure": "failed"}),)
        case "tool_call", _:
            return (plates.TOOL_START({**details}),)
        case _:
            return (heard(kind),)


def _asked(told: Object) -> tuple[Entry, ...]:
    request = _request(told)
    tool = ASKS if request.type == "question" else word(request.config.get("toolName"))
    opened = dialog(tool, request.prompt)
    use = word(as_object(told.get("toolCall")).get("toolCallId"))
    return (opened._replace(payload={**opened.payload, **present(toolUseId=use)}),)


def _answered(told: Object) -> tuple[Entry, ...]:
    request, outcome = word(told.get("request")), _OUTCOMES.get(as_text(told.get("outcome")))
    if request is None or outcome is None:
        return ()
    details = {"request": request, "outcome": outcome, "final": True}
    return (Entry(plates.PERMISSION_RESOLVED, details),)


def _turn_over(told: Object) -> tuple[Entry, ...]:
    error, stopped = text(told.get("error"), _LONGEST_ERROR), as_text(told.get("stopReason"))
    if error is not None:
        return (plates.STOP_FAILURE({"error": error}),)
    if stopped == _STOPPED:
        return (plates.TURN_IDLE({"interrupted": True}),)
    if stopped not in _ENDED_WELL:
        return (plates.STOP_FAILURE({"error": f"The agent stopped: {stopped[:LONGEST_WORD]}"}),)
    said = text(told.get("message"))
    return (plates.STOP({} if said is None else {"message": said}),)


def _ended(told: Object) -> tuple[Entry, ...]:
    error = text(told.get("error"), _LONGEST_ERROR)
    failed = () if error is None else (plates.STOP_FAILURE({"error": error}),)
    return (*failed, plates.SESSION_END({"reason": text(told.get("reason")) or "ended"}))


_READINGS: Final[Mapping[str, Reading]] = {
    "session": _started,
    "prompt": _prompted,
    "update": _updated,
    "permission": _asked,
    "answered": _answered,
    "turn": _turn_over,
    "end": _ended,
}


# ---------------------------------------------------------------------- questions to people


def _request(told: Object) -> HookRequest:
    call, offered = as_object(told.get("toolCall")), _offered(told.get("options"))
    tool = tool_named(call)
    cwd = word(told.get("cwd"), LONGEST_PATH)
    if not _is_plain(offered):
        # What can't be said with yes or no is a choice.
        labels = [{"label": one["name"]} for one in offered]
        about = permission(tool, call_input(call), cwd)
        given = {"questions": [{"question": about.prompt, "options": labels}]}
        asked = permission(ASKS, given, cwd)
        return replace(asked, config={**asked.config, OPTIONS: offered})
    always = [one["name"] for one in offered if one["kind"] == "allow_always"]
    rules = [{"rule": name} for name in always]
    asked = permission(tool, call_input(call), cwd, rules or None)
    return replace(asked, config={**asked.config, OPTIONS: offered})


def _offered(told: Json) -> list[dict[str, str]]:
    """The options that can be chosen, each with the id that the agent knows it by."""
    found = [
        {name: as_text(one.get(name)) for name in ("optionId", "name", "kind")}
        for one in objects(told)
    ]
    return [one for one in found if word(one["optionId"]) and word(one["name"])]


def _is_plain(offered: Sequence[Mapping[str, str]]) -> bool:
    """Whether yes, no and "always" say all that can be chosen."""
    kinds = [one["kind"] for one in offered]
    is_known = len(set(kinds)) == len(kinds) and set(kinds) <= set(_ONCE)
    return is_known and "allow_once" in kinds and "reject_always" not in kinds


def decision(asked: "Interaction") -> dict[str, Json]:
    """What `agent_host` tells the agent: `{outcome: allowed | denied, optionId, message}`.

    Without an option, the agent is told that the question was cancelled.
    """
    response = as_object(asked.for_agent)
    offered = _offered(as_object(asked.config).get(OPTIONS))
    match asked.type, response.get("approved"):
        case (("permission" | "plan" | "question"), False):
            return _denied(offered, text(response.get("message")))
        case (("permission" | "plan"), True):
            kind = "allow_always" if response.get("always") is True else "allow_once"
            option = _of_kind(offered, kind)
            # Nothing else is chosen instead: each option means something different.
            return dict(UNDECIDED) if option is None else {"outcome": "allowed", "optionId": option}
        case "question", _:
            return _chosen(offered, as_object(response.get("answers")))
        case _:
            return {}


def _denied(offered: Sequence[Mapping[str, str]], message: str | None) -> dict[str, Json]:
    option = _of_kind(offered, "reject_once")
    return {"outcome": "denied", **present(optionId=option, message=message)}


def _chosen(offered: Sequence[Mapping[str, str]], answers: Object) -> dict[str, Json]:
    """The option that was chosen by its name. Anything else is a no, with what was written."""
    said = [str(one) for each in answers.values() for one in (each if is_list(each) else [each])]
    if not said:
        return {}
    for one in offered:
        if one["name"] in said:
            return {"outcome": "allowed", "optionId": one["optionId"]}
    return _denied(offered, "\n".join(said) or None)


def _of_kind(offered: Sequence[Mapping[str, str]], kind: str) -> str | None:
    return next((one["optionId"] for one in offered if one["kind"] == kind), None)
