"""What is reported of an agent's updates: everything that is new in them, in small parts. Pure.

Agents repeat themselves: many send all of a command's output with each new line. An event is kept
forever, and a large one only in part, so each has only what is new, and long texts are several.
"""

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from difflib import unified_diff
from typing import Final

from callboard.events.envelope import Json
from callboard.events.json_values import Object, as_object, as_text, is_list, is_object, objects
from callboard.vendors.diffs import created, replaced
from callboard.vendors.fields import LONGEST_PATH, encodable

PART: Final = 6_000
"""Characters of a text in one part."""
LONGEST_RESULT: Final = 200_000
"""Characters of a tool's result that are reported."""
_LARGEST_VALUE: Final = 6_000
_LARGEST_DIFFS: Final = 12_000
_MOST_LINES: Final = 3_000
"""Lines of two texts whose differences are looked for; that takes long for more."""
_MOST_FILES: Final = 20
_MOST_CALLS: Final = 500
_LARGEST_IMAGE: Final = 12_000
_CHUNKS: Final = frozenset({"agent_message_chunk", "agent_thought_chunk", "user_message_chunk"})
_CALLS: Final = frozenset({"tool_call", "tool_call_update"})
_OVER: Final = frozenset({"completed", "failed"})
_GROWTH: Final = {"sessionUpdate", "toolCallId", "added"}
_AS_IT_IS: Final = ("title", "kind", "status")

Part = dict[str, Json]


@dataclass(slots=True)
class _Call:
    """What was reported of a call so far."""

    told: dict[str, Json] = field(default_factory=dict[str, Json])
    text: str = ""


class UpdateParts:
    """Takes an agent's updates apart, and remembers what was reported of its calls."""

    def __init__(self) -> None:
        self._calls: dict[str, _Call] = {}

    def of(self, update: Object) -> list[Part]:
        """What is new in an update; empty if nothing is."""
        kind = as_text(update.get("sessionUpdate"))
        if kind in _CHUNKS:
            return list(_chunk(kind, update))
        if kind in _CALLS:
            return self._call(update)
        return [as_dict(bounded(update, _LARGEST_VALUE * 2))]

    def end_turn(self) -> None:
        """Forget the calls: none of them continues in the next turn."""
        self._calls.clear()

    def _call(self, update: Object) -> list[Part]:
        id = call_id(update)
        known = self._calls.setdefault(id, _Call())
        if len(self._calls) > _MOST_CALLS:
            del self._calls[next(iter(self._calls))]
        told = {name: value for name, value in _facts(update) if known.told.get(name) != value}
        known.told |= told
        first, *more = _texts(known, _result(update)) or [{}]
        told |= first
        if not told and not more:
            return []
        shared: Part = {"sessionUpdate": update.get("sessionUpdate"), "toolCallId": id}
        # A status is last, so that the result is complete when the call is over.
        status = {"status": told.pop("status")} if more and "status" in told else {}
        parts: list[Part] = [shared | told, *(_continued(id) | one for one in more)]
        parts[-1] |= status
        return parts


def call_id(update: Object) -> str:
    """The id of the call that an update is about; empty if it is about none."""
    return encodable(as_text(update.get("toolCallId"))[:LONGEST_PATH])


def _continued(id: str) -> Part:
    return {"sessionUpdate": "tool_call_update", "toolCallId": id}


def _texts(known: _Call, result: str | None) -> list[Part]:
    """How a result is reported: as a new text, or as what follows the one before."""
    if result is None or result == known.text:
        return []
    grows = result.startswith(known.text)
    new = result[len(known.text) :] if grows else result
    name = "added" if grows and known.text else "text"
    known.text = result
    first, *more = [new[at : at + PART] for at in range(0, len(new), PART)] or [""]
    return [{name: first}, *({"added": one} for one in more)]


def _chunk(kind: str, update: Object) -> Iterator[Part]:
    shared: Part = {"sessionUpdate": kind}
    if isinstance(id := update.get("messageId"), str):
        shared["messageId"] = id[:LONGEST_PATH]
    content = as_object(update.get("content"))
    if content.get("type") != "text":
        yield shared | {"content": _block(content)}
        return
    text = encodable(as_text(content.get("text")))
    for at in range(0, len(text), PART):
        yield shared | {"content": {"type": "text", "text": text[at : at + PART]}}


def grows(part: Part) -> bool:
    """Whether more of the same text may follow soon."""
    return part.get("sessionUpdate") in _CHUNKS or "added" in part


