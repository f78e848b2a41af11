"""The names of everything that can happen in a session, with the types of their payloads."""

from typing import Final

from callboard.events.event_name import EventName
from callboard.events.payloads import agents, people, workflow

STARTED: Final = EventName("workflow:started", workflow.WorkflowStartedPayload)
COMPLETED: Final = EventName("workflow:completed", workflow.WorkflowCompletedPayload)
PAUSING: Final = EventName("workflow:pausing", workflow.WorkflowPausingPayload)
PAUSED: Final = EventName("workflow:paused", workflow.WorkflowPausedPayload)
RESUMED: Final = EventName("workflow:resumed", workflow.WorkflowResumedPayload)
FAILED: Final = EventName("workflow:failed", workflow.WorkflowFailedPayload)
CANCELLED: Final = EventName("workflow:cancelled", workflow.WorkflowCancelledPayload)

FORKED: Final = EventName("session:forked", workflow.SessionForkedPayload)
TITLED: Final = EventName("session:titled", workflow.SessionTitledPayload)
HELD: Final = EventName("session:held", workflow.SessionHeldPayload)

PHASE_ENTERED: Final = EventName("phase:entered", workflow.PhaseEnteredPayload)
PHASE_EXITED: Final = EventName("phase:exited", workflow.PhaseExitedPayload)
PHASE_FAILED: Final = EventName("phase:failed", workflow.PhaseFailedPayload)

AGENT_STARTED: Final = EventName("agent:started", agents.AgentStartedPayload)
AGENT_COMPLETED: Final = EventName("agent:completed", agents.AgentCompletedPayload)
AGENT_INTERRUPTED: Final = EventName("agent:interrupted", agents.AgentInterruptedPayload)
ONCE_COMPLETED: Final = EventName("once:completed", agents.OnceCompletedPayload)

TEXT_DELTA: Final = EventName("text:delta", agents.TextDeltaPayload)
THINKING_DELTA: Final = EventName("thinking:delta", agents.ThinkingDeltaPayload)
TOOL_CALLED: Final = EventName("tool:called", agents.ToolCalledPayload)
TOOL_RESULT: Final = EventName("tool:result", agents.ToolResultPayload)
EMITTED: Final = EventName("agent:emitted", agents.AgentEmittedPayload)

INTENT: Final = EventName("state:intent", workflow.StateIntentPayload)
CHECKPOINT: Final = EventName("state:checkpoint", workflow.StateCheckpointPayload)

REQUESTED: Final = EventName("input:requested", people.InputRequestedPayload)
ACCEPTED: Final = EventName("input:accepted", people.InputAcceptedPayload)
RECEIVED: Final = EventName("input:received", people.InputReceivedPayload)
CORRECTED: Final = EventName("input:corrected", people.InputCorrectedPayload)
INPUT_CANCELLED: Final = EventName("input:cancelled", people.InputCancelledPayload)
EXPIRED: Final = EventName("input:expired", people.InputExpiredPayload)
REMINDED: Final = EventName("input:reminded", people.InputRemindedPayload)
ESCALATED: Final = EventName("input:escalated", people.InputEscalatedPayload)
INPUT_FAILED: Final = EventName("input:failed", people.InputFailedPayload)
DETACHED: Final = EventName("input:detached", people.InputDetachedPayload)
CLAIMED: Final = EventName("input:claimed", people.InputClaimedPayload)
RELEASED: Final = EventName("input:released", people.InputReleasedPayload)
ASSIGNED: Final = EventName("input:assigned", people.InputAssignedPayload)
CONTRIBUTED: Final = EventName("input:contributed", people.InputContributedPayload)

TASK_STARTED: Final = EventName("task:started", workflow.TaskStartedPayload)
TASK_COMPLETED: Final = EventName("task:completed", workflow.TaskCompletedPayload)

CLOSES_QUESTION: Final[frozenset[str]] = frozenset(
    {RECEIVED, EXPIRED, INPUT_CANCELLED, INPUT_FAILED}
)
"""After any of these, a question is no longer open."""

TERMINAL: Final[frozenset[str]] = frozenset({COMPLETED, FAILED, CANCELLED})
"""After any of these, nothing may follow in the stream."""

NARRATION: Final[tuple[str, ...]] = (TEXT_DELTA, THINKING_DELTA, TOOL_CALLED, TOOL_RESULT, EMITTED)
"""What an agent says while it works.

It is stored and shown, but doesn't affect the state or the course of a session, so that folding can
skip it.
"""
