"""How a session of Gemini CLI is steered: typed into its terminal at rest, by its hooks otherwise.

Nothing but typing wakes it. During a turn, a hook after a tool tells the model. The end of a turn
is different: what a hook says there shows as a failed request, so it is used only for a session
that runs in no terminal that we reach.
"""

from collections.abc import Mapping
from pathlib import Path

from callboard.errors import TranscriptUnreadable
from callboard.events.json_values import Object
from callboard.terminals.panes import pane_of
from callboard.vendors.composed_steering import ComposedSteering
from callboard.vendors.gemini.conversation import transcript_of
from callboard.vendors.gemini.prompt_box import PASTES, is_busy, read_box
from callboard.vendors.hook_mail import HookMail, context_for, told_of
from callboard.vendors.steering import Outgoing, Recipient
from callboard.vendors.typed_prompts import TypedClient, TypedPrompts

_PAUSE = 0.6


def steering(hooks: Path) -> ComposedSteering:
    """The ways of Gemini CLI."""
    client = TypedClient(read_box, PASTES, pause=_PAUSE, is_busy=is_busy)
    typing = TypedPrompts(client, hooks / "mailbox" / "typed")
    mail = HookMail(hooks, outputs, _transcript)
    return ComposedSteering({"terminal": typing, "hook": mail}, mail, typing)


def outputs(recipient: Recipient, message: Outgoing) -> Mapping[str, Object]:
    """What its hooks print. At the end of a turn, the client shows the reason itself."""
    events = ["BeforeAgent", *(["AfterTool"] if message.when == "now" else [])]
    found = {event: context_for(event, message) for event in events}
    if recipient.pid is None or pane_of(recipient.pid, recipient.proc_start) is None:
        found["AfterAgent"] = {"decision": "block", "reason": told_of(message)}
    return found


def _transcript(recipient: Recipient) -> Path | None:
    try:
        return transcript_of(recipient.transcript, recipient.session_id)
    except TranscriptUnreadable:
        return None
