"""Exactly what an agent wants to do: a command, a change to a file, or any other tool input."""

import shlex
from collections.abc import Iterator, Mapping, Sequence
from difflib import SequenceMatcher
from typing import Final, NamedTuple

import orjson

from callboard.display.lines import Line, Look, exact, size_of, text_lines
from callboard.events.envelope import Json
from callboard.events.json_values import Object, as_list, as_object, objects

INDENT: Final = "  "
_PLACES: Final = ("file_path", "notebook_path", "path", "filepath", "url")
_TEXTS: Final = ("old_string", "new_string")
_CONTENTS: Final = ("content", "new_source")
_MOST_COMPARED: Final = 4_000_000
"""In pairs of lines. Comparing more takes too long; both texts are shown in full instead."""
_CONTEXT: Final = 3


class CallPart(NamedTuple):
    """Lines that belong together, and how much text they are; shortened part by part."""

    lines: Sequence[Line]
    size: str = ""


def tool_parts(given: Json) -> list[CallPart]:
    """Every line of a tool's input, whatever it is; nothing is left out."""
    if given is None or given == {}:
        return []
    told = as_object(given)
    shown, used = _known(told)
    if not shown:
        return [_json(given)]
    rest = {key: value for key, value in told.items() if key not in used}
    return [*shown, *([_json(rest, "faint")] if rest else [])]


def edited_parts(original: Json, edited: Object) -> list[CallPart]:
    """What a person changed in a tool's input: a diff of each text, anything else before and after.

    Nothing is left out: what didn't change is in the input itself.
    """
    before = as_object(original)
    parts: list[CallPart] = []
    for key in dict.fromkeys((*before, *edited)):
        if key in before and key in edited and before[key] == edited[key]:
            continue
        lines = [Line(exact(key), "faint", INDENT), *_change_of(key, before, edited)]
        parts.append(CallPart(lines))
    return parts


def _change_of(key: str, before: Object, after: Object) -> Iterator[Line]:
    old, new = (_as_text(told[key]) if key in told else None for told in (before, after))
    if old is not None and new is not None:
        yield from _differences(old, new)
    elif old is not None:
        yield from _signed("-", old)
    elif new is not None:
        yield from _signed("+", new)


def _as_text(value: Json) -> str:
    return value if isinstance(value, str) else orjson.dumps(value, default=str).decode()


def _known(told: Object) -> tuple[list[CallPart], set[str]]:
    """The parts of a known form, and which members of the input they show."""
    command = told.get("command")
    if isinstance(command, str):
        return _command(command, told)
    given = as_list(command)
    words = [one for one in given if isinstance(one, str)]
    if words and len(words) == len(given):
        return _command(shlex.join(words), told)
    place = _first_text(told, _PLACES)
    if place is None:
        return [], set()
    change, used = _change(told)
    return [CallPart([Line(exact(place[1]), "path", INDENT)]), *change], {place[0], *used}


def _first_text(told: Object, keys: Sequence[str]) -> tuple[str, str] | None:
    """The first of these members that is text, with its name."""
    found = ((key, told.get(key)) for key in keys)
    return next(((key, text) for key, text in found if isinstance(text, str)), None)


def _command(command: str, told: Object) -> tuple[list[CallPart], set[str]]:
    first, *others = text_lines(command, "command", INDENT * 2)
    parts = [CallPart([first._replace(lead=f"{INDENT}$ "), *others], size_of(command))]
    description = told.get("description")
    if not isinstance(description, str):
        return parts, {"command"}
    parts.append(CallPart(text_lines(description, "faint", INDENT), size_of(description)))
    return parts, {"command", "description"}


def _change(told: Object) -> tuple[list[CallPart], set[str]]:
    edits = objects(told.get("edits"))
    if edits and len(edits) == len(as_list(told.get("edits"))):
        return [part for one in edits for part in _edit_and_rest(one)], {"edits"}
    if all(isinstance(told.get(key), str) for key in _TEXTS):
        return [_edit(told)], set(_TEXTS)
    if isinstance(diff := told.get("diff"), str):
        return [_given_diff(diff)], {"diff"}
    content = _first_text(told, _CONTENTS)
    if content is None:
        return [], set()
    key, text = content
    return [CallPart([*_signed("+", text)], size_of(text))], {key}


def _edit_and_rest(told: Object) -> list[CallPart]:
    rest = {key: value for key, value in told.items() if key not in _TEXTS}
    return [_edit(told), *([_json(rest, "faint")] if rest else [])]


def _edit(told: Object) -> CallPart:
    before, after = (str(told.get(key, "")) for key in _TEXTS)
    if before == after:
        found = [Line("nothing changes", "faint", INDENT)]
    elif before.split() == after.split() and _looks(before) == _looks(after):
        # Differences in line endings and tabs wouldn't be visible here.
        found = [Line("only white space changes", "faint", INDENT)]
    else:
        found = list(_differences(before, after))
    sizes = [size for size in (size_of(before), size_of(after)) if size]
    return CallPart(found, " → ".join(sizes))


def _looks(text: str) -> list[str]:
    return [line.text for line in text_lines(text)]


def _differences(old_text: str, new_text: str) -> Iterator[Line]:
    """What changes, with some context lines, and how many lines are left out in between.

    Lines that merely look the same are changes: a character, and an escape that is displayed like
    it.
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


def _given_diff(diff: str) -> CallPart:
    return CallPart([line._replace(lead=INDENT) for line in diff_lines(diff)], size_of(diff))


def diff_lines(diff: str) -> list[Line]:
    """The lines of a unified diff, by what they do."""
    return [line._replace(look=_SIGNS.get(line.text[:1], "plain")) for line in text_lines(diff)]


_SIGNS: Final[Mapping[str, Look]] = {"+": "added", "-": "removed"}


def _signed(sign: str, text: str) -> Iterator[Line]:
    look = _SIGNS[sign]
    for line in text_lines(text, look, f"{INDENT}{sign} "):
        yield line._replace(lead_look=look)


def _plain(line: Line) -> Line:
    return line._replace(look="plain", lead=INDENT * 2, lead_look="faint")


def _json(value: Json, look: Look = "plain") -> CallPart:
    written = orjson.dumps(value, option=orjson.OPT_INDENT_2, default=str).decode()
    return CallPart(text_lines(written, look, INDENT))
