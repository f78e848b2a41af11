"""The way in: by the one-time link, and not otherwise."""

import pytest
from playwright.async_api import Browser, expect
from tests.browser.looks import faults, sideways
from tests.browser.people import Person
from tests.servers import Server


async def test_the_link_lets_a_person_in(person: Person):
    await person.log_in()
    assert person.page.url == f"{person.address}/app/"
    await expect(person.page.get_by_role("heading", name="Home", level=1)).to_be_visible()


def command_of(server: Server) -> str:
    """What signs in at a server on a database of its own."""
    return f"callboard open --db {server.db}"


async def test_a_stranger_is_told_what_to_run(browser: Browser, server: Server):
    context = await browser.new_context(permissions=["clipboard-read", "clipboard-write"])
    page = await context.new_page()
    await page.goto(f"http://callboard.localhost:{server.port}/app/sessions")
    await expect(page.get_by_role("heading", name="Sign in")).to_be_visible()
    await expect(page.locator("pre")).to_have_text(command_of(server))
    await page.get_by_role("button", name="Copy").click()
    await expect(page.get_by_role("button", name="Copied")).to_be_visible()
    assert await page.evaluate("navigator.clipboard.readText()") == command_of(server)
    await context.close()


@pytest.mark.parametrize("code", ["", "used", "wrong"])
async def test_a_spent_link_says_so_and_what_to_run(browser: Browser, server: Server, code: str):
    if code == "used":
        async with server.client() as http, server.client(token=None) as another:
            code = (await http.post("/login")).json()["code"]
            assert (await another.get("/login", params={"code": code})).status_code == 303
    page = await browser.new_page()
    answer = await page.goto(f"http://callboard.localhost:{server.port}/login?code={code}")
    assert answer is not None
    assert answer.status == 403
    await expect(page.get_by_role("heading", name="This sign-in link has expired")).to_be_visible()
    await expect(page.locator("pre")).to_have_text(command_of(server))
    await page.get_by_role("link", name="Go to the dashboard").click()
    await expect(page.get_by_role("heading", name="Sign in")).to_be_visible()
    await page.close()


async def test_who_is_signed_in_goes_on_from_a_spent_link(person: Person):
    await person.page.goto(f"{person.address}/login?code=used")
    await person.sees("This browser is already signed in.")
    await person.page.get_by_role("link", name="Go to the dashboard").click()
    await expect(person.page.get_by_role("heading", name="Home", level=1)).to_be_visible()


@pytest.mark.parametrize("width", [390, 1024, 1440])
@pytest.mark.parametrize("path", ["app/", "login?code=used"])
async def test_the_way_in_fits_every_window(
    browser: Browser, server: Server, path: str, width: int
):
    page = await browser.new_page(viewport={"width": width, "height": 800}, bypass_csp=True)
    await page.goto(f"http://callboard.localhost:{server.port}/{path}")
    await expect(page.locator("pre")).to_be_visible()
    assert await sideways(page) <= 0
    assert await faults(page) == []
    await page.close()
