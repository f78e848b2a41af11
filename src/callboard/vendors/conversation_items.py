"""Items of a conversation: put together from parts, and cut to what a page may hold."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from math import isfinite
from typing import Final, TypeVar

from callboard.events.envelope import Json
from callboard.events.json_values import is_list, is_object
from callboard.vendors.conversation import (
    LONGEST_ITEM_TEXT,
    MOST_ITEMS,
    ConversationItem,
    FileEdit,
    ItemImage,
    ToolRun,
    ToolStatus,
)
from callboard.vendors.fields import LONGEST_PATH, LONGEST_WORD, encodable

T = TypeVar("T")

LARGEST_IMAGE: Final = 400_000
"""Base64 characters of an image that a page has."""
_MOST_PARTS: Final = 100
"""Edits and images of an item, and values of an object or list in a tool's input."""
_DEEPEST: Final = 20
_LONGEST_RECORD: Final = 160_000
_VALUE: Final = 8
"""Characters that a value counts as: many small ones take more memory than a text."""


def assembled(parts: Iterable[ConversationItem]) -> list[ConversationItem]:
    """The items in order, each once, and the usage of each call once, with its last item."""
    items = dict[str, ConversationItem]()
    for part in parts:
        known = items.get(part.id)
        items[part.id] = part if known is None else joined(known, part)
    calls = dict[str, str]()
    for item in items.values():
        if item.usage is not None and item.usage.call is not None:
            calls[item.usage.call] = item.id
    return [_with_own_usage(item, calls) for item in items.values()]


def _with_own_usage(item: ConversationItem, calls: dict[str, str]) -> ConversationItem:
    if item.usage is None or item.usage.call is None or calls[item.usage.call] == item.id:
        return item
    return replace(item, usage=None)


def joined(older: ConversationItem, newer: ConversationItem) -> ConversationItem:
    """An item, completed by what was written of it later."""
    return replace(
        newer,
        at=newer.at if older.at is None else older.at,
        text=newer.text or older.text,
        tool=_joined_tool(older.tool, newer.tool),
        usage=newer.usage or older.usage,
        images=newer.images or older.images,
        cut=older.cut or newer.cut,
    )


def _joined_tool(older: ToolRun | None, newer: ToolRun | None) -> ToolRun | None:
    if older is None or newer is None:
        return newer or older
    return ToolRun(
        newer.name or older.name,
        newer.input if newer.name else older.input,
        newer.command or older.command,
        older.result if newer.result is None else newer.result,
        _joined_status(older.status, newer.status),
        newer.edits or older.edits,
        newer.subagent or older.subagent,
    )


def _joined_status(older: ToolStatus, newer: ToolStatus) -> ToolStatus:
    # Some records only say that there is a result.
    is_known = newer == "running" or (newer == "done" and older in ("failed", "denied"))
    return older if is_known else newer


def cut_items(items: Sequence[ConversationItem]) -> list[ConversationItem]:
    """The items of one record, as a page has them: the last of them, and together not too long."""
    some = items[-MOST_ITEMS:]
    most = min(LONGEST_ITEM_TEXT, _LONGEST_RECORD // max(1, len(some)))
    return [cut_item(item, most) for item in some]


def cut_item(item: ConversationItem, most: int = LONGEST_ITEM_TEXT) -> ConversationItem:
    """An item as a page has it: `cut` if that is not all of it."""
    cutting = _Cutting(most)
    text = cutting.text(item.text)
    tool = None if item.tool is None else cutting.tool(item.tool)
    images = [cutting.image(one) for one in cutting.few(item.images)]
    return replace(
        item, text=text, tool=tool, images=images, cut=item.cut or cutting.has_left_out_some
    )


def weight(item: ConversationItem) -> int:
    """Roughly how many characters an item has; each value of a tool's input counts, too."""
    images = sum(len(one.data or "") for one in item.images)
    given = 0 if item.tool is None else _VALUE * sum(1 for _ in _values(item.tool.input))
    return images + given + sum(len(text) for text in texts(item))


def texts(item: ConversationItem) -> Iterator[str]:
    """Everything of an item that can be searched."""
    yield item.text
    if item.tool is None:
        return
    yield item.tool.name
    yield item.tool.command or ""
    yield from strings(item.tool.input)
    yield item.tool.result or ""
    for edit in item.tool.edits:
        yield edit.path
        yield edit.diff


def strings(value: Json) -> Iterator[str]:
    """All texts in a value."""
    return (one for one in _values(value) if isinstance(one, str))


def _values(value: Json) -> Iterator[object]:
    """A value and all that are in it."""
    left: list[object] = [value]
    while left:
        one = left.pop()
        yield one
        if is_object(one):
            left.extend(reversed(one.values()))
        elif is_list(one):
            left.extend(reversed(one))


class _Cutting:
    """Cuts the parts of one item, and remembers whether something is missing."""

    def __init__(self, most: int) -> None:
        self._most = self._left = most
        self.has_left_out_some = False

    def text(self, value: str, most: int | None = None) -> str:
        most = self._most if most is None else most
        if len(value) > most:
            self.has_left_out_some = True
            value = value[:most]
        return encodable(value)

    def tool(self, tool: ToolRun) -> ToolRun:
        return replace(
            tool,
            name=self.text(tool.name),
            input=self.value(tool.input),
            command=None if tool.command is None else self.text(tool.command),
            result=None if tool.result is None else self.text(tool.result),
            edits=self.edits(tool.edits),
        )

    def edits(self, edits: Sequence[FileEdit]) -> list[FileEdit]:
        found, left = list[FileEdit](), self._most
        for edit in self.few(edits):
            diff = self.text(edit.diff, left)
            left -= len(diff)
            found.append(FileEdit(self.text(edit.path, LONGEST_PATH), diff))
        return found

    def image(self, image: ItemImage) -> ItemImage:
        if image.data is None or len(image.data) <= min(LARGEST_IMAGE, self._most * 35):
            return image
        self.has_left_out_some = True
        return ItemImage(image.media_type, None)

    def value(self, value: Json, depth: int = 0) -> Json:
        """A value with at most as many characters, and few values at each level."""
        if isinstance(value, str):
            cut = self.text(value, max(0, self._left))
            self._left -= len(cut)
            return cut
        self._left -= 1
        if isinstance(value, float) and not isfinite(value):
            return str(value)
        if is_object(value):
            members = self.inside(list(value.items()), depth)
            return {
                self.text(key, LONGEST_WORD): self.value(one, depth + 1) for key, one in members
            }
        if is_list(value):
            return [self.value(one, depth + 1) for one in self.inside(value, depth)]
        return value

    def inside(self, values: Sequence[T], depth: int) -> Sequence[T]:
        most = 0 if depth >= _DEEPEST or self._left < 0 else _MOST_PARTS
        return self.few(values, most)

    def few(self, values: Sequence[T], most: int = _MOST_PARTS) -> Sequence[T]:
        self.has_left_out_some |= len(values) > most
        return values[:most]
