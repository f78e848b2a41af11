"""Turns that ended without a hook: someone pressed Esc, or the hook that reports it was lost.

The client's registry and its transcript show that. For a client without either, only a long silence
does.
"""

import os
from collections.abc import Callable, Collection, Mapping
from typing import Final

from callboard.board.plate import Pending, Plate
from callboard.events import plates as events
from callboard.events.event_name import Entry
from callboard.vendors.claude import transcript as claude
from callboard.vendors.claude.registry import Registered
from callboard.vendors.gemini import transcript as gemini
from callboard.vendors.turns import TurnEnd

IN_TRANSIT_MS: Final = 2000
"""How long after a turn ended its hook may still be in transit."""
SILENT_MS: Final = 600_000
"""A client is idle if neither a hook nor its transcript has shown anything for this long."""
TOOL_SILENT_MS: Final = 3_600_000
"""The same while one of its tools runs: a build or a test suite can be silent for long."""

_TURN_ENDS: Final[Mapping[str, Callable[[str], TurnEnd | None]]] = {
    "claude": claude.turn_end,
    "gemini": gemini.turn_end,
}
_AFTER_ESC: Final = frozenset({str(events.TOOL_START), str(events.TOOL_CALL)})
"""What may still be reported after Esc: hooks of the call that it ended."""


class Interruptions:
    """Detects Esc in the transcript of a client without a registry.

    A transcript is read only if it was written, or something was reported on the plate, since the
    last look.
    """

    def __init__(self) -> None:
        self._looked: dict[str, tuple[int, int]] = {}

    def found(self, plate: Plate) -> Entry | None:
        """The event for an interruption, if the transcript shows one by now."""
        if plate.status != "running" or plate.agent not in _TURN_ENDS:
            return None
        version = (_written_ns(plate), plate.status_at)
        if self._looked.get(plate.plate_id) == version:
            return None
        self._looked[plate.plate_id] = version
        turn = _last_turn(plate)
        if turn is None or not turn.interrupted:
            return None
        is_late = plate.last_event in _AFTER_ESC and _is_this_turn(plate, turn)
        if turn.at_ms < plate.status_at and not is_late:
            return None
        return events.TURN_IDLE({"interrupted": True, "seenIn": "transcript"})

    def keep_only(self, plate_ids: Collection[str]) -> None:
        """Forget all other plates."""
        for plate_id in self._looked.keys() - plate_ids:
            del self._looked[plate_id]


def in_registry(plate: Plate, known: Registered, now_ms: int) -> Entry | None:
    """The client says that it is idle, but no hook has reported it.

    Then its dialogs are closed, too. Esc is in the transcript right away, and no hook follows it.
    Anything else may still be reported.
    """
    if known.status == "idle" and closed_by_end(plate, known):
        return events.TURN_IDLE({"interrupted": True, "seenIn": "registry"})
    if closed_dialogs(plate, known):
        return None
    if plate.status != "running" or known.status != "idle" or plate.status_at >= known.changed_at:
        return None
    turn = _last_turn(plate)
    if turn is not None and turn.interrupted and turn.at_ms >= plate.status_at:
        return events.TURN_IDLE({"interrupted": True, "seenIn": "transcript"})
    if now_ms < known.changed_at + IN_TRANSIT_MS:
        return None
    return events.TURN_IDLE({"interrupted": True, "seenIn": "registry"})


def closed_dialogs(plate: Plate, known: Registered) -> list[Pending]:
    """The dialogs that are gone, because the client does something else."""
    if known.status == "waiting":
        return []
    # While a subagent's hook is held, the client shows no dialog and continues.
    held = [one for one in plate.pending if one.id is not None and one.subagent is not None]
    return [one for one in plate.pending if one.at < known.changed_at and one not in held]


def closed_by_end(plate: Plate, known: Registered) -> bool:
    """Whether a dialog is gone because the turn was ended in it. Subagents' are no part of it."""
    over = closed_dialogs(plate, known)
    return bool(over) and over[0].subagent is None


def without_registry(plate: Plate, now_ms: int) -> Entry | None:
    """The transcript ends with the end of a turn, or nothing has happened for very long."""
    if plate.status != "running":
        return None
    turn = _last_turn(plate)
    if turn is not None and _is_news(plate, turn, now_ms):
        if turn.interrupted:
            return events.TURN_IDLE({"interrupted": True, "seenIn": "transcript"})
        return events.STOP({"seenIn": "transcript"})
    heard = max(plate.updated_at, _written_ns(plate) // 1_000_000)
    longest = TOOL_SILENT_MS if plate.last_event == events.TOOL_START else SILENT_MS
    return events.TURN_IDLE({"seenIn": "silence"}) if now_ms >= heard + longest else None


def _last_turn(plate: Plate) -> TurnEnd | None:
    read = _TURN_ENDS.get(plate.agent)
    return None if read is None or not plate.transcript_path else read(plate.transcript_path)


def _is_news(plate: Plate, turn: TurnEnd, now_ms: int) -> bool:
    """Whether this ends the turn that seems to be running, and no hook is still in transit."""
    quiet_since = max(turn.at_ms, plate.updated_at)
    return _is_this_turn(plate, turn) and now_ms >= quiet_since + IN_TRANSIT_MS


def _is_this_turn(plate: Plate, turn: TurnEnd) -> bool:
    """The previous hook may be recorded a moment later: Esc doesn't wait for hooks."""
    return turn.at_ms + IN_TRANSIT_MS > plate.status_at


def _written_ns(plate: Plate) -> int:
    """When the transcript was last written; 0 if it doesn't exist."""
    try:
        return os.stat(plate.transcript_path or "").st_mtime_ns  # noqa: PTH116 - four times a second
    except (OSError, ValueError):
        return 0
