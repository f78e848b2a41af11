"""Titles of sessions: what people call them, set at the start or changed later.

A new title is an event in a stream of its own, `title:ID`. So a session can be renamed after its
last event, and renaming a waiting session gives drivers nothing to do.
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
"""The maximum length of a title in characters."""

Title = str | Callable[..., str | None] | None


def checked_title(title: str | None) -> str | None:
    """A given title, stripped; None if it is empty. ValidationError if it is too long."""
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

    Shortened if it is too long: an input must not keep a session from starting.
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
    """Change a session's title; None removes it."""
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
    # Session ids have no colon, so this is never one.
    return f"title:{session_id}"
