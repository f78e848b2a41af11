"""Pages as chunks: loaded when needed, prefetched when idle, and what if one does not come."""

from playwright.async_api import expect
from tests.browser.people import Person

LOADED = "(name) => performance.getEntries().some((entry) => entry.name.includes(name))"


async def test_a_page_that_cannot_be_loaded_offers_to_reload(person: Person):
    await person.context.route("**/assets/BoardPage-*.js", lambda route: route.abort())
    await person.visit("sessions")
    await expect(person.page.get_by_role("heading", name="Sessions", level=1)).to_be_visible()
    await person.page.keyboard.press("g")
    await person.page.keyboard.press("b")
    await expect(person.heading("Reload to continue")).to_be_visible()
    # The rest still works, and another page gets its chance.
    await person.page.get_by_role("link", name="Inbox").click()
    await expect(person.heading("Inbox", exact=True)).to_be_visible()
    await person.page.get_by_role("link", name="Board", exact=True).click()
    await expect(person.heading("Reload to continue")).to_be_visible()
    await person.context.unroute_all()
    await person.button("Reload").click()
    await expect(person.page.get_by_role("heading", name="Board", level=1)).to_be_visible()
    person.complaints.clear()


async def test_pages_are_there_before_anyone_goes_to_them(person: Person):
    await person.visit("inbox")
    await expect(person.heading("Inbox", exact=True)).to_be_visible()
    loaded = (
        "() => performance.getEntriesByType('resource').some((r) => r.name.includes('BoardPage-'))"
    )
    await person.page.wait_for_function(loaded)
    await person.context.set_offline(True)
    await person.page.keyboard.press("g")
    await person.page.keyboard.press("b")
    await expect(person.page.get_by_role("heading", name="Board", level=1)).to_be_visible()
