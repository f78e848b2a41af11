"""What a log does for limits: who has a slot, who waits for one, and who is next."""

from collections.abc import Callable, Sequence
from typing import Protocol

from callboard.events.limits import AgentLimit


class KeptPlaces(Protocol):
    """Sessions in the queues for slots that keep their places while no process waits for them."""

    async def queue(
        self, name: str, session: str, run: str, leaves: Callable[[], bool]
    ) -> str | None:
        """Take a slot, as `take` does; but once `leaves` returns true, don't wait for it.

        Then this returns None, and the session keeps its place, which belongs to no process. `due`
        names it when its turn has come. Who takes a slot for the same run gets this place; other
        places that the session kept are given up.
        """
        ...

    async def due(self, session: str | None = None) -> Sequence[str]:
        """Some of the sessions whose turn has come: of all that kept a place, or only this one.

        If no one takes the slot for ten seconds, others get it. The session is still named here,
        and has the next slot once someone takes its place.
        """
        ...

    async def leave(self, session: str) -> bool:
        """Give up the places that a session kept; returns whether there were any."""
        ...


class SlotStore(KeptPlaces, Protocol):
    """The slots of limits: at most so many agents of a kind run at once, over all handles."""

    async def take(self, name: str, session: str, run: str) -> str:
        """Wait for a slot of a limit, and return its id: first come, first served.

        Without a number, there is one for everybody. If the caller is cancelled, it gives up its
        place in the queue. A slot is free again when it is given back, or its owner is dead or
        frozen.
        """
        ...

    def free(self, slot: str) -> None:
        """Give a slot back. This takes effect soon, even if the log can't be written to now."""
        ...

    async def list(self, session: str | None = None) -> Sequence[AgentLimit]:
        """The limits that have a number or are in use, by name.

        session: list only the slots of this session; the counts are still those of all.
        """
        ...

    async def set(self, name: str, number: int | None) -> None:
        """Change a limit's number; None removes it.

        If it is lowered, agents that have a slot keep it.
        """
        ...
