"""The tools of agents that speak ACP, in the board's names and with the inputs that it shows. Pure.

Agents name a call's kind and give it a title. What it does is in its raw input, whose keys are each
agent's own, and in the content, which has the changes that it makes.
"""

import shlex
from typing import Final

from callboard.events.envelope import Json
from callboard.events.json_values import Object, as_list, as_object, as_text, is_object, objects

_NAMES: Final = {
    "read": "Read",
    "edit": "Edit",
    "delete": "Delete",
    "move": "Move",
    "search": "Search",
    "execute": "Bash",
    "think": "Think",
    "fetch": "WebFetch",
}
_PATHS: Final = ("file_path", "filePath", "filepath", "path", "absolute_path")
_LONGEST_NAME: Final = 80


def tool_named(call: Object) -> str:
    """The board's name of a call's tool; the call's title if its kind says nothing."""
    kind = as_text(call.get("kind"))
    return _NAMES.get(kind) or (as_text(call.get("title")) or kind or "Tool")[:_LONGEST_NAME]


def command_of(call: Object) -> str | None:
    """The command that a call runs, if it runs one."""
    if call.get("kind") != "execute":
        return None
    given = as_object(call.get("rawInput")).get("command")
    if isinstance(given, str) and given.strip():
        return given
    words = [one for one in as_list(given) if isinstance(one, str)]
    return shlex.join(words) if words else as_text(call.get("title")) or None


def path_of(call: Object) -> str | None:
    """The file that a call is about."""
    given = as_object(call.get("rawInput"))
    named = [as_text(given.get(key)) for key in _PATHS]
    named += [as_text(one.get("path")) for one in objects(call.get("content"))]
    named += [as_text(one.get("path")) for one in objects(call.get("locations"))]
    return next((one for one in named if one), None)


def call_input(call: Object) -> dict[str, Json]:
    """The input of a call as the board shows it to a person who is asked about it."""
    given, title = call.get("rawInput"), as_text(call.get("title"))
    told: dict[str, Json] = dict(given) if is_object(given) else {}
    if given is not None and not is_object(given):
        told = {"input": given}
    if (command := command_of(call)) is not None:
        return told | {"command": command}
    if changes := [one for one in objects(call.get("content")) if one.get("type") == "diff"]:
        return _edited(changes, title)
    if (path := path_of(call)) is not None:
        told = {"file_path": path, **{key: one for key, one in told.items() if one != path}}
    if call.get("kind") == "fetch" and title and "url" not in told:
        told["url"] = title
    return told or ({"title": title} if title else {})


def _edited(changes: list[Object], title: str) -> dict[str, Json]:
    edits = [
        {
            "file_path": as_text(one.get("path")),
            "old_string": as_text(one.get("oldText")),
            "new_string": as_text(one.get("newText")),
        }
        for one in changes
    ]
    if len(edits) == 1:
        return dict(edits[0])
    named = title or ", ".join(one["file_path"] for one in edits)
    return {"file_path": named, "edits": edits}
