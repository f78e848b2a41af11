"""How a session of Claude Code is steered: through its inbox, if it has one that we know.

Otherwise it is typed into its terminal while it is idle, or left for its hooks.
"""

from collections.abc import Mapping
from pathlib import Path

from callboard.events.json_values import Object
from callboard.vendors.claude.inbox_way import InboxWay
from callboard.vendors.claude.prompt_box import PASTES, read_box
from callboard.vendors.claude.receipts import transcript_of
from callboard.vendors.claude.registry import registered
from callboard.vendors.composed_steering import ComposedSteering
from callboard.vendors.hook_mail import HookMail, context_for
from callboard.vendors.steering import Outgoing, Recipient
from callboard.vendors.typed_prompts import TypedClient, TypedPrompts


def steering(hooks: Path) -> ComposedSteering:
    """The ways of Claude Code."""
    client = TypedClient(read_box, PASTES, is_idle=_is_idle)
    typing = TypedPrompts(client, hooks / "mailbox" / "typed")
    mail = HookMail(hooks, outputs, transcript_of)
    return ComposedSteering({"inbox": InboxWay(), "terminal": typing, "hook": mail}, mail, typing)


def outputs(recipient: Recipient, message: Outgoing) -> Mapping[str, Object]:
    """What its hooks print. At the end of a turn, the message continues it."""
    events = ["UserPromptSubmit", "Stop", *(["PostToolUse"] if message.when == "now" else [])]
    return {event: context_for(event, message) for event in events}


def _is_idle(recipient: Recipient) -> bool:
    """What it says of this session; without its entry, what the board knows."""
    found = None if recipient.pid is None else registered(recipient.pid, recipient.proc_start)
    if found is None:
        return recipient.status == "idle"
    return found.status == "idle" and found.session_id == recipient.session_id
