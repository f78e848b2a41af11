"""What an agent wants to do, exactly: a command, a change to a file, or whatever it sends."""

import shlex
from collections.abc import Iterator, Mapping, Sequence
from difflib import SequenceMatcher
from typing import Any, Final, NamedTuple

import orjson

from callboard.display.lines import Line, Look, exact, size_of, text_lines
from callboard.vendors.fields import as_list, as_object, objects

INDENT: Final = "  "
_PLACES: Final = ("file_path", "notebook_path", "path", "filepath", "url")
_TEXTS: Final = ("old_string", "new_string")
_CONTENTS: Final = ("content", "new_source")
_MOST_COMPARED: Final = 4_000_000
"""Pairs of lines. More than that takes too long to compare; all of both is shown instead."""
_CONTEXT: Final = 3


class Part(NamedTuple):
    """Lines that belong together, and how much text they are; each part is shortened by itself."""

    lines: Sequence[Line]
    size: str = ""


def tool_parts(given: Any) -> list[Part]:
    """Every line of a tool's input; nothing is left out."""
    told = as_object(given)
    if not told:
        return [_json(given)] if given else []
    shown, used = _known(told)
    if not shown:
        return [_json(told)]
    rest = {key: value for key, value in told.items() if key not in used}
    return [*shown, *([_json(rest, "faint")] if rest else [])]


def _known(told: Mapping[str, Any]) -> tuple[list[Part], set[str]]:
    """What is understood of it, and which of its members that shows."""
    command = told.get("command")
    if isinstance(command, str):
        return _command(command, told)
    words = as_list(command)
    if words and all(isinstance(one, str) for one in words):
        return _command(shlex.join(words), told)
    place = next((key for key in _PLACES if isinstance(told.get(key), str)), None)
    if place is None:
        return [], set()
    change, used = _change(told)
    return [Part([Line(exact(told[place]), "path", INDENT)]), *change], {place, *used}


def _command(command: str, told: Mapping[str, Any]) -> tuple[list[Part], set[str]]:
    first, *others = text_lines(command, "command", INDENT * 2)
    parts = [Part([first._replace(lead=f"{INDENT}$ "), *others], size_of(command))]
    description = told.get("description")
    if not isinstance(description, str):
        return parts, {"command"}
    parts.append(Part(text_lines(description, "faint", INDENT), size_of(description)))
    return parts, {"command", "description"}


def _change(told: Mapping[str, Any]) -> tuple[list[Part], set[str]]:
    edits = objects(told.get("edits"))
    if edits and len(edits) == len(told["edits"]):
        return [part for one in edits for part in _edit_and_rest(one)], {"edits"}
    if all(isinstance(told.get(key), str) for key in _TEXTS):
        return [_edit(told)], set(_TEXTS)
    if isinstance(told.get("diff"), str):
        return [_given_diff(told["diff"])], {"diff"}
    content = next((key for key in _CONTENTS if isinstance(told.get(key), str)), None)
    if content is None:
        return [], set()
    return [Part([*_signed("+", told[content])], size_of(told[content]))], {content}


def _edit_and_rest(told: Mapping[str, Any]) -> list[Part]:
    rest = {key: value for key, value in told.items() if key not in _TEXTS}
    return [_edit(told), *([_json(rest, "faint")] if rest else [])]


def _edit(told: Mapping[str, Any]) -> Part:
    before, after = (str(told.get(key, "")) for key in _TEXTS)
    if before == after:
        found = [Line("nothing changes", "faint", INDENT)]
    elif before.split() == after.split() and _looks(before) == _looks(after):
        # Ends of lines and tabs look the same here, and are not.
        found = [Line("only white space changes", "faint", INDENT)]
    else:
        found = list(_differences(before, after))
    sizes = [size for size in (size_of(before), size_of(after)) if size]
    return Part(found, " → ".join(sizes))


def _looks(text: str) -> list[str]:
    return [line.text for line in text_lines(text)]


def _differences(old_text: str, new_text: str) -> Iterator[Line]:
    """What changes, with some lines around it, and how many are left out between.

    Lines that only look the same do change: a character, and how it is written when it is shown.
    """
    old, new = list(_signed("-", old_text)), list(_signed("+", new_text))
    before, after = old_text.split("\n"), new_text.split("\n")
    if len(before) * len(after) > _MOST_COMPARED:
        yield from old
        yield from new
        return
    seen = 0
    for group in SequenceMatcher(None, before, after).get_grouped_opcodes(_CONTEXT):
        yield from _unchanged(group[0][1] - seen)
        for kind, first, last, start, end in group:
            if kind == "equal":
                yield from (_plain(line) for line in old[first:last])
            else:
                yield from old[first:last]
                yield from new[start:end]
        seen = group[-1][2]
    yield from _unchanged(len(before) - seen)


def _unchanged(count: int) -> Iterator[Line]:
    if count:
        words = "1 unchanged line" if count == 1 else f"{count:,} unchanged lines"
        yield Line(f"⋯ {words} ⋯", "notice", INDENT, stands_for=count)


def _given_diff(diff: str) -> Part:
    lines = [line._replace(look=_SIGNS.get(line.text[:1], "plain")) for line in text_lines(diff)]
    return Part([line._replace(lead=INDENT) for line in lines], size_of(diff))


_SIGNS: Final[Mapping[str, Look]] = {"+": "added", "-": "removed"}


def _signed(sign: str, text: str) -> Iterator[Line]:
    look = _SIGNS[sign]
    for line in text_lines(text, look, f"{INDENT}{sign} "):
        yield line._replace(lead_look=look)


def _plain(line: Line) -> Line:
    return line._replace(look="plain", lead=INDENT * 2, lead_look="faint")


def _json(value: Any, look: Look = "plain") -> Part:
    written = orjson.dumps(value, option=orjson.OPT_INDENT_2, default=str).decode()
    return Part(text_lines(written, look, INDENT))
