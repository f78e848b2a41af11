"""How a session of Codex is steered: by its app server, if that has the session.

Otherwise it is typed into its terminal while it is idle, or left for its hooks.
"""

from collections.abc import Mapping
from pathlib import Path

from callboard.events.json_values import Object
from callboard.vendors.codex.app_server_way import NO_SERVER, AppServerWay, record_of
from callboard.vendors.codex.prompt_box import PASTES, read_box
from callboard.vendors.composed_steering import ComposedSteering, WayTo
from callboard.vendors.hook_mail import HookMail, context_for, told_of
from callboard.vendors.steering import InterruptAttempt, Outgoing, Recipient, Way
from callboard.vendors.typed_prompts import TypedClient, TypedPrompts

_PAUSE = 0.6


def steering(hooks: Path) -> ComposedSteering:
    """The ways of Codex."""
    typing = TypedPrompts(TypedClient(read_box, PASTES, pause=_PAUSE), hooks / "mailbox" / "typed")
    mail, server = HookMail(hooks, outputs, record_of), AppServerWay()
    ways: dict[Way, WayTo] = {"app_server": server, "terminal": typing, "hook": mail}
    return ComposedSteering(ways, mail, _Interrupts(server, typing))


def outputs(recipient: Recipient, message: Outgoing) -> Mapping[str, Object]:
    """What its hooks print. At the end of a turn, the message continues it."""
    events = ["UserPromptSubmit", *(["PostToolUse"] if message.when == "now" else [])]
    found = {event: context_for(event, message) for event in events}
    return found | {"Stop": {"decision": "block", "reason": told_of(message)}}


class _Interrupts:
    """Through the app server, or by a key in the terminal of a session that the server lacks."""

    def __init__(self, server: AppServerWay, typing: TypedPrompts) -> None:
        self._server = server
        self._typing = typing

    async def interrupt(self, recipient: Recipient) -> InterruptAttempt:
        """Interrupt the turn that is running."""
        done = await self._server.interrupt(recipient)
        return await self._typing.interrupt(recipient) if done.note == NO_SERVER else done
