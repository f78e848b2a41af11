"""What Codex's record of a session shows of messages: that the model was given them."""

import asyncio
from pathlib import Path
from typing import Final

from callboard.events.codec import dump_json
from callboard.events.json_values import as_object
from callboard.vendors.codex.settings import home
from callboard.vendors.fields import whole
from callboard.vendors.metadata import LARGEST_MOMENT
from callboard.vendors.steering import Outgoing, Recipient, Sighting
from callboard.vendors.turns import last_lines, record_in

LONGEST_SEARCHED: Final = 4 * 1024 * 1024
"""Bytes at the end of a record. It is looked at from the moment that a message is sent."""


async def sighted(recipient: Recipient, message: Outgoing) -> Sighting:
    """What the record shows of a message."""
    return await asyncio.to_thread(_sighted, recipient, message.id)


def _sighted(recipient: Recipient, id: str) -> Sighting:
    path = _record_of(recipient)
    mark = dump_json(id)
    for line in reversed(last_lines(path, LONGEST_SEARCHED)) if path is not None else ():
        if mark not in line:
            continue
        told = as_object(record_in(line).get("payload"))
        item = as_object(told.get("item"))
        if item.get("type") == "UserMessage" and item.get("client_id") == id:
            return Sighting("seen", whole(told.get("completed_at_ms"), LARGEST_MOMENT))
    return Sighting(None)


def _record_of(recipient: Recipient) -> Path | None:
    """The record of a session: as hooks named it, or where Codex keeps it."""
    if recipient.transcript is not None:
        return Path(recipient.transcript)
    name = recipient.session_id
    if not name.replace("-", "").isalnum():
        return None
    return next((home() / "sessions").glob(f"*/*/*/rollout-*-{name}.jsonl"), None)
