"""What Claude Code's transcript shows of messages: that it has them, and that the model was given
them.
"""

from pathlib import Path
from typing import Final

from callboard.events.json_values import Object, as_object
from callboard.systems.processes import is_alive
from callboard.vendors.claude.home import home
from callboard.vendors.claude.inbox import wire_id
from callboard.vendors.fields import text
from callboard.vendors.steering import Outgoing, Recipient, Sighting
from callboard.vendors.turns import is_without, last_lines, millis, record_in

LONGEST_SEARCHED: Final = 4 * 1024 * 1024
"""Bytes at the end of a transcript. It is looked at from the moment that a message is sent."""


def transcript_of(recipient: Recipient) -> Path | None:
    """The transcript of a session: as hooks named it, or where the client keeps it."""
    if recipient.transcript is not None:
        return Path(recipient.transcript)
    name = recipient.session_id
    if not name.replace("-", "").isalnum():
        return None
    return next((home() / "projects").glob(f"*/{name}.jsonl"), None)


def sighted(recipient: Recipient, message: Outgoing) -> Sighting:
    """What the transcript shows of a message that came through the inbox."""
    path, id = transcript_of(recipient), wire_id(message)
    found = Sighting(None)
    if path is None:
        return found
    marks = _marks(message)
    for line in last_lines(path, LONGEST_SEARCHED):
        if not any(mark in line for mark in marks):
            continue
        record = record_in(line)
        at_ms = millis(record.get("timestamp"))
        if _was_given(record, id):
            return Sighting("seen", at_ms)
        if record.get("operation") == "enqueue":
            found = Sighting("delivered", at_ms)
    if found.status == "delivered" and _has_ended(recipient):
        return Sighting("untouched")  # What it had queued, a session that is resumed doesn't have.
    return found


def never_got(recipient: Recipient, message: Outgoing) -> bool:
    """Whether its process has ended, and left a transcript without this message.

    If its session is resumed, the model knows only what is there.
    """
    return _has_ended(recipient) and is_without(transcript_of(recipient), _marks(message))


def _has_ended(recipient: Recipient) -> bool:
    pid = recipient.pid
    return pid is not None and not is_alive(pid, recipient.proc_start)


def _marks(message: Outgoing) -> tuple[bytes, bytes]:
    """What a record of a message has: where its receipt goes, or its id."""
    id = wire_id(message)
    return f"callboard-{id[:13]}.sock".encode(), id.encode()


def permission_mode(recipient: Recipient) -> str | None:
    """The mode in which the session was at its last prompt; None if it had none yet."""
    path = transcript_of(recipient)
    for line in reversed(last_lines(path, LONGEST_SEARCHED)) if path is not None else ():
        if b'"permissionMode"' in line and (mode := text(record_in(line).get("permissionMode"))):
            return mode
    return None


def _was_given(record: Object, id: str) -> bool:
    """Whether this record is the message as the model gets it, at rest or during a turn."""
    attachment = as_object(record.get("attachment"))
    absorbed = attachment.get("type") == "queued_command"
    origin = attachment.get("origin") if absorbed else record.get("origin")
    is_one = absorbed or record.get("type") == "user"
    return is_one and as_object(origin).get("msg_id") == id
