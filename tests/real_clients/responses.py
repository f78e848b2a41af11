"""The OpenAI Responses API, as far as Codex uses it."""

import itertools
import json
from typing import Any

from tests.real_clients.model import Reply
from tests.real_clients.script import Call, Place, Say, Turn, cued

_numbers = itertools.count(1)


class Responses:
    """Speaks it. A script for it makes at most one call a turn."""

    def place(self, request: Any) -> Place | None:
        items = request.get("input", [])
        for index in reversed(range(len(items))):
            if items[index].get("role") != "user":
                continue
            if name := cued([part.get("text", "") for part in items[index]["content"]]):
                after = items[index + 1 :]
                return Place(name, sum(one["type"] == "function_call" for one in after))
        return None

    def reply(self, path: str, request: Any, turn: Turn) -> Reply:
        items = [_item(step, json.dumps(request)) for step in turn if isinstance(step, Say | Call)]
        response = {"id": f"resp_{next(_numbers)}"}
        events: list[tuple[str, Any]] = [("response.created", {"response": response})]
        for index, item in enumerate(items):
            told = {"output_index": index, "item": item}
            events += [("response.output_item.added", told), ("response.output_item.done", told)]
        usage = {"input_tokens": 10, "output_tokens": 5, "total_tokens": 15}
        done = {**response, "status": "completed", "output": items, "usage": usage}
        events.append(("response.completed", {"response": done}))
        return Reply.stream([(name, {"type": name, **data}) for name, data in events])


def _item(step: Say | Call, sent: str) -> dict[str, Any]:
    number = next(_numbers)
    if isinstance(step, Say):
        content = [{"type": "output_text", "text": step.text, "annotations": []}]
        return {"type": "message", "id": f"msg_{number}", "role": "assistant", "content": content}
    return {
        "type": "function_call",
        "id": f"fc_{number}",
        "call_id": f"call_{number}",
        "name": step.tool,
        "arguments": json.dumps(step.arguments(sent)),
    }
