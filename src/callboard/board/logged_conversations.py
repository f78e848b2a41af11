"""Reads conversations of agents whose clients keep no transcript: from the events of their plates.

A cursor is a position in the plate's stream. What belongs to one message is in many events, so a
turn is read and folded as a whole.
"""

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Final, NamedTuple

from callboard.board.conversation_size import LARGEST, fitted_item, fitted_page
from callboard.board.plate_store import Recent
from callboard.board.usage_totals import MOST_TOTALS, HourTokens, SessionTokens
from callboard.clock import Clock
from callboard.errors import NotFound, ValidationError
from callboard.events.envelope import Event
from callboard.events.json_values import Object, as_object
from callboard.log.protocol import EventLog, Portion
from callboard.state.usage_rows import HOUR_MS
from callboard.vendors.acp.conversation import (
    ConversationFold,
    PlacedItem,
    begins_turn,
    continues,
    usages,
)
from callboard.vendors.conversation import (
    ConversationItem,
    ConversationMatches,
    ConversationPage,
    FoundItem,
    Window,
)
from callboard.vendors.conversation_items import cut_item, strings, weight
from callboard.vendors.conversation_search import Needle
from callboard.vendors.fields import word
from callboard.waiting import wait_any

_STEP: Final = Portion(200, 1024 * 1024)
_LONGEST_TURN: Final = 20_000
"""Events of a turn that are folded together. Items of a longer one may be in two parts."""
_LARGEST_TURN: Final = 3_000_000
"""Characters of the same."""
_LARGEST_TAIL: Final = 1_000_000
"""Characters of items that are remembered for readers who follow."""
_MOST_FOLDED: Final = 5_000
_MOST_SEARCHED: Final = 50_000
_MOST_KNOWN: Final = 32
_LARGEST_PAGE: Final = 140_000
_SHORTEST: Final = 200
_PAUSE: Final = 0.05


class _Said(NamedTuple):
    """An event of a conversation."""

    position: int
    at_ms: int
    payload: Object


@dataclass(slots=True)
class _Tail:
    """The last turn of a conversation, folded as far as it was read."""

    start: int
    position: int
    fold: ConversationFold


@dataclass(slots=True)
class _Tally:
    """What was counted of a session so far: tokens and costs by hour and model."""

    position: int = 0
    model: str | None = None
    sums: dict[tuple[int, str], HourTokens] = field(
        default_factory=dict[tuple[int, str], HourTokens]
    )


