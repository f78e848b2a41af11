"""Messages that are typed into a client's own terminal, where no other way leads to it.

Typing is dangerous: what is pasted into a dialog is swallowed, and the Enter after it approves. So
the client has to be idle and its prompt box empty; then the text is pasted, has to be seen in the
box, and only then Enter is pressed. Before Enter, a file is left: without it, the message certainly
was not submitted, even after a crash.
"""

import asyncio
import hashlib
import os
import re
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from callboard.disk.files import read, replace
from callboard.disk.private import make_private_folder
from callboard.events.codec import dump_json, load_json
from callboard.events.json_values import Object, as_object
from callboard.systems.processes import is_alive, started_at
from callboard.terminals.link import ShownScreen
from callboard.terminals.panes import Pane, pane_of
from callboard.vendors.fields import whole, word
from callboard.vendors.metadata import LARGEST_PID
from callboard.vendors.prompt_box import ReadBox, letters, shows, typed
from callboard.vendors.steering import (
    InterruptAttempt,
    MessageHandover,
    Note,
    Outgoing,
    Reach,
    Recipient,
    Sighting,
    unnoted,
)

NO_TERMINAL: Final = "It runs in no terminal that Callboard can type into."
DRAFT: Final = "Delivered once the draft in its prompt box is gone."
NO_BOX: Final = "Delivered once its prompt box can be seen in its terminal."
_ENTERED: Final = "Enter was pressed, and nothing shows yet that it was sent."
_FROZEN: Final = "Its client doesn't react. The message is in its prompt box."
WORKS: Final = "Delivered when its turn is over."
SHOWS_WITHIN: Final = 3.0
"""Seconds in which a client shows what was pasted, or takes a prompt after Enter."""
_LOOKS_EVERY: Final = 0.05
_TRIES: Final = 3
_ENTER, _ESCAPE = "\r", "\x1b"
_ERASES: Final = ("\x15", "\x7f")
"""Ctrl-U, up to the start of a line, and Backspace, to the end of the one before."""
_MOST_ERASED: Final = 600
_LARGEST_NOTE: Final = 4096
_KEPT: Final = 7 * 86_400
"""Seconds for which a note is kept."""


@dataclass(frozen=True, slots=True)
class TypedClient:
    """What has to be known of a client.

    read: its prompt box. pastes: what that shows instead of a long paste. is_busy: whether its
    screen shows a turn. pause: seconds that it needs between a paste and Enter.
    is_idle: what the client says about itself, if it does.
    """

    read: ReadBox
    pastes: re.Pattern[str]
    pause: float = 0.1
    is_busy: Callable[[ShownScreen], bool] = lambda screen: False
    is_idle: Callable[[Recipient], bool] = lambda recipient: recipient.status == "idle"


class TypedPrompts:
    """Types messages for one client. folder: where it notes what it has typed."""

    def __init__(self, client: TypedClient, folder: Path) -> None:
        self._client = client
        self._folder = folder

    async def reach(self, recipient: Recipient) -> Reach:
        """Whether something could be typed now."""
        return await asyncio.to_thread(self._reach, recipient)

    async def say(
        self, recipient: Recipient, message: Outgoing, note: Note = unnoted
    ) -> MessageHandover:
        """Type a message, if the client is idle and its box is empty."""
        typing = _Typing(self._client, self._folder, recipient, message)
        return await asyncio.to_thread(typing.run, note)

    async def look(self, recipient: Recipient, message: Outgoing) -> Sighting:
        """Whether it certainly was not submitted. What shows that it was is on the board."""
        typing = _Typing(self._client, self._folder, recipient, message)
        return Sighting("untouched" if await asyncio.to_thread(typing.undo) else None)

    async def interrupt(self, recipient: Recipient) -> InterruptAttempt:
        """Press Escape, if a turn is running. In a dialog, it refuses."""
        return await asyncio.to_thread(self._interrupt, recipient)

    def _reach(self, recipient: Recipient) -> Reach:
        pane = _pane(recipient)
        screen = pane.look() if pane is not None else None
        if screen is None:
            return Reach(None, True, NO_TERMINAL)
        if not self._client.is_idle(recipient) or self._client.is_busy(screen):
            return Reach(None, True, WORKS)
        match self._client.read(screen):
            case "":
                return Reach("terminal", True)
            case None:
                return Reach(None, True, NO_BOX)
            case _:
                return Reach(None, True, DRAFT)

    def _interrupt(self, recipient: Recipient) -> InterruptAttempt:
        pane = _pane(recipient)
        if self._client.is_idle(recipient):
            return InterruptAttempt(False, "No turn is running.")
        if pane is None:
            return InterruptAttempt(False, f"Press Esc there. {NO_TERMINAL}")
        for _ in range(_TRIES):  # While it works, its screen changes all the time.
            screen = pane.look()
            if screen is not None and pane.press(_ESCAPE, screen.serial):
                return InterruptAttempt(True)
        return InterruptAttempt(False, "Press Esc in its terminal.")


