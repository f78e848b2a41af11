"""Compare the events that happened with the expected ones, and report differences readably."""

import difflib
from collections.abc import Sequence
from types import EllipsisType

from callboard.events.codec import dump_json
from callboard.events.envelope import Event
from callboard.events.json_values import Object, is_mapping
from callboard.interactions.fields import is_sequence

Named = str | tuple[str, Object]
Expected = Named | EllipsisType
"""An event name; a name with a payload, of which only the given keys are compared; or `...` for any
number of arbitrary events. A value can be a function that returns whether it matches.
"""


def check(expected: Sequence[Expected], happened: Sequence[Event]) -> None:
    """Raise an AssertionError with a diff unless the events are as expected."""
    if not _fit(expected, happened):
        raise AssertionError(
            "\n".join(["Other events than expected:", *_lines(expected, happened)])
        )


def contains(value: object, wanted: object) -> bool:
    """Whether a value matches: a mapping has at least the given keys, a list is the same."""
    if callable(wanted):
        return bool(wanted(value))
    if is_mapping(wanted):
        return is_mapping(value) and all(
            key in value and contains(value[key], want) for key, want in wanted.items()
        )
    if is_sequence(wanted):
        return (
            is_sequence(value) and len(value) == len(wanted) and all(map(contains, value, wanted))
        )
    return bool(value == wanted)


def _fit(expected: Sequence[Expected], happened: Sequence[Event]) -> bool:
    if not expected:
        return not happened
    first, rest = expected[0], expected[1:]
    if isinstance(first, EllipsisType):
        return any(_fit(rest, happened[skipped:]) for skipped in range(len(happened) + 1))
    return bool(happened) and _is(happened[0], first) and _fit(rest, happened[1:])


def _is(event: Event, expected: Named) -> bool:
    name, payload = parts(expected)
    return event.name == name and contains(event.payload, payload)


def parts(expected: Named) -> tuple[str, Object]:
    """Split an expected event into name and payload."""
    return (expected, {}) if isinstance(expected, str) else expected


def _lines(expected: Sequence[Expected], happened: Sequence[Event]) -> list[str]:
    """A diff: `-` was expected and did not happen, `+` happened unexpectedly."""
    wanted = [one for one in expected if not isinstance(one, EllipsisType)]
    matcher = difflib.SequenceMatcher(
        None, [parts(one)[0] for one in wanted], [event.name for event in happened], autojunk=False
    )
    lines: list[str] = []
    for tag, i1, i2, j1, j2 in matcher.get_opcodes():
        if tag == "equal":
            pairs = zip(wanted[i1:i2], happened[j1:j2], strict=True)
            lines += [line for one, event in pairs for line in _compared(one, event)]
        else:
            lines += [f"  - {_wanted(one)}" for one in wanted[i1:i2]]
            lines += [f"  + {_told(event.name, event.payload)}" for event in happened[j1:j2]]
    return lines


def _compared(expected: Named, event: Event) -> list[str]:
    name, payload = parts(expected)
    if contains(event.payload, payload):
        return [f"    {name}"]
    found = {key: event.payload.get(key) for key in payload}
    return [f"  - {_wanted(expected)}", f"  + {_told(name, found)}"]


def _wanted(expected: Named) -> str:
    name, payload = parts(expected)
    return _told(name, {k: "(a function)" if callable(v) else v for k, v in payload.items()})


def _told(name: str, payload: Object) -> str:
    return f"{name} {dump_json(dict(payload)).decode()}" if payload else name
