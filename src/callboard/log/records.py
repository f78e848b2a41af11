"""The stored form of an event, and how to restore it."""

from collections.abc import Callable
from typing import NamedTuple

import orjson

from callboard.events import codec
from callboard.events.envelope import Event, Json, NewEvent
from callboard.events.upcast import upcast
from callboard.log.quota import Quota

StoredId = bytes | str
"""A UUID's 16 bytes, or any other id as text."""


class StoredEvent(NamedTuple):
    """One stored event; the fields are in the order of the columns read."""

    position: int
    id: StoredId
    name: str
    version: int
    at: int
    caused_by: StoredId | None
    payload: bytes


PayloadAt = Callable[[int], bytes]
"""Finds the stored payload at a position of the stream being read."""


def record(event: NewEvent, position: int, payload: bytes) -> StoredEvent:
    """The stored form of an event whose payload has been encoded."""
    caused_by = event.caused_by
    return StoredEvent(
        position,
        stored_id(event.id),
        event.name,
        event.version,
        event.at_ms,
        None if caused_by is None else stored_id(caused_by),
        payload,
    )


def restore(
    stored: StoredEvent,
    session_id: str,
    payload_at: PayloadAt,
    quota: Quota | None = None,
    most: int | None = None,
) -> Event:
    """Restore an event from its stored form, upgraded to the newest version.

    quota: counts its bytes, including those it refers to.
    most: Oversized if its payload, or one that it refers to, has more bytes.
    """

    def unpacked(data: bytes) -> bytes:
        plain = codec.unpack(data, most)
        if quota is not None:
            quota.size -= len(plain)
        return plain

    def output_at(position: int) -> Json:
        # Parsed again for every reference, because two patches must never share a mutable value.
        return orjson.loads(unpacked(payload_at(position)))["output"]

    payload = codec.decode(unpacked(stored.payload), output_at)
    version, payload = upcast(stored.name, stored.version, payload)
    return Event(
        id=id_text(stored.id),
        session_id=session_id,
        position=stored.position,
        name=stored.name,
        version=version,
        payload=payload,
        at_ms=stored.at,
        caused_by=None if stored.caused_by is None else id_text(stored.caused_by),
    )


def stored_id(text: str) -> StoredId:
    """A UUID as its 16 bytes; any other id is kept as it is."""
    if len(text) != 36:
        return text
    digits = text.replace("-", "")
    try:
        raw = bytes.fromhex(digits)
    except ValueError:
        return text
    # Only the canonical spelling may become bytes, so that reading returns the same id.
    return raw if text[8:24:5] == "----" and raw.hex() == digits else text


def id_text(stored: StoredId) -> str:
    """Undo `stored_id`."""
    if isinstance(stored, str):
        return stored
    text = stored.hex()
    return f"{text[:8]}-{text[8:12]}-{text[12:16]}-{text[16:20]}-{text[20:]}"


_AS_TEXT = b"this id is text: "
"""Longer than a UUID, so that an id that starts with it isn't one."""


def id_bytes(stored: StoredId) -> bytes:
    """A stored id, for a database whose columns have one type."""
    return stored if isinstance(stored, bytes) else _AS_TEXT + stored.encode()


def id_from_bytes(data: bytes) -> StoredId:
    """Undo `id_bytes`."""
    return data if len(data) == 16 else data[len(_AS_TEXT) :].decode()
