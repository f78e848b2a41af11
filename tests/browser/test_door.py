"""The way in: by the one-time link, and not otherwise."""

from playwright.async_api import Browser, expect
from tests.browser.people import Person
from tests.servers import Server


async def test_the_link_lets_a_person_in(person: Person):
    assert person.page.url == f"{person.address}/app/"
    await expect(person.heading("Inbox")).to_be_visible()


async def test_a_stranger_is_told_how_to_get_in(browser: Browser, server: Server):
    page = await browser.new_page()
    await page.goto(f"http://callboard.localhost:{server.port}/app/sessions")
    await expect(page.get_by_text("callboard open").first).to_be_visible()
    await page.close()
