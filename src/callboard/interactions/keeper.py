"""Whoever keeps questions: the inbox of a database, or of a server."""

from typing import Any, Protocol

from callboard.interactions.records import Interaction


class Keeper(Protocol):
    """Questions, found and completed."""

    async def get(self, interaction_id: str) -> Interaction:
        """One question, open or closed."""
        ...

    async def find(
        self, *, status: str | None = None, session_id: str = "*", type: str | None = None
    ) -> list[Interaction]:
        """Questions, oldest first."""
        ...

    async def complete(  # noqa: PLR0913 - all by keyword
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
    ) -> Interaction:
        """End an interactive session."""
        ...
