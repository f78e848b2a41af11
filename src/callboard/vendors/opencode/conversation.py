"""Conversations of opencode: messages and their parts, in its database.

Messages change while they are written, so what follows a cursor is what comes after a message, and
what has changed of those before it.
"""

import sqlite3
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from hashlib import blake2b
from itertools import chain
from typing import Final

from callboard.errors import TranscriptUnreadable, ValidationError
from callboard.events.json_values import Object, as_whole
from callboard.vendors.conversation import (
    MOST_ITEMS,
    ConversationItem,
    ConversationMatches,
    ConversationPage,
    ConversationPlace,
    FoundItem,
    Window,
)
from callboard.vendors.conversation_items import cut_items, weight
from callboard.vendors.conversation_search import Needle
from callboard.vendors.line_conversation import (
    LARGEST_FULL,
    LARGEST_PAGE,
    MOST_PARSED,
    SHORTEST,
)
from callboard.vendors.opencode.database import database_path, reading
from callboard.vendors.opencode.message_items import items_of
from callboard.vendors.partial_json import HEAD, load_some, load_start, parsing_cost
from callboard.vendors.transcript_lines import LONGEST_LINE

_RECENT: Final = 100
"""How many messages before a cursor are looked at for changes."""
_MOST_PARTS: Final = 1000
_SHORT_HEAD: Final = 4096
"""How much is read of a value once enough was read."""
_DEEPEST: Final = 10
_LAST: Final = 1 << 62
_START: Final = (-1, "")

_BEFORE: Final = (
    "SELECT id, time_created, time_updated FROM message WHERE session_id = :session AND "
    "(time_created, id) <= (:at, :id) ORDER BY time_created DESC, id DESC"
)
_AFTER: Final = (
    "SELECT id, time_created, time_updated FROM message WHERE session_id = :session AND "
    "(time_created, id) > (:at, :id) ORDER BY time_created, id"
)
_DATA: Final = (
    "SELECT CASE WHEN length(data) > :longest THEN substr(data, 1, :head) ELSE data END, "
    "length(data) > :longest FROM {} WHERE id = :id"
)
"""All of what is short, and the start of what is long."""
_OF_MESSAGE: Final = _DATA.format("message")
_OF_PART: Final = _DATA.format("part")


@dataclass(frozen=True, slots=True)
class _Message:
    """A message, and when anything of it changed."""

    id: str
    created: int
    changed: int

    @property
    def position(self) -> tuple[int, str]:
        return self.created, self.id


class OpencodeConversation:
    """A `ConversationReader` for a session in opencode's database.

    session_id: the conversation. parent: the session that it has to come from, if any.
    """

    def __init__(self, path: str, session_id: str, parent: str | None = None) -> None:
        self._path, self._session, self._parent = path, session_id, parent

    def page(self, window: Window) -> ConversationPage:
        """A part of it."""
        with reading(self._path) as database:
            snapshot = _Snapshot(database, self._session)
            snapshot.check(self._parent)
            given = window.before if window.after is None else window.after
            cursor = None if given is None else snapshot.cursor(given)
            most = max(1, min(window.most, MOST_ITEMS))
            if cursor is None:
                end = next(snapshot.before(None), None)
                position = _START if end is None else end.position
                return snapshot.ending(position, most, restarted=given is not None)
            if window.after is None:
                return snapshot.ending(cursor.position, most)
            return snapshot.starting(cursor, most)

    def search(self, text: str, window: Window) -> ConversationMatches:
        """The newest items before `window.before` that contain a text, ignoring case."""
        needle, found = Needle(text), list[FoundItem]()
        with reading(self._path) as database:
            snapshot = _Snapshot(database, self._session)
            snapshot.check(self._parent)
            cursor = None if window.before is None else snapshot.cursor(window.before)
            before = None
            for message in snapshot.before(None if cursor is None else cursor.position):
                if snapshot.left <= 0 or len(found) >= max(1, min(window.most, MOST_ITEMS)):
                    before = _place(message.position)
                    break
                items = snapshot.items(message)
                at = _place(message.position)
                hits = (needle.found(item, at) for item in reversed(items))
                found += [one for one in hits if one is not None]
        return ConversationMatches(found, before)

    def full(self, item_id: str, cursor: str) -> ConversationItem | None:
        """All of an item that a page has cut. cursor: `after` of a page that has it."""
        with reading(self._path) as database:
            snapshot = _Snapshot(database, self._session)
            snapshot.check(self._parent)
            if snapshot.cursor(cursor) is None:
                raise TranscriptUnreadable("The conversation was rewritten. Open it again.")
            message = snapshot.message_with(item_id.partition(":")[0])
            items = [] if message is None else snapshot.items(message, item_id)
            return next((item for item in items if item.id == item_id), None)

    def watched(self) -> list[str]:
        """The files that change when the conversation grows."""
        return [self._path, f"{self._path}-wal"]


