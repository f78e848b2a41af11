"""What Claude Code tells, line by line, as what the engine records."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Final, cast

from callboard.engine.ports import Item, Text, Thinking, ToolCall, ToolResult

Message = Mapping[str, Any]

_LIMITED: Final = frozenset({429, 529})
"""The statuses that say: not now. Too many requests, and overloaded."""


@dataclass(frozen=True, slots=True)
class Ending:
    """How a conversation ended, as its `result` tells.

    Not even `subtype` is enough: a failed request to the model ends with `success` too.
    """

    result: Message
    resets_at: int | None = None
    """When a limit ends, in seconds since 1970, if the client told."""

    @property
    def succeeded(self) -> bool:
        """Whether there is an output."""
        return self.result.get("subtype") == "success" and not self.result.get("is_error")

    @property
    def limited(self) -> bool:
        """Whether the model refused to be asked so often."""
        return not self.succeeded and self.result.get("api_error_status") in _LIMITED

    @property
    def reason(self) -> str:
        """Why it failed, in the client's own words."""
        told = self.result.get("result") or "; ".join(map(str, self.result.get("errors") or ()))
        kind = str(self.result.get("subtype"))
        kind = str(self.result.get("terminal_reason") or kind) if kind == "success" else kind
        return f"{kind}: {told}" if told else kind

    @property
    def usage(self) -> dict[str, Any]:
        """What it took, subagents included: `usage` itself counts the last turn alone."""
        models = cast("Mapping[str, Message]", self.result.get("modelUsage") or {}).values()
        counted = {
            "turns": self.result.get("num_turns", 0),
            "inputTokens": sum(model.get("inputTokens", 0) for model in models),
            "outputTokens": sum(model.get("outputTokens", 0) for model in models),
            "cacheReadTokens": sum(model.get("cacheReadInputTokens", 0) for model in models),
            "cacheWriteTokens": sum(model.get("cacheCreationInputTokens", 0) for model in models),
        }
        always = ("turns", "inputTokens", "outputTokens")
        kept = {key: count for key, count in counted.items() if count or key in always}
        return {**kept, "costUsd": self.result.get("total_cost_usd", 0)}


@dataclass(slots=True)
class Hearing:
    """Listens to one client: what has been told so far."""

    ending: Ending | None = None
    _agents: bool = field(default=False, repr=False)
    _resets_at: int | None = field(default=None, repr=False)

    @property
    def is_over(self) -> bool:
        """Whether nothing more is to come: subagents in the background bring another turn."""
        return self.ending is not None and not self._agents

    def items(self, message: Message) -> list[Item]:
        """What a message tells of the work; the rest is remembered or left."""
        match message.get("type"):
            case "stream_event" if not message.get("parent_tool_use_id"):
                return _deltas(message["event"])
            case "assistant":
                return [_call(one) for one in _blocks(message, "tool_use")]
            case "user":
                return [_result(one) for one in _blocks(message, "tool_result")]
            case "result":
                self.ending = Ending(message, self._resets_at)
            case "rate_limit_event":
                self._limit(message.get("rate_limit_info") or {})
            case "system" if message.get("subtype") == "background_tasks_changed":
                tasks = message.get("tasks") or ()
                self._agents = any(task.get("task_type") == "local_agent" for task in tasks)
            case _:
                pass
        return []

    def _limit(self, told: Message) -> None:
        resets_at = told.get("resetsAt") if told.get("status") == "rejected" else None
        self._resets_at = int(resets_at) if resets_at else None


def _deltas(event: Message) -> list[Item]:
    match event.get("delta"):
        case {"type": "text_delta", "text": str(text)} if text:
            return [Text(text)]
        case {"type": "thinking_delta", "thinking": str(text)} if text:
            return [Thinking(text)]
        case _:
            return []


def _blocks(message: Message, type: str) -> list[Message]:
    content = message["message"].get("content")
    blocks = cast("list[Message]", content) if isinstance(content, list) else []
    return [one for one in blocks if one.get("type") == type]


def _call(block: Message) -> ToolCall:
    return ToolCall(block["id"], block["name"], block.get("input"))


def _result(block: Message) -> ToolResult:
    return ToolResult(block["tool_use_id"], block.get("content"), bool(block.get("is_error")))
