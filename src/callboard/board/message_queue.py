"""What may happen to a plate's messages, and in which order they are handed over. Pure.

Each method returns the event for what it does. It raises ConflictError if a person can't do that
anymore; evidence that says nothing new gives none.
"""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final, Literal, Self, TypeVar

from callboard.board.messages import WAY_OF_HOOKS, MessageStatus, PlateMessage
from callboard.errors import ConflictError, NotFound, ValidationError
from callboard.events import messages as events
from callboard.events.event_name import Entry
from callboard.events.payloads.messages import (
    MessageChangedPayload,
    MessageDeliveredPayload,
    MessageHandedPayload,
    MessageSeenPayload,
    MessageTiming,
)
from callboard.vendors.steering import Reach, Recipient

Arrived = TypeVar("Arrived", MessageDeliveredPayload, MessageSeenPayload)

LONGEST: Final = 262_144
"""Bytes of a message."""
MOST_WAITING: Final = 100
LARGEST_QUEUE: Final = 2_097_152
"""Bytes of all messages of a plate that wait."""
_ALLOWED: Final = "\n\t"
_FROM: Final[Mapping[str, frozenset[MessageStatus]]] = {
    events.RETURNED: frozenset({"handed", "held", "delivered"}),
    events.HELD: frozenset({"handed"}),
    events.LOST: frozenset({"handed", "held"}),
}
_UNSEEN: Final[frozenset[MessageStatus]] = frozenset({"handed", "held", "delivered", "lost"})
"""Evidence that a message arrived counts even after it was given up."""
Arrival = Literal["delivered", "seen"]


def checked(text: str) -> str:
    """A message's text as it is sent; ValidationError says what is wrong with it."""
    text = text.replace("\r\n", "\n").replace("\r", "\n").strip("\n")
    if not text.strip():
        raise ValidationError("text: write something.", field="text")
    for index, one in enumerate(text):
        if (one < " " and one not in _ALLOWED) or "\x7f" <= one <= "\x9f":
            raise ValidationError(
                f"text: character {index + 1:,} is the control character U+{ord(one):04X}. "
                "Remove it; only line breaks and tabs are sent.",
                field="text",
            )
        if "\ud800" <= one <= "\udfff":
            raise ValidationError(
                f"text: character {index + 1:,} is half a character. Remove it.", field="text"
            )
    if (size := len(text.encode())) > LONGEST:
        raise ValidationError(
            f"text: {size:,} bytes are too many; a message has at most {LONGEST:,}. Write it to a "
            "file, and ask the agent to read that.",
            field="text",
        )
    return text


