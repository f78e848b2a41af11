"""The agent's own list of things to do, from the tools that write it."""

from typing import Any

from callboard.vendors.fields import Object, as_object, objects, present, text, word


def from_tool(tool: str | None, payload: Object) -> dict[str, Any]:
    """What a finished call tells of the list: `todos`, all of it; `todo`, one of it; or nothing."""
    given = as_object(payload.get("tool_input"))
    result = as_object(payload.get("tool_response"))
    match tool:
        case "TodoWrite":
            # A subagent's list is its own, and not the session's.
            return {} if payload.get("agent_id") else _written(given, result)
        case "TaskCreate":
            return _created(as_object(result.get("task")))
        case "TaskUpdate":
            return {} if result.get("success") is False else _updated(given)
        case "TaskList":
            return _listed(result)
        case _:
            return {}


def from_task(payload: Object, status: str | None = None) -> dict[str, Any]:
    """What TaskCreated and TaskCompleted tell."""
    return _one(payload.get("task_id"), payload.get("task_subject"), status)


def _written(given: Object, result: Object) -> dict[str, Any]:
    found: Any = result.get("newTodos", given.get("todos"))
    if not isinstance(found, list):
        return {}
    return {
        "todos": [
            _todo(str(index), todo.get("content"), todo.get("status"))
            for index, todo in enumerate(objects(found))
        ]
    }


def _created(task: Object) -> dict[str, Any]:
    # Without a status: the call may be told of after the task was begun.
    return _one(task.get("id"), task.get("subject"), None)


def _updated(given: Object) -> dict[str, Any]:
    return _one(given.get("taskId"), given.get("subject"), given.get("status"))


def _listed(result: Object) -> dict[str, Any]:
    if not isinstance(result.get("tasks"), list):
        return {}
    listed = [
        _todo(id, task.get("subject"), task.get("status"))
        for task in objects(result["tasks"])
        if (id := word(task.get("id"))) is not None
    ]
    return {"todos": listed}


def _one(id: Any, subject: Any, status: Any) -> dict[str, Any]:
    known = word(id)
    return {} if known is None else {"todo": _todo(known, subject, status)}


def _todo(id: str, subject: Any, status: Any) -> dict[str, Any]:
    return {"id": id, **present(text=text(subject), status=word(status))}
