"""Where the board comes from: a server, or in tests whatever plays one."""

from collections.abc import Callable, Mapping, Sequence
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

    async def waiting(self) -> tuple[Sequence[Interaction], Sequence[SessionInfo]]:
        """The questions that wait, and the sessions that wait for answers."""
        ...

    async def follow(self, hear: Hear) -> None:
        """Tell what happens, for as long as the connection lasts; then raise why it ended."""
        ...

    async def answer(self, question: Interaction, value: Any) -> None:
        """Answer a question; an interactive session is completed."""
        ...

    async def change(self, plate_id: str, changes: Mapping[str, Any] | None) -> None:
        """Name a plate, pin it, mark it as seen; without changes, dismiss it."""
        ...
