"""What a harness needs of a board."""

from typing import Protocol

from callboard.interactions.keeper import Keeper
from callboard.interactions.records import Interaction


class Desk(Keeper, Protocol):
    """Questions, found, claimed and completed."""

    async def claim(self, interaction_id: str, *, by: str, ttl_ms: int = 60_000) -> Interaction:
        """See to a question: for a while nobody else can claim it. The same `by` renews."""
        ...

    async def release(self, interaction_id: str, *, by: str) -> Interaction:
        """Give a claim back before it runs out."""
        ...
