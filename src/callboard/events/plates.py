"""The names of what happens to a plate: one coding-agent session as the board sees it."""

from typing import Final

SESSION_START: Final = "session_start"
PROMPT_SUBMIT: Final = "prompt_submit"
TOOL_START: Final = "tool_start"
TOOL_CALL: Final = "tool_call"
STOP: Final = "stop"
HEALTH_CHECK_RECOVERY: Final = "health_check_recovery"

PERMISSION_REQUEST: Final = "permission_request"
PERMISSION_RESOLVED: Final = "permission_resolved"
PERMISSION_SETTLED: Final = "permission_settled"
"""What became of a request whose dialog is gone. It never moves the status."""
STOP_FAILURE: Final = "stop_failure"
TURN_IDLE: Final = "turn_idle"
SUBAGENT_START: Final = "subagent_start"
SUBAGENT_STOP: Final = "subagent_stop"
COMPACT: Final = "compact"
SESSION_END: Final = "session_end"
PROCESS_EXIT: Final = "process_exit"

HOOK_HEARD: Final = "hook_heard"
"""A hook that says nothing about the status, or that this version does not know."""
REGISTERED: Final = "plate_registered"
CHANGED: Final = "plate_changed"
DISMISSED: Final = "plate_dismissed"

FROM_AGENTS: Final = frozenset(
    {
        SESSION_START,
        PROMPT_SUBMIT,
        TOOL_START,
        TOOL_CALL,
        STOP,
        PERMISSION_REQUEST,
        PERMISSION_RESOLVED,
        STOP_FAILURE,
        TURN_IDLE,
        SUBAGENT_START,
        SUBAGENT_STOP,
        COMPACT,
        SESSION_END,
        HOOK_HEARD,
    }
)
"""What a coding agent, or a program that speaks for one, may report."""

ALL: Final = FROM_AGENTS | {
    PERMISSION_SETTLED,
    HEALTH_CHECK_RECOVERY,
    PROCESS_EXIT,
    REGISTERED,
    CHANGED,
    DISMISSED,
}
