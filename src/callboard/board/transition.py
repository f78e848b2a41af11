"""The state machine of a plate: deterministic, complete, and just a table.

The first six events and their effects are fixed, and so are the constants in `watchdog`. The events
after them cover what real clients do beyond that.
"""

from dataclasses import dataclass
from typing import Final, Literal, get_args

from callboard.events import plates

Status = Literal[
    "starting", "running", "idle", "awaiting_input", "awaiting_approval", "error", "closed"
]

STATUSES: Final[tuple[Status, ...]] = get_args(Status)
NEEDY: Final[frozenset[Status]] = frozenset({"awaiting_input", "awaiting_approval", "error"})
"""The statuses in which a missed event would leave a plate stuck."""

ASKS: Final = "AskUserQuestion"
PLANS: Final = "ExitPlanMode"

_LEADS_TO: Final[dict[str, Status]] = {
    plates.SESSION_START: "running",
    plates.PROMPT_SUBMIT: "running",
    plates.TOOL_CALL: "running",
    # ---- additions to the original table
    plates.PERMISSION_RESOLVED: "running",
    plates.TURN_IDLE: "idle",
    plates.STOP_FAILURE: "error",
    plates.SESSION_END: "closed",
    plates.PROCESS_EXIT: "closed",
}
_ON_TOOL_START: Final[dict[str, Status]] = {ASKS: "awaiting_input", PLANS: "awaiting_approval"}
_BY_DETAILS: Final = frozenset(
    {plates.TOOL_START, plates.STOP, plates.HEALTH_CHECK_RECOVERY, plates.PERMISSION_REQUEST}
)
MOVES: Final = _BY_DETAILS | _LEADS_TO.keys()
"""The events that the table covers. All others leave the status as it is."""


@dataclass(frozen=True, slots=True)
class Happening:
    """What the table has to know about an event.

    has_error: for `stop`. tool: for `tool_start` and `permission_request`.
    subagent: it happened inside a subagent, which never changes the main status.
    """

    name: str
    tool: str | None = None
    has_error: bool = False
    subagent: bool = False


def transition(status: Status, event: Happening) -> Status:
    """The status after an event."""
    if event.subagent:
        return status
    match event.name:
        case plates.TOOL_START:
            return _ON_TOOL_START.get(event.tool or "", "running")
        case plates.STOP:
            return "error" if event.has_error else "idle"
        case plates.HEALTH_CHECK_RECOVERY:
            return "idle" if status in NEEDY else status
        case plates.PERMISSION_REQUEST:
            return "awaiting_input" if event.tool == ASKS else "awaiting_approval"
        case _:
            return _LEADS_TO.get(event.name, status)
