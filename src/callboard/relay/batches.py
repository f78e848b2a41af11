"""What a relay sends to its server: numbered items, with hooks' payloads byte for byte.

A batch is not one JSON document. A payload is kept as its sender wrote it, which may not be valid
JSON or text, and neither side has to parse eight megabytes to find the next item. Each item is a
line of JSON about it, then as many bytes as that line says.
"""

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from itertools import pairwise
from typing import Final

from callboard.errors import ValidationError
from callboard.events.json_values import Object, as_object, is_object

HOOK: Final = "hook"
"""The kind of an item that has a hook's payload."""
GONE: Final = "gone"
"""The kind of an item that says that a held hook has left."""
RECEIPT: Final = "receipt"
"""The kind of an item that says what became of a command."""
SIGHTING: Final = "sighting"
"""The kind of an item with something that was seen on the machine and that no hook reported."""

REGISTERED: Final = "registered"
"""The sighting of a client that `callboard watch` or `callboard start` has started."""
CHILD: Final = "child"
"""The sighting of a process that such a client started, and that its hooks come from."""

INCARNATION: Final = "callboard-incarnation"
"""The header with the id of the outbox that the numbers belong to."""
SECRET: Final = "callboard-relay-secret"
"""The header with the secret of the relay, without which its token is worth nothing."""
MOST_ITEMS: Final = 100
"""How many items a batch has at most."""

_LONGEST_LINE: Final = 1024
_LARGEST_NUMBER: Final = 2**53


@dataclass(frozen=True, slots=True)
class RelayItem:
    """Something that happened on a relay's machine.

    number: its place in the relay's outbox; numbers only grow, and may have gaps.
    at_ms: when it happened. agent, pid, start, boot_id: the client and its process, for a hook.
    again: another reader of the spool may have recorded it.
    """

    number: int
    kind: str
    body: bytes
    at_ms: int
    agent: str = ""
    pid: int | None = None
    start: str | None = None
    boot_id: str = ""
    again: bool = False

    @property
    def is_from_spool(self) -> bool:
        """Whether a hook left it in a file, whose name has its process, and may not wait."""
        return self.pid is not None


def packed(items: Iterable[RelayItem]) -> bytes:
    """A batch, as it is sent."""
    parts: list[bytes] = []
    for one in items:
        told: dict[str, object] = {
            "n": one.number,
            "kind": one.kind,
            "at": one.at_ms,
            "size": len(one.body),
        }
        if one.agent:
            told |= {"agent": one.agent, "boot": one.boot_id}
        if one.pid is not None:
            told |= {"pid": one.pid, "start": one.start}
        if one.again:
            told["again"] = True
        parts += [json.dumps(told, separators=(",", ":")).encode(), b"\n", one.body, b"\n"]
    return b"".join(parts)


def unpacked(batch: bytes) -> list[RelayItem]:
    """The items of a batch; ValidationError if it is damaged."""
    items: list[RelayItem] = []
    place = 0
    while place < len(batch):
        if len(items) == MOST_ITEMS:
            raise _damaged(f"it has more than {MOST_ITEMS} items")
        end = batch.find(b"\n", place, place + _LONGEST_LINE)
        if end < 0:
            raise _damaged("the description of an item has no end")
        told = _told(batch[place:end])
        size = _whole(told, "size")
        place = end + 1 + size + 1
        if place > len(batch):
            raise _damaged("it ends too early")
        items.append(_item(told, batch[end + 1 : end + 1 + size]))
    numbers = [one.number for one in items]
    if any(one >= other for one, other in pairwise(numbers)):
        raise _damaged("its items are not in order")
    return items


def _told(line: bytes) -> Object:
    try:
        told = json.loads(line)
    except (ValueError, RecursionError) as error:
        raise _damaged("the description of an item is not JSON") from error
    if not is_object(told):
        raise _damaged("the description of an item is not an object")
    return as_object(told)


def _item(told: Object, body: bytes) -> RelayItem:
    pid = _whole(told, "pid") if told.get("pid") is not None else None
    start = told.get("start")
    return RelayItem(
        number=_whole(told, "n"),
        kind=_word(told, "kind"),
        body=body,
        at_ms=_whole(told, "at"),
        agent=_word(told, "agent"),
        pid=pid,
        start=start if isinstance(start, str) and start else None,
        boot_id=_word(told, "boot"),
        again=told.get("again") is True,
    )


def _whole(told: Mapping[str, object], key: str) -> int:
    value = told.get(key)
    if isinstance(value, bool) or not isinstance(value, int) or not 0 <= value < _LARGEST_NUMBER:
        raise _damaged(f"{key} is not a number")
    return value


def _word(told: Mapping[str, object], key: str) -> str:
    value = told.get(key, "")
    if not isinstance(value, str):
        raise _damaged(f"{key} is not text")
    return value


def _damaged(why: str) -> ValidationError:
    return ValidationError(f"This batch of reports can't be read: {why}.", field="body")
