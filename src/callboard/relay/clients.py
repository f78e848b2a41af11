"""Sees what the clients of this machine show and no hook reports.

These are turns that ended, because someone pressed Esc or a hook was lost, and what became of
requests. The readers are those of the server. This module is loaded when an agent works or asks,
because the readers take memory.
"""

import json
from collections.abc import Callable, Mapping
from contextlib import suppress
from typing import Final

from callboard.board.calls import requests
from callboard.board.evidence import Look, details_of, is_running, of_dialog, of_unsettled
from callboard.board.plate import Pending, Plate, Unsettled
from callboard.board.registries import Registries
from callboard.board.transition import STATUSES, Status
from callboard.board.unreported_turns import (
    Interruptions,
    closed_dialogs,
    in_registry,
    without_registry,
)
from callboard.events import plates as events
from callboard.events.event_name import Entry
from callboard.events.json_values import Object, as_list, as_text, as_whole, objects
from callboard.relay.batches import SIGHTING
from callboard.relay.outbox import Outbox
from callboard.vendors.transcript_folders import own_transcript

_CHECK_SILENCE_MS: Final = 10_000
_STATUSES: Final[Mapping[str, Status]] = {one: one for one in STATUSES}


class ClientWatch:
    """Reports the ends of turns, and outcomes of requests, that the server doesn't know about.

    now_ms: the wall clock.
    """

    def __init__(self, outbox: Outbox, now_ms: Callable[[], int]) -> None:
        self._outbox = outbox
        self._now_ms = now_ms
        self._registries = Registries()
        self._interruptions = Interruptions()
        self._plates: list[Plate] = []
        self._reported: dict[tuple[str, str, object], Plate] = {}
        self._worked_on: set[str] = set()
        self._silence_at = 0

    def watch(self, plates: list[Object]) -> None:
        """The server says what it knows about these plates."""
        self._plates = [_plate(one) for one in plates]
        self._registries.follow(self._plates)
        known = {one.plate_id for one in self._plates}
        self._interruptions.keep_only(known)
        self._reported = {key: one for key, one in self._reported.items() if key[0] in known}
        asked = {one.id for plate in self._plates for one in requests(plate)}
        self._worked_on &= asked

    async def stop(self) -> None:
        """Disconnect from what clients say about themselves."""
        await self._registries.stop()

    def look(self) -> None:
        """Report what happened since the server's last word."""
        now = self._now_ms()
        is_due = not 0 <= now - self._silence_at < _CHECK_SILENCE_MS
        self._silence_at = now if is_due else self._silence_at
        for plate in self._plates:
            known = self._registries.of(plate)
            self._note_work(Look(plate, known, now))
            look = Look(plate, known, now, frozenset(self._worked_on))
            ended = None if plate.status == "closed" else self._ended(look, is_due=is_due)
            for found in (ended, *_settled(look)):
                if found is not None:
                    self._report(plate, found)

    def _note_work(self, look: Look) -> None:
        """Note which clients work after a dialog: Esc then interrupts the call, not the dialog."""
        asked = {one.id for one in requests(look.plate) if one.id and is_running(look, one)}
        self._worked_on |= asked

    def _ended(self, look: Look, *, is_due: bool) -> Entry | None:
        """The end of a turn or of a dialog."""
        plate, now = look.plate, look.now_ms
        if look.registered is not None:
            found = in_registry(plate, look.registered, now)
            over = closed_dialogs(plate, look.registered)
            return _resolved(look, over[0]) if found is None and over else found
        found = self._interruptions.found(plate)
        return without_registry(plate, now) if found is None and is_due else found

    def _report(self, plate: Plate, found: Entry) -> None:
        # Once for each state: the server either records it, or sends another state.
        key = (plate.plate_id, found.name, found.payload.get("request"))
        if self._reported.get(key) == plate:
            return
        told = {
            "plate": plate.plate_id,
            "event": found.name,
            "payload": found.payload,
            "statusAt": plate.status_at,
            "pid": plate.pid,
            "start": plate.proc_start,
        }
        with suppress(OSError):  # Full disk: the next look tries again.
            self._outbox.add(SIGHTING, json.dumps(told).encode())
            self._reported[key] = plate


def _resolved(look: Look, dialog: Pending) -> Entry | None:
    """A dialog that is gone while the client keeps working: it was allowed or denied."""
    shown = of_dialog(look, dialog)
    if shown is None or dialog.id is None:
        return None
    return events.PERMISSION_RESOLVED({"request": dialog.id, **details_of(shown)})


def _settled(look: Look) -> list[Entry]:
    shown = ((one, of_unsettled(look, one)) for one in look.plate.unsettled)
    return [
        events.PERMISSION_SETTLED({"request": one.id, **details_of(found)})
        for one, found in shown
        if found is not None
    ]


def _plate(told: Object) -> Plate:
    """The part of a plate that the readers need."""
    status, pid, start = as_text(told.get("status")), told.get("pid"), told.get("start")
    agent, at = as_text(told.get("agent")), as_whole(told.get("updatedAt"))
    return Plate(
        as_text(told.get("plate")),
        agent,
        as_text(told.get("session")),
        at,
        at,
        status=_STATUSES.get(status, "starting"),
        status_at=as_whole(told.get("statusAt")),
        pid=pid if isinstance(pid, int) else None,
        proc_start=start if isinstance(start, str) else None,
        transcript_path=own_transcript(agent, as_text(told.get("transcript"))),
        last_event=as_text(told.get("lastEvent")),
        pending=tuple(_dialog(one) for one in objects(as_list(told.get("pending")))),
        unsettled=tuple(_unsettled(agent, one) for one in objects(as_list(told.get("unsettled")))),
    )


def _dialog(told: Object) -> Pending:
    return Pending(
        _word(told, "id"),
        as_text(told.get("tool")),
        as_text(told.get("call")),
        "",
        as_whole(told.get("at")),
        _word(told, "subagent"),
        _word(told, "use"),
        _others(told),
    )


def _unsettled(agent: str, told: Object) -> Unsettled:
    return Unsettled(
        as_text(told.get("id")),
        as_text(told.get("tool")),
        as_text(told.get("call")),
        as_whole(told.get("at")),
        as_whole(told.get("closed_at")),
        _word(told, "use"),
        own_transcript(agent, as_text(told.get("transcript"))),
        _word(told, "handed"),
        _word(told, "seen"),
        _others(told),
    )


def _word(told: Object, key: str) -> str | None:
    return as_text(told.get(key)) or None


def _others(told: Object) -> tuple[str, ...]:
    return tuple(one for one in as_list(told.get("others")) if isinstance(one, str))
