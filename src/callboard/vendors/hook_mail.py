"""Messages that the agent's own hooks print for it, where nothing else leads into its session.

They are delivered when a hook runs next: after a tool, at the end of a turn, or with the next
prompt. The model gets them as context; the person at the terminal sees a line of their own.
"""

import asyncio
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Final

from callboard.events.codec import dump_json
from callboard.events.json_values import Object
from callboard.systems.processes import is_alive
from callboard.vendors.letterbox import Letterbox, letter_name
from callboard.vendors.steering import (
    NOTES,
    MessageHandover,
    Note,
    Outgoing,
    Reach,
    Recipient,
    Sighting,
    unnoted,
)
from callboard.vendors.turns import last_lines, millis, record_in

NEXT_TURN: Final = "Delivered at its next turn: it can't be woken from here."
GONE: Final = "It can't be reached: its process has ended."
NO_HOOKS: Final = (
    "It can't be reached: it runs in no terminal that Callboard can type into, and none of its "
    "hooks has reported anything so far."
)
_LONGEST_SEARCHED: Final = 4 * 1024 * 1024
_LONGEST_MARK: Final = 200
_SENDER: Final = "A person"
_SAYS: Final = "sent this message from the Callboard board."
"""What only the record of a message has: a short one may be part of anything."""

Outputs = Callable[[Recipient, Outgoing], Mapping[str, Object]]
"""What each of a client's hooks prints for a message, by the event's name."""


def told_of(message: Outgoing) -> str:
    """A message as the model gets it from a hook. Who says so is part of it."""
    return (
        f"{message.sender or _SENDER} {_SAYS} It was not typed in this terminal:\n\n{message.text}"
    )


def shown_of(message: Outgoing) -> str:
    """A message as the person at the terminal sees it."""
    return f"Message from {message.sender or 'the board'}: {message.text}"


def context_for(event: str, message: Outgoing) -> Object:
    """What a hook prints so that the model is told, and its person sees it."""
    inside = {"hookEventName": event, "additionalContext": told_of(message)}
    return {"systemMessage": shown_of(message), "hookSpecificOutput": inside}


class HookMail:
    """Leaves messages for the hooks of one client.

    outputs: what they print. transcript: where the client shows that the model was given it.
    """

    def __init__(
        self, hooks: Path, outputs: Outputs, transcript: Callable[[Recipient], Path | None]
    ) -> None:
        self._hooks = hooks
        self._outputs = outputs
        self._transcript = transcript

    async def reach(self, recipient: Recipient) -> Reach:
        """Whether its process runs, and a hook has ever named its transcript."""
        pid = recipient.pid
        if pid is None or not is_alive(pid, recipient.proc_start):
            return Reach(None, False, GONE)
        if recipient.transcript is None:
            return Reach(None, False, NO_HOOKS)
        if recipient.status == "busy":
            return Reach("hook", False)
        return Reach("hook", False, NOTES.get(recipient.status or "idle", NEXT_TURN))

    async def say(
        self, recipient: Recipient, message: Outgoing, note: Note = unnoted
    ) -> MessageHandover:
        """Leave it for the next hook. For after the turn, not for those that run during it."""
        if (await self.reach(recipient)).way is None:
            return MessageHandover("untouched", "hook", GONE)
        try:
            await asyncio.to_thread(self._leave, recipient, message, note)
        except OSError as error:
            return MessageHandover("untouched", "hook", f"The hooks folder: {error.strerror}.")
        return MessageHandover("accepted", "hook")

    async def look(self, recipient: Recipient, message: Outgoing) -> Sighting:
        """Whether a hook printed it, and the transcript shows it."""
        return await asyncio.to_thread(self._sighted, recipient, message)

    async def recall(self, recipient: Recipient, message: Outgoing) -> bool:
        """Take it back, unless a hook has it; returns whether it was taken back."""
        box = self._box(recipient)
        return await asyncio.to_thread(box.take_back, letter_name(message.id))

    def _box(self, recipient: Recipient) -> Letterbox:
        return Letterbox(self._hooks, recipient.agent, recipient.pid)

    def _leave(self, recipient: Recipient, message: Outgoing, note: Note) -> None:
        box, outputs = self._box(recipient), dict(self._outputs(recipient, message))
        letter: Object = {"session": recipient.session_id, "outputs": outputs}
        box.open()
        note()
        box.put(letter_name(message.id), dump_json(letter))
        box.mark()

    def _sighted(self, recipient: Recipient, message: Outgoing) -> Sighting:
        box, name = self._box(recipient), letter_name(message.id)
        match box.stage(name):
            case None:
                # It was taken back, or never left: who left it was killed before. Only folders of
                # processes that have ended are removed; then nothing is known, and no hook comes.
                pid = recipient.pid
                is_kept = pid is not None and is_alive(pid, recipient.proc_start)
                return Sighting("untouched" if is_kept or box.folder.is_dir() else "left")
            case "given" | "taken" as stage:
                since = box.since(name, stage) or 0
                seen = _shown_at(self._transcript(recipient), message.text, since)
                if seen is not None:
                    return Sighting("seen", seen)
                # A hook that took it, and has not noted more, may have been killed.
                return Sighting("delivered", since) if stage == "given" else Sighting("left")
            case _:
                with suppress(OSError):
                    box.mark()  # Who left it may have been killed before that.
                return Sighting(None)


def _shown_at(path: Path | None, text: str, since_ms: int) -> int | None:
    """When a transcript shows a text after a moment; None if it doesn't."""
    lines: Sequence[bytes] = last_lines(path, _LONGEST_SEARCHED) if path is not None else ()
    mark = dump_json(max(text.split("\n"), key=len).strip()[:_LONGEST_MARK])[1:-1]
    says = _SAYS.encode()
    for line in reversed(lines):
        is_it = says in line and mark in line
        at = millis(record_in(line).get("timestamp")) if is_it else None
        if at is not None and at >= since_ms:
            return at
    return None
