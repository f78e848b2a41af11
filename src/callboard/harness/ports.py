"""What a harness needs of a board: the inbox of a database, or of a server."""

# ruff: noqa: D102 - each method is documented where it is done: `engine.inbox`, `client.people`

from typing import Any, Protocol

from callboard.interactions.records import Interaction


class Desk(Protocol):
    """Questions, found, claimed and completed."""

    async def find(
        self,
        *,
        status: str | None = None,
        session_id: str = "*",
        type: str | None = None,
    ) -> list[Interaction]: ...

    async def get(self, interaction_id: str) -> Interaction: ...

    async def claim(self, interaction_id: str, *, by: str, ttl_ms: int = 60_000) -> Interaction: ...

    async def complete(  # noqa: PLR0913 - as the inbox has it
        self,
        interaction_id: str,
        outcome: str,
        *,
        response: Any = None,
        transcript: str | None = None,
        duration_ms: int | None = None,
        error: str | None = None,
        by: str | None = None,
        via: str | None = None,
    ) -> Interaction: ...
