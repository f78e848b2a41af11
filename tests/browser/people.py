"""People at browsers: each has a window of their own, and was let in by the one-time link."""

import re
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any, Literal, TypedDict, Unpack

from playwright.async_api import Browser, BrowserContext, ConsoleMessage, Locator, Page, expect
from tests.servers import Server

# What the browser itself says when a server is gone or refuses; the page has to say it too.
_EXPECTED = re.compile(r"Failed to load resource|net::ERR_")


class Window(TypedDict, total=False):
    """What can be chosen of a window."""

    color_scheme: Literal["light", "dark"]
    viewport: dict[str, int]
    bypass_csp: bool
    has_touch: bool


UNHURRIED = """
const soon = window.setTimeout
window.setTimeout = (run, ms, ...rest) => soon(run, ms === 5000 ? 300000 : ms, ...rest)
"""


@dataclass
class Person:
    """Somebody at a browser."""

    server: Server
    context: BrowserContext
    page: Page
    complaints: list[str] = field(default_factory=list)
    """Errors of the page's own scripts, and what its policy forbade."""

    @property
    def address(self) -> str:
        """The server, by the name that people use."""
        return f"http://callboard.localhost:{self.server.port}"

    async def log_in(self) -> None:
        """Follow a link as `callboard open` makes one."""
        async with self.server.client() as http:
            code = (await http.post("/login")).json()["code"]
        await self.page.goto(f"{self.address}/login?code={code}")

    async def take_time_to_undo(self) -> None:
        """From the next page on, answers wait for minutes before they are sent.

        A busy machine may need longer than five seconds from an answer to its undo.
        """
        await self.context.add_init_script(UNHURRIED)

    async def visit(self, path: str = "") -> None:
        """Go to a page of the dashboard."""
        await self.page.goto(f"{self.address}/app/{path}")

    def button(self, name: str) -> Locator:
        """The button of that name."""
        return self.page.get_by_role("button", name=name, exact=True)

    def heading(self, name: str | re.Pattern[str], *, exact: bool = False) -> Locator:
        """The heading that says so."""
        return self.page.get_by_role("heading", name=name, exact=exact)

    async def sees(self, text: str | re.Pattern[str]) -> None:
        """Wait until the page says something."""
        await expect(self.page.get_by_text(text).first).to_be_visible()

    def listen(self) -> None:
        """Note down whatever goes wrong in the page."""
        self.page.on("pageerror", lambda error: self.complaints.append(str(error)))
        self.page.on("console", self._heard)

    def _heard(self, message: ConsoleMessage) -> None:
        if message.type == "error" and not _EXPECTED.search(message.text):
            self.complaints.append(message.text)


@asynccontextmanager
async def at_a_browser(
    browser: Browser, server: Server, **window: Unpack[Window]
) -> AsyncGenerator[Person]:
    """A person who is logged in. In the end, nothing may have gone wrong in the page."""
    options: dict[str, Any] = {
        "locale": "en-GB",
        "timezone_id": "UTC",
        "reduced_motion": "reduce",
        "viewport": {"width": 1280, "height": 800},
        **window,
    }
    context = await browser.new_context(**options)
    try:
        person = Person(server, context, await context.new_page())
        person.listen()
        await person.log_in()
        await person.visit("inbox")
        yield person
    finally:
        await context.close()
    assert person.complaints == [], person.complaints
