"""The Anthropic Messages API, as far as Claude Code and opencode use it."""

import itertools
import json
from typing import Any

from tests.real_clients.model import Reply
from tests.real_clients.script import OFF_SCRIPT, Call, Place, Say, Turn, cued

_numbers = itertools.count(1)


class Messages:
    """Speaks it."""

    def place(self, request: Any) -> Place | None:
        messages = request.get("messages", [])
        for index in reversed(range(len(messages))):
            if messages[index]["role"] != "user":
                continue
            if name := cued(_texts(messages[index]["content"])):
                after = messages[index + 1 :]
                return Place(name, sum(one["role"] == "assistant" for one in after))
        return None

    def reply(self, path: str, request: Any, turn: Turn) -> Reply:
        if "count_tokens" in path:
            return Reply.json({"input_tokens": 10})
        # Without tools it is no turn of the conversation: a title is wanted, or a summary.
        content = _content(turn if request.get("tools") else OFF_SCRIPT, json.dumps(request))
        message = _message(request.get("model"), content)
        return _stream(message) if request.get("stream") else Reply.json(message)


def _texts(content: Any) -> list[str]:
    if isinstance(content, str):
        return [content]
    return [block["text"] for block in content if block.get("type") == "text"]


def _content(turn: Turn, sent: str) -> list[dict[str, Any]]:
    content: list[dict[str, Any]] = []
    for step in turn:
        if isinstance(step, Say):
            content.append({"type": "text", "text": step.text})
        elif isinstance(step, Call):
            id, input = f"toolu_{next(_numbers):024}", dict(step.arguments(sent))
            content.append({"type": "tool_use", "id": id, "name": step.tool, "input": input})
    return content


def _message(model: str, content: list[dict[str, Any]]) -> dict[str, Any]:
    calls = any(block["type"] == "tool_use" for block in content)
    return {
        "id": f"msg_{next(_numbers):024}",
        "type": "message",
        "role": "assistant",
        "model": model,
        "content": content,
        "stop_reason": "tool_use" if calls else "end_turn",
        "stop_sequence": None,
        "usage": {"input_tokens": 10, "output_tokens": 5},
    }


def _stream(message: dict[str, Any]) -> Reply:
    events: list[tuple[str, Any]] = []

    def tell(name: str, **data: Any) -> None:
        events.append((name, {"type": name, **data}))

    tell("message_start", message={**message, "content": [], "stop_reason": None})
    for index, block in enumerate(message["content"]):
        if block["type"] == "text":
            empty = {"type": "text", "text": ""}
            delta = {"type": "text_delta", "text": block["text"]}
        else:
            empty = {**block, "input": {}}
            delta = {"type": "input_json_delta", "partial_json": json.dumps(block["input"])}
        tell("content_block_start", index=index, content_block=empty)
        tell("content_block_delta", index=index, delta=delta)
        tell("content_block_stop", index=index)
    end = {"stop_reason": message["stop_reason"], "stop_sequence": None}
    tell("message_delta", delta=end, usage={"output_tokens": 5})
    tell("message_stop")
    return Reply.stream(events)
