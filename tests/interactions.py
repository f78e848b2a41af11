"""A question as tests need it: pending, with nothing but what they say about it."""

from datetime import UTC, datetime
from typing import Any

from callboard.interactions.records import Interaction

NOON = datetime(2026, 1, 31, 12, tzinfo=UTC)


def interaction(**given: Any) -> Interaction:
    """A pending question with nothing but what is given."""
    nothing: dict[str, Any] = dict.fromkeys(Interaction.__dataclass_fields__)
    known: dict[str, Any] = {"id": "q1", "session_id": "s1", "type": "approval", "prompt": "Go?"}
    known |= {"stream": "", "other": False, "status": "pending", "created_at": NOON}
    return Interaction(**(nothing | known | given))
