"""What a relay still has to report, on disk and in order, until the server has it.

An item is a file: its name has its number and where it comes from, its content is what is sent, and
its time is when it happened. So a payload that a hook left in the spool becomes an item by a
rename, which happens or does not, and is never in both places.

A number is never used twice, whatever happens to the machine: numbers are reserved in blocks, and a
block is on disk before its first number is used. What was not synced when the power failed is lost,
as in the spool, but what comes after it is not taken for a repetition.
"""

import json
import os
import re
from collections import deque
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Final

from callboard.board.spool.files import Spooled
from callboard.disk.files import read, replace
from callboard.disk.private import make_own_folder
from callboard.errors import StoreError
from callboard.events.json_values import as_object
from callboard.ids import short_id
from callboard.relay.batches import HOOK, RelayItem

MOST: Final = 10_000
MOST_BYTES: Final = 512 * 1024 * 1024
"""As in the spool. When it is full, hooks stay in the spool, which is bounded as well."""
BLOCK: Final = 1000
"""How many numbers are reserved at a time."""

_COUNTER: Final = "numbers"
_LARGEST_COUNTER: Final = 4096
_LARGEST_ITEM: Final = 32 * 1024 * 1024
_PARTS: Final = 7
_NAME: Final = re.compile(r"[0-9]{16}~[a-z]+~[\w-]*~[0-9]*~[0-9a-f]*~[\w-]*~a?")
_INCARNATION: Final = re.compile(r"[0-9a-z]{8,64}")


@dataclass(frozen=True, slots=True)
class HookOrigin:
    """Who sent a hook: the agent, and its process on this machine."""

    agent: str = ""
    pid: int | None = None
    start: str | None = None
    boot_id: str = ""


@dataclass(frozen=True, slots=True)
class _Waiting:
    name: str
    size: int

    @property
    def number(self) -> int:
        return int(self.name[:16])


class Outbox:
    """Numbered items in a folder. One process uses it at a time."""

    def __init__(self, folder: Path, added: Callable[[], None] = lambda: None) -> None:
        self.folder = folder
        self._added = added
        self._waiting: deque[_Waiting] = deque()
        self._size = 0
        self._next = 0
        self._reserved = 0
        self.incarnation = ""

    def count(self) -> int:
        """How many items are there, for a process that doesn't use it; 0 without a folder."""
        try:
            return len(_found(self.folder))
        except OSError:
            return 0

    def open(self) -> None:
        """Read what an earlier process left; StoreError if the folder can't be used."""
        try:
            make_own_folder(self.folder)
            for draft in self.folder.glob(".callboard-*.part"):
                draft.unlink(missing_ok=True)
            self._waiting = deque(_found(self.folder))
            self._size = sum(one.size for one in self._waiting)
            self._read_counter()
            self._reserve()
        except OSError as error:
            raise StoreError(
                f"{self.folder} cannot be used: {error.strerror or error}.", path=str(self.folder)
            ) from error

    @property
    def is_full(self) -> bool:
        """Whether nothing more may be added for now."""
        return len(self._waiting) >= MOST or self._size >= MOST_BYTES

    def __len__(self) -> int:
        return len(self._waiting)

    def add(self, kind: str, body: bytes, sender: HookOrigin | None = None) -> int:
        """Add an item that happened now; returns its number. OSError if it can't be written."""
        number = self._number()
        name = _name(number, kind, sender or HookOrigin(), again=False)
        replace(self.folder / name, body, lasting=False)
        self._keep(_Waiting(name, len(body)))
        return number

    def take_in(self, spooled: Spooled, sender: HookOrigin) -> int:
        """Make an item of a file in the spool; OSError if that fails, and it stays there."""
        number = self._number()
        name = _name(number, HOOK, sender, again=spooled.hook.again)
        spooled.move(self.folder / name)
        self._keep(_Waiting(name, len(spooled.hook.body)))
        return number

    def first(self, most: int, size: int) -> list[RelayItem]:
        """The oldest items: at most so many, and no more once they have this many bytes."""
        found: list[RelayItem] = []
        for one in list(islice(self._waiting, most)):
            if found and size < one.size:
                break
            size -= one.size
            item = self._read(one)
            if item is None:
                self._forget(one)  # Someone removed it, or put something else in its place.
            else:
                found.append(item)
        return found

    def remove_up_to(self, number: int) -> None:
        """The server has these."""
        while self._waiting and self._waiting[0].number <= number:
            self._forget(self._waiting[0])

    def _keep(self, one: _Waiting) -> None:
        self._waiting.append(one)
        self._size += one.size
        self._added()

    def _forget(self, one: _Waiting) -> None:
        with suppress(OSError):
            (self.folder / one.name).unlink(missing_ok=True)
        self._waiting.remove(one)
        self._size -= one.size

    def _read(self, one: _Waiting) -> RelayItem | None:
        path = self.folder / one.name
        try:
            at_ms = path.lstat().st_mtime_ns // 1_000_000
            body = read(path, _LARGEST_ITEM)
        except OSError:
            return None
        _, kind, agent, pid, start, boot_id, again = one.name.split("~")
        return RelayItem(
            one.number,
            kind,
            body,
            at_ms,
            agent,
            int(pid) if pid else None,
            bytes.fromhex(start).decode() or None,
            boot_id,
            bool(again),
        )

    # ------------------------------------------------------------------ numbers

    def _number(self) -> int:
        if self._next >= self._reserved:
            self._reserve()
        self._next += 1
        return self._next

    def _reserve(self) -> None:
        reserved = self._next + BLOCK
        told = {"incarnation": self.incarnation, "reserved": reserved}
        replace(self.folder / _COUNTER, json.dumps(told).encode())
        self._reserved = reserved

    def _read_counter(self) -> None:
        """Continue after every number that may have been used."""
        try:
            told = as_object(json.loads(read(self.folder / _COUNTER, _LARGEST_COUNTER)))
        except (FileNotFoundError, ValueError):
            told = as_object(None)
        incarnation, reserved = told.get("incarnation"), told.get("reserved")
        if (
            isinstance(incarnation, str)
            and isinstance(reserved, int)
            and _INCARNATION.fullmatch(incarnation)
        ):
            self.incarnation, self._next = incarnation, reserved
        else:
            # What is left of the items, if anything, is numbered from its own numbers on.
            self.incarnation = short_id(16)
            self._next = self._waiting[-1].number if self._waiting else 0


def _name(number: int, kind: str, sender: HookOrigin, *, again: bool) -> str:
    start = (sender.start or "").encode().hex()
    pid = "" if sender.pid is None else str(sender.pid)
    mark = "a" if again else ""
    return f"{number:016}~{kind}~{sender.agent}~{pid}~{start}~{sender.boot_id}~{mark}"


def _found(folder: Path) -> list[_Waiting]:
    with os.scandir(folder) as entries:
        found = [
            _Waiting(entry.name, entry.stat(follow_symlinks=False).st_size)
            for entry in entries
            if _NAME.fullmatch(entry.name) and entry.is_file(follow_symlinks=False)
        ]
    return sorted(found, key=lambda one: one.number)
