"""Unrecorded decisions left by harnesses that died."""

import asyncio
from collections.abc import Callable
from contextlib import suppress
from typing import Final

from pydantic import TypeAdapter

from callboard.board.question_protocols import Questions
from callboard.errors import CallboardError, NotFound
from callboard.events.json_values import as_object
from callboard.harness.checkpoints import forget
from callboard.harness.claim_renewal import Harness
from callboard.harness.confirmation import KeptDecision
from callboard.harness.conversation import is_confirmed, said_in
from callboard.harness.ending import Confirm, SessionEnding
from callboard.harness.folders import Attempt, Folders
from callboard.harness.prompts import title
from callboard.harness.recording import EndRecord, recorded
from callboard.harness.transcripts import kept
from callboard.interactions.records import Interaction
from callboard.systems.processes import is_alive
from callboard.vendors.claude.extraction import Spoken

_TO_LEAVE: Final = 5.0
"""Seconds for an agent to end after its harness was killed."""
_LOOK_EVERY: Final = 0.05


async def record_leftovers(
    desk: Questions, folders: Folders, tell: Callable[[str], None], confirm: Confirm | None
) -> list[Interaction]:
    """Record what was decided, and clean up the rest; returns what was recorded.

    confirm: asks the person about a decision that they may not have confirmed. Without it, such
    decisions are kept.
    """
    attempts = list(folders.all())
    await _agents_left(attempts)
    found = [
        await _settled(attempt, desk, tell, confirm)
        for attempt in attempts
        if not is_in_use(attempt)
    ]
    return [one for one in found if one is not None]


async def _agents_left(attempts: list[Attempt]) -> None:
    """Wait a little for agents of dead harnesses, which end a moment later than those."""
    decided = [one for one in attempts if one.decision is not None and not _is_attended(one)]
    with suppress(TimeoutError):
        async with asyncio.timeout(_TO_LEAVE):
            while any(is_in_use(one) for one in decided):  # noqa: ASYNC110 - not our processes
                await asyncio.sleep(_LOOK_EVERY)


async def _settled(
    attempt: Attempt, desk: Questions, tell: Callable[[str], None], confirm: Confirm | None
) -> Interaction | None:
    """Record and remove one attempt; None if there was nothing to record, or not yet."""
    asked = attempt.asked
    if asked is None and attempt.decision is not None:
        return tell(f"The decision in {attempt.set_aside()} can't be read. Check it by hand.")
    record = None if asked is None else _left(attempt, asked)
    if record is None or asked is None:
        return attempt.remove()
    if not await _is_sure(record, attempt, desk):
        if confirm is None:
            return None
        tell(f"A harness stopped before it recorded this: {title(asked.prompt)}")
        if not await confirm(SessionEnding("completed", record.response, unsure="unconfirmed")):
            return attempt.remove()
    try:
        done = await recorded(desk, asked.id, record, tell)
    except NotFound as error:
        tell(f"{error.message} The decision was discarded.")
        return attempt.remove()
    except CallboardError as error:
        return tell(error.message)  # It is kept and tried again.
    attempt.remove()
    forget(attempt.folder.parent)
    return done


def is_in_use(attempt: Attempt) -> bool:
    """Whether its harness or its agent is running: one may briefly outlive the other."""
    if _is_attended(attempt):
        return True
    match attempt.read_json("agent.json"):
        case {"pid": int(pid), "start": str() | None as start}:
            return is_alive(pid, start)
        case _:
            return False


def _is_attended(attempt: Attempt) -> bool:
    match attempt.read_json("harness.json"):
        case {"pid": int(pid), "start": str(start), "host": str(host)}:
            return not Harness(pid, start, host).is_dead
        case _:
            return False


async def _is_sure(record: EndRecord, attempt: Attempt, desk: Questions) -> bool:
    """Whether it decides nothing, or the person confirmed exactly this decision."""
    if record.outcome != "completed":
        return True
    session, kept = attempt.session, attempt.decision
    if session is None or kept is None or attempt.proposal is not None:
        return False
    decision = KeptDecision(decision=record.response, call=kept["call"])
    return await is_confirmed(desk, decision, session, attempt.seen, _said(attempt))


def _said(attempt: Attempt) -> list[Spoken]:
    agent = attempt.read_json("agent.json") or {}
    session, before = agent.get("session"), agent.get("before", 0)
    if not isinstance(session, str) or not isinstance(before, int):
        return []
    return said_in(session, before)


def _left(attempt: Attempt, asked: Interaction) -> EndRecord | None:
    ending, decision = attempt.read_json("ending.json"), attempt.decision
    if ending is not None:
        return TypeAdapter(EndRecord).validate_python(ending)
    if decision is None:
        return None
    captures = as_object(asked.config).get("captureTranscript") is True
    person = (attempt.read_json("harness.json") or {}).get("person")
    return EndRecord(
        "completed",
        decision["decision"],
        duration_ms=_duration_ms(attempt),
        transcript=kept(_said(attempt)) if captures else None,
        by=person if isinstance(person, str) else None,
    )


def _duration_ms(attempt: Attempt) -> int | None:
    """The time from the start to the decision, according to the files."""
    with suppress(OSError):
        begun, decided = (
            (attempt.folder / f"{one}.json").stat() for one in ("harness", "decision")
        )
        return max(0, round((decided.st_mtime - begun.st_mtime) * 1000))
    return None
