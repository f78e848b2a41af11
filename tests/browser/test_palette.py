"""The palette: one field, by keys alone, that leads everywhere and does what the page can do."""

from playwright.async_api import Locator, expect
from tests.browser.agents import Agent
from tests.browser.people import Person
from tests.browser.story import begin, question_of
from tests.servers import Server


async def opened(person: Person) -> Locator:
    """Open it; gives its field."""
    await person.page.keyboard.press("Control+k")
    field = person.page.get_by_role("combobox", name="Command menu")
    await expect(field).to_be_focused()
    return field


async def chosen(person: Person) -> Locator:
    return person.page.get_by_role("dialog").get_by_role("option", selected=True)


async def test_it_leads_to_pages_questions_plates_and_sessions(person: Person, server: Server):
    session = await begin(server, "release", "Spring", sessionId="spring-release")
    await question_of(server, session)
    await Agent(server, "todos", "engine").say("SessionStart")
    await expect(person.heading("Publish Spring?")).to_be_visible()
    for text, option, heading in (
        ("board", "Board", "Board"),
        ("engine", "engine", "engine"),
        ("spring-rel", "spring-release", "Session spring-release"),
        ("publish", "Publish Spring?", "Inbox"),
    ):
        await opened(person)
        await person.page.keyboard.type(text)
        await expect(await chosen(person)).to_contain_text(option)
        await person.page.keyboard.press("Enter")
        await expect(person.page.get_by_role("dialog")).to_have_count(0)
        await expect(person.page.get_by_role("heading", name=heading, level=1)).to_be_visible()


async def test_it_does_what_the_page_can_do(person: Person, server: Server):
    session = await begin(server, "release", "Spring")
    await question_of(server, session)
    await person.visit(f"sessions/{session}")
    await expect(person.button("Approve")).to_be_visible()
    await opened(person)
    await person.page.keyboard.type("fork here")
    await person.page.keyboard.press("Enter")
    await expect(person.page.get_by_role("dialog", name="Fork at")).to_be_visible()
    # A dialog has the keys to itself.
    await person.page.keyboard.press("Control+k")
    await expect(person.page.get_by_role("combobox", name="Command menu")).to_have_count(0)


async def test_arrows_choose_and_escape_closes(person: Person):
    await expect(person.heading("Inbox", exact=True)).to_be_visible()
    await opened(person)
    first = await (await chosen(person)).inner_text()
    await person.page.keyboard.press("ArrowDown")
    await expect(await chosen(person)).not_to_have_text(first)
    await person.page.keyboard.press("ArrowUp")
    await expect(await chosen(person)).to_contain_text(first.split("\n")[0])
    await person.page.keyboard.type("nothing is called like this")
    await person.sees("No matches")
    await person.page.keyboard.press("Enter")
    await person.page.keyboard.press("Escape")
    await expect(person.page.get_by_role("dialog")).to_have_count(0)
    await expect(person.heading("Inbox", exact=True)).to_be_visible()
