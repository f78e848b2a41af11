"""What a coding agent asks, put to a handler that knows yes, no and choices."""

import json
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any, Final, cast

from callboard.engine.ports import Request

_LONGEST: Final = 20_000
_TOLD_BY_PROMPT: Final = ("Bash", "Read", "WebFetch", "WebSearch")
"""Tools of whose input the prompt tells all that matters."""


Ask = Callable[[Request], Awaitable[Any]]


async def ask_plainly(ask: Ask, request: Request, config: Mapping[str, Any]) -> Any:
    """Put each of its questions as a choice, or else one approval that shows what it is about."""
    questions = cast("Sequence[Mapping[str, Any]]", config.get("questions") or ())
    if not questions:
        return await ask(replace(request, prompt=request.prompt + _details(config), options=None))
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


def _details(config: Mapping[str, Any]) -> str:
    """What nobody should say yes to unseen."""
    plan, tool = config.get("plan"), config.get("toolName")
    if isinstance(plan, str):
        return f"\n\n{plan}"
    given = config.get("toolInput")
    if not given or tool in _TOLD_BY_PROMPT:
        return ""
    shown = json.dumps(given, indent=2, ensure_ascii=False)
    if len(shown) > _LONGEST:
        shown = f"{shown[:_LONGEST]}\n… and {len(shown) - _LONGEST} more characters."
    return f"\n\n{shown}"
