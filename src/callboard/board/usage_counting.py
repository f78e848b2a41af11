"""Counts the tokens in transcripts, on the machine where they are."""

from collections import OrderedDict
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from time import monotonic
from typing import Final

from callboard.board.usage_totals import MOST_TOTALS, HourTokens, SessionTokens
from callboard.errors import TranscriptUnreadable
from callboard.state.usage_rows import HOUR_MS, count_of
from callboard.vendors.conversation import (
    MOST_ITEMS,
    ConversationItem,
    ConversationPage,
    ConversationReader,
    TokenUsage,
    Window,
)

OpenPart = Callable[[str | None], ConversationReader]
"""The reader of a session's conversation, or of one of its subagents."""

_OPEN_CALLS: Final = 500
"""How many calls may still grow: a client repeats the record of a call right after it."""
_MOST_PARTS: Final = 500


@dataclass(frozen=True, slots=True)
class _Call:
    hour: int
    usage: TokenUsage


@dataclass(slots=True)
class _Sum:
    """What one model did in one hour. cost: 0 if the client put a price on none of its calls."""

    counts: list[int] = field(default_factory=lambda: [0, 0, 0, 0, 0])
    calls: int = 0
    cost: float = 0.0

    def add(self, usage: TokenUsage) -> None:
        """Add one call."""
        self.counts = [sum(both) for both in zip(self.counts, _counts(usage), strict=True)]
        self.calls += 1
        self.cost += usage.cost or 0.0

    def copy(self) -> "_Sum":
        return _Sum(list(self.counts), self.calls, self.cost)


class _Part:
    """One conversation, read from its end to its start first, and then as it grows."""

    def __init__(self, reader: ConversationReader) -> None:
        self._reader = reader
        self._after: str | None = None
        self._before: str | None = None
        self._sums: dict[tuple[int, str], _Sum] = {}
        self._calls: OrderedDict[str, _Call] = OrderedDict()
        self._at = 0
        self.subagents: dict[str, None] = {}
        self.is_done = False

    def step(self) -> None:
        """Read one page."""
        if self._after is None:
            page = self._reader.page(Window(most=MOST_ITEMS))
            self._after, self._before = page.after, page.before
        elif self._before is not None:
            page = self._reader.page(Window(before=self._before, most=MOST_ITEMS))
            # A page that leads nowhere must not be read forever.
            self._before = None if page.before == self._before else page.before
        else:
            page = self._reader.page(Window(after=self._after, most=MOST_ITEMS))
            if page.restarted:
                self._forget()
                return
            self.is_done = page.after == self._after
            self._after = page.after
        self._count(page)

    def _forget(self) -> None:
        """The transcript was rewritten: count all of it again."""
        self._after = self._before = None
        self._sums.clear()
        self._calls.clear()

    def _count(self, page: ConversationPage) -> None:
        for item in page.items:
            self._at = self._at if item.at is None else item.at
            is_full = len(self.subagents) >= _MOST_PARTS
            if item.tool is not None and item.tool.subagent is not None and not is_full:
                self.subagents[item.tool.subagent] = None
            if item.usage is not None:
                self._count_call(item, item.usage)

    def _count_call(self, item: ConversationItem, usage: TokenUsage) -> None:
        key, hour = usage.call or item.id, self._at // HOUR_MS * HOUR_MS
        known = self._calls.pop(key, None)
        if known is None:
            known = _Call(hour, usage)
        else:
            # In the hour of its first record: a client may repeat the last one hours later, when
            # the call is already counted. Hours of records without a time are 0.
            hours = [one for one in (known.hour, hour) if one]
            known = _Call(min(hours, default=0), _larger(known.usage, usage))
        self._calls[key] = known
        if len(self._calls) > _OPEN_CALLS:
            _add(self._sums, self._calls.popitem(last=False)[1])

    def add_to(self, sums: dict[tuple[int, str], _Sum]) -> None:
        """Add what was counted here."""
        own = {key: one.copy() for key, one in self._sums.items()}
        for call in self._calls.values():
            _add(own, call)
        for key, one in own.items():
            known = sums.setdefault(key, _Sum())
            known.counts = [sum(both) for both in zip(known.counts, one.counts, strict=True)]
            known.calls += one.calls
            known.cost += one.cost


class SessionTally:
    """The tokens of one session and its subagents. Not for several threads at once."""

    def __init__(self, open_part: OpenPart) -> None:
        self._open = open_part
        self._parts: dict[str | None, _Part | None] = {None: _Part(open_part(None))}

    def count(self, seconds: float) -> SessionTokens:
        """Read what is new, for so long; TranscriptUnreadable if there is no transcript."""
        until = monotonic() + seconds
        whole = True
        # A subagent's conversation may name others.
        waiting: list[str | None] = [*self._parts]
        for name in waiting:
            part = self._parts.get(name)
            if part is None:
                continue
            whole = self._read(name, part, until) and whole
            for other in part.subagents:
                if other not in self._parts and len(self._parts) < _MOST_PARTS:
                    self._parts[other] = self._opened(other)
                    waiting.append(other)
        return SessionTokens(self._totals(), whole)

    def _opened(self, name: str) -> _Part | None:
        try:
            return _Part(self._open(name))
        except TranscriptUnreadable:
            return None

    def _read(self, name: str | None, part: _Part, until: float) -> bool:
        part.is_done = False
        while not part.is_done:
            try:
                part.step()
            except TranscriptUnreadable:
                if name is None:
                    raise
                return True  # It may not be written yet.
            if monotonic() > until:
                return part.is_done
        return True

    def _totals(self) -> Sequence[HourTokens]:
        sums: dict[tuple[int, str], _Sum] = {}
        for part in self._parts.values():
            if part is not None:
                part.add_to(sums)
        return [
            HourTokens(
                hour,
                model,
                # As they are stored: what isn't would look new after each turn.
                *map(count_of, one.counts[:4]),
                calls=one.calls,
                # Clients say 0 where they don't know a price, or where a subscription pays.
                cost=round(one.cost, 9) or None,
                long_cache_write_tokens=count_of(one.counts[4]),
            )
            for (hour, model), one in sorted(sums.items())
        ][-MOST_TOTALS:]


def _add(sums: dict[tuple[int, str], _Sum], call: _Call) -> None:
    key = call.hour, call.usage.model or ""
    if key not in sums and len(sums) >= MOST_TOTALS - 1:
        # No client writes so many. They still count, but take no memory for each.
        key = 0, ""
    sums.setdefault(key, _Sum()).add(call.usage)


def _counts(usage: TokenUsage) -> list[int]:
    return [
        usage.input_tokens,
        usage.output_tokens,
        usage.cache_read_tokens,
        usage.cache_write_tokens,
        usage.long_cache_write_tokens,
    ]


def _larger(one: TokenUsage, other: TokenUsage) -> TokenUsage:
    """A call whose record came twice: what it used only grows."""
    *counts, kept = (max(both) for both in zip(_counts(one), _counts(other), strict=True))
    costs = [cost for cost in (one.cost, other.cost) if cost is not None]
    return TokenUsage(
        one.model or other.model,
        *counts,
        cost=max(costs, default=None),
        call=one.call,
        long_cache_write_tokens=kept,
    )