@dataclass(frozen=True, slots=True)
class MessageQueue:
    """The messages of a plate that are not closed, by place, and others that are asked for.

    head: the length of the plate's stream, so that a new message comes after all others.
    """

    messages: Sequence[PlateMessage]
    head: int = 0

    @property
    def waiting(self) -> list[PlateMessage]:
        """Those that can still be changed, in the order of their places."""
        return [one for one in self.messages if one.status == "queued"]

    @property
    def waiting_now(self) -> PlateMessage | None:
        """The first one that doesn't wait for the end of the turn."""
        return next((one for one in self.waiting if one.when == "now"), None)

    @property
    def on_their_way(self) -> list[PlateMessage]:
        """Those that were handed over, without evidence so far that they arrived."""
        return [one for one in self.messages if one.status in ("handed", "held")]

    def has(self, id: str) -> bool:
        """Whether it contains a message."""
        return any(one.id == id for one in self.messages)

    def of(self, id: str) -> PlateMessage:
        """One message; NotFound if the plate has none with this id."""
        for one in self.messages:
            if one.id == id:
                return one
        raise NotFound(f"There is no message {id!r}. List them: callboard messages PLATE", id=id)

    def check_same(self, id: str, text: str, when: MessageTiming) -> None:
        """ConflictError if a message is not the one that is sent again."""
        known = self.of(id)
        if (known.text, known.when) != (checked(text), when):
            raise ConflictError(
                "key: it stands for another message, or that one was edited since. Use a new key "
                "for each message.",
                field="key",
                id=id,
            )

    # ------------------------------------------------------------------ what people do

    def add(self, id: str, text: str, when: MessageTiming, who: Mapping[str, str]) -> Entry:
        """Write a message, which comes last."""
        text = checked(text)
        if len(self.waiting) >= MOST_WAITING:
            raise ConflictError(
                f"{MOST_WAITING} messages already wait here. Withdraw some, or wait until they are "
                "delivered."
            )
        self._check_size(text)
        told = {"id": id, "text": text, "when": when, "place": self.head + 1, **who}
        return Entry(events.QUEUED, told)

    def change(
        self, id: str, text: str | None, when: MessageTiming | None, who: Mapping[str, str]
    ) -> Entry | None:
        """Change a message that waits; None if that changes nothing."""
        known = self._changeable(id)
        told = MessageChangedPayload(id=id)
        if text is not None and (text := checked(text)) != known.text:
            self._check_size(text, known)
            told["text"] = text
        if when is not None and when != known.when:
            told["when"] = when
        return Entry(events.CHANGED, {**told, **who}) if len(told) > 1 else None

    def move(self, id: str, before: str, who: Mapping[str, str]) -> Entry | None:
        """Move a message before another one that waits, or with "" to the end."""
        known = self._changeable(id)
        others = [one for one in self.waiting if one.id != id]
        index = len(others)
        if before:
            target = known if before == id else self._changeable(before)
            if target is known:
                return None
            index = others.index(target)
        order = [*others[:index], known, *others[index:]]
        places = {
            one.id: there.place
            for one, there in zip(order, self.waiting, strict=True)
            if one.place != there.place
        }
        return Entry(events.MOVED, {"id": id, "places": places, **who}) if places else None

    def withdraw(self, id: str, who: Mapping[str, str]) -> Entry:
        """Take back a message that waits."""
        self._changeable(id)
        return Entry(events.WITHDRAWN, {"id": id, **who})

    def _changeable(self, id: str) -> PlateMessage:
        known = self.of(id)
        if known.status != "queued":
            raise ConflictError(
                f"This message was already {_DONE[known.status]}.", id=id, status=known.status
            )
        return known

    def _check_size(self, text: str, instead_of: PlateMessage | None = None) -> None:
        others = sum(len(one.text.encode()) for one in self.waiting if one is not instead_of)
        if others + len(text.encode()) > LARGEST_QUEUE:
            raise ConflictError(
                f"The messages that wait here would have more than {LARGEST_QUEUE:,} bytes. "
                "Withdraw some, or wait until they are delivered."
            )

    def taken_back(self, attempts: Collection[tuple[str, int]]) -> tuple[Self, list[Entry]]:
        """The queue with these waiting again, which were taken back from a hook, and the events."""
        found = [one for one in self.messages if _attempt(one) in attempts]
        found = [one for one in found if one.status == "handed"]
        left = [replace(one, status="queued") if one in found else one for one in self.messages]
        told = [events.RETURNED({"id": one.id, "attempt": one.attempt}) for one in found]
        return replace(self, messages=left), told

    # ------------------------------------------------------------------ what becomes of them

    def next(self, *, is_idle: bool) -> PlateMessage | None:
        """What to hand over; None while one is on its way. Between turns, everything may go."""
        if self.on_their_way:
            return None
        ready = (one for one in self.waiting if is_idle or one.when == "now")
        return next(ready, None)

    def hand(self, reach: Reach, recipient: Recipient, *, is_idle: bool) -> Entry | None:
        """Hand the next message over; None if none is next, or the session can't be reached."""
        message = self.next(is_idle=is_idle)
        if reach.way == WAY_OF_HOOKS:
            # A hook takes it at its own time. What is for now comes first.
            message = self.next(is_idle=False) or self.next(is_idle=True)
        if message is None or reach.way is None:
            return None
        told = MessageHandedPayload(
            id=message.id,
            attempt=message.attempt + 1,
            way=reach.way,
            authority=reach.authority,
            session=recipient.session_id,
        )
        if recipient.pid is not None:
            told["pid"] = recipient.pid
        if recipient.proc_start is not None:
            told["procStart"] = recipient.proc_start
        return events.HANDED(told)

    def take(self, message: PlateMessage, told: Entry) -> Entry | None:
        """What the board found out about an attempt, if it says something new."""
        known = self._now(message)
        return told if known is not None and known.status in _FROM[told.name] else None

    def arrive(self, message: PlateMessage, status: Arrival, at: int | None) -> list[Entry]:
        """What shows that a message arrived, as far as that is new."""
        known = self._now(message)
        if known is None or known.status not in _UNSEEN:
            return []
        found: list[Entry] = []
        if known.status != "delivered":
            found.append(events.DELIVERED(_at(MessageDeliveredPayload(id=message.id), at)))
        if status == "seen":
            found.append(events.SEEN(_at(MessageSeenPayload(id=message.id), at)))
        return found

    def _now(self, message: PlateMessage) -> PlateMessage | None:
        """The message as it is now, if this is still the same attempt."""
        found = (one for one in self.messages if one.id == message.id)
        return next((one for one in found if one.attempt == message.attempt), None)


def _attempt(message: PlateMessage) -> tuple[str, int]:
    return message.id, message.attempt


def _at(told: Arrived, at: int | None) -> Arrived:
    if at is not None:
        told["at"] = at
    return told


_DONE: Final[Mapping[MessageStatus, str]] = {
    "handed": "handed over",
    "held": "handed over, and the person at the terminal is asked whether to accept it",
    "delivered": "delivered",
    "seen": "delivered",
    "withdrawn": "withdrawn",
    "lost": "handed over and lost",
}
