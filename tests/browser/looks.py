"""What every page is checked for, and a board with something on it to look at."""

import os
from pathlib import Path
from typing import Any, NamedTuple

from playwright.async_api import Page
from tests.browser.story import answer, begin, positions, wait_until
from tests.servers import Server

AXE = Path(__file__).parent.parent.parent / "node_modules" / "axe-core" / "axe.min.js"

KEPT = "CALLBOARD_SCREENSHOTS"
"""The folder in which screenshots are kept: `make screenshots`."""

_RULES = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"]


async def faults(page: Page) -> list[str]:
    """What axe finds wrong with a page, one line each."""
    await page.add_script_tag(path=AXE)
    found: dict[str, Any] = await page.evaluate(
        "(tags) => axe.run(document, { runOnly: tags, resultTypes: ['violations'] })", _RULES
    )
    return [
        f"{rule['id']}: {node['html']} ({node['failureSummary']})"
        for rule in found["violations"]
        for node in rule["nodes"]
    ]


async def sideways(page: Page) -> int:
    """By how many pixels the page is wider than its window."""
    return await page.evaluate("document.documentElement.scrollWidth - window.innerWidth")


class Shown(NamedTuple):
    """A page: its address, and what it says when it has come to rest."""

    path: str
    says: str


PAGES = {
    "inbox": Shown("inbox", "The whole state"),
    "sessions": Shown("sessions", "crossroads"),
    "session": Shown("sessions/spring", "Cost and time"),
    "waiting": Shown("sessions/autumn", "Cost and time"),
    "failed": Shown("sessions/repair", "notes.md cannot be read"),
    "family": Shown("sessions/spring/family", "spring-for-all"),
    "compare": Shown("compare/spring/spring-for-all", "Spring release, for all"),
    "board": Shown("board", "Board"),
    "lost": Shown("no/such/page", "There is no page at"),
}

IN_THE_README = ("inbox", "session", "sessions", "compare")


async def fill(server: Server) -> None:
    """Sessions of every kind, with names."""
    await begin(server, "release", "Spring release", sessionId="spring")
    await answer(server, "spring", "no")
    await answer(server, "spring", "yes")
    await answer(server, "spring", "testers")
    await wait_until(server, "spring", "completed")
    await _fork(server, "spring", "spring-for-all")
    await begin(server, "repair", "notes.md", sessionId="repair")
    await wait_until(server, "repair", "failed")
    await begin(server, "choice", None, sessionId="crossroads")
    await begin(server, "release", "Autumn release", sessionId="autumn")
    for waiting in ("spring-for-all", "crossroads", "autumn"):
        await wait_until(server, waiting, "waiting")


async def _fork(server: Server, session: str, name: str) -> None:
    at = (await positions(server, session))["input:requested"]
    edits = [{"op": "replace", "path": "/title", "value": "Spring release, for all"}]
    async with server.client() as http:
        body = {"at": {"position": at}, "edits": edits, "sessionId": name}
        forked = await http.post(f"/sessions/{session}/fork", json=body)
        forked.raise_for_status()


def keep(picture: bytes, name: str, scheme: str) -> None:
    """Keep a screenshot for the README, when somebody wants that."""
    folder = os.environ.get(KEPT)
    if folder and name in IN_THE_README:
        Path(folder).mkdir(parents=True, exist_ok=True)
        Path(folder, f"{name}-{scheme}.png").write_bytes(picture)
