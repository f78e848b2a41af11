"""The head of an agent's file: YAML between two lines of dashes, read with forgiveness."""

import re
from typing import Any, Final, NamedTuple, cast

from callboard.errors import ValidationError

_DASHES: Final = re.compile(r"-{3,}[ \t]*")
_FIELD: Final = re.compile(r"([A-Za-z][\w-]*)[ \t]*:(?:[ \t]+(.*)|[ \t]*)")
_DEEPEST: Final = 20
"""How deep values may stand in each other: the reader gets slow, and fails at hundreds."""
_ITEM: Final = re.compile(r"-[ \t]+(.*)")


class FrontMatter(NamedTuple):
    """What an agent's file says of the agent, and what it says to it."""

    fields: dict[str, Any]
    body: str


def front_matter(text: str) -> FrontMatter:
    """Take a file apart; ValidationError tells the line at which that cannot be done."""
    lines = text.removeprefix("\ufeff").splitlines()
    if not lines or not _DASHES.fullmatch(lines[0]):
        raise _wrong(1, "it does not begin with ---, and so says neither name nor description")
    ends = (number for number, line in enumerate(lines[1:], 1) if _DASHES.fullmatch(line))
    end = next(ends, None)
    if end is None:
        raise _wrong(1, "its head has no end: a line of --- is missing")
    return FrontMatter(_fields(lines[1:end]), "\n".join(lines[end + 1 :]).strip())


def _fields(lines: list[str]) -> dict[str, Any]:
    from yaml import YAMLError  # Only who delegates needs it.

    try:
        found = _loaded("\n".join(lines))
    except (YAMLError, ValueError, RecursionError) as error:
        # ValueError: a date that there is none of.
        # Agents' files are written by hand, and `description: Use it: always` is common there.
        plain = _plain_fields(lines)
        if plain is None:
            mark: Any = getattr(error, "problem_mark", None)
            said = str(getattr(error, "problem", None) or "it cannot be read")
            raise _wrong(2 + (mark.line if mark else 0), f"its head is no YAML: {said}") from error
        return plain
    if not isinstance(found, dict):
        raise _wrong(2, "its head has no fields; write name: and description: there")
    return {str(key): value for key, value in cast("dict[Any, Any]", found).items()}


def _loaded(text: str) -> Any:
    import yaml

    depth = 0
    for event in cast("Any", yaml).parse(text):
        depth += isinstance(event, yaml.CollectionStartEvent)
        depth -= isinstance(event, yaml.CollectionEndEvent)
        if depth > _DEEPEST:
            what = "its brackets are too deep; close them"
            raise yaml.MarkedYAMLError(problem=what, problem_mark=event.start_mark)
        # Nobody needs them here, and a few lines of them can fill all memory.
        if isinstance(event, yaml.AliasEvent):
            what = "it has an alias; write out what it stands for"
            raise yaml.MarkedYAMLError(problem=what, problem_mark=event.start_mark)
    return yaml.safe_load(text)


def _plain_fields(lines: list[str]) -> dict[str, Any] | None:
    """Each field's text up to the end of its line, and what is indented below; None if not so."""
    fields: dict[str, Any] = {}
    last = ""
    for line in lines:
        field = _FIELD.fullmatch(line)
        if field is not None:
            last = field[1]
            fields[last] = _unquoted((field[2] or "").strip())
        elif last and (not line.strip() or line[0] in " \t-"):
            fields[last] = _continued(fields[last], line.strip())
        elif not line.lstrip().startswith("#"):
            return None
    return fields


def _continued(value: str | list[str], line: str) -> str | list[str]:
    """A field with one more line: of its text, or of its list when only items stand there."""
    item = _ITEM.fullmatch(line)
    if item is not None and (isinstance(value, list) or not value):
        return [*value, _unquoted(item[1].strip())]
    if isinstance(value, list):
        return [*value[:-1], f"{value[-1]} {line}".strip()]
    return f"{value} {line}".strip()


def _unquoted(text: str) -> str:
    quoted = len(text) > 1 and text[0] == text[-1] and text[0] in "'\""
    return text[1:-1] if quoted else text


def _wrong(line: int, what: str) -> ValidationError:
    return ValidationError(what, line=line)
