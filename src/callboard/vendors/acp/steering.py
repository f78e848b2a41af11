"""How an agent that speaks ACP is steered: by the process that keeps it, whose agent it is."""

import asyncio
from pathlib import Path
from typing import Final, Literal, get_args

from callboard.events.json_values import Object, as_whole
from callboard.terminals.link import asked
from callboard.terminals.records import terminal_of
from callboard.vendors.prompt_box import as_words
from callboard.vendors.steering import (
    InterruptAttempt,
    MessageHandover,
    Note,
    Outgoing,
    Reach,
    Recipient,
    Sighting,
    unnoted,
)

_Shown = Literal["delivered", "seen"]
_GONE: Final = "It can't be reached: the process that keeps it has ended."
_LATER: Final = "Delivered when its turn is over: a prompt before that would cancel the turn."
_STARTING: Final = "Delivered once its session has started."


def steering(hooks: Path) -> "AcpSteering":
    """The ways of agents that speak ACP."""
    return AcpSteering()


class AcpSteering:
    """Asks the process that keeps the agent."""

    async def reach(self, recipient: Recipient) -> Reach:
        """By a prompt; between turns, unless the agent takes one in the middle of a turn."""
        told = await self._ask(recipient, {"do": "reach"})
        if not told:
            return Reach(None, True, _GONE)
        if told.get("takes") is not True:
            return Reach(None, True, _LATER if told.get("open") is True else _STARTING)
        return Reach("prompt", True)

    async def say(
        self, recipient: Recipient, message: Outgoing, note: Note = unnoted
    ) -> MessageHandover:
        """Send it as a prompt, at most once."""
        if message.when == "after_turn" and recipient.status not in (None, "idle"):
            return MessageHandover("untouched", "prompt", "Its turn isn't over yet.")
        said: Object = {"do": "say", "id": message.id, "text": as_words(message.text)}
        await asyncio.to_thread(note)
        told = await self._ask(recipient, said)
        if not told:
            # Whether it got that far, only what it reports can show.
            return MessageHandover("unknown", "prompt", _GONE)
        return MessageHandover("accepted" if told.get("ok") is True else "untouched", "prompt")

    async def look(self, recipient: Recipient, message: Outgoing) -> Sighting:
        """What the agent showed of it."""
        told = await self._ask(recipient, {"do": "look", "id": message.id})
        known = next((one for one in get_args(_Shown) if one == told.get("status")), None)
        return Sighting(known, None if known is None else as_whole(told.get("at")))

    async def recall(self, recipient: Recipient, message: Outgoing) -> bool:
        """Never: its host takes a message at once."""
        return False

    async def interrupt(self, recipient: Recipient) -> InterruptAttempt:
        """Cancel the turn."""
        told = await self._ask(recipient, {"do": "interrupt"})
        if not told:
            return InterruptAttempt(False, _GONE)
        is_told = told.get("told") is True
        return InterruptAttempt(is_told, None if is_told else "No turn is running.")

    async def _ask(self, recipient: Recipient, request: Object) -> Object:
        return await asyncio.to_thread(_asked, recipient, request)


def _asked(recipient: Recipient, request: Object) -> Object:
    if recipient.pid is None:
        return {}
    terminal = terminal_of(recipient.pid, recipient.proc_start)
    return {} if terminal is None else asked(terminal, request)
