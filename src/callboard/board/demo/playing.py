"""Plays the demo's sessions: all at once, each at its own pace, as agents do.

They are files next to this one, with one event per line. The first line says which agent's session
it is. The others are `{after, payload}`, in seconds after the previous line; `say` says what to
look at; `asks` holds the hook open until someone decides; `only_if` plays a line only after that
decision.
"""

import asyncio
from collections.abc import Callable, Coroutine, Iterable
from dataclasses import dataclass
from importlib.resources import files
from typing import Final

import orjson

from callboard.clock import Clock
from callboard.events.envelope import Json
from callboard.events.json_values import Object, as_object
from callboard.ids import short_id
from callboard.waiting import wait_any

PATIENCE: Final = 60.0
"""How many seconds a question stays unanswered before it is answered in its terminal."""

ALLOW: Final = "allow"

Post = Callable[[str, dict[str, Json]], Coroutine[object, None, Object]]
"""Sends an agent's payload to a server; returns the response, whenever it comes."""


@dataclass(frozen=True, slots=True)
class DemoHook:
    """One hook that an agent calls."""

    after: float
    payload: dict[str, Json]
    say: str | None = None
    asks: bool = False
    only_if: str | None = None


@dataclass(frozen=True, slots=True)
class Script:
    """What one agent does."""

    agent: str
    title: str
    lines: tuple[DemoHook, ...]


def scripts() -> list[Script]:
    """Every session of the demo."""
    found = sorted(files("callboard.board.demo").iterdir(), key=lambda file: file.name)
    return [_read(file.read_bytes()) for file in found if file.name.endswith(".jsonl")]


def _read(content: bytes) -> Script:
    head, *lines = (orjson.loads(line) for line in content.splitlines())
    return Script(head["agent"], head["title"], tuple(DemoHook(**told) for told in lines))


class Player:
    """Plays scripts against a server, `speed` times as fast as they happened."""

    def __init__(self, post: Post, clock: Clock, speed: float, say: Callable[[str], None]) -> None:
        self._post = post
        self._clock = clock
        self._speed = speed
        self._say = say
        self._held: set[asyncio.Task[Object]] = set()

    async def play(self, scripts: Iterable[Script]) -> None:
        """Play all of them to the end."""
        try:
            async with asyncio.TaskGroup() as group:
                for script in scripts:
                    group.create_task(self._play(script))
        finally:
            for one in self._held:
                one.cancel()

    async def _play(self, script: Script) -> None:
        decided: Object = {"behavior": ALLOW}
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

    async def _ask(self, agent: str, line: DemoHook) -> Object:
        """Hold a hook open. If no one decides on the board, the agent's own dialog allows it."""
        sender = {**as_object(line.payload["callboard"]), "hold": short_id(20)}
        asking = asyncio.create_task(self._post(agent, {**line.payload, "callboard": sender}))
        self._held.add(asking)
        asking.add_done_callback(self._let_go)
        await wait_any(asking, self._clock.sleep(PATIENCE / self._speed))
        # If it is still held by then, the server releases it once the tool has run.
        answer: Object = asking.result() if asking.done() else {}
        told = as_object(answer.get("hookSpecificOutput")).get("decision")
        return {"behavior": ALLOW, **as_object(told)}

    def _let_go(self, asking: "asyncio.Task[Object]") -> None:
        self._held.discard(asking)
        if not asking.cancelled():
            asking.exception()  # No one else may retrieve it: the demo may have moved on.


def _as_decided(payload: dict[str, Json], decided: Object) -> dict[str, Json]:
    """The end of a question has the answers that were given."""
    given = as_object(decided.get("updatedInput")).get("answers")
    if given is None or "answers" not in as_object(payload.get("tool_input")):
        return payload
    return payload | {
        key: {**as_object(payload[key]), "answers": given}
        for key in ("tool_input", "tool_response")
    }
