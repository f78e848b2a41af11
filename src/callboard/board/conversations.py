"""The conversations of the agents on the board, wherever they run."""

import asyncio
from collections.abc import Callable
from contextlib import suppress
from dataclasses import replace
from typing import TYPE_CHECKING, Final, Protocol, TypeVar, get_args

from callboard.board.conversation_reading import (
    LONGEST_WORD,
    MOST_WAIT,
    ConversationReading,
    Transcript,
    asked,
)
from callboard.board.conversation_size import whole_characters
from callboard.board.host_requests import WITHIN, raise_reported
from callboard.board.logged_conversations import LoggedConversations
from callboard.board.plate import NOT_STARTED
from callboard.board.prices import PriceList, load_prices, with_costs
from callboard.board.usage_totals import SessionTokens
from callboard.clock import Clock
from callboard.display.conversation import led_up_to
from callboard.errors import (
    CallboardError,
    HostFailed,
    NotFound,
    TranscriptUnreadable,
    ValidationError,
)
from callboard.events.json_values import Object, as_list, as_object, as_text
from callboard.events.shapes import Shape
from callboard.interactions.records import Interaction
from callboard.vendors.agents import VENDORS
from callboard.vendors.conversation import (
    MOST_ITEMS,
    Author,
    ConversationItem,
    ConversationMatches,
    ConversationPage,
    ConversationPlace,
    ItemKind,
    Window,
)
from callboard.vendors.reports import SUBAGENT
from callboard.waiting import wait_any

if TYPE_CHECKING:
    from callboard.board.plate import Plate
    from callboard.board.plates import Plates
    from callboard.board.relay_hosts import RelayHosts

COMMAND: Final = "transcript"
NEWEST: Final = Window()
_BEFORE_QUESTION: Final = 20
_PAUSE: Final = 1.0
"""Seconds between two looks at a machine that lets no more readers wait."""
_ERRORS: Final = (NotFound, TranscriptUnreadable, ValidationError)
_KINDS: Final = frozenset(get_args(ItemKind))
_AUTHORS: Final = frozenset(get_args(Author))

S = TypeVar("S", bound=Shape)


class BoardConversations(Protocol):
    """What agents did, as their clients' own transcripts have it.

    PlateNotFound, or TranscriptUnreadable if there is no transcript. For a plate of another
    machine: HostUnreachable, HostTimedOut, HostFailed, or PowerNotGranted without `read` there.
    subagent: the conversation that a tool call started, as `ToolRun.subagent` names it.
    """

    async def page(
        self,
        plate_id: str,
        window: Window = NEWEST,
        *,
        subagent: str | None = None,
        wait: float = 0.0,
    ) -> ConversationPage:
        """A part of a conversation, by default its end.

        wait: seconds to wait, up to 20, until something follows `window.after`.
        """
        ...

    async def search(
        self, plate_id: str, text: str, *, before: str | None = None, subagent: str | None = None
    ) -> ConversationMatches:
        """The newest items that contain a text, ignoring case; `before` continues a search."""
        ...

    async def item(
        self, plate_id: str, item_id: str, cursor: str, *, subagent: str | None = None
    ) -> ConversationItem:
        """All of an item that a page has cut. cursor: `after` of that page."""
        ...


async def before_question(
    conversations: BoardConversations, asked: Interaction
) -> list[ConversationItem]:
    """The last messages before an agent's open question; none if they can't be read.

    Not everyone who may answer may read them, and a machine may not be reachable.
    """
    config = as_object(asked.config)
    plate_id = as_text(config.get("plateId"))
    if not plate_id or asked.status != "pending":
        return []
    # What led a subagent there is in its own conversation, as far as that can be read.
    subagent = as_text(as_object(config.get(SUBAGENT)).get("id")) or None
    for whose in dict.fromkeys((subagent, None)):
        with suppress(CallboardError):
            window = Window(most=_BEFORE_QUESTION)
            page = await conversations.page(plate_id, window, subagent=whose)
            return led_up_to(page.items)
    return []


