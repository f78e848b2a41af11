"""What a machine does with messages for its coding agents, for a server that asks.

The ways to each client are imported when the first message comes for one.
"""

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

from callboard.errors import CallboardError
from callboard.events.json_values import Object, as_object, as_text
from callboard.relay.command_table import Command

if TYPE_CHECKING:
    from callboard.vendors.steering import Steering

FindSteering = Callable[[str], "Steering | None"]
"""The ways to a client, by its agent's name; None if there are none."""


class SteeringCommands:
    """The commands `reach`, `say`, `look`, `recall` and `interrupt`; each names its recipient."""

    def __init__(self, find: FindSteering) -> None:
        self._find = find
        self._known: dict[str, Steering] = {}

    @property
    def commands(self) -> dict[str, Command]:
        """What servers can ask for, all with the power `say`."""
        return {
            "reach": Command(self._reach, "say"),
            "say": Command(self._say, "say", changes=True, notes=True),
            "look": Command(self._look, "say"),
            "recall": Command(self._recall, "say", changes=True),
            "interrupt": Command(self._interrupt, "say", changes=True),
        }

    async def _reach(self, data: Object) -> Object:
        from callboard.vendors.steering import Recipient

        recipient = Recipient.from_wire(as_object(data.get("recipient")))
        ways = self._ways_to(recipient.agent)
        if ways is None:
            return {"way": None, "authority": False, "note": _no_way(recipient.agent)}
        return (await ways.reach(recipient)).to_wire()

    async def _say(self, data: Object, note: Callable[[], None]) -> Object:
        from callboard.vendors.steering import Outgoing, Recipient

        recipient = Recipient.from_wire(as_object(data.get("recipient")))
        message = Outgoing.from_wire(as_object(data.get("message")))
        return (await self._of(recipient.agent).say(recipient, message, note)).to_wire()

    async def _look(self, data: Object) -> Object:
        from callboard.vendors.steering import Outgoing, Recipient

        recipient = Recipient.from_wire(as_object(data.get("recipient")))
        message = Outgoing.from_wire(as_object(data.get("message")))
        return (await self._of(recipient.agent).look(recipient, message)).to_wire()

    async def _recall(self, data: Object) -> Object:
        from callboard.vendors.steering import Outgoing, Recipient

        recipient = Recipient.from_wire(as_object(data.get("recipient")))
        message = Outgoing.from_wire(as_object(data.get("message")))
        return {"recalled": await self._of(recipient.agent).recall(recipient, message)}

    async def _interrupt(self, data: Object) -> Object:
        from callboard.vendors.steering import Recipient

        recipient = Recipient.from_wire(as_object(data.get("recipient")))
        ways = self._ways_to(recipient.agent)
        if ways is None:
            return {"told": False, "note": _no_way(recipient.agent)}
        return (await ways.interrupt(recipient)).to_wire()

    def _of(self, agent: str) -> "Steering":
        ways = self._ways_to(agent)
        if ways is None:
            raise CallboardError(_no_way(agent))
        return ways

    def _ways_to(self, agent: str) -> "Steering | None":
        known = self._known.get(agent) or self._find(agent)
        if known is not None:
            self._known[agent] = known
        return known


def _no_way(agent: str) -> str:
    return f"Callboard can't write to {as_text(agent)[:50]!r}."


def ways_here(hooks: Path) -> FindSteering:
    """The ways to clients on this machine. hooks: the hooks folder."""

    def find(agent: str) -> "Steering | None":
        from callboard.vendors.steering_table import steering_of

        return steering_of(agent, hooks)

    return find
