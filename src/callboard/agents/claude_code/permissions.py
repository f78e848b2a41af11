"""Asks people for what Claude Code may not do by itself, as durable questions of the session."""

import asyncio
import hashlib
import json
from collections.abc import Callable, Coroutine
from typing import Any, Final

from callboard.engine.context import Context
from callboard.events.json_values import Object, as_object, as_text
from callboard.interactions.questions import Rendered
from callboard.interactions.records import Interaction
from callboard.vendors import requests as asking
from callboard.vendors.claude.decisions import decision

Send = Callable[[Object], Coroutine[object, None, None]]

_UNANSWERED: Final = "No decision yet."


class _Unrecorded(Exception):
    pass


async def recorded(ctx: Context, key: str) -> Any:
    """What `ctx.once` recorded under a key; None if nothing is recorded."""

    def effect() -> None:
        raise _Unrecorded

    try:
        return await ctx.once(key, effect)
    except _Unrecorded:
        return None


class Permissions:
    """Asks people about a client's requests and sends back their answers; never approves by itself.

    They are the same questions that the client's hooks put on the board: permissions, plans and the
    client's own questions. An answer is good for one request. If the process dies before the client
    gets it, the same request finds the answer again; once it was sent, the same request is a new
    question.
    """

    def __init__(self, ctx: Context, send: Send, cwd: str) -> None:
        self.asking: dict[str, asyncio.Task[None]] = {}
        self._ctx = ctx
        self._send = send
        self._cwd = cwd
        self._keys: dict[str, str] = {}
        self._taken: set[str] = set()

    async def hear(self, message: Object) -> None:
        """Handle a message that may be a request, or withdraw one."""
        id = as_text(message.get("request_id"))
        if message.get("type") == "control_request":
            self.asking[id] = asyncio.create_task(self._answer(id, as_object(message["request"])))
        elif message.get("type") == "control_cancel_request":
            await self._take_back(id)

    def check(self) -> None:
        """Drop the requests that were answered, and raise the errors of those that failed."""
        for id, task in list(self.asking.items()):
            if task.done():
                del self.asking[id]
                task.result()

    async def leave(self) -> None:
        """Stop waiting for answers; the questions stay open for the next attempt."""
        for task in self.asking.values():
            task.cancel()
        await asyncio.gather(*self.asking.values(), return_exceptions=True)

    async def take_all_back(self) -> None:
        """Withdraw all questions: the client has exited and needs no answers."""
        for id in list(self.asking):
            await self._take_back(id)

    async def _take_back(self, id: str) -> None:
        task = self.asking.pop(id, None)
        if task is None:
            return
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)
        if id in self._keys:
            await self._ctx.take_back(self._keys[id])

    async def _answer(self, id: str, request: Object) -> None:
        if request.get("subtype") != "can_use_tool":
            error = f"{request.get('subtype')} is not supported."
            await self._reply({"subtype": "error", "request_id": id, "error": error})
            return
        tool, given = str(request["tool_name"]), as_object(request["input"])
        key = self._keys[id] = await self._key(tool, given)
        asked = asking.request(tool, given, self._cwd, request.get("permission_suggestions"))
        options = list(asked.options) or None
        config: dict[str, object] = {**asked.config, "agent": "claude"}
        question = Rendered(asked.type, asked.prompt, options, options is not None, config=config)
        verdict = _verdict(await self._ctx.put(question, key), given)
        # Record this first: an approval may get lost and be asked for again, but is never used
        # twice.
        await self._ctx.once(_used(key), lambda: True)
        await self._reply({"subtype": "success", "request_id": id, "response": verdict})

    async def _reply(self, response: Object) -> None:
        await self._send({"type": "control_response", "response": response})

    async def _key(self, tool: str, given: Object) -> str:
        """The first key for exactly this request whose answer has not been used."""
        content = json.dumps([tool, given], sort_keys=True).encode()
        request = f"claude:{hashlib.sha256(content).hexdigest()[:16]}"
        number = 1
        while (key := f"{request}:{number}") in self._taken or await recorded(
            self._ctx, _used(key)
        ):
            number += 1
        self._taken.add(key)
        return key


def _used(key: str) -> str:
    return f"{key}:used"


def _verdict(answered: Interaction, given: Object) -> Object:
    """The answer as the client expects it: like a hook's output, with the input if allowed."""
    printed = as_object(decision(answered).get("hookSpecificOutput"))
    verdict = as_object(printed.get("decision", {"behavior": "deny", "message": _UNANSWERED}))
    if verdict["behavior"] == "allow" and answered.type != "question":
        return {**verdict, "updatedInput": given}
    return verdict
