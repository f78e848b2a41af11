"""The Gemini API, as far as Gemini CLI uses it."""

import json
from typing import Any

from tests.real_clients.model import Reply
from tests.real_clients.script import OFF_SCRIPT, Call, Place, Say, Turn, cued


class Contents:
    """Speaks it."""

    def place(self, request: Any) -> Place | None:
        contents = request.get("contents", [])
        for index in reversed(range(len(contents))):
            if contents[index]["role"] != "user":
                continue
            if name := cued([part.get("text", "") for part in contents[index]["parts"]]):
                after = contents[index + 1 :]
                return Place(name, sum(one["role"] == "model" for one in after))
        return None

    def reply(self, path: str, request: Any, turn: Turn) -> Reply:
        if "countTokens" in path:
            return Reply.json({"totalTokens": 10})
        parts = _parts(turn if request.get("tools") else OFF_SCRIPT, json.dumps(request))
        content = {"role": "model", "parts": parts}
        usage = {"promptTokenCount": 10, "candidatesTokenCount": 5, "totalTokenCount": 15}
        answer = {
            "candidates": [{"content": content, "finishReason": "STOP", "index": 0}],
            "usageMetadata": usage,
            "modelVersion": "scripted",
        }
        if "stream" not in path:
            return Reply.json(answer)
        return Reply(f"data: {json.dumps(answer)}\r\n\r\n".encode(), "text/event-stream")


def _parts(turn: Turn, sent: str) -> list[dict[str, Any]]:
    parts: list[dict[str, Any]] = []
    for step in turn:
        if isinstance(step, Say):
            parts.append({"text": step.text})
        elif isinstance(step, Call):
            call = {"name": step.tool, "args": dict(step.arguments(sent))}
            parts.append({"functionCall": call})
    return parts
