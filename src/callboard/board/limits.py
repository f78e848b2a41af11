"""Limits of a board: how many agents of a kind may run at once."""

from typing import Protocol

from callboard.errors import NotFound, ValidationError
from callboard.events.limits import LIMIT_NAME, MOST, AgentLimit, is_limit_name
from callboard.log.slot_store import SlotStore


class BoardLimits(Protocol):
    """List and change the limits that phases name."""

    async def list(self, session_id: str | None = None) -> list[AgentLimit]:
        """The limits that have a number or are in use, by name.

        session_id: list only this session's agents; the counts are still those of all.
        """
        ...

    async def set(self, name: str, number: int) -> AgentLimit:
        """Let at most so many agents run at once; with 0, none start.

        If the number is lowered, running agents finish.
        """
        ...

    async def remove(self, name: str) -> AgentLimit:
        """Remove a limit's number: from now on it is not limited. NotFound if it has none."""
        ...


class AgentLimits:
    """The limits of one log."""

    def __init__(self, store: SlotStore) -> None:
        self._store = store

    async def list(self, session_id: str | None = None) -> list[AgentLimit]:
        """The limits that have a number or are in use, by name."""
        return [*await self._store.list(session_id)]

    async def set(self, name: str, number: int) -> AgentLimit:
        """Let at most so many agents run at once; with 0, none start."""
        if not is_limit_name(name):
            raise ValidationError(f"name: use {LIMIT_NAME}.", field="name")
        if not 0 <= number <= MOST:
            raise ValidationError(f"number: use 0 to {MOST:,}.", field="number")
        await self._store.set(name, number)
        return await self._get(name)

    async def remove(self, name: str) -> AgentLimit:
        """Remove a limit's number: from now on it is not limited."""
        removed = await self._get(name)
        if removed.number is None:
            raise NotFound(
                f"There is no limit {name!r}. List the limits: callboard limit", name=name
            )
        await self._store.set(name, None)
        return removed

    async def _get(self, name: str) -> AgentLimit:
        found = (one for one in await self._store.list() if one.name == name)
        return next(found, AgentLimit(name, None, 0, 0, []))
