"""Who has signed in to the dashboard recently, through a link or a proxy. All servers share it."""

import json
from dataclasses import dataclass, replace
from datetime import timedelta
from typing import Final

from callboard.board.plate_store import Recent
from callboard.board.tokens import hashed
from callboard.clock import Clock
from callboard.errors import StoreError
from callboard.events.access import Scope
from callboard.events.shapes import Millis, Shape
from callboard.log.protocol import ServerState
from callboard.server.access.login import SignIn

KEPT: Final = timedelta(days=90)
"""How long a sign-in is listed."""
AGAIN_AFTER: Final = timedelta(hours=1)
"""How often the last time that someone was seen is written."""

_KIND: Final = "sign-in"


@dataclass(frozen=True, slots=True)
class PersonSeen(Shape):
    """Someone who has signed in, with what they had then. last_seen: to the hour."""

    person: str
    scope: Scope
    groups: tuple[str, ...]
    by_proxy: bool
    last_seen: Millis


class SignIns:
    """The people who have signed in."""

    def __init__(self, state: ServerState, clock: Clock) -> None:
        self._state = state
        self._clock = clock
        self._written = Recent[int]()

    async def note(self, who: SignIn, *, by_proxy: bool) -> None:
        """Someone is here. It is written only now and then, and not while that fails."""
        now = self._clock.now_ms()
        seen = PersonSeen(who.person, who.scope, who.groups, by_proxy, now)
        known = repr(replace(seen, last_seen=0))
        if now - self._written.get(known, -_millis(AGAIN_AFTER)) < _millis(AGAIN_AFTER):
            return
        self._written.keep(known, now)
        key = hashed(who.person)
        try:
            await self._state.take(_KIND, key)
            value = json.dumps(seen.to_wire())
            await self._state.add(_KIND, key, value, KEPT.total_seconds())
        except StoreError:
            self._written.pop(known, None)  # A list must not keep anyone out.

    async def list(self) -> list[PersonSeen]:
        """Everyone who has signed in lately, by name."""
        values = await self._state.values(_KIND)
        seen = [PersonSeen.from_wire(json.loads(value)) for value in values]
        return sorted(seen, key=lambda one: one.person)


def _millis(period: timedelta) -> int:
    return round(period.total_seconds() * 1000)
