"""What clients say about themselves: Claude Code in its files, Codex through its app server."""

from collections.abc import Iterable

from callboard.board.plate import Plate
from callboard.vendors.claude.registry import Registered, registered
from callboard.vendors.codex.app_server import AppServer


class Registries:
    """Looks up the client of a plate on this host."""

    def __init__(self) -> None:
        self._codex = AppServer()

    def of(self, plate: Plate) -> Registered | None:
        """What the plate's client says; None if it says nothing, or nothing about this session."""
        if plate.agent == "codex":
            return self._codex.thread(plate.session_id)
        if plate.agent != "claude" or plate.pid is None:
            return None
        known = registered(plate.pid, plate.proc_start)
        return known if known is None or known.session_id == plate.session_id else None

    def follow(self, living: Iterable[Plate]) -> None:
        """Connect to the registries that need it, as long as they have a living client."""
        self._codex.follow(any(plate.agent == "codex" for plate in living))

    async def stop(self) -> None:
        """Disconnect from all of them."""
        await self._codex.stop()
