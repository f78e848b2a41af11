"""What shows that a message was typed and submitted: a hook that reports a prompt with its text."""

from callboard.board.message_queue import Arrival
from callboard.board.messages import PlateMessage
from callboard.events import messages, plates
from callboard.events.envelope import Event
from callboard.log.protocol import EventLog
from callboard.vendors.fields import LONGEST_TEXT
from callboard.vendors.prompt_box import letters, typed

_PAGE = 200
_ANSWERS = frozenset({plates.TOOL_START, plates.TOOL_CALL, plates.STOP, plates.PERMISSION_REQUEST})
"""What only happens once the model was given the prompt."""


async def typed_receipt(
    log: EventLog, plate_id: str, message: PlateMessage
) -> tuple[Arrival, int] | None:
    """What the hooks have reported of a message since it was handed over, and when."""
    found: tuple[Arrival, int] | None = None
    for event in await _since_handed(log, plate_id, message):
        prompt = plates.PROMPT_SUBMIT.of(event)
        if found is None and prompt is not None and _is(message.text, prompt.get("prompt", "")):
            found = "delivered", event.at_ms
        elif found is not None and event.name in _ANSWERS:
            return "seen", event.at_ms
    return found


async def _since_handed(log: EventLog, plate_id: str, message: PlateMessage) -> list[Event]:
    """The events after the one that records this attempt."""
    end = await log.head(plate_id)
    later: list[Event] = []
    while end > 0:
        page = await log.read(plate_id, max(0, end - _PAGE), end)
        for index in reversed(range(len(page))):
            handed = messages.HANDED.of(page[index])
            if handed is not None and handed["id"] == message.id:
                return [*page[index + 1 :], *later]
        later, end = [*page, *later], end - _PAGE
    return []


def _is(text: str, prompt: str) -> bool:
    """Whether a prompt is this text, as far as it was recorded."""
    ours, told = letters(typed(text)), letters(prompt)
    if len(prompt) >= LONGEST_TEXT and told.endswith("…"):
        return len(told) > 1 and ours.startswith(told[:-1])
    return bool(ours) and ours == told
