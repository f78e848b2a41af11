"""No content makes a page scroll sideways, or pushes what can be pressed out of the window."""

from pathlib import Path

import pytest
from playwright.async_api import Browser, Page, expect
from tests.browser.hostile import (
    PAGES,
    WIDTHS,
    Hostile,
    agents,
    beside_answers,
    fill,
    hidden_below,
    outside,
)
from tests.browser.looks import faults, sideways
from tests.browser.people import Person, at_a_browser
from tests.servers import serving

FLOWS = Path(__file__).parent / "hostile_flows.py"
# A slice of each kind: the matrix is for `make test-long`.
QUICK = ("approval", "options", "asking", "session", "compare", "board", "plate", "lost")


async def open_page(person: Person, page: Hostile, ids: dict[str, str]) -> None:
    """Go to a page, and wait until it has come to rest."""
    await person.visit(page.path.format(**ids))
    await expect(person.page.get_by_role("main")).to_contain_text(page.says)
    await expect(person.page.locator("[aria-busy=true]")).to_have_count(0)


async def wrong_with(page: Page, width: int, buttons: tuple[str, ...] = ()) -> list[str]:
    """What a page does not withstand at a width."""
    await page.set_viewport_size({"width": width, "height": 800})
    await page.evaluate("new Promise((done) => requestAnimationFrame(() => setTimeout(done, 50)))")
    found = [f"{over} px too wide"] if (over := await sideways(page)) > 0 else []
    found += [f"outside: {one}" for one in await outside(page)]
    found += [f"beside the answers: {one}" for one in await beside_answers(page)]
    return found + [f"below: {one}" for one in await hidden_below(page, buttons)]


async def test_pages_withstand_hostile_content(browser: Browser, tmp_path: Path):
    async with serving(tmp_path / "x.db", FLOWS) as server:
        ids = await fill(server, events=50)
        async with agents(server, 12) as asked, at_a_browser(browser, server) as person:
            wrong: dict[str, list[str]] = {}
            for name in QUICK:
                await open_page(person, PAGES[name], ids | asked)
                for width in WIDTHS:
                    if found := await wrong_with(person.page, width, PAGES[name].in_view):
                        wrong[f"{name} at {width}"] = found
    assert wrong == {}


@pytest.mark.long
@pytest.mark.timeout(1800)
async def test_every_page_withstands_much_hostile_content(browser: Browser, tmp_path: Path):
    async with serving(tmp_path / "x.db", FLOWS) as server:
        ids = await fill(server, events=10_000)
        async with (
            agents(server, 200) as asked,
            at_a_browser(browser, server, bypass_csp=True) as person,
        ):
            wrong: dict[str, list[str]] = {}
            for name, page in PAGES.items():
                for width in WIDTHS:
                    await person.page.set_viewport_size({"width": width, "height": 800})
                    await open_page(person, page, ids | asked)
                    found = await wrong_with(person.page, width, page.in_view)
                    if found := found + await faults(person.page):
                        wrong[f"{name} at {width}"] = found
    assert wrong == {}


@pytest.mark.parametrize("path", ["app/", "login?code=used"])
async def test_the_way_in_withstands_every_width(browser: Browser, tmp_path: Path, path: str):
    folder = tmp_path / ("a-folder-without-any-place-to-break-" * 4)
    folder.mkdir()
    async with serving(folder / "x.db") as server:
        page = await browser.new_page(bypass_csp=True)
        await page.goto(f"http://callboard.localhost:{server.port}/{path}")
        await expect(page.locator("pre")).to_be_visible()
        for width in WIDTHS:
            assert await wrong_with(page, width, ("Copy",)) == []
            assert await faults(page) == []
        await page.close()
