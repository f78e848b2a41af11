"""The dashboard without a mouse."""

import re

from playwright.async_api import expect
from tests.browser.people import Person
from tests.browser.story import begin, question_of
from tests.servers import Server

# What a screen reader would say first of whatever has the focus, more or less.
NAME = """(() => {
  const { activeElement: here } = document
  return (here?.getAttribute('aria-label') ?? here?.innerText ?? '').trim().split('\\n')[0]
})()"""


async def focus_on(person: Person, name: str) -> None:
    """Press Tab until something has the focus; one round is enough for all there is."""
    for _ in range(80):
        await person.page.keyboard.press("Tab")
        if (await person.page.evaluate(NAME)).startswith(name):
            return
    raise AssertionError(f"Tab does not lead to {name}")


async def test_a_session_from_its_start_to_its_fork(person: Person, server: Server):
    keyboard = person.page.keyboard
    await expect(person.heading("Inbox", exact=True)).to_be_visible()
    await keyboard.press("s")
    form = person.page.get_by_role("form", name="Start a session")
    await expect(form).to_be_visible()
    await form.get_by_label("Workflow").focus()
    await keyboard.type("release")
    await keyboard.press("Tab")
    await keyboard.type("Spring")
    await focus_on(person, "Start")
    await keyboard.press("Enter")
    await person.sees("Publish Spring?")
    await expect(person.button("Approve")).to_be_visible()
    await keyboard.press("y")
    await expect(person.page.get_by_role("button", name="everyone")).to_be_visible()
    await keyboard.press("1")
    await person.sees("Completed")

    slider = person.page.get_by_role("slider", name="Position")
    async with server.client() as client:
        (session,) = (await client.get("/sessions")).json()["sessions"]
    end = session["position"]
    await expect(slider).to_have_value(str(end))
    await keyboard.press("ArrowLeft")
    await expect(slider).to_have_value(str(end - 1))
    await keyboard.press("l")
    await expect(slider).to_have_value(str(end))
    await keyboard.press("[")
    await expect(slider).not_to_have_value(str(end))

    await keyboard.press("f")
    dialog = person.page.get_by_role("dialog", name=re.compile("^Fork at"))
    await expect(dialog.get_by_label("State", exact=True)).to_be_visible()
    await keyboard.press("Escape")
    await expect(dialog).to_have_count(0)


async def test_tab_leads_to_every_action_of_a_session(person: Person, server: Server):
    session = await begin(server, "release", "Spring")
    await question_of(server, session)
    await person.visit(f"sessions/{session}")
    await expect(person.button("Approve")).to_be_visible()
    wanted = ["Skip to content", "Inbox", "Sessions", "Board", "Keys", "Pause", "Fork here"]
    for name in [*wanted, "Cancel", "Approve", "Reject", "Position", "Raw", "Changes"]:
        await focus_on(person, name)


async def test_the_keys_are_listed_and_lead_everywhere(person: Person):
    await expect(person.heading("Inbox", exact=True)).to_be_visible()
    await person.page.keyboard.press("?")
    dialog = person.page.get_by_role("dialog")
    await expect(dialog).to_contain_text("Start a session")
    await person.page.keyboard.press("Escape")
    for keys, heading in (("gs", "Sessions"), ("gb", "Board"), ("gi", "Inbox")):
        await person.page.keyboard.type(keys)
        await expect(person.page.get_by_role("heading", name=heading, level=1)).to_be_visible()
