"""How the pages look: to axe, on a phone, in light and dark, and in the README."""

import re
from collections.abc import Mapping
from typing import Literal

import pytest
from playwright.async_api import Browser, expect
from tests.browser.looks import PAGES, Shown, agents_at_work, faults, fill, keep, sideways
from tests.browser.people import Person, at_a_browser
from tests.servers import Server

PHONE = {"width": 390, "height": 844}

Scheme = Literal["light", "dark"]


async def show(person: Person, page: Shown, ids: Mapping[str, str] | None = None) -> None:
    """Go to a page, and wait until it has come to rest."""
    await person.visit(page.path.format(**(ids or {})))
    await expect(person.page.get_by_role("heading", level=1)).to_be_visible()
    await expect(person.page.get_by_role("main")).to_contain_text(page.says)
    await expect(person.page.locator("[aria-busy=true]")).to_have_count(0)
    await person.page.evaluate("document.fonts.ready")


@pytest.mark.parametrize("scheme", ["light", "dark"])
async def test_axe_finds_nothing_and_every_page_has_its_picture(
    browser: Browser, server: Server, scheme: Scheme
):
    made = await fill(server)
    found: dict[str, list[str]] = {}
    async with (
        agents_at_work(server) as ids,
        at_a_browser(browser, server, color_scheme=scheme, bypass_csp=True) as person,
    ):
        for name, page in PAGES.items():
            await person.page.set_viewport_size({"width": 1280, "height": page.height})
            await show(person, page, made | ids)
            picture = await person.page.screenshot()
            assert len(picture) > 5_000, name
            keep(picture, name, scheme)
            if wrong := await faults(person.page):
                found[name] = wrong
    assert found == {}


DIALOGS = (
    ("sessions", "Start a session"),
    ("session", "Fork here"),
    ("session", "Delete"),
    ("waiting", "Cancel"),
    ("inbox", "Keys"),
    ("inbox", "Menu"),
    ("board", "Rename engine"),
    ("decision", "Dismiss without deciding"),
)


@pytest.mark.parametrize("scheme", ["light", "dark"])
async def test_axe_finds_nothing_in_the_dialogs(browser: Browser, server: Server, scheme: Scheme):
    made = await fill(server)
    found: dict[str, list[str]] = {}
    async with (
        agents_at_work(server) as ids,
        at_a_browser(browser, server, color_scheme=scheme, bypass_csp=True) as person,
    ):
        for name, button in DIALOGS:
            await show(person, PAGES[name], made | ids)
            await person.page.get_by_role("button", name=re.compile(f"^{button}")).click()
            await expect(person.page.get_by_role("dialog")).to_be_visible()
            if button == "Fork here":
                # Nothing is left to run at its end, so an earlier point is offered first.
                if wrong := await faults(person.page):
                    found["nothing to run"] = wrong
                await person.page.get_by_role("button", name=re.compile("^Fork before")).click()
                dialog = person.page.get_by_role("dialog", name=re.compile("^Fork at"))
                await expect(dialog.get_by_label("State", exact=True)).to_be_visible()
            if wrong := await faults(person.page):
                found[button] = wrong
    assert found == {}


@pytest.mark.parametrize("scheme", ["light", "dark"])
async def test_axe_finds_nothing_when_something_is_wrong(
    browser: Browser, server: Server, scheme: Scheme
):
    async with at_a_browser(browser, server, color_scheme=scheme, bypass_csp=True) as person:
        await person.visit("board")
        await expect(person.heading("No coding agents yet")).to_be_visible()
        assert await faults(person.page) == []
        await server.kill()
        await person.sees("Can’t reach the server")
        assert await faults(person.page) == []
        await server.restart()
        await person.context.clear_cookies()
        await person.visit("board")
        await expect(person.heading("Sign in")).to_be_visible()
        assert await faults(person.page) == []


async def test_every_page_fits_a_phone(browser: Browser, server: Server):
    made = await fill(server)
    async with (
        agents_at_work(server) as ids,
        at_a_browser(browser, server, viewport=PHONE, has_touch=True, bypass_csp=True) as person,
    ):
        for name, page in PAGES.items():
            await show(person, page, made | ids)
            assert await sideways(person.page) <= 0, name
            assert await faults(person.page) == [], name


async def test_a_question_is_answered_on_a_phone(browser: Browser, server: Server):
    await fill(server)
    async with at_a_browser(browser, server, viewport=PHONE, has_touch=True) as person:
        await person.visit("inbox")
        await person.page.get_by_role("link", name="Publish Autumn release?").tap()
        await person.button("Approve").tap()
        note = person.page.get_by_role("status").filter(has_text="Sending…")
        await expect(note.get_by_role("button", name="Undo")).to_be_visible()
        await expect(person.heading("Publish Autumn release?")).to_have_count(0)
        await person.page.get_by_role("link", name="All questions").tap()
        await person.sees("Who should hear of it?")


async def test_a_permission_is_answered_on_a_phone(browser: Browser, server: Server):
    async with (
        agents_at_work(server),
        at_a_browser(browser, server, viewport=PHONE, has_touch=True) as person,
    ):
        await person.visit("board")
        plate = person.page.get_by_role("article", name=re.compile("^callboard"))
        await plate.get_by_role("button", name="Allow", exact=True).tap()
        await expect(plate).to_contain_text("Running")
