"""What an agent wants to do, exactly: a command, a change to a file, or whatever it sends."""

import shlex
from collections.abc import Collection, Mapping, Sequence
from difflib import unified_diff
from typing import Any, Final

import orjson

from callboard.tui.laying_out import Line
from callboard.tui.wording import home_path, lines
from callboard.vendors.fields import as_list, as_object, objects

_INDENT: Final = "  "
PLAIN: Final = ""
FAINT: Final = "$faint"
COMMAND: Final = "bold $foreground"
ADDED: Final = "$success"
REMOVED: Final = "$error"
PLACE: Final = "$primary"


def tool_lines(given: Any) -> list[Line]:
    """Every line of it; nothing is left out, so that nobody allows what they did not see."""
    told = as_object(given)
    if not told:
        return [Line(line, PLAIN, _INDENT) for line in _json(given)] if given else []
    shown, used = _known(told)
    if not shown:
        return [Line(line, PLAIN, _INDENT) for line in _json(told)]
    return shown + _rest(told, used)


def _rest(told: Mapping[str, Any], used: Collection[str]) -> list[Line]:
    rest = {key: value for key, value in told.items() if key not in used}
    return [Line(line, FAINT, _INDENT) for line in _json(rest)] if rest else []


def _known(told: Mapping[str, Any]) -> tuple[list[Line], set[str]]:
    """What is understood of it, and which of its members that shows."""
    command = told.get("command")
    if isinstance(command, str):
        return _command(command, told.get("description"))
    words = as_list(command)
    if words and all(isinstance(one, str) for one in words):
        return _command(shlex.join(words), told.get("description"))
    place = next((key for key in _PLACES if isinstance(told.get(key), str)), None)
    if place is None:
        return [], set()
    change, used = _change(told)
    return [Line(home_path(told[place]), PLACE, _INDENT), *change], {place, *used}


_PLACES: Final = ("file_path", "notebook_path", "path", "url")
_TEXTS: Final = ("old_string", "new_string")


def _command(command: str, description: Any) -> tuple[list[Line], set[str]]:
    first, *others = lines(command)
    shown = [Line(first, COMMAND, f"{_INDENT}$ "), *(Line(one, COMMAND, "    ") for one in others)]
    if not isinstance(description, str):
        return shown, {"command"}
    shown += [Line(line, FAINT, _INDENT) for line in lines(description)]
    return shown, {"command", "description"}


def _change(told: Mapping[str, Any]) -> tuple[list[Line], set[str]]:
    edits = objects(told.get("edits"))
    if edits and len(edits) == len(told["edits"]):
        return [line for one in edits for line in _edit(one) + _rest(one, _TEXTS)], {"edits"}
    if isinstance(told.get("old_string"), str) and isinstance(told.get("new_string"), str):
        return _edit(told), set(_TEXTS)
    if isinstance(told.get("content"), str):
        return [_changed("+", line) for line in lines(told["content"])], {"content"}
    return [], set()


def _edit(told: Mapping[str, Any]) -> list[Line]:
    before, after = str(told.get("old_string", "")), str(told.get("new_string", ""))
    if found := _diff(lines(before), lines(after)):
        return found
    # Ends of lines and tabs look the same here, and are not.
    said = "nothing changes" if before == after else "only white space changes"
    return [Line(said, FAINT, _INDENT)]


def _diff(before: Sequence[str], after: Sequence[str]) -> list[Line]:
    """What changes, without the heads of a diff: the numbers in it are not the file's."""
    told = list(unified_diff(before, after, lineterm="", n=3))[3:]
    return [_changed(line[:1], line[1:]) for line in told]


def _changed(sign: str, text: str) -> Line:
    if sign == "@":
        return Line("⋯", FAINT, _INDENT)
    look = {"+": ADDED, "-": REMOVED}.get(sign, PLAIN)
    return Line(text, look, f"{_INDENT}{sign} ", look)


def _json(value: Any) -> list[str]:
    return lines(orjson.dumps(value, option=orjson.OPT_INDENT_2, default=str).decode())
