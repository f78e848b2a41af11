"""The page of one session: its graph, its history, search, titles, and content of any width."""

import re
from collections.abc import AsyncGenerator
from pathlib import Path

import pytest_asyncio
from playwright.async_api import Browser, expect
from tests.browser.long_flows import STOP_AT
from tests.browser.looks import faults, sideways
from tests.browser.people import Person, at_a_browser
from tests.browser.story import begin, question_of
from tests.servers import Server, serving

from callboard import Callboard
from callboard.events.envelope import NewEvent
from callboard.ids import event_id

FLOWS = Path(__file__).with_name("long_flows.py")
WIDTHS = (390, 768, 1024, 1440)

IN_VIEW = """(name) => {
  const graph = document.querySelector('.graph__window').getBoundingClientRect()
  const node = document.querySelector(`[data-phase="${name}"]`).getBoundingClientRect()
  return node.left >= graph.left - 1 && node.right <= graph.right + 1
}"""


@pytest_asyncio.fixture(loop_scope="session")
async def server(tmp_path: Path) -> AsyncGenerator[Server]:
    async with serving(tmp_path / "x.db", FLOWS) as running:
        yield running


async def test_eighty_phases_open_with_the_current_one_in_view(browser: Browser, server: Server):
    session = await begin(server, "many-phases", None)
    await question_of(server, session)
    async with at_a_browser(browser, server, bypass_csp=True) as person:
        page, current = person.page, f"step-{STOP_AT}"
        for width in WIDTHS:
            await page.set_viewport_size({"width": width, "height": 800})
            await person.visit(f"sessions/{session}")
            await expect(page.locator(f'[data-phase="{current}"]')).to_be_visible()
            await page.wait_for_function(IN_VIEW, arg=current)
            await person.button("Fit").click()
            for phase in ("step-01", "step-80"):
                await page.wait_for_function(IN_VIEW, arg=phase)
            assert await sideways(page) == 0

        await person.button("Center").click()
        await page.wait_for_function(IN_VIEW, arg=current)
        await expect(page.locator('[data-phase="step-10…step-12"]')).to_contain_text("×12")
        await person.button("Fold loop").click()
        await expect(page.locator('[data-phase="step-11"]')).to_have_count(1)
        graph = page.get_by_role("region", name="Workflow graph")
        await graph.focus()
        for key in ("ArrowRight", "ArrowRight", "+", "-", "ArrowLeft", "0"):
            await page.keyboard.press(key)
        await page.wait_for_function(IN_VIEW, arg="step-80")
        await page.keyboard.press("c")
        await page.wait_for_function(IN_VIEW, arg=current)
        assert await faults(page) == []

        strip = page.get_by_role("list", name="Phase visits")
        await strip.locator("[tabindex='0']").focus()
        await page.keyboard.press("Home")
        await expect(page.get_by_role("slider", name="Position")).to_have_value("2")
        await page.wait_for_function(IN_VIEW, arg="step-01")


async def test_nothing_is_too_wide(browser: Browser, server: Server):
    session = await begin(server, "wide" + "w" * 120, None)
    await question_of(server, session)
    async with at_a_browser(browser, server) as person:
        page = person.page
        for width in WIDTHS:
            await page.set_viewport_size({"width": width, "height": 900})
            for path in ("sessions", f"sessions/{session}", f"sessions/{session}/family"):
                await person.visit(path)
                await expect(page.get_by_role("heading", level=1)).to_be_visible()
                await expect(page.locator("[aria-busy=true]")).to_have_count(0)
                assert await sideways(page) == 0, (width, path)
            await person.visit(f"sessions/{session}")
            await expect(page.get_by_role("region", name="Timeline")).to_be_visible()
            await person.button("Raw").click()
            assert await sideways(page) == 0, (width, "raw")
            await person.button("Changes").click()
            assert await sideways(page) == 0, (width, "changes")
            await page.get_by_text("Share", exact=True).click()
            await expect(page.get_by_role("link", name="Export as JSON")).to_be_visible()
            assert await sideways(page) == 0, (width, "menu")


async def test_a_title_is_changed_in_place(person: Person, server: Server):
    session = await begin(server, "many-phases", None, title="First draft")
    await question_of(server, session)
    await person.visit(f"sessions/{session}")
    await expect(person.heading("First draft")).to_be_visible()
    await person.button("Rename").press("Enter")
    await expect(person.page.get_by_label("Title")).to_be_focused()
    await person.page.keyboard.type("Final draft")
    await person.page.keyboard.press("Enter")
    await expect(person.heading("Final draft")).to_be_visible()
    await expect(person.button("Rename")).to_be_focused()
    await expect(person.page).to_have_title(re.compile("Final draft · Callboard$"))
    async with server.client() as http:
        assert (await http.get(f"/sessions/{session}")).json()["title"] == "Final draft"
    await person.visit("sessions?q=final")
    await expect(person.page.get_by_role("main")).to_contain_text("Final draft")


async def test_ten_thousand_events_are_searched_and_shown(person: Person, server: Server):
    session = await begin(server, "many-phases", None)
    await question_of(server, session)
    async with Callboard.open(server.db) as board:
        notes = [
            NewEvent(event_id(), "agent:emitted", {"agent": "a", "name": f"n{n}", "data": n}, 0)
            for n in range(10_000)
        ]
        await board.log.append(session, notes)
    page = person.page
    await person.visit(f"sessions/{session}")
    await expect(page.get_by_text(re.compile(r"^10,?280 / 10,?280$"))).to_be_visible()
    await page.keyboard.press("/")
    await page.keyboard.type("n8765")
    await page.keyboard.press("Enter")  # At once: what counts is what was typed.
    await expect(page.locator(".beat.is-at mark").first).to_have_text("n8765")
    await expect(page.get_by_text("1 of 1", exact=True)).to_be_visible()
    assert await page.locator(".timeline li").count() < 60


async def test_it_says_what_an_agent_waits_for(browser: Browser, server: Server):
    async with server.client() as http:
        (await http.put("/limits/builds", json={"number": 0})).raise_for_status()
        session = await begin(server, "limited", None)
        async with at_a_browser(browser, server) as person:
            await person.visit(f"sessions/{session}")
            waits = person.page.get_by_text("Waiting for a slot of builds: 0 of 0 in use")
            await expect(waits).to_be_visible()
            (await http.put("/limits/builds", json={"number": 1})).raise_for_status()
            await expect(waits).to_have_count(0)
            await expect(person.page.get_by_text("Completed").first).to_be_visible()