class PlateConversations:
    """Reads those of this machine itself, and asks other machines for theirs."""

    def __init__(
        self,
        plates: "Plates",
        hosts: "RelayHosts",
        clock: Clock,
        logged: LoggedConversations,
        prices: Callable[[], PriceList] = load_prices,
    ) -> None:
        self._plates = plates
        self._hosts = hosts
        self._clock = clock
        self._logged = logged
        self._prices = prices
        self.reading = ConversationReading()
        self._following: dict[object, asyncio.Task[ConversationPage]] = {}
        self._closing = asyncio.Event()
        self.waiting = 0
        """How many readers wait for what comes next."""

    def close(self) -> None:
        """Let readers that wait have what there is."""
        self._closing.set()

    async def page(
        self,
        plate_id: str,
        window: Window = NEWEST,
        *,
        subagent: str | None = None,
        wait: float = 0.0,
        by: str | None = None,
    ) -> ConversationPage:
        """A part of a conversation, by default its end. by: who asks, for the record."""
        _check_window(window, wait)
        plate, place = await self._found(plate_id, subagent)
        window = replace(window, most=min(window.most, MOST_ITEMS))
        if not wait:
            return await self._page(plate, place, window, 0.0, by)
        # All who wait for the same are told the same. The next one who asks starts again.
        key = (plate_id, place, window)
        task = self._following.get(key)
        if task is None:
            follow = self._follow(plate, place, window, min(wait, MOST_WAIT), by)
            self._following[key] = task = asyncio.create_task(follow)
            task.add_done_callback(lambda _: self._following.pop(key, None))
        self.waiting += 1
        try:
            await wait_any(task, self._closing.wait())
        finally:
            self.waiting -= 1
        if task.done():
            return task.result()
        assert window.after is not None
        return ConversationPage([], None, window.after)

    async def search(
        self,
        plate_id: str,
        text: str,
        *,
        before: str | None = None,
        subagent: str | None = None,
        by: str | None = None,
    ) -> ConversationMatches:
        """The newest items that contain a text, ignoring case; `before` continues a search."""
        _check_word("text", text)
        _check_word("before", before)
        plate, place = await self._found(plate_id, subagent)
        if _is_logged(plate):
            return await self._logged.search(plate_id, text, Window(before))
        if self._plates.is_here(plate):
            return await self.reading.search(place, text, Window(before))
        data = asked("search", place, Window(before)) | {"text": text}
        return await self._ask(plate, data, ConversationMatches, by=by)

    async def item(
        self,
        plate_id: str,
        item_id: str,
        cursor: str,
        *,
        subagent: str | None = None,
        by: str | None = None,
    ) -> ConversationItem:
        """All of an item that a page has cut. cursor: `after` of that page."""
        _check_word("item_id", item_id)
        _check_word("cursor", cursor)
        plate, place = await self._found(plate_id, subagent)
        if _is_logged(plate):
            found = await self._logged.item(plate_id, item_id, cursor)
        elif self._plates.is_here(plate):
            found = await self.reading.item(place, item_id, cursor)
        else:
            data = asked("item", place, NEWEST) | {"item": item_id, "cursor": cursor}
            found = await self._ask(plate, data, ConversationItem, by=by)
        return with_costs([found], self._prices)[0]

    async def usage(self, plate_id: str) -> SessionTokens:
        """The tokens that a session has used, counted on its own machine."""
        plate, place = await self._found(plate_id, None, dismissed=True)
        if _is_logged(plate):
            return await self._logged.usage(plate_id)
        if self._plates.is_here(plate):
            return await self.reading.usage(place)
        counted = as_object(await self._told(plate, asked("usage", place, NEWEST)))
        if "totals" not in counted:
            raise _other(plate)
        return SessionTokens.checked(counted)

    async def _found(
        self, plate_id: str, subagent: str | None, *, dismissed: bool = False
    ) -> "tuple[Plate, Transcript]":
        _check_word("subagent", subagent)
        plate = await self._plates.get(plate_id, dismissed=dismissed)
        if plate.session_id.startswith(NOT_STARTED):
            raise TranscriptUnreadable(
                f"Plate {plate_id!r} has no conversation yet: its session has not started. Try "
                "again after its first prompt.",
                plate_id=plate_id,
            )
        path, folder = plate.transcript_path, plate.project_path
        place = ConversationPlace(plate.session_id, path, folder, subagent)
        return plate, Transcript(plate.agent, place)

    async def _follow(
        self, plate: "Plate", place: Transcript, window: Window, wait: float, by: str | None
    ) -> ConversationPage:
        deadline = self._clock.monotonic() + wait
        while True:
            left = max(deadline - self._clock.monotonic(), 0.0)
            page = await self._page(plate, place, window, left, by)
            left = deadline - self._clock.monotonic()
            if page.items or page.restarted or left <= _PAUSE or self._closing.is_set():
                return page
            window = replace(window, after=page.after)
            await self._clock.sleep(_PAUSE)

    async def _page(
        self, plate: "Plate", place: Transcript, window: Window, wait: float, by: str | None
    ) -> ConversationPage:
        if _is_logged(plate):
            page = await self._logged.page(plate.plate_id, window, wait)
        elif self._plates.is_here(plate):
            page = await self.reading.page(place, window, wait)
        else:
            data = asked("page", place, window) | {"wait": wait}
            page = await self._ask(plate, data, ConversationPage, by=by, wait=wait)
        return replace(page, items=with_costs(page.items, self._prices))

    async def _ask(
        self, plate: "Plate", data: Object, shape: type[S], *, by: str | None, wait: float = 0.0
    ) -> S:
        told = await self._told(plate, data, by=by, wait=wait)
        try:
            return await asyncio.to_thread(_read, shape, told)
        except (AttributeError, KeyError, TypeError, ValueError) as error:
            raise _other(plate) from error

    async def _told(
        self, plate: "Plate", data: Object, *, by: str | None = None, wait: float = 0.0
    ) -> object:
        """What the plate's machine answers; raises the error that it reports."""
        told = await self._hosts.ask(plate.host, COMMAND, data, within=wait + WITHIN, by=by)
        raise_reported(told, _ERRORS, NotFound, host=plate.host)
        return told.get("value")


