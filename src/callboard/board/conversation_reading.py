"""Reads conversations on the machine where their agents run: in threads, and within bounds."""

import asyncio
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from time import monotonic
from typing import Final, TypeVar

from callboard.board.conversation_size import (
    fitted_item,
    fitted_page,
    whole_characters,
    writable,
)
from callboard.board.file_growth import FileGrowth, FileState, state_of
from callboard.board.usage_counting import SessionTally
from callboard.board.usage_totals import SessionTokens
from callboard.errors import NotFound, TranscriptUnreadable, ValidationError
from callboard.events.json_values import Object, as_object, as_text, as_whole
from callboard.events.shapes import Shape
from callboard.vendors.conversation import (
    MOST_ITEMS,
    ConversationItem,
    ConversationMatches,
    ConversationPage,
    ConversationPlace,
    ConversationReader,
    Window,
)
from callboard.vendors.transcript_folders import is_own_transcript

FindReader = Callable[[str, ConversationPlace], ConversationReader]
"""The reader for an agent's conversation; TranscriptUnreadable if there is none."""

MOST_WAIT: Final = 20.0
"""Seconds for which a reader can wait for what comes next."""
LONGEST_WORD: Final = 500
"""Characters of an id, a cursor, or a text to search for."""
_MOST_WAITING: Final = 8
"""How many commands of servers may wait. Others get what there is."""
_AT_ONCE: Final = 3
_LONGEST_PATH: Final = 4096
_LOOKS_FOR: Final = 2.0
"""Seconds for which the last thing to show is looked for."""
_COUNTS_FOR: Final = 3.0
"""Seconds for which tokens are counted at once."""
_MOST_TALLIES: Final = 32
"""How many sessions are counted from where they were left. Others are counted from their start."""

S = TypeVar("S", bound=Shape)
T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Transcript:
    """Whose conversation it is, and where."""

    agent: str
    place: ConversationPlace


def any_reader(agent: str, place: ConversationPlace) -> ConversationReader:
    """The reader of the agent's own package, for a transcript that is where the agent keeps them.

    A hook or a server can name any file, and a link can lead to one.
    """
    # Imported once a conversation is read: most relays never do.
    from callboard.vendors.agents import VENDORS
    from callboard.vendors.conversations import conversation_reader

    reader = conversation_reader(agent, place)
    if not all(is_own_transcript(agent, path) for path in reader.watched()):
        raise TranscriptUnreadable(
            "The transcript of this session is not in the folder where "
            f"{VENDORS[agent].title} keeps them, so it is not read. If the agent uses another "
            "folder, start Callboard with the same one in its environment."
        )
    return reader


