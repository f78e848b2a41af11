"""Callboard: agent workflows with people in charge, which you can pause, rewind and fork.

The names below are loaded on first use, so that importing this package, or a small part of it,
stays fast.
"""

TYPE_CHECKING = False  # Importing `typing` takes longer than everything else here.
if TYPE_CHECKING:
    from callboard.agents.claude_code.agent import ClaudeCode
    from callboard.app import Callboard, run
    from callboard.board.human_interactive import HumanInteractive
    from callboard.client.client import Client
    from callboard.drafts.model import State
    from callboard.drafts.response import HumanResponse
    from callboard.engine.context import Context
    from callboard.engine.function_agent import agent
    from callboard.engine.phase import Phase, Retry
    from callboard.engine.ports import Output, Text, Thinking, ToolCall, ToolResult
    from callboard.engine.workflow import Workflow
    from callboard.errors import RetryAfter
    from callboard.events.envelope import Event
    from callboard.handlers.auto import auto_approve
    from callboard.handlers.terminal import cli_prompt
    from callboard.interactions.interactive import Interactive
    from callboard.interactions.questions import Approval, Choice, Escalate

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

_NAMES = {
    "agents.claude_code.agent": ("ClaudeCode",),
    "app": ("Callboard", "run"),
    "board.human_interactive": ("HumanInteractive",),
    "client.client": ("Client",),
    "drafts.model": ("State",),
    "drafts.response": ("HumanResponse",),
    "engine.context": ("Context",),
    "engine.function_agent": ("agent",),
    "engine.phase": ("Phase", "Retry"),
    "engine.ports": ("Output", "Text", "Thinking", "ToolCall", "ToolResult"),
    "engine.workflow": ("Workflow",),
    "errors": ("RetryAfter",),
    "events.envelope": ("Event",),
    "handlers.auto": ("auto_approve",),
    "handlers.terminal": ("cli_prompt",),
    "interactions.interactive": ("Interactive",),
    "interactions.questions": ("Approval", "Choice", "Escalate"),
}
_HOMES = {name: f"callboard.{home}" for home, names in _NAMES.items() for name in names}


def __getattr__(name: str) -> "object":
    if name not in _HOMES:
        raise AttributeError(f"module 'callboard' has no attribute {name!r}")
    from importlib import import_module

    return getattr(import_module(_HOMES[name]), name)


def __dir__() -> list[str]:
    return __all__
