"""Keep a session's status files up to date with its log, without slowing it down.

The log is the source of truth: the process that resumes a session updates its files from the log.
Their folder is set when the session starts, and recorded in its first event.
"""

import asyncio
import logging
import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Final, cast

from callboard.engine.loading import load
from callboard.engine.workflow import Workflow
from callboard.errors import ValidationError
from callboard.events import names
from callboard.events.codec import load_json
from callboard.events.envelope import Event, Json, NewEvent
from callboard.events.json_values import as_object, as_text
from callboard.events.rows import Query, Row
from callboard.log.protocol import ANYHOW, Appended, EventLog, Writing
from callboard.statusfiles.phases import Told
from callboard.statusfiles.publishing_place import PublishingPlace
from callboard.statusfiles.story import POSITION, Story

SOURCE: Final = "statusFiles"
"""The name of the folder in a session's `source`."""

_log = logging.getLogger(__name__)


def published_in(source: Mapping[str, Json] | None) -> Path | None:
    """The folder with a session's status files, if it has any."""
    found = as_text((source or {}).get(SOURCE))
    return Path(found) if found else None


def root_of(row: Row) -> Path | None:
    """The same, from the session's row."""
    source = None if row["source"] is None else as_object(load_json(row["source"]))
    return published_in(source)


def with_status_files(
    source: Mapping[str, str] | None, path: str | os.PathLike[str] | None
) -> Mapping[str, str] | None:
    """The source for a session with its status files in that folder."""
    if path is None:
        return source
    root = Path(path).absolute()
    if root.exists() and not root.is_dir():
        raise ValidationError(
            f"status_files: {root} is a file. Give the project's folder.", field="status_files"
        )
    return {**(source or {}), SOURCE: str(root)}


class Publication:
    """Writes a session's status files while it is driven.

    It reads the log, so it can start at any time. A write error is reported once, and the write is
    tried again with the next event.
    """

    def __init__(self, log: EventLog, workflow: Workflow, session_id: str, root: Path) -> None:
        self._log = log
        self._story = Story(workflow, session_id)
        self._place = PublishingPlace(root, session_id)
        self._said = False
        self._behind = False
        self._told: Told | None = None
        self._writing: asyncio.Task[None] | None = None

    def tell(self, events: list[Event]) -> None:
        """Schedule a write of everything up to these events."""
        if all(event.name in names.NARRATION for event in events):
            return
        self._behind = True
        if self._writing is None:
            self._writing = asyncio.create_task(self._write_all())

    async def finish(self, *, takes_place: bool = True) -> None:
        """Wait until the files match the log.

        takes_place: whether to become the project's current workflow if another one is.
        """
        self._behind = True
        if self._writing is None:
            self._writing = asyncio.create_task(self._write_all(takes_place=takes_place))
        await asyncio.wait({self._writing})

    async def _write_all(self, *, takes_place: bool = True) -> None:
        try:
            while self._behind:
                self._behind = False
                await self._write(takes_place)
        finally:
            self._writing = None

    async def _write(self, takes_place: bool) -> None:
        view = self._story.view
        try:
            for event in await self._log.read(view.session_id, view.position, skip=names.NARRATION):
                self._story.hear(event)
            told = self._story.told()
            if self._is_news(told):
                await asyncio.to_thread(self._place.put, told, takes_place=takes_place)
                self._told, self._said = told, False
        except Exception as error:  # No error here may disturb the session.
            if not self._said:
                _say(view.session_id, error)
            self._said = True

    def _is_news(self, told: Told) -> bool:
        return self._told is None or told | {POSITION: self._told[POSITION]} != self._told


class _NotingLog:
    """A log that updates a session's status files on every append.

    Everything else is forwarded.
    """

    def __init__(self, log: EventLog) -> None:
        self._log = log

    def __getattr__(self, name: str) -> object:
        return getattr(self._log, name)

    async def append(
        self, stream: str, events: Sequence[NewEvent], writing: Writing = ANYHOW
    ) -> Appended:
        """Append, then update the files: when this returns, they match the log."""
        appended = await self._log.append(stream, events, writing)
        if any(event.name not in names.NARRATION for event in events):
            await _note(self._log, stream)
        return appended


def noting(log: EventLog) -> EventLog:
    """Wrap the log for code that writes to sessions without driving them.

    A driver has the workflow's code and writes more: see `Publication`.
    """
    return cast("EventLog", _NotingLog(log))


async def _note(log: EventLog, session_id: str) -> None:
    """Write a session's status to its status files, if it has any."""
    try:
        rows = await log.rows(Query("sessions", {"id": session_id}))
        root = root_of(rows[0]) if rows else None
        if root is not None:
            view = (await load(log, session_id)).view
            await asyncio.to_thread(PublishingPlace(root, session_id).note, view)
    except Exception as error:
        _say(session_id, error)


def _say(session_id: str, error: Exception) -> None:
    _log.warning("Session %s continues without its status files: %s", session_id, error)
