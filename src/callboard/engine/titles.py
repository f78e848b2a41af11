"""Titles of sessions: what people call them, given at the start or changed later.

A new title is an event in a stream of its own, `title:ID`. So a session can be renamed after its
last event, and renaming one that waits gives no driver anything to do.
"""

from collections.abc import Callable
from contextlib import suppress
from typing import Final

from callboard.clock import Clock
from callboard.engine.loading import session_row
from callboard.errors import PhaseError, SessionNotFound, ValidationError
from callboard.events import names
from callboard.events.authors import By, authored
from callboard.events.envelope import NewEvent
from callboard.ids import event_id
from callboard.log.protocol import EventLog, Writing

LONGEST: Final = 200
"""How many characters a title may have."""

Title = str | Callable[..., str | None] | None


def checked_title(title: str | None) -> str | None:
    """A title that was given: without space around it, None when empty, else not too long."""
    if title is None:
        return None
    if not isinstance(title, str):  # pyright: ignore[reportUnnecessaryIsInstance]
        raise ValidationError(f"title: expected text, not {type(title).__name__}.", field="title")
    text = title.strip()
    if len(text) > LONGEST:
        raise ValidationError(
            f"title: use at most {LONGEST} characters, not {len(text):,}.", field="title"
        )
    return text or None


def title_of(workflow: str, title: Title, state: Callable[[], object], given: object) -> str | None:
    """The title that a workflow gives a session: its text, or what its function returns.

    Shortened where it is too long: what the input says must not keep a session from starting.
    """
    if not callable(title):
        return checked_title(title)
    try:
        made = title(state(), given)
    except Exception as error:
        raise PhaseError(
            f"title of workflow {workflow!r} raised {type(error).__name__}: {error}. "
            "No session was started.",
            workflow=workflow,
        ) from error
    if made is None:
        return None
    text = str(made).strip()
    return (text if len(text) <= LONGEST else text[: LONGEST - 1].rstrip() + "…") or None


async def rename(
    log: EventLog, clock: Clock, session_id: str, title: str | None, by: By = None
) -> None:
    """Give a session another title, or with None take its title away."""
    text = checked_title(title)
    await session_row(log, session_id)
    name, payload = names.TITLED({**authored(by), "sessionId": session_id, "title": text})
    event = NewEvent(event_id(), name, payload, clock.now_ms())
    await log.append(_stream(session_id), [event], Writing(settle=True))


async def forget_titles(log: EventLog, session_id: str) -> None:
    """Delete the titles of a deleted session."""
    with suppress(SessionNotFound):
        await log.delete(_stream(session_id))


def _stream(session_id: str) -> str:
    # No session id has a colon, so that this can be none.
    return f"title:{session_id}"
