"""Where the board comes from: a server, or in tests whatever plays one."""

from collections.abc import Callable, Collection, Mapping, Sequence
from typing import Any, Protocol

from callboard.engine.sessions import SessionInfo
from callboard.events.envelope import Event
from callboard.interactions.records import Interaction
from callboard.tui.rows import Plate

Hear = Callable[[Event | None], None]
"""Told of each event; of None when the connection stands and everything has to be looked at."""


class Source(Protocol):
    """What the board needs of a server."""

    async def plates(self) -> Sequence[Plate]:
        """Every plate that is shown."""
        ...

    async def plate(self, plate_id: str) -> Plate | None:
        """One plate; None when it is not shown any more."""
        ...

    async def waiting(
        self, others: Collection[str] = ()
    ) -> tuple[Sequence[Interaction], Sequence[SessionInfo]]:
        """The questions that are open, and the sessions that wait for answers.

        others: questions that are wanted as well, whether they are open or not.
        """
        ...

    async def follow(self, hear: Hear) -> None:
        """Tell what happens, for as long as the connection lasts; then raise why it ended."""
        ...

    async def answer(self, question: Interaction, value: Any) -> Interaction:
        """Answer a question, or decline it; returns it with what became of the answer so far."""
        ...

    async def change(self, plate_id: str, changes: Mapping[str, Any] | None) -> None:
        """Name a plate, pin it, mark it as seen; without changes, dismiss it."""
        ...