class ConversationReading:
    """Reads conversations of this machine's agents.

    find: the reader for a conversation. growth: sees when files grow.
    """

    def __init__(self, find: FindReader = any_reader, growth: FileGrowth | None = None) -> None:
        self._find = find
        self._growth = growth or FileGrowth()
        self._slots = asyncio.Semaphore(_AT_ONCE)
        self._waiting = 0
        self._tallies: dict[Transcript, SessionTally] = {}

    async def page(
        self, transcript: Transcript, window: Window, wait: float = 0.0
    ) -> ConversationPage:
        """A part of a conversation. wait: seconds to wait for what follows `window.after`."""
        if window.after is None:
            return await self._part(transcript, window)
        deadline = monotonic() + min(wait, MOST_WAIT)
        while True:
            page, files, seen = await self._in_thread(lambda at=window: self._page(transcript, at))
            left = deadline - monotonic()
            if page.items or page.restarted or left <= 0:
                return page
            is_end, window = page.after == window.after, replace(window, after=page.after)
            if is_end:
                await self._growth.wait(files, seen, left)

    async def _part(self, transcript: Transcript, window: Window) -> ConversationPage:
        """What ends somewhere. Records without anything to show may fill more than one read."""
        page, _, _ = await self._in_thread(lambda: self._page(transcript, window))
        end = monotonic() + _LOOKS_FOR
        while not page.items and page.before is not None and monotonic() < end:
            before = replace(window, before=page.before)
            found, _, _ = await self._in_thread(lambda at=before: self._page(transcript, at))
            if found.restarted:
                return found
            page = replace(found, after=page.after, restarted=page.restarted)
        return page

    async def search(
        self, transcript: Transcript, text: str, window: Window
    ) -> ConversationMatches:
        """The newest items before `window.before` that contain a text."""

        def read() -> ConversationMatches:
            return _sendable(self._reader(transcript).search(text, window))

        return await self._in_thread(read)

    async def item(self, transcript: Transcript, item_id: str, cursor: str) -> ConversationItem:
        """All of an item; NotFound if it isn't where the cursor says."""

        def read() -> ConversationItem | None:
            found = self._reader(transcript).full(item_id, cursor)
            return None if found is None else _sendable(fitted_item(found))

        found = await self._in_thread(read)
        if found is None:
            raise NotFound(
                f"There is no message {item_id!r} at that place of the conversation anymore. Open "
                "the conversation again.",
                item_id=item_id,
            )
        return found

    async def usage(self, transcript: Transcript) -> SessionTokens:
        """The tokens that a session and its subagents have used, as far as they are counted."""
        place = transcript.place
        tally = self._tallies.pop(transcript, None) or SessionTally(
            lambda name: self._reader(Transcript(transcript.agent, replace(place, subagent=name)))
        )
        counted = await self._in_thread(lambda: tally.count(_COUNTS_FOR))
        self._tallies[transcript] = tally
        while len(self._tallies) > _MOST_TALLIES:
            del self._tallies[next(iter(self._tallies))]
        return counted

    async def do(self, data: Object) -> Object:
        """Do the command of a server. Errors that callers can act on are part of the result."""
        try:
            return {"value": (await self._done(data)).to_wire()}
        except (NotFound, ValidationError) as error:
            return {"error": error.as_payload()}

    async def _done(self, data: Object) -> Shape:
        transcript, window = _transcript(data), _window(data)
        what = data.get("what")
        if what == "usage":
            return await self.usage(transcript)
        if what == "search":
            return await self.search(transcript, _word(data, "text") or "", window)
        if what == "item":
            id, cursor = _word(data, "item") or "", _word(data, "cursor") or ""
            return await self.item(transcript, id, cursor)
        wait = data.get("wait")
        seconds = float(wait) if isinstance(wait, int | float) else 0.0
        if self._waiting >= _MOST_WAITING:
            seconds = 0.0
        self._waiting += 1
        try:
            return await self.page(transcript, window, seconds)
        finally:
            self._waiting -= 1

    def _page(
        self, transcript: Transcript, window: Window
    ) -> tuple[ConversationPage, Sequence[str], FileState]:
        reader = self._reader(transcript)
        files = reader.watched()
        # Before it is read: what is written meanwhile then counts as a change.
        seen = state_of(files)
        page = fitted_page(lambda most: reader.page(replace(window, most=most)), window.most)
        return _sendable(page), files, seen

    def _reader(self, transcript: Transcript) -> ConversationReader:
        # In a thread, because it looks for files.
        return self._find(transcript.agent, transcript.place)

    async def _in_thread(self, read: Callable[[], T]) -> T:
        # Reading takes longer than most of what threads do here, and must leave some of them.
        async with self._slots:
            try:
                return await asyncio.to_thread(read)
            except OSError as error:
                raise TranscriptUnreadable(
                    f"The transcript can't be read: {error.strerror or error}."
                ) from error


def asked(what: str, transcript: Transcript, window: Window) -> dict[str, object]:
    """The command for a machine, as `ConversationReading.do` reads it."""
    place = transcript.place
    return {
        "what": what,
        "agent": transcript.agent,
        "session": place.session_id,
        "path": place.path,
        "folder": place.folder,
        "subagent": place.subagent,
        "before": window.before,
        "after": window.after,
        "most": window.most,
    }


def _sendable(shape: S) -> S:
    if writable(shape):
        return shape
    return type(shape).from_wire(as_object(whole_characters(shape.to_wire())))


def _transcript(data: Object) -> Transcript:
    agent, folder = as_text(data.get("agent"))[:LONGEST_WORD], as_text(data.get("folder"))
    place = ConversationPlace(
        _word(data, "session") or "",
        as_text(data.get("path"))[:_LONGEST_PATH] or None,
        folder[:_LONGEST_PATH],
        _word(data, "subagent"),
    )
    return Transcript(agent, place)


def _window(data: Object) -> Window:
    most = max(1, min(as_whole(data.get("most")) or MOST_ITEMS, MOST_ITEMS))
    return Window(_word(data, "before"), _word(data, "after"), most)


def _word(data: Object, key: str) -> str | None:
    return as_text(data.get(key))[:LONGEST_WORD] or None