class _Typing:
    """One message on its way into one box."""

    def __init__(
        self, client: TypedClient, folder: Path, recipient: Recipient, message: Outgoing
    ) -> None:
        self._client = client
        self._recipient = recipient
        self._pane = _pane(recipient)
        self._text = typed(message.text)
        self._was_shown = False
        self._is_entered = False
        self._note = folder / hashlib.sha256(message.id.encode()).hexdigest()[:32]

    def run(self, note: Note) -> MessageHandover:
        """Type it. `untouched` means that it is not in the box, either."""
        pane = self._pane
        screen = pane.look() if pane is not None else None
        if pane is None or screen is None:
            return _untouched(NO_TERMINAL)
        if not self._is_free(screen):
            return _untouched(WORKS)
        if self._client.read(screen) != "":
            return _untouched(DRAFT)
        if not self._noted("pasted"):
            return _untouched("Nothing can be written to the hooks folder.")
        try:
            note()  # Who learns of it has to find our own note.
        except OSError:
            self._forget()
            raise
        if not pane.paste(self._text, screen.serial):
            self._forget()
            return _untouched(NO_BOX)
        return self._submit(pane) or self._give_up(pane, screen)

    def undo(self) -> bool:
        """Whether it certainly was not submitted. What is left of it is removed."""
        told = self._noted_last()
        if told == {}:
            return True  # It was never pasted: what is in the box is its person's.
        if told is None or told.get("stage") == "entered":
            return False
        pid, start = whole(told.get("pid"), LARGEST_PID), word(told.get("start"))
        if told.get("stage") == "pasted" and pid is not None and is_alive(pid, start):
            return False  # It is being typed.
        if self._pane is None:
            client = self._recipient
            return client.pid is not None and not is_alive(client.pid, client.proc_start)
        screen = self._pane.look()
        if screen is None or not self._is_free(screen):
            return False
        return self._is_out(self._pane)

    def _submit(self, pane: Pane) -> MessageHandover | None:
        """Press Enter once the text is in the box; None if it didn't get there, or stays there.

        Again only if the client did something else with it, as some do right after a paste.
        """
        if self._until(pane, self._is_ours) is None:
            return None
        self._was_shown = True
        for _ in range(_TRIES):
            time.sleep(self._client.pause)
            screen = self._until(pane, self._is_ours)
            if screen is None or not self._is_free(screen):
                return None
            if not self._noted("entered"):
                return None
            is_pressed = pane.press(_ENTER, screen.serial)
            self._is_entered |= is_pressed
            gone = self._until(pane, lambda one: not self._is_ours(one))
            if self._is_entered and gone is not None:
                return MessageHandover("accepted", "terminal")
            if is_pressed and not self._has_reacted(pane, screen):
                # It may still take this Enter. Another one could answer the dialog after it.
                return MessageHandover("unknown", "terminal", _FROZEN)
        return None

    def _has_reacted(self, pane: Pane, before: ShownScreen) -> bool:
        """Whether a client has printed anything since a key was pressed."""
        screen = pane.look()
        return screen is not None and screen.serial != before.serial

    def _give_up(self, pane: Pane, before: ShownScreen) -> MessageHandover:
        """Without Enter, take the text out of the box again. With it, only evidence can tell."""
        now = pane.look()
        if self._was_shown and now is not None and self._client.read(now) == "":
            self._is_entered = True  # Not by us, or by a key that was said to have failed.
            self._noted("entered")
        if self._is_entered:
            return MessageHandover("unknown", "terminal", _ENTERED)
        if now is not None and now.serial == before.serial:
            return MessageHandover("unknown", "terminal", _FROZEN)  # It may still be shown.
        if self._is_out(pane):
            return _untouched(NO_BOX)
        self._noted("left")
        return MessageHandover("unknown", "terminal", "It is in its prompt box, but not sent.")

    def _is_out(self, pane: Pane) -> bool:
        """Whether the box is empty, after what is ours was removed; never what is not."""
        for turn in range(_MOST_ERASED):
            screen = pane.look()
            box = self._client.read(screen) if screen is not None else None
            if screen is None or box is None or not (box == "" or self._is_part(box)):
                return False
            if box == "":
                self._forget()
                return True
            pane.press(_ERASES[turn % 2], screen.serial)
            time.sleep(_LOOKS_EVERY)
        return False

    def _is_ours(self, screen: ShownScreen) -> bool:
        box = self._client.read(screen)
        return bool(box) and shows(self._text, box or "", self._client.pastes)

    def _is_part(self, box: str) -> bool:
        """Whether a box has only what is left of our text while it is being removed."""
        if self._client.pastes.fullmatch(box.strip()):
            return True
        is_start = letters(self._text).startswith(letters(box))
        return is_start or shows(self._text, box, self._client.pastes)

    def _is_free(self, screen: ShownScreen) -> bool:
        return self._client.is_idle(self._recipient) and not self._client.is_busy(screen)

    def _until(self, pane: Pane, fits: Callable[[ShownScreen], bool]) -> ShownScreen | None:
        for _ in range(int(SHOWS_WITHIN / _LOOKS_EVERY)):
            screen = pane.look()
            if screen is not None and fits(screen):
                return screen
            time.sleep(_LOOKS_EVERY)
        return None

    def _noted(self, stage: str) -> bool:
        """Note how far it is, on disk: another process may have to find out."""
        us = os.getpid()
        try:
            make_private_folder(self._note.parent)
            replace(self._note, dump_json({"stage": stage, "pid": us, "start": started_at(us)}))
        except OSError:
            return False
        self._remove_old_notes()
        return True

    def _remove_old_notes(self) -> None:
        with suppress(OSError):  # Another process removes them as well.
            now = self._note.stat().st_mtime
            for other in self._note.parent.iterdir():
                if now - other.stat().st_mtime > _KEPT:
                    other.unlink(missing_ok=True)

    def _noted_last(self) -> Object | None:
        """What was noted; empty if nothing was, None if that can't be read."""
        try:
            return as_object(load_json(read(self._note, _LARGEST_NOTE)))
        except FileNotFoundError:
            return {}
        except (OSError, ValueError):
            return None

    def _forget(self) -> None:
        self._note.unlink(missing_ok=True)


def _pane(recipient: Recipient) -> Pane | None:
    return None if recipient.pid is None else pane_of(recipient.pid, recipient.proc_start)


def _untouched(note: str) -> MessageHandover:
    return MessageHandover("untouched", "terminal", note)