@dataclass(frozen=True, slots=True)
class _Cursor:
    """The end of a message. changed, seen: the last change before it, and what had it."""

    position: tuple[int, str]
    changed: int
    seen: str


class _Snapshot:
    """A session as the database has it at one moment."""

    def __init__(self, database: sqlite3.Connection, session_id: str) -> None:
        self._database, self._session = database, session_id
        self.left = MOST_PARSED
        """How many more bytes may be read. Each row counts, too."""

    def check(self, parent: str | None) -> None:
        """TranscriptUnreadable unless there is this session, and it comes from the other."""
        session: object = self._session
        for _ in range(_DEEPEST):
            query = "SELECT parent_id FROM session WHERE id = ?"
            row = self._database.execute(query, [_text(session)]).fetchone()
            if row is None:
                break
            if parent is None or _text(session) == parent:
                return
            session = row[0]
        raise TranscriptUnreadable(f"opencode has no session {self._session[:80]!r} there.")

    def before(self, position: tuple[int, str] | None) -> Iterator[_Message]:
        """The messages up to a position, newest first."""
        at, id = (_LAST, "") if position is None else position
        yield from self._messages(_BEFORE, at, id)

    def after(self, position: tuple[int, str]) -> Iterator[_Message]:
        """The messages after a position."""
        yield from self._messages(_AFTER, *position)

    def _messages(self, query: str, at: int, id: str) -> Iterator[_Message]:
        given = {"session": self._session, "at": at, "id": id}
        latest = "SELECT max(time_updated) FROM part WHERE message_id = ?"
        for own_id, created, changed in self._database.execute(query, given):
            message_id = _text(own_id)
            [of_parts] = self._database.execute(latest, [message_id]).fetchone()
            last = max(as_whole(changed), as_whole(of_parts))
            yield _Message(message_id, as_whole(created), last)

    def message_with(self, id: str) -> _Message | None:
        """The message with this id, or with a part of this id."""
        query = (
            "SELECT id, time_created FROM message WHERE session_id = :session AND id"
            " IN (:id, (SELECT message_id FROM part WHERE id = :id))"
        )
        given = {"session": self._session, "id": id}
        row = self._database.execute(query, given).fetchone()
        return None if row is None else _Message(_text(row[0]), as_whole(row[1]), 0)

    def items(self, message: _Message, whole: str | None = None) -> list[ConversationItem]:
        """The items of a message, uncut; of values that are too long, what their start shows.

        whole: the id of an item of which as much as possible is read.
        """
        told, _ = self._record(_OF_MESSAGE, message.id)
        query = "SELECT id FROM part WHERE message_id = ? ORDER BY id LIMIT ?"
        rows = self._database.execute(query, [message.id, _MOST_PARTS]).fetchall()
        parts, cut = list[tuple[str, Object]](), set[str]()
        for [own_id] in rows:
            id = _text(own_id)
            part, is_all = self._record(_OF_PART, id, LARGEST_FULL if id == whole else 0)
            parts.append((id, part))
            if not is_all:
                cut.add(id)
        items = items_of(message.id, message.created, told, parts)
        return [replace(item, cut=True) if item.id in cut else item for item in items]

    def _record(self, query: str, id: str, longest: int = 0) -> tuple[Object, bool]:
        """A value, and whether that is all of it. longest: more than what is left may be read."""
        most = max(longest, min(LONGEST_LINE, max(_SHORT_HEAD, self.left)))
        head = HEAD if self.left > 0 else _SHORT_HEAD
        row = self._database.execute(query, {"id": id, "longest": most, "head": head}).fetchone()
        document = row[0] if row is not None and isinstance(row[0], bytes) else b""
        self.left -= max(SHORTEST, parsing_cost(document))
        return (load_start(document), False) if row and row[1] else load_some(document)

    def ending(
        self, position: tuple[int, str], most: int, *, restarted: bool = False
    ) -> ConversationPage:
        """What ends at a position."""
        groups, start, left = list[list[ConversationItem]](), None, LARGEST_PAGE
        for message in self.before(position):
            if sum(map(len, groups)) >= most or min(left, self.left) <= 0:
                start = _place(message.position)
                break
            groups.append(cut_items(self.items(message)))
            left -= sum(weight(item) for item in groups[-1])
        items = list(chain.from_iterable(reversed(groups)))
        return ConversationPage(items, start, self.cursor_at(position), restarted)

    def starting(self, cursor: _Cursor, most: int) -> ConversationPage:
        """What has changed of the messages before a cursor, and what comes after it."""
        recent = self._recent(cursor.position)
        same = self._seen([one for one in recent if one.changed == cursor.changed])
        changed = [
            one
            for one in reversed(recent)
            if one.changed > cursor.changed
            or (one.changed == cursor.changed and same != cursor.seen)
        ]
        items = list[ConversationItem]()
        for one in changed:
            items += cut_items(self.items(one))
            if self.left <= 0:  # Too much to say what changed.
                end = next(self.before(None), recent[0])
                return self.ending(end.position, most, restarted=True)
        position, left = cursor.position, LARGEST_PAGE
        for message in self.after(cursor.position):
            if len(items) >= most or min(left, self.left) <= 0:
                break
            found = cut_items(self.items(message))
            items += found
            left -= sum(weight(item) for item in found)
            position = message.position
        before = None if cursor.position == _START else _place(cursor.position)
        return ConversationPage(items, before, self.cursor_at(position))

    def cursor_at(self, position: tuple[int, str]) -> str:
        """A cursor at the end of a message."""
        recent = self._recent(position)
        changed = max((one.changed for one in recent), default=0)
        seen = self._seen([one for one in recent if one.changed == changed])
        return _place(position, changed, seen)

    def cursor(self, given: str) -> _Cursor | None:
        """What a cursor says; None if its message is not there anymore."""
        try:
            at, changed, seen, id = given.split(":", 3)
            found = _Cursor((int(at), id), int(changed), seen)
        except ValueError:
            raise ValidationError(
                f"Not a cursor of a conversation: {given[:80]!r}. Read the conversation again "
                "from its end."
            ) from None
        message = None if abs(int(at)) >= _LAST else next(self.before(found.position), None)
        is_there = message is not None and message.position == found.position
        return found if is_there or found.position == _START else None

    def _recent(self, position: tuple[int, str]) -> list[_Message]:
        return [one for one, _ in zip(self.before(position), range(_RECENT), strict=False)]

    def _seen(self, messages: Sequence[_Message]) -> str:
        """Identifies what messages contain, for those that change twice in a millisecond."""
        found = blake2b(digest_size=8)
        for one in messages:
            query = (
                "SELECT length(m.data), (SELECT count(*) || '-' || coalesce(sum(length(data)), 0)"
                " FROM part WHERE message_id = m.id) FROM message m WHERE m.id = ?"
            )
            row = self._database.execute(query, [one.id]).fetchone()
            found.update(repr((one.id, row)).encode())
        return found.hexdigest()


def conversation(place: ConversationPlace) -> OpencodeConversation:
    """The reader of a session, or of one that it started."""
    path = place.path or database_path()
    if place.subagent is None:
        return OpencodeConversation(path, place.session_id)
    return OpencodeConversation(path, place.subagent, place.session_id)


def _place(position: tuple[int, str], changed: int = 0, seen: str = "") -> str:
    """A cursor at the end of a message."""
    return f"{position[0]}:{changed}:{seen}:{position[1]}"


def _text(value: object) -> str:
    return value.decode("utf-8", "replace") if isinstance(value, bytes) else str(value)
