"""Conversations in transcripts with one record in each line."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from itertools import chain
from re import Pattern
from typing import Final

from callboard.errors import TranscriptUnreadable
from callboard.events.json_values import Object
from callboard.vendors.conversation import (
    MOST_ITEMS,
    ConversationItem,
    ConversationMatches,
    ConversationPage,
    FoundItem,
    ItemImage,
    ToolRun,
    Window,
)
from callboard.vendors.conversation_items import assembled, cut_items, weight
from callboard.vendors.conversation_search import Needle
from callboard.vendors.partial_json import (
    has_many_values,
    load_record,
    load_some,
    load_start,
    parsing_cost,
)
from callboard.vendors.transcript_lines import TranscriptLine, TranscriptLines

LARGEST_PAGE: Final = 600_000
"""Characters after which a page ends."""
MOST_READ: Final = 64 * 1024 * 1024
"""Bytes of a transcript that one call looks at, and how many of them it parses."""
MOST_PARSED: Final = 8 * 1024 * 1024
LARGEST_FULL: Final = 24 * 1024 * 1024
"""Bytes of a line of which `full` has everything; of a longer one, what its start shows."""
SHORTEST: Final = 400
"""Bytes that a line counts as at least: reading millions of empty ones takes long, too."""

Parse = Callable[[Object, str], Sequence[ConversationItem]]
"""The items in a record, and the id of what has none of its own. It never raises."""


class _Budget:
    """How much more a call may read, parse and return."""

    def __init__(self, most: int, parsed: int = MOST_PARSED) -> None:
        self._items = max(1, min(most, MOST_ITEMS))
        self._read, self._parsed, self._weight = MOST_READ, parsed, LARGEST_PAGE

    def spend(
        self, line: TranscriptLine, items: Sequence[ConversationItem], *, is_noise: bool
    ) -> bool:
        """Count a line; returns whether more may be read."""
        self._read -= max(SHORTEST, line.end - line.start)
        self._parsed -= 0 if is_noise else max(SHORTEST, parsing_cost(line.data))
        self._items -= len(items)
        self._weight -= sum(weight(item) for item in items)
        return min(self._items, self._read, self._parsed, self._weight) > 0


class LineConversation:
    """A `ConversationReader` for a file with one record in each line.

    noise: matches the start of lines that have nothing to show, so that they need not be parsed.
    model: matches the start of lines with the model of all calls that follow: `parse` makes an item
        of kind "usage" of them, with no call, and calls without a model get it.
    """

    def __init__(
        self, path: str, parse: Parse, noise: Pattern[bytes], model: Pattern[bytes] | None = None
    ) -> None:
        self._path, self._parse, self._noise, self._model = path, parse, noise, model

    def page(self, window: Window) -> ConversationPage:
        """A part of it. It can be empty while `before` says that there is more."""
        with TranscriptLines(self._path) as lines:
            given = window.before if window.after is None else window.after
            found = None if given is None else lines.offset(given)
            if found is None:
                page = self._ending(lines, lines.end(), window.most)
                return replace(page, restarted=given is not None)
            if window.after is None:
                return self._ending(lines, found, window.most)
            return self._starting(lines, found, window.most)

    def search(self, text: str, window: Window) -> ConversationMatches:
        """The newest items before `window.before` that contain a text, ignoring case."""
        needle, found = Needle(text), dict[str, FoundItem]()
        with TranscriptLines(self._path) as lines:
            end = None if window.before is None else lines.offset(window.before)
            end, budget = lines.end() if end is None else end, _Budget(window.most)
            for line in lines.before(end):
                is_candidate = needle.may_be_in(line.data) and not self._is_noise(line)
                items = self._items(line) if is_candidate else []
                hits = [
                    one for item in items if (one := needle.found(item, lines.cursor(line.end)))
                ]
                found.update((one.id, one) for one in reversed(hits) if one.id not in found)
                end = line.start
                if not budget.spend(line, items[: len(hits)], is_noise=not is_candidate):
                    break
            return ConversationMatches(list(found.values()), lines.cursor(end) if end else None)

    def full(self, item_id: str, cursor: str) -> ConversationItem | None:
        """All of an item that a page has cut. cursor: `after` of a page that has it."""
        with TranscriptLines(self._path) as lines:
            end = lines.offset(cursor)
            if end is None:
                raise TranscriptUnreadable("The conversation was rewritten. Open it again.")
            parts = list(self._parts(lines, lines.before(end), item_id, _is_call))
            if parts and (tool := parts[0].tool) is not None and tool.result is None:
                parts[:0] = reversed(
                    list(self._parts(lines, lines.after(end), item_id, _is_result))
                )
            return next(iter(assembled(reversed(parts))), None)

    def watched(self) -> list[str]:
        """The files that change when the conversation grows."""
        return [self._path]

    def _ending(self, lines: TranscriptLines, end: int, most: int) -> ConversationPage:
        start, budget, groups = end, _Budget(most), list[list[ConversationItem]]()
        for line in lines.before(end):
            start, is_noise = line.start, self._is_noise(line)
            groups.append([] if is_noise else cut_items(self._items(line)))
            if not budget.spend(line, groups[-1], is_noise=is_noise):
                break
        items = self._with_models(lines, start, list(chain.from_iterable(reversed(groups))))
        return ConversationPage(
            assembled(items), lines.cursor(start) if start else None, lines.cursor(end)
        )

    def _starting(self, lines: TranscriptLines, start: int, most: int) -> ConversationPage:
        end, budget, items = start, _Budget(most), list[ConversationItem]()
        for line in lines.after(start):
            end, is_noise = line.end, self._is_noise(line)
            found = [] if is_noise else cut_items(self._items(line))
            items += found
            if not budget.spend(line, found, is_noise=is_noise):
                break
        items = self._with_models(lines, start, items)
        before = lines.cursor(start) if start else None
        return ConversationPage(assembled(items), before, lines.cursor(end))

    def _with_models(
        self, lines: TranscriptLines, start: int, items: list[ConversationItem]
    ) -> list[ConversationItem]:
        """The items, with the models of the calls whose records don't have them."""
        if self._model is None:
            return items
        found, model = list[ConversationItem](), None
        for item in items:
            if item.usage is None or item.usage.model is not None:
                model = item.usage.model if item.usage else model
            else:
                model = model or self._model_before(lines, start) or ""
                item = replace(item, usage=replace(item.usage, model=model or None))
            if item.kind != "usage" or (item.usage is not None and item.usage.call is not None):
                found.append(item)
        return found

    def _model_before(self, lines: TranscriptLines, start: int) -> str | None:
        assert self._model is not None
        budget = _Budget(MOST_ITEMS)
        for line in lines.before(start):
            is_model = self._model.match(line.data) is not None
            for item in self._items(line) if is_model else []:
                if item.usage is not None:
                    return item.usage.model
            if not budget.spend(line, [], is_noise=not is_model):
                break
        return None

    def _is_noise(self, line: TranscriptLine) -> bool:
        return self._noise.match(line.data) is not None

    def _items(self, line: TranscriptLine) -> list[ConversationItem]:
        """The items in a line, uncut; of a long line, only what its start shows."""
        own_id = f"@{line.start}"
        record, is_all = load_some(line.data) if line.is_whole else (load_start(line.data), False)
        items = self._parse(record, own_id)
        if is_all:
            return list(items)
        return [_without_images(replace(item, cut=True)) for item in items]

    def _parts(
        self,
        lines: TranscriptLines,
        found: Iterator[TranscriptLine],
        item_id: str,
        is_last: Callable[[ToolRun], bool],
    ) -> Iterator[ConversationItem]:
        """What lines have of an item, up to the part that `is_last`."""
        needle, budget = Needle(item_id.partition(":")[0]), _Budget(MOST_ITEMS, LARGEST_FULL)
        start = item_id.removeprefix("@").partition(":")[0]
        for line in found:
            is_candidate = needle.may_be_in(line.data) or start == str(line.start)
            for item in self._whole_items(lines, line) if is_candidate else []:
                if item.id != item_id:
                    continue
                yield item
                if item.tool is None or is_last(item.tool):
                    return
            if not budget.spend(line, [], is_noise=not is_candidate):
                return

    def _whole_items(self, lines: TranscriptLines, line: TranscriptLine) -> list[ConversationItem]:
        """The items in a line, uncut, with the ids that they have in a page."""
        items = self._items(line)
        if line.is_whole or (data := lines.whole(line, LARGEST_FULL)) is None:
            return items
        if has_many_values(data):
            return items
        whole = self._parse(load_record(data), f"@{line.start}")
        return [replace(item, id=cut.id) for item, cut in zip(whole, items, strict=False)]


def _without_images(item: ConversationItem) -> ConversationItem:
    return replace(item, images=[ItemImage(one.media_type, None) for one in item.images])


def _is_call(tool: ToolRun) -> bool:
    return tool.name != ""


def _is_result(tool: ToolRun) -> bool:
    return tool.result is not None
