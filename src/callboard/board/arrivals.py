"""Hooks that are sent directly to the server.

Hooks that were spooled earlier are recorded first, so that a plate gets everything in order, but a
direct hook doesn't wait long for that.
"""

import logging
from typing import Final

from callboard.board.intake import Listener
from callboard.board.plate_store import Heard
from callboard.board.spool.drain import SpoolDrain

_log = logging.getLogger(__name__)

_PATIENCE: Final = 0.1
"""How many seconds a hook waits for earlier ones: enough for some hundred of them."""

_PATIENCE_OF_QUESTIONS: Final = 0.5
"""The same for a hook that asks a person, which then overtakes them. A person needs longer to read
it, and the events that led to it belong before it."""


class Arrivals:
    """Records hooks, or spools them behind a backlog. One that asks a person skips the backlog."""

    def __init__(self, listener: Listener, spool: SpoolDrain) -> None:
        self._listener = listener
        self._spool = spool

    async def hear(self, agent: str, body: bytes, host: str | None = None) -> Heard | None:
        """Record a hook; None if it has nothing that a plate could show now.

        host: the host that its token is limited to.
        """
        report = await self._listener.read(agent, body, host)
        if report is None:
            return None
        is_waited_for = report.request is not None or report.hold is not None
        patience = _PATIENCE_OF_QUESTIONS if is_waited_for else _PATIENCE
        if not await self._are_heard_before(patience) and not is_waited_for:
            self._spool.keep(agent, body, host)
            return None
        return await self._listener.hear(report)

    async def _are_heard_before(self, patience: float) -> bool:
        try:
            return await self._spool.catch_up(patience)
        except Exception as error:  # A problem in the spool must not affect a new hook.
            _log.error("The spool could not be emptied: %s", error)
            return True
