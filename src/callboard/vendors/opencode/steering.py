"""How a session of opencode is steered: by our plugin, which looks into a folder of its own.

Each message is a file there, and the end of its name says what became of it; see `plugin.js`. The
plugin works without a server, and a message that it has not taken can be taken back.
"""

import asyncio
from collections.abc import Mapping
from pathlib import Path
from typing import Final, Literal

from callboard.disk.files import read
from callboard.disk.private import is_own
from callboard.events.codec import dump_json
from callboard.events.json_values import Object
from callboard.systems.processes import is_alive
from callboard.vendors.letterbox import Letterbox, digest, letter_name
from callboard.vendors.steering import (
    NOTES,
    TURN_RUNS,
    InterruptAttempt,
    MessageHandover,
    Note,
    Outgoing,
    Reach,
    Recipient,
    Sighting,
    unnoted,
)

_LOOKS, _LOOKS_EVERY = 60, 0.05
"""The plugin takes a message within milliseconds. It gets three seconds."""
_LONGEST_START: Final = 100
_TAIL: Final = 14
_SIGHTINGS: Final[Mapping[str, Literal["delivered", "seen", "untouched"]]] = {
    "seen": "seen",
    "delivered": "delivered",
    "refused": "untouched",
}
_GONE: Final = (
    "It can't be reached: it has ended, or was started before Callboard's plugin was updated."
)


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
        return Reach("plugin", True, NOTES.get(recipient.status or "idle"))

    async def say(
        self, recipient: Recipient, message: Outgoing, note: Note = unnoted
    ) -> MessageHandover:
        """Leave it for the plugin, and wait until that has given it to the session."""
        if message.when == "after_turn" and recipient.status not in (None, "idle"):
            return MessageHandover("untouched", "plugin", TURN_RUNS)
        known = await asyncio.to_thread(self._sighted, recipient, letter_name(message.id))
        if known.status in ("delivered", "seen"):
            return MessageHandover("accepted", "plugin")
        told: Object = {"text": message.text, "tail": digest(message.id)[:_TAIL]}
        stage = await self._leave(recipient, letter_name(message.id), told, note)
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
        return await asyncio.to_thread(self._looked_at, recipient, letter_name(message.id))

    async def recall(self, recipient: Recipient, message: Outgoing) -> bool:
        """Never: the plugin takes a message at once."""
        return False

    async def interrupt(self, recipient: Recipient) -> InterruptAttempt:
        """Ask the plugin to abort the turn."""
        if recipient.status == "idle":
            return InterruptAttempt(False, "No turn is running.")
        stage = await self._leave(recipient, "interrupt", {"kind": "interrupt"})
        if stage is None:
            return InterruptAttempt(False, _GONE)
        return InterruptAttempt(stage == "given", None if stage == "given" else "It refused.")

    async def _leave(
        self, recipient: Recipient, name: str, told: Object, note: Note = unnoted
    ) -> str | None:
        """Leave a file, and return its last stage; None if the plugin didn't take it."""
        box = await asyncio.to_thread(self._box, recipient)
        if box is None:
            return None
        letter = {**told, "sessionID": recipient.session_id, "folder": recipient.folder}
        try:
            await asyncio.to_thread(note)
            await asyncio.to_thread(box.put, name, dump_json(letter))
        except OSError:
            return None
        for _ in range(_LOOKS):
            await asyncio.sleep(_LOOKS_EVERY)
            if (stage := box.stage(name)) not in ("json", "taken"):
                return stage or "taken"
        return None if box.take_back(name) else box.stage(name) or "taken"

    def _box(self, recipient: Recipient) -> Letterbox | None:
        """The letterbox of the plugin in this process; None if there is none."""
        pid = recipient.pid
        if pid is None or not is_alive(pid, recipient.proc_start):
            return None
        box = Letterbox(self._hooks, recipient.agent, pid)
        try:
            start = read(box.folder / "start", _LONGEST_START).decode()
            if not is_own(box.folder.lstat()):
                return None
        except (OSError, ValueError):
            return None
        return box if not start or is_alive(pid, start) else None

    def _looked_at(self, recipient: Recipient, name: str) -> Sighting:
        """What became of it; what the plugin left in a process that has ended is taken back."""
        found, pid = self._sighted(recipient, name), recipient.pid
        if found.status is None and pid is not None and not is_alive(pid, recipient.proc_start):
            box = Letterbox(self._hooks, recipient.agent, pid)
            return Sighting("untouched" if box.take_back(name) else None)
        return found

    def _sighted(self, recipient: Recipient, name: str) -> Sighting:
        box = Letterbox(self._hooks, recipient.agent, recipient.pid)
        stage = box.stage(name)
        if stage is None or stage not in _SIGHTINGS:
            return Sighting(None)
        return Sighting(_SIGHTINGS[stage], box.since(name, stage))
