"""Four who wait for the end of one interactive session, each in the way that its kind has.

A phase of a workflow asks. A program awaits the end, another is called at every change, and a React
component shows it in Chromium.
"""

import asyncio
import json
from collections.abc import Awaitable
from dataclasses import dataclass, field
from typing import Any

import pytest
from playwright.async_api import Browser, Page, expect
from tests.browser.own_page import address
from tests.real_clients.patience import PATIENCE, until, until_told
from tests.servers import Server

from callboard import Client, HumanInteractive
from callboard.errors import InteractiveFailed
from callboard.interactions.records import Interaction


@dataclass(frozen=True)
class End:
    """How a session ended. error: a part of what was said about it."""

    outcome: str
    response: Any = None
    error: str | None = None


@dataclass
class Watchers:
    """Those who watch one session."""

    client: Client
    session: str
    id: str
    page: Page
    reactive: HumanInteractive[Any]
    awaited: "asyncio.Future[Any]"
    changes: list[str] = field(default_factory=list[str])

    async def see_nothing(self) -> None:
        """All of them wait still."""
        await expect(self.page.get_by_text('"status":"pending"')).to_be_visible()
        assert not self.awaited.done()
        assert (self.reactive.status, self.reactive.data) == ("pending", None)
        assert (await self.client.session(self.session)).status == "waiting"

    async def see(self, end: End) -> Interaction:
        """Wait until each of them has seen this end; gives the record."""
        await self._phase_sees(end)
        await self._component_sees(end)
        await self._awaiting_sees(end)
        await self._reactive_sees(end)
        return await self.client.human.get(self.id)

    async def _phase_sees(self, end: End) -> None:
        async def state() -> Any:
            info = await self.client.session(self.session)
            if info.status != "completed":
                return None
            return (await self.client.view(self.session)).state

        told = (await until_told(state, lambda: "the end of the workflow"))["humanResponse"]
        assert (told["outcome"], told["value"]) == (end.outcome, end.response)
        is_verdict = end.response in ("approved", "rejected")
        assert told.get("approved") == (end.response == "approved" if is_verdict else None)

    async def _component_sees(self, end: End) -> None:
        ended = "error" if end.outcome == "failed" else "success"
        await expect(self.page.get_by_text(f'"status":"{ended}"')).to_be_visible()
        shown = json.loads(await self.page.get_by_role("status").inner_text())
        assert shown["outcome"] == (None if end.outcome == "failed" else end.outcome)
        assert shown["response"] == end.response
        assert (end.error or "") in (shown["error"] or "")

    async def _awaiting_sees(self, end: End) -> None:
        async with asyncio.timeout(PATIENCE):
            if end.outcome == "failed":
                with pytest.raises(InteractiveFailed, match=end.error):
                    await self.awaited
                return
            result = await self.awaited
        assert (result.outcome, result.response) == (end.outcome, end.response)
        assert (end.error or "") in (result.error or "")

    async def _reactive_sees(self, end: End) -> None:
        final = "error" if end.outcome == "failed" else "success"
        await until(lambda: self.reactive.status == final, f"the status {final}")
        assert list(dict.fromkeys(self.changes)) == ["pending", final]
        if final == "error":
            assert (end.error or "") in str(self.reactive.error)
            return
        assert self.reactive.data is not None
        assert self.reactive.data.outcome == end.outcome
        assert self.reactive.data.response == end.response


@dataclass(frozen=True)
class Stand:
    """Where sessions are asked for and watched: a server, and a page of somebody's own."""

    server: Server
    origin: str
    browser: Browser
    client: Client

    async def watched(self, **input: Any) -> Watchers:
        """Begin a workflow whose phase asks, and have its question watched."""
        session = await self.client.start("reviewed", input)

        async def asked() -> list[Interaction]:
            return await self.client.human.list_pending(session)

        [question] = await until_told(asked, lambda: "the question of the phase")
        page = await self.browser.new_page()
        await page.goto(address(self.origin, "Watched", self.server, id=question.id))
        awaiting: Awaitable[Any] = HumanInteractive[Any](self.client).attach(question.id)
        reactive = HumanInteractive[Any](self.client)
        awaited = asyncio.ensure_future(awaiting)
        watchers = Watchers(self.client, session, question.id, page, reactive, awaited)
        reactive.on_change(lambda now: watchers.changes.append(now.status))
        reactive.attach(question.id)
        await watchers.see_nothing()
        return watchers
