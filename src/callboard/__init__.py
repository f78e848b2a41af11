"""Callboard: agent workflows that can be paused, rewound and forked, with people in them.

The names below are loaded when they are first used, so that importing this package, or a part
of it that needs little, stays quick.
"""

TYPE_CHECKING = False  # To load `typing` takes longer than all of this.
if TYPE_CHECKING:
    from typing import Any

    from callboard.agents.claude_code.agent import ClaudeCode
    from callboard.app import Callboard, run
    from callboard.client.client import Client
    from callboard.engine.context import Context
    from callboard.engine.function_agent import agent
    from callboard.engine.human_interactive import HumanInteractive
    from callboard.engine.phase import Phase, Retry
    from callboard.engine.ports import Output, Text, Thinking, ToolCall, ToolResult
    from callboard.engine.workflow import Workflow
    from callboard.errors import RetryAfter
    from callboard.events.envelope import Event
    from callboard.handlers.auto import auto_approve
    from callboard.handlers.terminal import cli_prompt
    from callboard.interactions.interactive import Interactive
    from callboard.interactions.questions import Approval, Choice, Escalate
    from callboard.state.model import HumanResponse, State

__all__ = [
    "Approval",
    "Callboard",
    "Choice",
    "ClaudeCode",
    "Client",
    "Context",
    "Escalate",
    "Event",
    "HumanInteractive",
    "HumanResponse",
    "Interactive",
    "Output",
    "Phase",
    "Retry",
    "RetryAfter",
    "State",
    "Text",
    "Thinking",
    "ToolCall",
    "ToolResult",
    "Workflow",
    "agent",
    "auto_approve",
    "cli_prompt",
    "run",
]

_HOMES = {
    "Approval": "callboard.interactions.questions",
    "Callboard": "callboard.app",
    "Choice": "callboard.interactions.questions",
    "ClaudeCode": "callboard.agents.claude_code.agent",
    "Client": "callboard.client.client",
    "Context": "callboard.engine.context",
    "Escalate": "callboard.interactions.questions",
    "Event": "callboard.events.envelope",
    "HumanInteractive": "callboard.engine.human_interactive",
    "HumanResponse": "callboard.state.model",
    "Interactive": "callboard.interactions.interactive",
    "Output": "callboard.engine.ports",
    "Phase": "callboard.engine.phase",
    "Retry": "callboard.engine.phase",
    "RetryAfter": "callboard.errors",
    "State": "callboard.state.model",
    "Text": "callboard.engine.ports",
    "Thinking": "callboard.engine.ports",
    "ToolCall": "callboard.engine.ports",
    "ToolResult": "callboard.engine.ports",
    "Workflow": "callboard.engine.workflow",
    "agent": "callboard.engine.function_agent",
    "auto_approve": "callboard.handlers.auto",
    "cli_prompt": "callboard.handlers.terminal",
    "run": "callboard.app",
}


def __getattr__(name: str) -> "Any":
    if name not in _HOMES:
        raise AttributeError(f"module 'callboard' has no attribute {name!r}")
    from importlib import import_module

    return getattr(import_module(_HOMES[name]), name)


def __dir__() -> list[str]:
    return __all__
