"""What comes by itself: text while it is written, and a call from a page that nobody looks at."""

import asyncio
import re
from pathlib import Path

from playwright.async_api import expect
from tests.browser.agents import Agent
from tests.browser.people import Person
from tests.browser.story import begin
from tests.servers import Server

# The browser's own notifications, noted down as they are made. A page that a test drives always
# believes to have the focus.
NOTED = """
window.noted = []
document.hasFocus = () => false
window.Notification = class extends Notification {
  constructor(title, options) {
    super(title, options)
    window.noted.push(this)
  }
}
"""


async def notifying(person: Person) -> None:
    """A browser that may notify, on a page that somebody has left."""
    await person.context.grant_permissions(["notifications"], origin=person.address)
    await person.context.add_init_script(NOTED)
    await person.visit("sessions")
    await expect(person.heading("Sessions", exact=True)).to_be_visible()
    assert await person.page.evaluate("Notification.permission") == "granted"


async def told(person: Person) -> None:
    """Wait for the one notification that there is to be."""
    async with asyncio.timeout(90):
        while not await person.page.evaluate("noted.length"):
            await asyncio.sleep(0.02)
    assert await person.page.evaluate("noted.length") == 1


async def test_text_appears_while_it_is_written(person: Person, server: Server, tmp_path: Path):
    gate = tmp_path / "gate"
    session = await begin(server, "tale", str(gate))
    await person.visit(f"sessions/{session}")
    speech = person.page.get_by_role("region", name="Agent output")
    said = ""
    for number, word in enumerate(["Once ", "upon ", "a time."]):
        gate.with_name(f"gate-{number}").touch()
        said += word
        await expect(speech.locator("pre")).to_have_text(said)
        if number < 2:
            await expect(speech).to_contain_text("Streaming")
    await person.sees("Completed")


async def test_the_browser_tells_of_a_question(person: Person, server: Server):
    await notifying(person)
    assert await person.page.evaluate("noted.length") == 0
    await begin(server, "release", "Spring")
    await told(person)
    body = await person.page.evaluate("noted[0].body")
    assert body.startswith("Publish Spring?")
    await person.page.evaluate("noted[0].dispatchEvent(new Event('click'))")
    await expect(person.heading("Publish Spring?")).to_be_visible()
    await expect(person.page).to_have_url(re.compile("/app/inbox/"))


async def test_the_browser_tells_of_an_agent_that_asks(person: Person, server: Server):
    await notifying(person)
    async with Agent(server, "permission", "engine").asking():
        await told(person)
        title = await person.page.evaluate("noted[0].title")
    assert title == "Claude Code in engine needs you"
