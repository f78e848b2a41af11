"""Regular expressions that others wrote, in time that grows only with the text.

Python's own engine tries one way after another, and `^(a+)+$` keeps it busy for years. The one that
pydantic brings does not. It knows no lookaround; where that stands at the very beginning, which is
where people put it, it is a question of its own, and is asked as one.
"""

from collections.abc import Callable
from functools import lru_cache
from typing import Final

LONGEST: Final = 1000
_AHEAD: Final = ("(?=", "(?!")

Matches = Callable[[str], bool]


@lru_cache(maxsize=32)
def matcher(pattern: str) -> Matches:
    """Whether a text holds what the pattern describes; ValueError for what cannot be used."""
    if len(pattern) > LONGEST:
        raise ValueError(f"a pattern may have {LONGEST} characters, this one has {len(pattern)}")
    rest, wanted, unwanted = pattern, list[Matches](), list[Matches]()
    # With a choice beside it, what stands at the beginning would be asked of one side alone.
    while rest.startswith(_AHEAD, 1) and rest[0] == "^" and (end := _end(rest)):
        (wanted if rest[3] == "=" else unwanted).append(_engine(f"^(?:{rest[4:end]})"))
        rest = "^" + rest[end + 1 :]
    wanted.append(_engine(rest))
    return lambda text: all(one(text) for one in wanted) and not any(one(text) for one in unwanted)


def _end(pattern: str) -> int | None:
    """Where the group ends that begins after the first character; None with a choice beside it."""
    depth, end, is_class, is_escaped = 0, None, False, False
    for place, character in enumerate(pattern):
        if is_escaped:
            is_escaped = False
        elif character == "\\":
            is_escaped = True
        elif is_class:
            is_class = character != "]"
        elif character == "[":
            is_class = True
        else:
            depth += (character == "(") - (character == ")")
            if character == "|" and depth == 0:
                return None
            if character == ")" and depth == 0 and end is None:
                end = place
    return end


def _engine(pattern: str) -> Matches:
    from pydantic_core import SchemaError, SchemaValidator, core_schema

    try:
        checks = SchemaValidator(core_schema.str_schema(pattern=pattern, regex_engine="rust-regex"))
    except SchemaError as error:
        why = str(error).rpartition("rror: ")[2].strip(" .\n")
        raise ValueError(f"the pattern {pattern!r} cannot be used: {why}") from None
    return checks.isinstance_python
