"""A server's inbox: every question to a person, from any source."""

import asyncio
from collections.abc import Mapping, Sequence
from typing import Any
from urllib.parse import quote

from callboard.client.tailing import PAGE, PASSING, Reconnecting, Tail
from callboard.client.transport import Transport
from callboard.clock import Clock
from callboard.engine.question_search import InteractionPage
from callboard.errors import ValidationError
from callboard.events.names import CLOSES_QUESTION
from callboard.interactions.records import Interaction
from callboard.waiting import wait_any


class RemoteInbox:
    """What `Callboard.people` does, over HTTP."""

    def __init__(self, transport: Transport, clock: Clock, reconnect: float) -> None:
        self._transport = transport
        self._clock = clock
        self._reconnect = reconnect

    async def find(  # noqa: PLR0913 - public API, all by keyword
        self,
        *,
        status: str | None = None,
        session_id: str = "*",
        type: str | None = None,
        workflow: str | None = None,
        assigned_to: Sequence[str] | None = None,
        q: str | None = None,
        limit: int | None = None,
    ) -> list[Interaction]:
        """Questions with any status, or only those with a given one, oldest first.

        In `assigned_to`, `me` is the person that this token belongs to, and their groups.
        """
        if limit is not None and limit < 0:
            raise ValidationError("limit must be 0 or more.", field="limit")
        sought: dict[str, Any] = {"status": status, "sessionId": session_id, "type": type}
        sought |= {"workflow": workflow, "assignedTo": assigned_to or None, "q": q or None}
        found: list[Interaction] = []
        while limit is None or len(found) < limit:
            wanted = None if limit is None else min(limit - len(found), PAGE)
            answer = await self._transport.get("/interactions", **sought, limit=wanted)
            page = InteractionPage.from_wire(answer)
            found += page.interactions
            if page.next_cursor is None:
                break
            sought["cursor"] = page.next_cursor
        return found

    async def get(self, interaction_id: str) -> Interaction:
        """One question, open or closed."""
        return Interaction.from_wire(await self._transport.get(_path(interaction_id)))

    async def ended(self, interaction_id: str) -> Interaction:
        """Wait until a question is closed, reconnecting if the connection is lost."""
        patience = Reconnecting(self._clock, self._reconnect)
        while True:
            try:
                return await self._ended(interaction_id, patience)
            except PASSING as error:
                await patience.wait(error)

    async def _ended(self, interaction_id: str, patience: Reconnecting) -> Interaction:
        """Do so over one connection: check the question before connecting and again afterwards."""
        news = asyncio.Event()

        def connected() -> None:
            patience.connected()
            news.set()

        async def listen() -> None:
            once = Reconnecting(self._clock, 0, connected)
            async for _, event in Tail(self._transport, "/stream", None, once).events():
                if event.name in CLOSES_QUESTION and event.payload["id"] == interaction_id:
                    news.set()

        found = await self.get(interaction_id)
        listening = asyncio.create_task(listen())
        try:
            while found.status == "pending":
                await wait_any(news.wait(), listening)
                if listening.done():
                    await listening
                news.clear()
                found = await self.get(interaction_id)
            return found
        finally:
            listening.cancel()

    async def ask(  # noqa: PLR0913 - public API, all by keyword
        self,
        *,
        type: str,
        prompt: str,
        options: Sequence[str] | None = None,
        config: Mapping[str, Any] | None = None,
        session_id: str | None = None,
        key: str | None = None,
        assignees: Sequence[str] | None = None,
    ) -> Interaction:
        """Ask people a question, on its own or as part of a session; only once for each key.

        If the response is lost, a question with a key is asked again, which finds it.
        """
        body: dict[str, Any] = {"type": type, "prompt": prompt, "options": options}
        body |= {"sessionId": session_id, "config": config, "key": key, "assignees": assignees}
        patience, is_lost = Reconnecting(self._clock, self._reconnect), False
        while True:
            try:
                asked = await self._transport.post("/interactions", given(body))
                return Interaction.from_wire(asked)
            except PASSING as error:
                is_lost = is_lost or bool(error.context.get("stale"))
                if key is None or not is_lost:
                    raise
                await patience.wait(error)

    async def assign(
        self, interaction_id: str, to: str | None, *, by: str | None = None
    ) -> Interaction:
        """Set who is expected to answer; None for no one in particular."""
        return await self._do(interaction_id, "assign", {"to": to, **given({"by": by})})

    async def claim(self, interaction_id: str, *, by: str, ttl_ms: int = 60_000) -> Interaction:
        """Claim a question, so that no one else can for a while. The same `by` renews the claim."""
        return await self._do(interaction_id, "claim", {"by": by, "ttlMs": ttl_ms})

    async def release(self, interaction_id: str, *, by: str) -> Interaction:
        """Release a claim before it expires; does nothing if there is no claim."""
        return await self._do(interaction_id, "release", {"by": by})

    async def answer(
        self,
        interaction_id: str,
        value: Any = None,
        *,
        approved: bool | None = None,
        by: str | None = None,
        via: str | None = None,
    ) -> Interaction:
        """Answer a question. The first answer counts; any later one raises AlreadyAnswered."""
        body = {"value": value, **given({"approved": approved, "by": by})}
        return await self._do(interaction_id, "answer", body, via)

    async def complete(  # noqa: PLR0913 - public API, all by keyword
        self,
        interaction_id: str,
        outcome: str,
        *,
        response: Any = None,
        transcript: str | None = None,
        duration_ms: int | None = None,
        error: str | None = None,
        by: str | None = None,
        via: str | None = None,
    ) -> Interaction:
        """End an interactive session with its outcome."""
        body = {"outcome": outcome, "response": response, "transcript": transcript}
        body |= {"durationMs": duration_ms, "error": error, "by": by}
        return await self._do(interaction_id, "complete", given(body), via)

    async def cancel(self, interaction_id: str, *, via: str | None = None) -> Interaction:
        """Withdraw a question."""
        return await self._do(interaction_id, "cancel", {}, via)

    async def _do(
        self, interaction_id: str, what: str, body: Mapping[str, Any], via: str | None = None
    ) -> Interaction:
        path = f"{_path(interaction_id)}/{what}"
        return Interaction.from_wire(await self._transport.post(path, body, via))


def given(body: Mapping[str, Any]) -> dict[str, Any]:
    """Only the values that were given: for the others, the server uses its defaults."""
    return {key: value for key, value in body.items() if value is not None}


def _path(interaction_id: str) -> str:
    return f"/interactions/{quote(interaction_id, safe='')}"
