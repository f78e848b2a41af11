"""The hooks that keep up the status files of delegated work, with no server running."""

from pathlib import Path
from typing import Any, Final

from callboard.vendors.settings_commands import scripted

SCRIPT: Final = Path(__file__).parents[2] / "statusfiles" / "hook.py"
"""What the hooks run."""

AGENT_TOOLS: Final = "Agent|Task|SubagentTask|AgentTask"
"""The names that the agent tool has and had."""

TODO_TOOLS: Final = "TodoWrite|TaskCreate|TaskUpdate|TaskList"

_SOON = 10
_EVENTS: Final = {
    "SessionStart": None,
    "UserPromptSubmit": None,
    "PreToolUse": AGENT_TOOLS,
    "PostToolUse": f"{AGENT_TOOLS}|{TODO_TOOLS}",
    "PostToolUseFailure": AGENT_TOOLS,
    "SubagentStop": None,
    "TaskCompleted": None,
}
"""An event → the tools that it is heard of."""


def status_groups() -> dict[str, list[dict[str, Any]]]:
    """An event → our hooks of it, as settings have them."""
    handler = {"type": "command", "command": status_command(), "timeout": _SOON}
    return {
        event: [{**({"matcher": tools} if tools else {}), "hooks": [handler]}]
        for event, tools in _EVENTS.items()
    }


def status_command() -> str:
    """Runs the hook."""
    return scripted(SCRIPT)


def has_status_hooks(text: str | None) -> bool:
    """Whether settings have these hooks, in whatever version."""
    return text is not None and "/statusfiles/hook.py" in text