def joined(one: Part, other: Part) -> Part | None:
    """Two parts of the same text as one; None if they are not, or too long together."""
    if other.keys() == _GROWTH and other.get("toolCallId") == one.get("toolCallId"):
        name = "text" if "text" in one else "added"
        text = as_text(one.get(name)) + as_text(other["added"])
        return one | {name: text} if len(text) <= PART else None
    kinds = one.get("sessionUpdate"), one.get("messageId")
    if kinds != (other.get("sessionUpdate"), other.get("messageId")) or kinds[0] not in _CHUNKS:
        return None
    first, second = as_object(one.get("content")), as_object(other.get("content"))
    if first.get("type") != "text" or second.get("type") != "text":
        return None
    text = as_text(first.get("text")) + as_text(second.get("text"))
    return one | {"content": {"type": "text", "text": text}} if len(text) <= PART else None


def _block(content: Object) -> Json:
    """Content that is not text. Large data is left out."""
    data = content.get("data")
    if isinstance(data, str) and len(data) > _LARGEST_IMAGE:
        content = {**content, "data": None}
    return bounded(content, _LARGEST_IMAGE + _LARGEST_VALUE)


def _facts(update: Object) -> Iterator[tuple[str, Json]]:
    for name in _AS_IT_IS:
        if isinstance(value := update.get(name), str):
            yield name, encodable(value[:PART])
    if (given := update.get("rawInput")) not in (None, {}):
        yield "rawInput", bounded(given, _LARGEST_VALUE)
    paths = [as_text(one.get("path")) for one in objects(update.get("locations"))]
    if known := [{"path": encodable(one[:LONGEST_PATH])} for one in paths[:_MOST_FILES] if one]:
        yield "locations", known
    if found := diffs_in(update):
        yield "diffs", found


def _result(update: Object) -> str | None:
    """The text of a result so far; None if the update has none."""
    blocks = [as_object(one.get("content")) for one in objects(update.get("content"))]
    texts = [_said(one) for one in blocks if one]
    if not any(texts) and update.get("status") in _OVER:
        texts = [_output(update.get("rawOutput"))]
    found = "\n".join(one for one in texts if one)
    if not found:
        return None
    cut = found[:LONGEST_RESULT]
    return encodable(cut if cut == found else cut + f"\n… ({len(found):,} characters in all)")


def _said(block: Object) -> str:
    kind = block.get("type")
    if kind == "text":
        return as_text(block.get("text"))
    if kind == "resource":
        inside = as_object(block.get("resource"))
        return as_text(inside.get("text")) or as_text(inside.get("uri"))
    return as_text(block.get("uri")) or f"({as_text(kind)[:50] or 'content'})"


def _output(raw: Json) -> str:
    if raw is None or isinstance(raw, str):
        return raw or ""
    told = as_object(raw)
    for name in ("output", "error", "message"):
        if isinstance(told.get(name), str):
            return as_text(told[name])
    return json.dumps(raw, ensure_ascii=False, indent=1)[:LONGEST_RESULT] if raw else ""


def diffs_in(update: Object) -> list[Json]:
    """What an update changes in files, as unified diffs."""
    found: list[Json] = []
    left = _LARGEST_DIFFS
    for one in objects(update.get("content")):
        if one.get("type") != "diff" or len(found) >= _MOST_FILES:
            continue
        diff = encodable(difference(one.get("oldText"), as_text(one.get("newText"))))[:left]
        left -= len(diff)
        found.append({"path": encodable(as_text(one.get("path"))[:LONGEST_PATH]), "diff": diff})
    return found


def difference(old: Json, new: str) -> str:
    """The unified diff of two versions of a text, without a header."""
    if not isinstance(old, str) or not old:
        return created(new)
    before, after = old.splitlines(), new.splitlines()
    if len(before) + len(after) > _MOST_LINES:
        return replaced(old, new)
    lines = list(unified_diff(before, after, lineterm=""))[2:]
    return "".join(f"{line}\n" for line in lines)


def bounded(value: Json, most: int) -> Json:
    """A value with about as many characters at most, of whatever shape."""
    return _Bounded(most).value(value)


def as_dict(value: Json) -> Part:
    """A JSON object as a dict; empty if it is something else."""
    return value if is_object(value) else {}


class _Bounded:
    def __init__(self, most: int) -> None:
        self._left = most

    def value(self, value: Json, depth: int = 0) -> Json:
        if isinstance(value, str):
            return self._text(value)
        self._left -= 4
        if self._left < 0 or depth > 20:
            return "…"
        if is_object(value):
            return {self._text(key): self.value(one, depth + 1) for key, one in self._few(value)}
        if is_list(value):
            return [self.value(one, depth + 1) for one in self._some(value)]
        if isinstance(value, int) and abs(value) >= 2**63:
            return str(value)[:50]
        return value

    def _few(self, value: dict[str, Json]) -> Iterator[tuple[str, Json]]:
        for item in value.items():
            if self._left <= 0:
                return
            yield item

    def _some(self, value: Sequence[Json]) -> Iterator[Json]:
        for item in value:
            if self._left <= 0:
                yield "…"
                return
            yield item

    def _text(self, value: str) -> str:
        cut = value if len(value) <= max(0, self._left) else value[: max(0, self._left)] + "…"
        self._left -= len(cut)
        return encodable(cut)
