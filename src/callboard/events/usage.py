"""The names of events about tokens and budgets. Only the board appends them."""

from typing import Final

from callboard.events.event_name import EventName
from callboard.events.payloads import usage as payloads

COUNTED: Final = EventName("usage_counted", payloads.UsageCountedPayload)
"""In a plate's stream, when a turn has ended."""
BUDGET_SET: Final = EventName("budget_set", payloads.BudgetSetPayload)
"""In the stream `budget:daily`."""

ALL: Final[frozenset[str]] = frozenset({COUNTED, BUDGET_SET})
