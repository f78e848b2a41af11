"""What a coding agent asks, put to a handler that knows yes, no and choices."""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any, Final, cast

from callboard.display.lines import collapsed
from callboard.display.tool_calls import tool_parts
from callboard.engine.ports import Request

_TOLD_BY_PROMPT: Final = ("Bash", "Read", "WebFetch", "WebSearch")
"""Tools whose prompt can be all that there is to see."""


Ask = Callable[[Request], Awaitable[Any]]


async def ask_plainly(ask: Ask, request: Request, config: Mapping[str, Any]) -> Any:
    """Put each of its questions as a choice, or else one approval that shows what it is about."""
    questions = cast("Sequence[Mapping[str, Any]]", config.get("questions") or ())
    if not questions:
        prompt = request.prompt + _details(request.prompt, config)
        return await ask(replace(request, prompt=prompt, options=None))
    answers: dict[str, Any] = {}
    for question in questions:
        answers[question["question"]] = await ask(_choice(request, question))
    return {"answers": answers}


def _choice(request: Request, question: Mapping[str, Any]) -> Request:
    options: list[Mapping[str, str]] = question["options"]
    told = [f"- {one['label']}: {one['description']}" for one in options if "description" in one]
    several = " Several are possible: put commas between them." if question["multiSelect"] else ""
    prompt = "\n".join([f"{question['question']}{several}", *told])
    labels = list(dict.fromkeys(one["label"] for one in options))
    return replace(request, prompt=prompt, options=labels, other=True)


def _details(prompt: str, config: Mapping[str, Any]) -> str:
    """What nobody should say yes to unseen."""
    plan, given = config.get("plan"), config.get("toolInput")
    if isinstance(plan, str):
        return f"\n\n{plan}"
    if not given or (config.get("toolName") in _TOLD_BY_PROMPT and _is_told(prompt, given)):
        return ""
    lines = [line for part in tool_parts(given) for line in collapsed(part.lines)]
    return "\n\n" + "\n".join(line.lead + line.text for line in lines)


def _is_told(prompt: str, given: Mapping[str, Any]) -> bool:
    return all(key == "description" or str(value) in prompt for key, value in given.items())
