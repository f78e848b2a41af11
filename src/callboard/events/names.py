"""The names of everything that can happen, and which of them matter to whom."""

from typing import Final

STARTED: Final = "workflow:started"
COMPLETED: Final = "workflow:completed"
PAUSING: Final = "workflow:pausing"
PAUSED: Final = "workflow:paused"
RESUMED: Final = "workflow:resumed"
FAILED: Final = "workflow:failed"
CANCELLED: Final = "workflow:cancelled"

FORKED: Final = "session:forked"
HELD: Final = "session:held"

PHASE_ENTERED: Final = "phase:entered"
PHASE_EXITED: Final = "phase:exited"
PHASE_FAILED: Final = "phase:failed"

AGENT_STARTED: Final = "agent:started"
AGENT_COMPLETED: Final = "agent:completed"
AGENT_INTERRUPTED: Final = "agent:interrupted"
ONCE_COMPLETED: Final = "once:completed"

TEXT_DELTA: Final = "text:delta"
THINKING_DELTA: Final = "thinking:delta"
TOOL_CALLED: Final = "tool:called"
TOOL_RESULT: Final = "tool:result"
EMITTED: Final = "agent:emitted"

INTENT: Final = "state:intent"
CHECKPOINT: Final = "state:checkpoint"

REQUESTED: Final = "input:requested"
ACCEPTED: Final = "input:accepted"
RECEIVED: Final = "input:received"
CORRECTED: Final = "input:corrected"
INPUT_CANCELLED: Final = "input:cancelled"
EXPIRED: Final = "input:expired"
REMINDED: Final = "input:reminded"
ESCALATED: Final = "input:escalated"
INPUT_FAILED: Final = "input:failed"
CLAIMED: Final = "input:claimed"
RELEASED: Final = "input:released"
CONTRIBUTED: Final = "input:contributed"

TASK_STARTED: Final = "task:started"
TASK_COMPLETED: Final = "task:completed"

CLOSES_QUESTION: Final = frozenset({RECEIVED, EXPIRED, INPUT_CANCELLED, INPUT_FAILED})
"""After one of these a question is no longer open."""

TERMINAL: Final = frozenset({COMPLETED, FAILED, CANCELLED})
"""After one of these nothing may follow in the stream."""

NARRATION: Final = (TEXT_DELTA, THINKING_DELTA, TOOL_CALLED, TOOL_RESULT, EMITTED)
"""What an agent says while it works: shown and kept, but no fold of control or state reads it,
so folding may leave it in the database."""
