"""The names of what happens to messages to a coding agent. Only the board appends these events."""

from typing import Final

from callboard.events.event_name import EventName
from callboard.events.payloads import messages as payloads

QUEUED: Final = EventName("message_queued", payloads.MessageQueuedPayload)
CHANGED: Final = EventName("message_changed", payloads.MessageChangedPayload)
MOVED: Final = EventName("message_moved", payloads.MessageMovedPayload)
WITHDRAWN: Final = EventName("message_withdrawn", payloads.MessageWithdrawnPayload)
HANDED: Final = EventName("message_handed", payloads.MessageHandedPayload)
RETURNED: Final = EventName("message_returned", payloads.MessageReturnedPayload)
HELD: Final = EventName("message_held", payloads.MessageHeldPayload)
DELIVERED: Final = EventName("message_delivered", payloads.MessageDeliveredPayload)
SEEN: Final = EventName("message_seen", payloads.MessageSeenPayload)
LOST: Final = EventName("message_lost", payloads.MessageLostPayload)
INTERRUPT_REQUESTED: Final = EventName("interrupt_requested", payloads.InterruptRequestedPayload)
INTERRUPT_ANSWERED: Final = EventName("interrupt_answered", payloads.InterruptAnsweredPayload)

ALL: Final[frozenset[str]] = frozenset(
    {
        QUEUED,
        CHANGED,
        MOVED,
        WITHDRAWN,
        HANDED,
        RETURNED,
        HELD,
        DELIVERED,
        SEEN,
        LOST,
        INTERRUPT_REQUESTED,
        INTERRUPT_ANSWERED,
    }
)
