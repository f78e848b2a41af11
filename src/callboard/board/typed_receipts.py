"""What shows that a message was typed and submitted: a hook that reports a prompt with its text."""

from dataclasses import dataclass

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


@dataclass(slots=True)
class TypedReceipt:
    """What the hooks have reported of one attempt so far, and when. position: how far was read."""

    found: tuple[Arrival, int] | None = None
    position: int | None = None

    async def look(self, log: EventLog, message: PlateMessage) -> tuple[Arrival, int] | None:
        """What they have reported by now. Only what is new is read."""
        if self.position is None:
            self.position = await _handed_at(log, message)
        while self.found is None or self.found[0] != "seen":
            page = await log.read(message.plate_id, self.position, limit=_PAGE)
            for event in page:
                self._take(event, message.text)
                self.position = event.position
            if len(page) < _PAGE:
                break
        return self.found

    def _take(self, event: Event, text: str) -> None:
        prompt = plates.PROMPT_SUBMIT.of(event)
        if self.found is None:
            if prompt is not None and _is(text, prompt.get("prompt", "")):
                self.found = "delivered", event.at_ms
        elif self.found[0] == "delivered" and event.name in _ANSWERS:
            self.found = "seen", event.at_ms


async def _handed_at(log: EventLog, message: PlateMessage) -> int:
    """The position of the event that records this attempt, which is among the last ones."""
    head = end = await log.head(message.plate_id)
    while end > 0:
        for event in reversed(await log.read(message.plate_id, max(0, end - _PAGE), end)):
            handed = messages.HANDED.of(event)
            if handed is not None and handed["id"] == message.id:
                return event.position
        end -= _PAGE
    return head


def _is(text: str, prompt: str) -> bool:
    """Whether a prompt is this text, as far as it was recorded."""
    ours, told = letters(typed(text)), letters(prompt)
    if len(prompt) >= LONGEST_TEXT and told.endswith("…"):
        return len(told) > 1 and ours.startswith(told[:-1])
    return bool(ours) and ours == told
