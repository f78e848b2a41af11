"""Plays the sessions of the demo: all at once, each at its own pace, as agents do."""

import asyncio
from collections.abc import Callable, Coroutine, Iterable
from typing import Any, Final, cast

from callboard.board.demo.scripts import Line, Script
from callboard.clock import Clock
from callboard.ids import short_id

PATIENCE: Final = 60.0
"""Seconds after which a question that nobody answers is answered in its terminal."""

ALLOW: Final = "allow"

Post = Callable[[str, dict[str, Any]], Coroutine[Any, Any, dict[str, Any]]]
"""Sends an agent's payload to a server; gives what that answers, whenever it does."""


class Player:
    """Plays scripts against a server, `speed` times as quickly as they happened."""

    def __init__(self, post: Post, clock: Clock, speed: float, say: Callable[[str], None]) -> None:
        self._post = post
        self._clock = clock
        self._speed = speed
        self._say = say
        self._held: set[asyncio.Task[dict[str, Any]]] = set()

    async def play(self, scripts: Iterable[Script]) -> None:
        """Play all of them, to the end."""
        try:
            async with asyncio.TaskGroup() as group:
                for script in scripts:
                    group.create_task(self._play(script))
        finally:
            for one in self._held:
                one.cancel()

    async def _play(self, script: Script) -> None:
        decided: dict[str, Any] = {"behavior": ALLOW}
        for line in script.lines:
            if line.only_if not in (None, decided["behavior"]):
                continue
            await self._clock.sleep(line.after / self._speed)
            if line.say is not None:
                self._say(line.say)
            if line.asks:
                decided = await self._ask(script.agent, line)
            else:
                await self._post(script.agent, _as_decided(line.payload, decided))

    async def _ask(self, agent: str, line: Line) -> dict[str, Any]:
        """Hold a hook open. What nobody decides at the board, the agent's own dialog allows."""
        sender = {**line.payload["callboard"], "hold": short_id(20)}
        asking = asyncio.create_task(self._post(agent, {**line.payload, "callboard": sender}))
        self._held.add(asking)
        asking.add_done_callback(self._let_go)
        waiting = asyncio.create_task(self._clock.sleep(PATIENCE / self._speed))
        try:
            await asyncio.wait({asking, waiting}, return_when=asyncio.FIRST_COMPLETED)
        finally:
            waiting.cancel()
        # One that is still held then is let go by the server, once the tool has run.
        return _decision(asking.result()) if asking.done() else {"behavior": ALLOW}

    def _let_go(self, asking: "asyncio.Task[dict[str, Any]]") -> None:
        self._held.discard(asking)
        if not asking.cancelled():
            asking.exception()  # Nobody else may look for it: the demo may have gone on.


def _decision(answer: dict[str, Any]) -> dict[str, Any]:
    told = answer.get("hookSpecificOutput", {}).get("decision", {})
    decision = cast("dict[str, Any]", told) if isinstance(told, dict) else {}
    return {"behavior": ALLOW, **decision}


def _as_decided(payload: dict[str, Any], decided: dict[str, Any]) -> dict[str, Any]:
    """The end of a question tells the answers that were given."""
    given = decided.get("updatedInput", {}).get("answers")
    if given is None or "answers" not in payload.get("tool_input", {}):
        return payload
    told = {key: {**payload[key], "answers": given} for key in ("tool_input", "tool_response")}
    return payload | told