class LoggedConversations:
    """The conversations that are in the log, each by the id of its plate."""

    def __init__(self, log: EventLog, clock: Clock) -> None:
        self._log = log
        self._clock = clock
        self._tails = Recent[_Tail](_MOST_KNOWN)
        self._tallies = Recent[_Tally](_MOST_KNOWN)

    async def page(self, plate_id: str, window: Window, wait: float = 0.0) -> ConversationPage:
        """A part of it. wait: seconds to wait for what follows `window.after`."""
        if window.after is None:
            head = await self._log.head(plate_id)
            before = head + 1 if window.before is None else _position(window.before)
            return await self._ending(plate_id, before, head, window.most)
        deadline = self._clock.monotonic() + wait
        changed = asyncio.Event()
        unsubscribe = self._log.on_change(plate_id, lambda head: changed.set())
        try:
            while True:
                changed.clear()
                page = await self._following(plate_id, _position(window.after), window.most)
                left = deadline - self._clock.monotonic()
                if page.items or left <= 0:
                    return page
                if _position(page.after) < await self._log.head(plate_id):
                    continue
                await wait_any(changed.wait(), self._clock.sleep(left))
                await self._clock.sleep(min(left, _PAUSE))
        finally:
            unsubscribe()

    async def search(self, plate_id: str, text: str, window: Window) -> ConversationMatches:
        """The newest items before `window.before` that contain a text."""
        needle, found = Needle(text), list[FoundItem]()
        head = await self._log.head(plate_id)
        end = head + 1 if window.before is None else _position(window.before)
        least = max(0, end - _MOST_SEARCHED)
        while end > least + 1 and len(found) < window.most:
            start, items = await self._turn(plate_id, end - 1)
            placed = [one for one in items if one.start < end]
            for one in reversed(placed):
                hit = needle.found(one.item, str(one.start + 1))
                found += [] if hit is None else [hit]
            end = start
        return ConversationMatches(found, str(end) if end > 1 else None)

    async def item(self, plate_id: str, item_id: str, cursor: str) -> ConversationItem:
        """All of an item; NotFound if it isn't where the cursor says."""
        # An id ends with the position of the item's first event.
        given = item_id.rpartition("@")[2].partition(".")[0]
        start = _position(given) if given.isdecimal() else 0
        if 0 < start <= _position(cursor):
            _, items = await self._turn(plate_id, start)
            for one in items:
                if one.item.id == item_id:
                    return fitted_item(one.item)
        raise NotFound(
            f"There is no message {item_id!r} at that place of the conversation anymore. Open the "
            "conversation again.",
            item_id=item_id,
        )

    async def usage(self, plate_id: str) -> SessionTokens:
        """The tokens that a session has used, as its agent says."""
        tally = self._tallies.get(plate_id) or _Tally()
        self._tallies.keep(plate_id, tally)
        events = await self._log.read(plate_id, tally.position, limit=_STEP)
        for event in events:
            _count(tally, event)
            tally.position = event.position
        return SessionTokens([*tally.sums.values()], not events)

    # ------------------------------------------------------------------ parts

    async def _ending(self, plate_id: str, before: int, head: int, most: int) -> ConversationPage:
        """The last items that start before a position."""
        items: list[PlacedItem] = []
        end, size = before, 0
        while end > 1 and len(items) < most and size < LARGEST:
            start, turn = await self._turn(plate_id, end - 1)
            # As a page has them: all of them together could be too much.
            some = [one._replace(item=cut_item(one.item)) for one in turn if one.start < end]
            items[:0] = some
            size += sum(weight(one.item) for one in some)
            end = start
        after = str(head if before > head else before - 1)

        def page(most: int) -> ConversationPage:
            # Items of one event stay together, because a cursor can't tell them apart.
            at = max(0, len(items) - most)
            while at and items[at - 1].start == items[at].start:
                at -= 1
            some = items[at:]
            first = some[0].start if len(some) < len(items) else end
            known = str(first) if first > 1 else None
            return ConversationPage([one.item for one in some], known, after)

        return fitted_page(page, most)

    async def _following(self, plate_id: str, after: int, most: int) -> ConversationPage:
        """What is new or changed after a position."""
        tail = self._tails.get(plate_id)
        if tail is None or not tail.start <= after + 1 or tail.position < after:
            start, said = await self._beginning(plate_id, after)
            tail = _Tail(start, after, ConversationFold())
            for one in said:
                tail.fold.add(*one)
        self._tails.keep(plate_id, tail)
        if tail.fold.size > _LARGEST_TAIL or len(tail.fold.items) > _MOST_FOLDED:
            # Readers who are further behind start again.
            tail.start = max(tail.start, after + 1)
            tail.fold.forget(after)
        is_enough = sum(one.start > after for one in tail.fold.items.values()) > most
        news = [] if is_enough else await self._log.read(plate_id, tail.position, limit=_STEP)
        for event in news:
            if event.position <= tail.position:
                continue  # Another reader was faster.
            payload = _payload(event)
            if tail.position <= after and begins_turn(payload):
                # The caller knows everything before this, and it won't change anymore.
                tail.start, tail.fold = event.position, ConversationFold()
            tail.fold.add(event.position, event.at_ms, payload)
            tail.position = event.position
        return _page_of(tail, after, most)

    async def _turn(self, plate_id: str, position: int) -> tuple[int, list[PlacedItem]]:
        """Where the turn with this position starts, and its items."""
        start, said = await self._beginning(plate_id, position)
        fold, count, end = ConversationFold(), 0, position
        for one in said:
            fold.add(*one)
        most = fold.size + _LARGEST_TURN
        while count < _LONGEST_TURN and fold.size < most:
            events = await self._log.read(plate_id, end, limit=_STEP)
            for event in events:
                payload = _payload(event)
                if begins_turn(payload):
                    return start, [*fold.items.values()]
                fold.add(event.position, event.at_ms, payload)
                end = event.position
            if not events:
                break
            count += len(events)
            await asyncio.sleep(0)
        return start, [*fold.items.values()]

    async def _beginning(self, plate_id: str, position: int) -> tuple[int, list[_Said]]:
        """The events from the start of a turn to a position, and where that start is.

        Of a turn that is too long, it is where an item starts.
        """
        found: list[_Said] = []
        end, size = position, 0
        while end > 0 and len(found) < _LONGEST_TURN and size < _LARGEST_TURN:
            start = max(0, end - _STEP.events)
            some = await self._between(plate_id, start, end)
            for number in range(len(some) - 1, -1, -1):
                if begins_turn(some[number].payload):
                    return some[number].position, some[number:] + found
            found[:0] = some
            size += sum(len(text) for one in some for text in strings(one.payload))
            end = start
            await asyncio.sleep(0)
        if end == 0 or not found:
            return 1, found
        firsts = range(1, len(found))
        cut = (at for at in firsts if not continues(found[at].payload, found[at - 1].payload))
        found = found[next(cut, 0) :]
        return found[0].position, found

    async def _between(self, plate_id: str, after: int, upto: int) -> list[_Said]:
        found: list[_Said] = []
        while after < upto:
            events = await self._log.read(plate_id, after, upto, limit=_STEP)
            if not events:
                break
            found += [
                _Said(one.position, one.at_ms, payload)
                for one in events
                if (payload := _payload(one))
            ]
            after = events[-1].position
        return found


