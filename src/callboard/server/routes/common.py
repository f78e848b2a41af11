"""What the routes share: the board that they work on, and ids in addresses."""

from typing import Annotated

from fastapi import Depends, Path, Request

from callboard.events.authors import Author
from callboard.server.access.identity import Identity
from callboard.server.service import Service


# Async, so that it is not called in another thread.
async def _service(request: Request) -> Service:
    service: Service = request.app.state.service
    return service


Serving = Annotated[Service, Depends(_service)]
SessionPath = Annotated[str, Path(description="A session's id.", min_length=1)]
InteractionPath = Annotated[str, Path(description="A question's id.", min_length=1)]


def who(identity: Identity, by: str | None) -> Author:
    """Who is recorded: the holder of the token, and beside it the name that the caller gave."""
    return Author(identity.name, by or None)
