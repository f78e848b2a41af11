"""The page about workers: who drives what, live, and what it says when there are none."""

import asyncio
import os
import sys
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path

from playwright.async_api import Browser, Route, expect
from tests.browser.conftest import FLOWS
from tests.browser.looks import KEPT, faults, sideways
from tests.browser.people import Person, at_a_browser
from tests.browser.story import begin
from tests.servers import Server, serving

from callboard import Callboard, Phase, Workflow

ARCHIVE = """
import asyncio
from callboard import Phase, Workflow


async def pack(state):
    await asyncio.Event().wait()


archive = Workflow(
    "archive", state=dict, phases=[Phase("pack", agent=pack, terminal=True)], version="2"
)
"""


async def look(person: Person, name: str) -> None:
    """Check a state of the page at every width; keep a picture where that is asked for."""
    for width in (390, 768, 1440):
        await person.page.set_viewport_size({"width": width, "height": 900})
        assert await sideways(person.page) <= 0, (name, width)
        if folder := os.environ.get(KEPT):
            path = Path(folder) / f"workers-{name}-{width}.png"
            await person.page.screenshot(path=path, full_page=True)
    assert await faults(person.page) == [], name


async def leave(server: Server) -> str:
    """A session of a workflow that the server doesn't have."""
    archive = Workflow("archive", state=dict, phases=[Phase("pack", terminal=True)], version="2")
    async with Callboard.open(server.db, [archive]) as elsewhere:
        return await elsewhere.start("archive", title="Archive of May")


@asynccontextmanager
async def working(server: Server, file: Path) -> AsyncGenerator[asyncio.subprocess.Process]:
    """A worker in its own process, which is killed at the end."""
    words = ("worker", str(file), "--driver", "local", f"--db={server.db}")
    worker = await asyncio.create_subprocess_exec(
        sys.executable, "-m", "callboard", *words, stdout=asyncio.subprocess.PIPE
    )
    try:
        assert worker.stdout is not None
        async with asyncio.timeout(90):
            assert await worker.stdout.readline()
        yield worker
    finally:
        if worker.returncode is None:
            worker.kill()
        await worker.wait()


async def test_workers_come_and_go_with_what_they_drive(browser: Browser, tmp_path: Path):
    file = tmp_path / "archive.py"
    file.write_text(ARCHIVE, encoding="utf-8")
    async with (
        serving(tmp_path / "x.db", *FLOWS) as server,
        at_a_browser(browser, server, bypass_csp=True) as person,
    ):
        page = person.page
        await expect(person.heading("Inbox", exact=True)).to_be_visible()
        await page.keyboard.press("g")
        await page.keyboard.press("k")
        await expect(person.heading("Workers", exact=True)).to_be_visible()
        assert server.process is not None
        mine = page.get_by_role("article").filter(has_text=f"Process {server.process.pid}")
        await expect(mine).to_contain_text("Idle")
        await expect(mine.get_by_role("link", name="release")).to_be_visible()
        await expect(page.get_by_role("article")).to_have_count(1)

        await begin(server, "tale", str(tmp_path / "gate"), title="Once upon a time")
        await expect(mine).to_contain_text("tale · tell")
        await leave(server)
        stranded = page.get_by_role("region", name="Stranded sessions")
        await expect(stranded).to_contain_text("No running worker has the workflow 'archive'.")
        await expect(stranded).to_contain_text("callboard worker FILE --driver local")
        await look(person, "stranded")

        async with working(server, file) as worker:
            theirs = page.get_by_role("article").filter(has_text=f"Process {worker.pid}")
            await expect(theirs.get_by_role("link", name="Archive of May")).to_be_visible()
            await expect(theirs).to_contain_text("archive · pack")
            await expect(stranded).to_have_count(0)
            await look(person, "two")
        await expect(page.get_by_role("article")).to_have_count(1)
        await expect(stranded).to_contain_text("Archive of May")
        await stranded.get_by_role("link", name="Archive of May").click()
        await expect(page.get_by_role("heading", name="Archive of May", level=1)).to_be_visible()


async def test_without_workers_the_page_says_how_to_start_one(browser: Browser, tmp_path: Path):
    async with (
        serving(tmp_path / "x.db", *FLOWS, options=["--driver", "none"]) as server,
        at_a_browser(browser, server, bypass_csp=True) as person,
    ):
        await person.visit("workers")
        await expect(person.heading("No workers are running")).to_be_visible()
        await person.sees("callboard worker FILE --driver local")
        await expect(person.button("Copy")).to_be_visible()
        await look(person, "empty")
        await begin(server, "release", "Spring")
        await person.sees("No worker is running.")
        await look(person, "empty-stranded")


async def test_a_page_that_fails_can_be_tried_again(person: Person):
    async def refuse(route: Route) -> None:
        error = {"code": "FORBIDDEN", "message": "Needs another token."}
        await route.fulfill(status=403, json={"error": error})

    await person.context.route(f"{person.address}/workers", refuse)
    await person.visit("workers")
    await expect(person.page.get_by_role("alert")).to_contain_text("Needs another token.")
    await person.context.unroute_all()
    await person.button("Try again").click()
    await expect(person.page.get_by_role("article")).to_have_count(1)
    await expect(person.page.get_by_role("alert")).to_have_count(0)


async def test_on_a_phone_the_settings_lead_there(browser: Browser, server: Server):
    phone = {"width": 390, "height": 844}
    async with at_a_browser(browser, server, viewport=phone, has_touch=True) as person:
        navigation = person.page.get_by_role("navigation", name="Pages")
        await expect(navigation.get_by_role("link", name="Settings")).to_be_visible()
        await expect(navigation.get_by_role("link", name="Workers")).to_be_hidden()
        await navigation.get_by_role("link", name="Settings").tap()
        await person.page.get_by_role("link", name="Show workers").tap()
        await expect(person.heading("Workers", exact=True)).to_be_visible()
