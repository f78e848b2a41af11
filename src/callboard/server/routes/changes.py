"""What coding agents changed in their working trees. Only operators can read it."""

from typing import Annotated, Final

from fastapi import Query, Request, Response

from callboard.board.changes_reading import LONGEST_PATH
from callboard.server import routing
from callboard.server.access.requirement import Operates
from callboard.server.answer_rights import check_person
from callboard.server.problems import reply
from callboard.server.routes.common import Serving, failures, gives
from callboard.server.routes.plates import PlatePath
from callboard.server.schemas import ChangesSince, CommentsRequest
from callboard.worktree.changes import CommentMessage, FileChanges, LineComment, WorktreeChanges

router = routing.router("changes", "/plates/{plate_id}/changes")

_WHAT: Final = "read what agents changed"
_FAILURES: Final = failures(404, 409, 502, 504)

Since = Annotated[
    ChangesSince,
    Query(
        description="What to compare with: the start of the `session`, of its last `turn`, or of "
        "the turn with an id; or the last `commit`.",
    ),
]
FilePath = Annotated[
    str, Query(description="The file, as the list has it.", min_length=1, max_length=LONGEST_PATH)
]
OldPath = Annotated[
    str | None,
    Query(
        alias="oldPath",
        description="Where a renamed file was, as the list has it.",
        min_length=1,
        max_length=LONGEST_PATH,
    ),
]


@router.get("", responses=gives(WorktreeChanges) | _FAILURES)
async def list_changes(
    request: Request,
    serving: Serving,
    caller: Operates,
    plate_id: PlatePath,
    since: Since = "session",
) -> Response:
    """List the files that an agent changed. Another machine has to allow `read`."""
    await check_person(serving, request, _WHAT)
    return reply(await serving.board.changes.list(plate_id, since=since, by=caller.name))


@router.get("/file", responses=gives(FileChanges) | _FAILURES)
async def read_file_changes(  # noqa: PLR0913 - the parameters of a route
    request: Request,
    serving: Serving,
    caller: Operates,
    plate_id: PlatePath,
    path: FilePath,
    old_path: OldPath = None,
    since: Since = "session",
) -> Response:
    """Get one file's diff."""
    await check_person(serving, request, _WHAT)
    found = await serving.board.changes.file(
        plate_id, path, since=since, old_path=old_path, by=caller.name
    )
    return reply(found)


@router.post("/comments", responses=gives(CommentMessage) | _FAILURES)
async def write_comments(
    request: Request,
    serving: Serving,
    caller: Operates,
    plate_id: PlatePath,
    given: CommentsRequest,
) -> Response:
    """Write comments on lines as one message, and say which lines have changed since.

    The message is not sent: see `/plates/{plateId}/messages`.
    """
    await check_person(serving, request, _WHAT)
    comments = [LineComment(**one.model_dump()) for one in given.comments]
    changes = serving.board.changes
    found = await changes.comments(plate_id, comments, since=given.since, by=caller.name)
    return reply(found)
