"""Find a session or question by its id, or by the start of one."""

from collections.abc import Generator, Sequence
from contextlib import contextmanager, suppress

from callboard.board.plate import Plate
from callboard.board.protocol import Board
from callboard.cli.answer_commands import ways_to_answer
from callboard.cli.format import one_line
from callboard.cli.targets import Target
from callboard.engine.sessions import SessionInfo
from callboard.errors import (
    ConflictError,
    InteractionNotFound,
    NotFound,
    PlateNotFound,
    SessionNotFound,
    ValidationError,
)
from callboard.interactions.records import Interaction

SHORTEST = 4
"""Minimum length of the start of an id."""
_PAGE = 1000


@contextmanager
def machines(place: Target) -> Generator[None]:
    """Let an error about a machine that isn't known name the command that lists them here."""
    try:
        yield
    except NotFound as error:
        host = error.context.get("host")
        if not isinstance(host, str):
            raise
        listing = place.command("hosts")
        raise NotFound(f"There is no machine {host!r}. List them: {listing}", host=host) from error


async def find_session(board: Board, place: Target, given: str) -> SessionInfo:
    """The session with this id, or the only one whose id starts with it."""
    with suppress(SessionNotFound):
        return await board.session(given)
    found = await _sessions_beginning(board, given)
    if not found:
        raise SessionNotFound(
            f"There is no session {given!r}. List them with: {place.command('sessions')}",
            session_id=given,
        )
    _check_one(given, found, "session")
    return await board.session(found[0])


async def find_question(board: Board, place: Target, given: str) -> Interaction:
    """The question with this id, or the only one of the session with this id."""
    with suppress(InteractionNotFound):
        return await board.interaction(given)
    with suppress(SessionNotFound):
        return await _only_question(board, place, (await board.session(given)).session_id)
    sessions = await _sessions_beginning(board, given)
    found = _beginning(given, [one.id for one in await board.inbox()]) + sessions
    # Closed questions are found too, so that the error can say so.
    found = found or _beginning(given, [one.id for one in await board.people.find()])
    if not found:
        raise InteractionNotFound(
            f"There is no question {given!r}. See what is open: {place.command('inbox')}",
            interaction_id=given,
        )
    _check_one(given, found, "question")
    if sessions:
        return await _only_question(board, place, found[0])
    return await board.interaction(found[0])


async def find_plate(board: Board, place: Target, given: str) -> Plate:
    """The plate with this id or name, or the only one whose id starts with it."""
    found = await plate_called(board, given)
    if found is None:
        raise PlateNotFound(
            f"There is no agent {given!r}. List them: {place.command('plates')}", plate_id=given
        )
    return found


async def plate_called(board: Board, given: str) -> Plate | None:
    """The plate with this id, name or session, or the only one whose id starts with it."""
    plates = await board.plates.all()
    found = [one for one in plates if one.plate_id == given]
    found = found or [one for one in plates if given in (one.name, one.session_id)]
    if not found and len(given) >= SHORTEST:
        found = [one for one in plates if one.plate_id.startswith(given)]
    if len(found) > 1:
        ids = ", ".join(one.plate_id for one in found)
        raise ConflictError(f"Several agents are called {given!r}. Give one of their ids: {ids}")
    return found[0] if found else None


async def _sessions_beginning(board: Board, given: str) -> list[str]:
    found: list[str] = []
    cursor: str | None = None
    while len(given) >= SHORTEST:
        page = await board.session_page(q=given, limit=_PAGE, cursor=cursor)
        found += _beginning(given, [info.session_id for info in page.sessions])
        cursor = page.next_cursor
        if cursor is None:
            break
    return found


async def _only_question(board: Board, place: Target, session_id: str) -> Interaction:
    pending = await board.inbox(session_id)
    if len(pending) == 1:
        return pending[0]
    if not pending:
        raise InteractionNotFound(
            f"Session {session_id} has no open question. "
            f"See what it is waiting for: {place.command('why', session_id)}",
            session_id=session_id,
        )
    listed = "\n".join(
        f"  {one_line(one.prompt)}\n    {ways_to_answer(one, place.command)[0]}" for one in pending
    )
    raise ValidationError(
        f"Session {session_id} has {len(pending)} open questions. Answer one by its id:\n{listed}",
        session_id=session_id,
    )


def _beginning(given: str, ids: Sequence[str]) -> list[str]:
    return [id for id in ids if id.startswith(given)] if len(given) >= SHORTEST else []


def _check_one(given: str, found: Sequence[str], kind: str) -> None:
    if len(found) > 1:
        listed = "\n".join(f"  {id}" for id in sorted(found))
        raise ValidationError(f"{given!r} matches more than one id. Which {kind}?\n{listed}")
