"""What coding agents did, from their clients' own transcripts. Only operators can read it."""

from typing import Annotated

from fastapi import Path, Query, Request, Response

from callboard.board.conversation_reading import LONGEST_WORD, MOST_WAIT
from callboard.server import routing
from callboard.server.access.requirement import Operates
from callboard.server.answer_rights import check_person
from callboard.server.problems import reply
from callboard.server.routes.common import Serving, failures, gives
from callboard.server.routes.plates import PlatePath
from callboard.server.schemas import Limit
from callboard.vendors.conversation import (
    MOST_ITEMS,
    ConversationItem,
    ConversationMatches,
    ConversationPage,
    Window,
)

router = routing.router("conversations", "/plates/{plate_id}/conversation")

_WHAT = "read conversations"
_FAILURES = failures(404, 502, 504)


def _word(about: str) -> object:
    return Query(description=about, min_length=1, max_length=LONGEST_WORD)


ItemPath = Annotated[str, Path(description="An item's id.", min_length=1, max_length=LONGEST_WORD)]
Subagent = Annotated[
    str | None,
    _word("A nested conversation, as `tool.subagent` of the item that started it names it."),
]
Before = Annotated[
    str | None, _word("The part that ends here: `before` of a page. Without it, the end.")
]
After = Annotated[str | None, _word("The part that starts here: `after` of a page.")]
Wait = Annotated[
    int,
    Query(
        description="Milliseconds to wait until something follows `after`. The response comes as "
        "soon as something does, and is empty if nothing did.",
        ge=0,
        le=round(MOST_WAIT * 1000),
    ),
]
SearchedText = Annotated[str, _word("The text to find, ignoring case.")]
Cursor = Annotated[str, _word("`after` of the page that has the item.")]


@router.get("", responses=gives(ConversationPage) | _FAILURES)
async def read_conversation(  # noqa: PLR0913 - the parameters of a route
    request: Request,
    serving: Serving,
    caller: Operates,
    plate_id: PlatePath,
    before: Before = None,
    after: After = None,
    limit: Limit = 100,
    subagent: Subagent = None,
    wait: Wait = 0,
) -> Response:
    """Read a part of a conversation, by default its end. Another machine has to allow `read`."""
    await check_person(serving, request, _WHAT)
    page = await serving.board.conversations.page(
        plate_id,
        Window(before, after, min(limit, MOST_ITEMS)),
        subagent=subagent,
        wait=wait / 1000,
        by=caller.name,
    )
    return reply(page)


@router.get("/search", responses=gives(ConversationMatches) | _FAILURES)
async def search_conversation(  # noqa: PLR0913 - the parameters of a route
    request: Request,
    serving: Serving,
    caller: Operates,
    plate_id: PlatePath,
    text: SearchedText,
    before: Before = None,
    subagent: Subagent = None,
) -> Response:
    """Find a text in a conversation, newest first. `before` of the result continues the search."""
    await check_person(serving, request, _WHAT)
    found = await serving.board.conversations.search(
        plate_id, text, before=before, subagent=subagent, by=caller.name
    )
    return reply(found)


@router.get("/items/{item_id}", responses=gives(ConversationItem) | _FAILURES)
async def read_conversation_item(  # noqa: PLR0913 - the parameters of a route
    request: Request,
    serving: Serving,
    caller: Operates,
    plate_id: PlatePath,
    item_id: ItemPath,
    cursor: Cursor,
    subagent: Subagent = None,
) -> Response:
    """Read all of an item that a page has cut."""
    await check_person(serving, request, _WHAT)
    item = await serving.board.conversations.item(
        plate_id, item_id, cursor, subagent=subagent, by=caller.name
    )
    return reply(item)
