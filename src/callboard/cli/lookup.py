"""Which session or question is meant: by its id, or by the beginning of one."""

from collections.abc import Sequence
from contextlib import suppress

from callboard.app import Callboard
from callboard.cli.database import Database
from callboard.cli.reasons import ways_to_answer
from callboard.cli.wording import one_line
from callboard.engine.sessions import SessionInfo
from callboard.errors import InteractionNotFound, SessionNotFound, ValidationError
from callboard.events.rows import Query
from callboard.interactions.records import Interaction

SHORTEST = 4
"""A shorter beginning of an id would be a guess."""


async def find_session(board: Callboard, database: Database, given: str) -> SessionInfo:
    """The session with this id, or the only one whose id begins so."""
    with suppress(SessionNotFound):
        return await board.session(given)
    found = _beginning(given, [info.session_id for info in await board.sessions()])
    if not found:
        raise SessionNotFound(
            f"There is no session {given!r}. List them with: {database.command('sessions')}",
            session_id=given,
        )
    _check_one(given, found, "session")
    return await board.session(found[0])


async def find_question(board: Callboard, database: Database, given: str) -> Interaction:
    """The question that is meant, by its own id or by its session's if that asks only one."""
    with suppress(InteractionNotFound):
        return await board.interaction(given)
    with suppress(SessionNotFound):
        return await _only_question(board, database, (await board.session(given)).session_id)
    sessions = _beginning(given, [info.session_id for info in await board.sessions()])
    found = _beginning(given, [one.id for one in await board.inbox()]) + sessions
    # One that is closed already is found too, so that it can say so.
    found = found or _beginning(given, await _question_ids(board))
    if not found:
        raise InteractionNotFound(
            f"There is no question {given!r}. See what is open: {database.command('inbox')}",
            interaction_id=given,
        )
    _check_one(given, found, "question")
    if sessions:
        return await _only_question(board, database, found[0])
    return await board.interaction(found[0])


async def _question_ids(board: Callboard) -> list[str]:
    return [row["id"] for row in await board.log.rows(Query("human_interactions"))]


async def _only_question(board: Callboard, database: Database, session_id: str) -> Interaction:
    pending = await board.inbox(session_id)
    if len(pending) == 1:
        return pending[0]
    if not pending:
        raise InteractionNotFound(
            f"Session {session_id} asks nothing. "
            f"See what it waits for: {database.command('why', session_id)}",
            session_id=session_id,
        )
    listed = "\n".join(
        f"  {one_line(one.prompt)}\n    {ways_to_answer(one, database.command)[0]}"
        for one in pending
    )
    raise ValidationError(
        f"Session {session_id} asks {len(pending)} questions. Answer one by its own id:\n{listed}",
        session_id=session_id,
    )


def _beginning(given: str, ids: Sequence[str]) -> list[str]:
    return [id for id in ids if id.startswith(given)] if len(given) >= SHORTEST else []


def _check_one(given: str, found: Sequence[str], kind: str) -> None:
    if len(found) > 1:
        listed = "\n".join(f"  {id}" for id in sorted(found))
        raise ValidationError(f"{given!r} begins more than one id. Which {kind}?\n{listed}")
