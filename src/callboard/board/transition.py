"""The state machine of a plate: deterministic, total, and nothing but a table.

The first six events and what they do are law, and so are the constants in `recovery`. What real
clients do beyond them are further events, below the line.
"""

from dataclasses import dataclass
from typing import Final, Literal, get_args

from callboard.events import plates

Status = Literal[
    "starting", "running", "idle", "awaiting_input", "awaiting_approval", "error", "closed"
]

STATUSES: Final[tuple[Status, ...]] = get_args(Status)
NEEDY: Final[frozenset[Status]] = frozenset({"awaiting_input", "awaiting_approval", "error"})
"""The statuses that a missed event would leave a plate stuck in."""

MOVES: Final = frozenset(
    {
        plates.SESSION_START,
        plates.PROMPT_SUBMIT,
        plates.TOOL_START,
        plates.TOOL_CALL,
        plates.STOP,
        plates.HEALTH_CHECK_RECOVERY,
        plates.PERMISSION_REQUEST,
        plates.PERMISSION_RESOLVED,
        plates.TURN_IDLE,
        plates.STOP_FAILURE,
        plates.SESSION_END,
        plates.PROCESS_EXIT,
    }
)
"""The events that the table has a word on. All others leave the status as it is."""

ASKS: Final = "AskUserQuestion"
PLANS: Final = "ExitPlanMode"

_ON_TOOL_START: Final[dict[str, Status]] = {ASKS: "awaiting_input", PLANS: "awaiting_approval"}


@dataclass(frozen=True, slots=True)
class Happening:
    """What the table has to know of an event.

    has_error: for `stop`. tool: for `tool_start` and `permission_request`.
    subagent: it happened inside a subagent, which never moves the main status.
    """

    name: str
    tool: str | None = None
    has_error: bool = False
    subagent: bool = False


def transition(status: Status, event: Happening) -> Status:  # noqa: C901 - it is a table
    """The status after an event."""
    if event.subagent:
        return status
    match event.name:
        case plates.SESSION_START | plates.PROMPT_SUBMIT | plates.TOOL_CALL:
            return "running"
        case plates.TOOL_START:
            return _ON_TOOL_START.get(event.tool or "", "running")
        case plates.STOP:
            return "error" if event.has_error else "idle"
        case plates.HEALTH_CHECK_RECOVERY:
            return "idle" if status in NEEDY else status
        # ---- beyond the table of the seed
        case plates.PERMISSION_REQUEST:
            return "awaiting_input" if event.tool == ASKS else "awaiting_approval"
        case plates.PERMISSION_RESOLVED:
            return "running"
        case plates.TURN_IDLE:
            return "idle"
        case plates.STOP_FAILURE:
            return "error"
        case plates.SESSION_END | plates.PROCESS_EXIT:
            return "closed"
        case _:
            return status
