"""Make a part of a conversation small enough to be sent. Pure, but for what reads a page again."""

import json
from collections.abc import Callable
from dataclasses import replace
from typing import Final

from callboard.events.envelope import Json
from callboard.events.json_values import is_list, is_object
from callboard.events.shapes import Shape
from callboard.vendors.conversation import (
    ConversationItem,
    ConversationPage,
    ItemImage,
    ToolRun,
)

LARGEST: Final = 900_000
"""Bytes of JSON. A machine sends at most 1 MB."""
_LARGEST_IMAGE: Final = 65_536
_SHORTEST: Final = 500


def size_of(shape: Shape) -> int:
    """Its size as a machine sends it."""
    return len(json.dumps(shape.to_wire()))


def fitted_page(
    read: Callable[[int], ConversationPage], most: int, largest: int = LARGEST
) -> ConversationPage:
    """A page that is small enough: with less of its images, fewer items, or shorter texts.

    read: reads the page with at most so many items.
    """
    while True:
        page = read(most)
        size = size_of(page)
        if size > largest:
            page = replace(page, items=[_with_small_images(item) for item in page.items])
            size = size_of(page)
        if size <= largest:
            return page
        if len(page.items) <= 1:
            return replace(page, items=[fitted_item(item, largest) for item in page.items])
        # Its cursors say where the others are, so it has to be read again.
        most = max(1, min(len(page.items) - 1, len(page.items) * largest * 3 // size // 4))


def fitted_item(item: ConversationItem, largest: int = LARGEST) -> ConversationItem:
    """An item that is small enough: without images that are too large, or with shorter texts."""
    if size_of(item) <= largest:
        return item
    item, longest = _with_small_images(item), largest
    while size_of(item) > largest and longest > _SHORTEST:
        item = _shortened(item, longest)
        longest //= 2
    if size_of(item) > largest:  # So many values that shorter texts don't help.
        item = replace(_shortened(item, _SHORTEST), images=())
        if item.tool is not None:
            item = replace(item, tool=replace(item.tool, input=None, edits=item.tool.edits[:10]))
    return item


def _with_small_images(item: ConversationItem) -> ConversationItem:
    if not item.images:
        return item
    images = [
        ItemImage(one.media_type, None) if len(one.data or "") > _LARGEST_IMAGE else one
        for one in item.images
    ]
    return replace(item, images=images)


def _shortened(item: ConversationItem, longest: int) -> ConversationItem:
    tool = None if item.tool is None else _shortened_tool(item.tool, longest)
    return replace(item, text=item.text[:longest], tool=tool, cut=True)


def _shortened_tool(tool: ToolRun, longest: int) -> ToolRun:
    return replace(
        tool,
        input=_shortened_json(tool.input, longest),
        command=None if tool.command is None else tool.command[:longest],
        result=None if tool.result is None else tool.result[:longest],
        edits=[replace(one, diff=one.diff[:longest]) for one in tool.edits],
    )


def _shortened_json(value: Json, longest: int) -> Json:
    if isinstance(value, str):
        return value[:longest]
    if is_object(value):
        return {key: _shortened_json(one, longest) for key, one in value.items()}
    if is_list(value):
        return [_shortened_json(one, longest) for one in value]
    return value


def writable(shape: Shape) -> bool:
    """Whether it can be sent as UTF-8: a transcript may contain half of a character."""
    try:
        json.dumps(shape.to_wire(), ensure_ascii=False).encode()
    except UnicodeEncodeError:
        return False
    return True


def whole_characters(wire: object) -> object:
    """JSON without halves of characters."""
    text = json.dumps(wire, ensure_ascii=False)
    return json.loads(text.encode("utf-8", "replace"))
