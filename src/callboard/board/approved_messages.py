"""Messages that programs want to write to coding agents, each approved by a person first. Pure.

A program that is itself an agent must not steer others, and nothing that it sends can show that a
person wanted it. So it asks a question that contains the message, and the answer is what counts.
"""

from typing import Final

from callboard.board.message_queue import checked
from callboard.display.lines import one_line
from callboard.errors import Forbidden, ValidationError
from callboard.events.envelope import Json
from callboard.events.json_values import Object, as_object, as_text
from callboard.events.payloads.messages import MessageTiming
from callboard.interactions.records import Interaction

LONGEST: Final = 4000
"""Characters of a message, so that a person reads all of it."""
_KEY: Final = "say"
_LONGEST_NAME: Final = 60
_WHENS: Final = {"now": "as soon as possible", "after_turn": "after its turn"}


def approval_for(
    client: str, plate_id: str, text: str, when: MessageTiming
) -> tuple[str, dict[str, Json]]:
    """The question that a person has to approve, and what identifies it as that."""
    if not text.strip() or len(text) > LONGEST:
        raise ValidationError(f"text: write 1 to {LONGEST:,} characters.", field="text")
    checked(text)  # Before a person is asked about something that is never sent.
    name = one_line(client, _LONGEST_NAME) or "A program"
    said: dict[str, Json] = {"client": name, "plateId": plate_id, "text": text, "when": when}
    prompt = f"{name} wants to write to the agent {plate_id}, {_WHENS[when]}:\n\n{text}"
    return prompt, {_KEY: said}


def is_message_approval(asked: Interaction) -> bool:
    """Whether a yes to this question sends a message to an agent."""
    return asked.type == "approval" and bool(_said(asked))


def approved_writer(asked: Interaction, plate_id: str, text: str, when: MessageTiming) -> str:
    """Who writes a message that was approved; Forbidden unless a person approved exactly this.

    What the person saw has to be this message, too: a question can be worded in any way.
    """
    client = as_text(_said(asked).get("client"))
    answer = as_object(asked.response)
    is_this = is_message_approval(asked) and (asked.prompt, _said(asked)) == _asked_for(
        client, plate_id, text, when
    )
    if not is_this:
        raise Forbidden(
            "approval: that question is not about this message. Ask again with `say`.",
            field="approval",
        )
    is_yes = asked.status == "completed" and answer.get("approved") is True
    if not is_yes or answer.get("timedOut"):
        raise Forbidden(
            "approval: no one has approved this message. Ask again with `say`.", field="approval"
        )
    return f"{client}, approved by {asked.answered_by or asked.answered_as or 'a person'}"


def _asked_for(client: str, plate_id: str, text: str, when: MessageTiming) -> tuple[str, Object]:
    prompt, config = approval_for(client, plate_id, text, when)
    return prompt, as_object(config[_KEY])


def _said(asked: Interaction) -> Object:
    return as_object(as_object(asked.config).get(_KEY))
