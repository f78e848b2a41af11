"""Turns Claude Code's output, line by line, into what the engine records."""

from dataclasses import dataclass, field
from typing import Final

from callboard.engine.ports import Item, Text, Thinking, ToolCall, ToolResult
from callboard.events.envelope import Json
from callboard.events.json_values import Object, as_list, as_object, as_text, as_whole, objects

Message = Object

_LIMITED: Final = frozenset({429, 529})
"""HTTP statuses that mean "not now": too many requests, and overloaded."""


@dataclass(frozen=True, slots=True)
class ClientResult:
    """How a conversation ended, according to its `result` message.

    `subtype` alone is not reliable: a failed request to the model also ends with `success`.
    """

    result: Message
    resets_at: int | None = None
    """When the limit resets, in seconds since 1970, if the client reported it."""

    @property
    def succeeded(self) -> bool:
        """Whether there is an output."""
        return self.result.get("subtype") == "success" and not self.result.get("is_error")

    @property
    def limited(self) -> bool:
        """Whether the model refused the request because of a rate limit."""
        return not self.succeeded and self.result.get("api_error_status") in _LIMITED

    @property
    def reason(self) -> str:
        """Why it failed, in the client's own words."""
        told = self.result.get("result") or "; ".join(map(str, as_list(self.result.get("errors"))))
        kind = str(self.result.get("subtype"))
        kind = str(self.result.get("terminal_reason") or kind) if kind == "success" else kind
        return f"{kind}: {told}" if told else kind

    @property
    def usage(self) -> dict[str, Json]:
        """Total usage, subagents included: `usage` itself counts only the last turn."""
        counted = {
            "turns": as_whole(self.result.get("num_turns")),
            "inputTokens": self._sum("inputTokens"),
            "outputTokens": self._sum("outputTokens"),
            "cacheReadTokens": self._sum("cacheReadInputTokens"),
            "cacheWriteTokens": self._sum("cacheCreationInputTokens"),
        }
        always = ("turns", "inputTokens", "outputTokens")
        kept = {key: count for key, count in counted.items() if count or key in always}
        return {**kept, "costUsd": self.result.get("total_cost_usd", 0)}

    def _sum(self, key: str) -> int:
        models = as_object(self.result.get("modelUsage")).values()
        return sum(as_whole(as_object(model).get(key)) for model in models)


@dataclass(slots=True)
class MessageReader:
    """Reads one client's messages and remembers what they said."""

    ending: ClientResult | None = None
    _agents: bool = field(default=False, repr=False)
    _resets_at: int | None = field(default=None, repr=False)

    @property
    def is_over(self) -> bool:
        """Whether no more messages will come: subagents in the background cause another turn."""
        return self.ending is not None and not self._agents

    def items(self, message: Message) -> list[Item]:
        """What a message says about the work; everything else is stored or ignored."""
        match message.get("type"):
            case "stream_event" if not message.get("parent_tool_use_id"):
                return _deltas(as_object(message["event"]))
            case "assistant":
                return [_call(one) for one in _blocks(message, "tool_use")]
            case "user":
                return [_result(one) for one in _blocks(message, "tool_result")]
            case "result":
                self.ending = ClientResult(message, self._resets_at)
            case "rate_limit_event":
                self._limit(as_object(message.get("rate_limit_info")))
            case "system" if message.get("subtype") == "background_tasks_changed":
                tasks = objects(message.get("tasks"))
                self._agents = any(task.get("task_type") == "local_agent" for task in tasks)
            case _:
                pass
        return []

    def _limit(self, told: Message) -> None:
        resets_at = told.get("resetsAt") if told.get("status") == "rejected" else None
        self._resets_at = int(resets_at) if isinstance(resets_at, int | float) else None


def _deltas(event: Message) -> list[Item]:
    match event.get("delta"):
        case {"type": "text_delta", "text": str(text)} if text:
            return [Text(text)]
        case {"type": "thinking_delta", "thinking": str(text)} if text:
            return [Thinking(text)]
        case _:
            return []


def _blocks(message: Message, type: str) -> list[Message]:
    blocks = objects(as_object(message["message"]).get("content"))
    return [one for one in blocks if one.get("type") == type]


def _call(block: Message) -> ToolCall:
    return ToolCall(as_text(block["id"]), as_text(block["name"]), block.get("input"))


def _result(block: Message) -> ToolResult:
    failed = bool(block.get("is_error"))
    return ToolResult(as_text(block["tool_use_id"]), block.get("content"), failed)
