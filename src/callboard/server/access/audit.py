"""The audit: who sent which command, who read what agents did, and who was refused.

Each is a line of JSON.
It has no bodies, queries or tokens, so reading it reveals no secrets.
"""

import logging
import os
import re
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import orjson

from callboard.clock import Clock, SystemClock
from callboard.disk.private import open_private
from callboard.events.moments import from_ms, iso
from callboard.server.access.identity import Identity

_log = logging.getLogger("callboard.audit")

LARGEST: Final = 10 * 1_048_576
"""Bytes after which the file is renamed to `….1`, replacing the one before."""

_LONGEST_PATH = 512
_PRIVATE: Final = re.compile(r"/plates/[^/]+/(?:conversation|changes|messages)(?=/|$)")
"""What agents did and what people told them: reading it is recorded, too."""
_MOST_READINGS = 1000
_STRANGERS = 60
"""Refusals without a valid token to record per minute, so that they can't crowd out the rest."""


@dataclass(frozen=True, slots=True)
class AuditEntry:
    """One command or refusal."""

    identity: Identity | None
    method: str
    path: str
    status: int
    remote: str


class Audit:
    """Appends to the file next to the database, and logs to `callboard.audit`."""

    def __init__(self, database: Path, clock: Clock | None = None) -> None:
        self._path = database.with_name(f"{database.name}.audit.jsonl")
        self._clock = clock or SystemClock()
        self._minute = 0
        self._strangers = 0
        self._readings: set[tuple[str, str]] = set()

    def note(self, entry: AuditEntry) -> None:
        """Write one entry. A full disk is logged and stops nothing."""
        now = self._clock.now_ms()
        if entry.identity is None and not self._has_room(now // 60_000):
            return
        line = orjson.dumps(_told(entry, now), option=orjson.OPT_APPEND_NEWLINE)
        _log.info("%s", line.decode().rstrip())
        try:
            self._append(line)
        except OSError as error:
            _log.error("%s cannot be written: %s", self._path, error.strerror)

    def note_reading(self, entry: AuditEntry) -> None:
        """Write that someone read what an agent did: once a minute, for they follow it live."""
        found = _PRIVATE.match(entry.path)
        if found is None or entry.identity is None:
            return
        self._tick(self._clock.now_ms() // 60_000)
        reading = (entry.identity.name, found[0])
        if reading in self._readings:
            return
        if len(self._readings) < _MOST_READINGS:
            self._readings.add(reading)
        self.note(entry)

    def _tick(self, minute: int) -> None:
        if minute != self._minute:
            self._minute, self._strangers = minute, 0
            self._readings.clear()

    def _has_room(self, minute: int) -> bool:
        self._tick(minute)
        self._strangers += 1
        return self._strangers <= _STRANGERS

    def _append(self, line: bytes) -> None:
        file = open_private(self._path, os.O_APPEND)
        try:
            os.write(file, line)
            full = os.fstat(file).st_size >= LARGEST
        finally:
            os.close(file)
        if full:
            self._path.replace(self._path.with_name(f"{self._path.name}.1"))


def _told(entry: AuditEntry, now_ms: int) -> dict[str, object]:
    who = entry.identity
    return {
        "at": iso(from_ms(now_ms)),
        "who": who.name if who else None,
        "scope": who.scope if who else None,
        "via": who.via if who else None,
        "method": writable(entry.method)[:32],
        "path": writable(entry.path)[:_LONGEST_PATH],
        "status": entry.status,
        "remote": entry.remote,
    }


def writable(text: str) -> str:
    """Text that JSON can hold. A path, for example, may have bytes that aren't UTF-8."""
    return text.encode(errors="backslashreplace").decode()