def _other(plate: "Plate") -> HostFailed:
    return HostFailed(
        f"{plate.host_name or plate.host} sent something else than a conversation. Update "
        "Callboard there."
    )


def _is_logged(plate: "Plate") -> bool:
    vendor = VENDORS.get(plate.agent)
    return vendor is not None and vendor.is_logged


def _read(shape: type[S], told: object) -> S:
    wire = as_object(whole_characters(told))
    items = as_list(wire.get("items")) if shape is ConversationPage else []
    if len(items) > MOST_ITEMS or not all(_is_item(as_object(one)) for one in items):
        raise ValueError
    return shape.from_wire(wire)


def _is_item(wire: Object) -> bool:
    is_known = wire.get("kind") in _KINDS and wire.get("author") in _AUTHORS
    return is_known and isinstance(wire.get("id"), str) and isinstance(wire.get("text"), str)


def _check_window(window: Window, wait: float) -> None:
    _check_word("before", window.before)
    _check_word("after", window.after)
    if window.before is not None and window.after is not None:
        raise ValidationError("Give `before` or `after`, not both.", field="after")
    if window.most < 1:
        raise ValidationError("limit: ask for at least 1 item.", field="limit")
    if wait and window.after is None:
        raise ValidationError(
            "wait: say after what to wait, with `after` of the page that you have.", field="wait"
        )
    if wait < 0:
        raise ValidationError("wait: use a time of 0 or more.", field="wait")


def _check_word(name: str, value: str | None) -> None:
    if value is None:
        return
    if not value or len(value) > LONGEST_WORD or not value.isprintable():
        raise ValidationError(f"{name}: use 1 to {LONGEST_WORD} printable characters.", field=name)
