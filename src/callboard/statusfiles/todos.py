"""A session's todo list: read from its tool calls, and corrected when it differs.

A hook cannot call a tool, so it gives the model the list to write.
"""

import json
import re
from collections.abc import Mapping
from typing import Final

from callboard.events.json_values import Object, as_object, objects
from callboard.statusfiles.phases import ACTIVE, COMPLETED, Phase, Workflow
from callboard.statusfiles.turns import phases_of

TOOLS: Final = ("TodoWrite", "TaskCreate", "TaskUpdate", "TaskList")

_WORDS = {ACTIVE: "in_progress", COMPLETED: "completed"}
_STATUSES = {word: status for status, word in _WORDS.items()}
_NUMBERED = re.compile(r"^\W*phase[ _](\d+)\b", re.IGNORECASE)

Todo = dict[str, str | None]


def todos_of(workflow: Workflow) -> list[Todo]:
    """The todo list for the workflow's phases."""
    return [
        {
            "content": phase["title"],
            "status": _WORDS.get(phase["status"], "pending"),
            "activeForm": f"Working on {phase['title']}",
        }
        for phase in phases_of(workflow)
    ]


def hear(known: dict[str, Todo], workflow: Workflow, payload: Object) -> dict[str, str]:
    """Apply a tool call to the list; returns the phases it changes, with their statuses.

    known: the list so far, each item with `phase`, `content` and `status`. It is changed in place.
    """
    # Only tasks have stable ids. Items of the older list are identified by position, and may move.
    moves = payload.get("tool_name") == "TodoWrite"
    before = _said(known, moves)
    _take_in(known, payload)
    phases = [phase["id"] for phase in phases_of(workflow)]
    for todo in known.values():
        if todo.get("phase") not in phases:  # None yet, or not one of our phases.
            todo["phase"] = _phase_of(workflow, str(todo.get("content") or ""))
    return {
        phase: _STATUSES[status]
        for id, phase, status in _said(known, moves)
        if phase and status in _STATUSES and (id, phase, status) not in before
    }


def _said(known: Mapping[str, Todo], moves: bool) -> list[tuple[str, str | None, str]]:
    """The list's items: the id if it is stable, the phase and the status."""
    return [
        ("" if moves else id, todo.get("phase"), str(todo.get("status")))
        for id, todo in known.items()
    ]


def _take_in(known: dict[str, Todo], payload: Object) -> None:
    given, result = as_object(payload.get("tool_input")), as_object(payload.get("tool_response"))
    match payload.get("tool_name") or payload.get("hook_event_name"):
        case "TodoWrite":
            listed = objects(result.get("newTodos") or given.get("todos"))
            _replace(known, {str(number): todo for number, todo in enumerate(listed)}, "content")
        case "TaskList":
            listed = objects(result.get("tasks"))
            _replace(known, {str(task.get("id")): task for task in listed}, "subject")
        case "TaskCreate":
            task = as_object(result.get("task"))
            named = as_object(given.get("metadata")).get("phase")
            _note(known, task.get("id"), given.get("subject"), None, named)
        case "TaskUpdate":
            if result.get("success") is not False:
                _note(known, given.get("taskId"), given.get("subject"), given.get("status"))
        case "TaskCompleted":
            _note(known, payload.get("task_id"), payload.get("task_subject"), "completed")
        case _:
            pass


def _replace(known: dict[str, Todo], listed: Mapping[str, Object], content: str) -> None:
    phases = {id: todo.get("phase") for id, todo in known.items()}
    known.clear()
    for id, todo in listed.items():
        phase = phases.get(id) if content == "subject" else None
        _note(known, id, todo.get(content), todo.get("status"), phase)


def _note(
    known: dict[str, Todo], id: object, content: object, status: object, phase: object = None
) -> None:
    if id is None:
        return
    if status == "deleted":
        known.pop(str(id), None)
        return
    todo = known.setdefault(str(id), {"content": "", "status": "pending", "phase": None})
    changes = {"content": content, "status": status, "phase": phase}
    todo |= {key: value for key, value in changes.items() if isinstance(value, str)}


def _phase_of(workflow: Workflow, content: str) -> str | None:
    """The phase with this title, or with the number that the text starts with."""
    numbered = _NUMBERED.match(content)
    named = f"phase_{numbered[1]}" if numbered else None
    text = " ".join(content.split()).casefold()
    for phase in phases_of(workflow):
        if phase["id"] == named or " ".join(str(phase["title"]).split()).casefold() == text:
            return phase["id"]
    return None


def differs(known: Mapping[str, Todo], workflow: Workflow) -> bool:
    """Whether the list's phases differ from the workflow's. Other items don't matter."""
    said = [(todo.get("phase"), todo.get("status")) for todo in known.values()]
    wanted = [
        (phase["id"], todo["status"])
        for phase, todo in zip(phases_of(workflow), todos_of(workflow), strict=True)
    ]
    about = [one for one in said if one[0]]
    # A session without a list doesn't need one when the workflow is completed.
    return about != wanted and not (workflow["status"] == COMPLETED and not about)


def request(workflow: Workflow) -> str:
    """What to tell the model: the list to write, and which agents to call next."""
    listed = json.dumps(todos_of(workflow), ensure_ascii=False)
    lines = [
        f"Workflow {workflow['id']} is {workflow['status']}. Your to-do list differs from it. "
        "Make it exactly this, with TodoWrite, or with TaskCreate and TaskUpdate:",
        listed,
        ".claude/state/workflow.json has what was done before, and for whom.",
        *(_turn(phase) for phase in phases_of(workflow) if phase["status"] == ACTIVE),
    ]
    return "\n".join(lines)


def _turn(phase: Phase) -> str:
    return (
        f"Active: {phase['title']} (agent {phase.get('agent')}). Its prompt has to contain "
        f'"Phase ID: {phase["id"]}".'
    )
