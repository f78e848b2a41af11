"""What Claude Code may not do by itself, asked of a person: durable questions of the session."""

import asyncio
import hashlib
import json
from collections.abc import Callable, Coroutine, Mapping
from typing import Any, Final, cast

from callboard.engine.context import Context

Send = Callable[[Mapping[str, Any]], Coroutine[Any, Any, None]]

_REFUSED: Final = "A person said no to this."
_LONGEST: Final = 20_000
_SHOWN_ALONE: Final = {"Bash": "command", "ExitPlanMode": "plan"}
"""The part of a tool's input that says it all."""


class _Unused(Exception):
    pass


class Permissions:
    """Puts a client's requests to people and sends back what they answer; never says yes itself.

    An answer holds for one request. If the process dies before the client has it, the same
    request finds the answer again; once it was sent, the same request is a new question.
    """

    def __init__(self, ctx: Context, send: Send) -> None:
        self.asking: dict[str, asyncio.Task[None]] = {}
        self._ctx = ctx
        self._send = send
        self._taken: set[str] = set()

    def hear(self, message: Mapping[str, Any]) -> None:
        """Take a message that may be a request, or take one back."""
        id = message.get("request_id", "")
        if message.get("type") == "control_request":
            self.asking[id] = asyncio.create_task(self._answer(id, message["request"]))
        elif message.get("type") == "control_cancel_request" and id in self.asking:
            self.asking.pop(id).cancel()

    def check(self) -> None:
        """Raise what came instead of an answer, and forget who has been answered."""
        for id, task in list(self.asking.items()):
            if task.done():
                del self.asking[id]
                task.result()

    async def leave(self) -> None:
        """Wait for no answer any more."""
        for task in self.asking.values():
            task.cancel()
        await asyncio.gather(*self.asking.values(), return_exceptions=True)

    async def _answer(self, id: str, request: Mapping[str, Any]) -> None:
        if request.get("subtype") != "can_use_tool":
            error = f"{request.get('subtype')} is not known here."
            await self._reply({"subtype": "error", "request_id": id, "error": error})
            return
        tool, given = str(request["tool_name"]), cast("dict[str, Any]", request["input"])
        key = await self._key(tool, given)
        verdict = await self._verdict(tool, given, key)
        # Before it is sent: a yes may be lost and asked for again, but never used twice.
        await self._ctx.once(_used(key), lambda: True)
        await self._reply({"subtype": "success", "request_id": id, "response": verdict})

    async def _reply(self, response: Mapping[str, Any]) -> None:
        await self._send({"type": "control_response", "response": response})

    async def _verdict(self, tool: str, given: dict[str, Any], key: str) -> dict[str, Any]:
        if tool == "AskUserQuestion":
            answers = await self._answers(given.get("questions") or [], key)
            return {"behavior": "allow", "updatedInput": {**given, "answers": answers}}
        if await self._ctx.ask(_wording(tool, given), key=key):
            return {"behavior": "allow", "updatedInput": given}
        return {"behavior": "deny", "message": _REFUSED}

    async def _answers(self, questions: list[Any], key: str) -> dict[str, str]:
        answers: dict[str, str] = {}
        for number, question in enumerate(questions):
            labels = list(dict.fromkeys(str(one["label"]) for one in question["options"]))
            answers[question["question"]] = await self._ctx.choose(
                _question(question), labels, other=True, key=f"{key}.{number}"
            )
        return answers

    async def _key(self, tool: str, given: Mapping[str, Any]) -> str:
        """The first key for this very request whose answer was not used up."""
        content = json.dumps([tool, given], sort_keys=True).encode()
        request = f"claude:{hashlib.sha256(content).hexdigest()[:16]}"
        number = 1
        while (key := f"{request}:{number}") in self._taken or await self._is_used(key):
            number += 1
        self._taken.add(key)
        return key

    async def _is_used(self, key: str) -> bool:
        try:
            return bool(await self._ctx.once(_used(key), _not_used))
        except _Unused:
            return False


def _used(key: str) -> str:
    return f"{key}:used"


def _not_used() -> None:
    raise _Unused


def _wording(tool: str, given: Mapping[str, Any]) -> str:
    alone = given.get(_SHOWN_ALONE.get(tool, ""))
    shown = alone if isinstance(alone, str) else json.dumps(given, indent=2, ensure_ascii=False)
    if len(shown) > _LONGEST:
        shown = f"{shown[:_LONGEST]}\n… and {len(shown) - _LONGEST} more characters."
    asked = "Is this plan good?" if tool == "ExitPlanMode" else f"May Claude Code use {tool}?"
    return f"{asked}\n\n{shown}"


def _question(question: Mapping[str, Any]) -> str:
    several = (
        " Several are possible: put commas between them." if question.get("multiSelect") else ""
    )
    options = [
        f"- {one['label']}: {one['description']}"
        for one in question["options"]
        if one.get("description")
    ]
    return "\n".join([f"{question['question']}{several}", *options])
