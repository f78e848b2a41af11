"""How a session of opencode is steered: by our plugin, which looks into a folder of its own.

Each message is a file there, and the end of its name says what became of it; see `plugin.js`. The
plugin works without a server, and a message that it has not taken can be taken back.
"""

import asyncio
import hashlib
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import Final, Literal

from callboard.disk.files import read, replace
from callboard.disk.private import is_own
from callboard.events.codec import dump_json
from callboard.events.json_values import Object
from callboard.systems.processes import is_alive
from callboard.vendors.steering import (
    InterruptAttempt,
    MessageHandover,
    Outgoing,
    Reach,
    Recipient,
    Sighting,
)

_LOOKS, _LOOKS_EVERY = 60, 0.05
"""The plugin takes a message within milliseconds. It gets three seconds."""
_LONGEST_START: Final = 100
_TAIL: Final = 14
_STAGES: Final = ("seen", "delivered", "given", "refused", "taken", "json")
_SIGHTINGS: Final[Mapping[str, Literal["delivered", "seen", "untouched"]]] = {
    "seen": "seen",
    "delivered": "delivered",
    "refused": "untouched",
}
_GONE: Final = (
    "It can't be reached: it has ended, or was started before Callboard's plugin was updated."
)
_NOTES: Final = {
    "busy": "Delivered when it finishes its current step.",
    "waiting": "Delivered once the dialog in its terminal is closed.",
}


def steering(hooks: Path) -> "OpencodeSteering":
    """The ways of opencode."""
    return OpencodeSteering(hooks)


class OpencodeSteering:
    """Leaves messages for our plugin. hooks: the hooks folder."""

    def __init__(self, hooks: Path) -> None:
        self._hooks = hooks

    async def reach(self, recipient: Recipient) -> Reach:
        """By the plugin, if it runs in the session's process."""
        if await asyncio.to_thread(self._box, recipient) is None:
            return Reach(None, True, _GONE)
        return Reach("plugin", True, _NOTES.get(recipient.status or "idle"))

    async def say(self, recipient: Recipient, message: Outgoing) -> MessageHandover:
        """Leave it for the plugin, and wait until that has given it to the session."""
        if message.when == "after_turn" and recipient.status not in (None, "idle"):
            return MessageHandover("untouched", "plugin", "Its turn isn't over yet.")
        known = await asyncio.to_thread(self._sighted, recipient, _name(message))
        if known.status in ("delivered", "seen"):
            return MessageHandover("accepted", "plugin")
        told: Object = {"text": message.text, "tail": _digest(message.id)[:_TAIL]}
        stage = await self._leave(recipient, _name(message), told)
        match stage:
            case None:
                return MessageHandover("untouched", "plugin", _GONE)
            case "refused":
                return MessageHandover("untouched", "plugin", "opencode refused it.")
            case "taken":
                return MessageHandover("unknown", "plugin", "opencode hasn't confirmed it yet.")
            case _:
                return MessageHandover("accepted", "plugin")

    async def look(self, recipient: Recipient, message: Outgoing) -> Sighting:
        """Look what became of its file."""
        return await asyncio.to_thread(self._sighted, recipient, _name(message))

    async def interrupt(self, recipient: Recipient) -> InterruptAttempt:
        """Ask the plugin to abort the turn."""
        if recipient.status == "idle":
            return InterruptAttempt(False, "No turn is running.")
        stage = await self._leave(recipient, "interrupt", {"kind": "interrupt"})
        if stage is None:
            return InterruptAttempt(False, _GONE)
        return InterruptAttempt(stage == "given", None if stage == "given" else "It refused.")

    async def _leave(self, recipient: Recipient, name: str, told: Object) -> str | None:
        """Leave a file, and return its last stage; None if the plugin didn't take it."""
        box = await asyncio.to_thread(self._box, recipient)
        if box is None:
            return None
        letter = {**told, "sessionID": recipient.session_id, "folder": recipient.folder}
        try:
            await asyncio.to_thread(_put, box, name, dump_json(letter))
        except OSError:
            return None
        for _ in range(_LOOKS):
            await asyncio.sleep(_LOOKS_EVERY)
            if (stage := _stage(box, name)) not in ("json", "taken"):
                return stage or "taken"
        return None if _take_back(box, name) else _stage(box, name) or "taken"

    def _box(self, recipient: Recipient) -> Path | None:
        """The folder of the plugin in this process; None if there is none."""
        pid = recipient.pid
        if pid is None or not is_alive(pid, recipient.proc_start):
            return None
        box = self._hooks / "mailbox" / f"{recipient.agent}.{pid}"
        try:
            start = read(box / "start", _LONGEST_START).decode()
            if not is_own(box.lstat()):
                return None
        except (OSError, ValueError):
            return None
        return box if not start or is_alive(pid, start) else None

    def _sighted(self, recipient: Recipient, name: str) -> Sighting:
        box = self._hooks / "mailbox" / f"{recipient.agent}.{recipient.pid}"
        stage = _stage(box, name)
        if stage is None or stage not in _SIGHTINGS:
            return Sighting(None)
        with suppress(OSError):
            changed = (box / f"{name}.{stage}").stat().st_ctime_ns
            return Sighting(_SIGHTINGS[stage], changed // 1_000_000)
        return Sighting(None)


def _put(box: Path, name: str, content: bytes) -> None:
    """Write a file, and forget what became of the last one with this name."""
    for stage in _STAGES:
        (box / f"{name}.{stage}").unlink(missing_ok=True)
    replace(box / f"{name}.json", content, lasting=False)


def _take_back(box: Path, name: str) -> bool:
    """Take back a file that was not taken; returns whether that worked."""
    try:
        (box / f"{name}.json").unlink()
    except OSError:
        return False
    return True


def _stage(box: Path, name: str) -> str | None:
    """How far a file has come: the last part of its name."""
    return next((one for one in _STAGES if (box / f"{name}.{one}").exists()), None)


def _name(message: Outgoing) -> str:
    return f"message-{_digest(message.id)[:24]}"


def _digest(id: str) -> str:
    return hashlib.sha256(id.encode()).hexdigest()