def _page_of(tail: _Tail, after: int, most: int) -> ConversationPage:
    """What changed in items that are known after a position, and the next ones."""
    changed = [one for one in tail.fold.items.values() if one.last > after]
    known = [one.item for one in changed if one.start <= after]
    new = [one for one in changed if one.start > after]
    at = most
    while at < len(new) and new[at - 1].start == new[at].start:
        at += 1
    # Items come in order. Some of them may be there again with the next page, as they are then.
    reached = new[at].start - 1 if at < len(new) else tail.position
    return ConversationPage(_fitting([*known, *(one.item for one in new[:at])]), None, str(reached))


def _fitting(items: Sequence[ConversationItem]) -> list[ConversationItem]:
    """The items, with shorter texts if they would be too large together."""
    found = [cut_item(item) for item in items]
    if sum(map(weight, found)) <= _LARGEST_PAGE:
        return found
    return [cut_item(item, max(_SHORTEST, _LARGEST_PAGE // len(found))) for item in found]


def _payload(event: Event) -> Object:
    """What an agent's process reported; empty if this is about something else."""
    return as_object(event.payload.get("raw"))


def _position(cursor: str) -> int:
    if not cursor.isdecimal() or len(cursor) > 15:
        raise ValidationError(
            f"Not a cursor of this conversation: {cursor[:80]!r}. Read the conversation again from "
            "its end."
        )
    return int(cursor)


def _count(tally: _Tally, event: Event) -> None:
    payload = _payload(event)
    tally.model = word(payload.get("model")) or tally.model
    if payload.get("type") != "turn":
        return
    hour = event.at_ms // HOUR_MS * HOUR_MS
    for used in usages(payload, "", tally.model):
        key = hour, used.model or ""
        if key not in tally.sums and len(tally.sums) >= MOST_TOTALS - 1:
            # As `usage_counting` does: they still count, but take no memory for each.
            key = 0, ""
        known = tally.sums.get(key) or HourTokens(*key, 0, 0, 0, 0, 0)
        tally.sums[key] = HourTokens(
            *key,
            known.input_tokens + used.input_tokens,
            known.output_tokens + used.output_tokens,
            known.cache_read_tokens + used.cache_read_tokens,
            known.cache_write_tokens + used.cache_write_tokens,
            known.calls + 1,
            _cost(known, used.cost),
        )


def _cost(known: HourTokens, cost: float | None) -> float | None:
    """The cost of all calls as far as the agent says; None if it says nothing.

    What it doesn't say after one turn, it says after the next one.
    """
    if cost is None:
        return known.cost
    return round((known.cost or 0.0) + cost, 9) or None
