"""The names of what happens to a plate: a coding agent session as the board sees it."""

from typing import Final, cast

from callboard.events.envelope import Event
from callboard.events.event_name import Entry, EventName
from callboard.events.payloads import plates as payloads

SESSION_START: Final = EventName("session_start", payloads.SessionStartPayload)
PROMPT_SUBMIT: Final = EventName("prompt_submit", payloads.PromptSubmitPayload)
TOOL_START: Final = EventName("tool_start", payloads.ToolStartPayload)
TOOL_CALL: Final = EventName("tool_call", payloads.ToolCallPayload)
STOP: Final = EventName("stop", payloads.StopPayload)
HEALTH_CHECK_RECOVERY: Final = EventName(
    "health_check_recovery", payloads.HealthCheckRecoveryPayload
)

PERMISSION_REQUEST: Final = EventName("permission_request", payloads.PermissionRequestPayload)
PERMISSION_RESOLVED: Final = EventName("permission_resolved", payloads.PermissionResolvedPayload)
PERMISSION_SETTLED: Final = EventName("permission_settled", payloads.PermissionSettledPayload)
"""What became of a request after its dialog was gone. It never changes the status."""
STOP_FAILURE: Final = EventName("stop_failure", payloads.StopFailurePayload)
TURN_IDLE: Final = EventName("turn_idle", payloads.TurnIdlePayload)
SUBAGENT_START: Final = EventName("subagent_start", payloads.SubagentStartPayload)
SUBAGENT_STOP: Final = EventName("subagent_stop", payloads.SubagentStopPayload)
COMPACT: Final = EventName("compact", payloads.CompactPayload)
SESSION_END: Final = EventName("session_end", payloads.SessionEndPayload)
PROCESS_EXIT: Final = EventName("process_exit", payloads.ProcessExitPayload)

HOOK_HEARD: Final = EventName("hook_heard", payloads.HookHeardPayload)
"""A hook that says nothing about the status, or that this version doesn't know."""
REGISTERED: Final = EventName("plate_registered", payloads.PlateRegisteredPayload)
CHANGED: Final = EventName("plate_changed", payloads.PlateChangedPayload)
DISMISSED: Final = EventName("plate_dismissed", payloads.PlateDismissedPayload)

HOST_CONNECTED: Final = EventName("host_connected", payloads.HostConnectedPayload)
"""In a stream of the host, not of a plate."""
HOST_CONTESTED: Final = EventName("host_contested", payloads.HostContestedPayload)
HOST_ASKED: Final = EventName("host_asked", payloads.HostAskedPayload)
HOST_ANSWERED: Final = EventName("host_answered", payloads.HostAnsweredPayload)
HOST_DISCONNECTED: Final = EventName("host_disconnected", payloads.HostDisconnectedPayload)

HOST_REMOVED: Final = EventName("host_removed", payloads.HostRemovedPayload)

OF_HOSTS: Final[frozenset[str]] = frozenset({HOST_CONNECTED, HOST_DISCONNECTED, HOST_REMOVED})

FROM_AGENTS: Final[frozenset[str]] = frozenset(
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
"""What a coding agent, or a program on its behalf, may report."""

ALL: Final[frozenset[str]] = FROM_AGENTS | {
    PERMISSION_SETTLED,
    HEALTH_CHECK_RECOVERY,
    PROCESS_EXIT,
    REGISTERED,
    CHANGED,
    DISMISSED,
}


def details(event: Event | Entry) -> payloads.PlateDetails:
    """The payload of a plate's event, for code that treats several names alike."""
    return cast("payloads.PlateDetails", event.payload)
