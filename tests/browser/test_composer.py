"""Messages to a coding agent: written, queued, changed, delivered, and the turn interrupted."""

import re
from pathlib import Path

from playwright.async_api import Browser, Locator, expect
from tests.browser.inboxes import inbox_of
from tests.browser.looks import faults, sideways
from tests.browser.people import Person, at_a_browser
from tests.browser.transcripts import Transcript, put_on_board, report
from tests.servers import serving

from callboard.vendors.steering import WAITING


def queued(person: Person) -> Locator:
    """The messages that were written and are not closed."""
    region = person.page.get_by_role("region", name="Messages", exact=True)
    return region.get_by_role("listitem")


async def write(person: Person, text: str) -> None:
    field = person.page.get_by_label("Message to Claude Code")
    await field.fill(text)
    await field.press("Control+Enter")
    await expect(queued(person).filter(has_text=text)).to_be_visible()
    await expect(field).to_have_value("")


async def test_messages_wait_are_changed_and_arrive(browser: Browser, tmp_path: Path):
    home = tmp_path / "claude"
    transcript = Transcript(home)
    transcript.prompt("Begin")
    async with (
        serving(tmp_path / "x.db", env={"CLAUDE_CONFIG_DIR": str(home)}) as server,
        inbox_of(home, transcript) as inbox,
        at_a_browser(browser, server, bypass_csp=True) as person,
    ):
        sender = {"pid": inbox.pid, "proc_start": inbox.started}
        plate = await put_on_board(server, transcript, callboard=sender)
        await inbox.open("waiting")
        await report(server, transcript, "PreToolUse", tool_name="AskUserQuestion")
        await person.visit(f"board/{plate}")
        await person.sees(WAITING)
        for text in ("Use the other table", "Run the tests", "Never mind"):
            await write(person, text)
        await expect(queued(person)).to_have_text(
            [re.compile("other table"), re.compile("Run the tests"), re.compile("Never mind")]
        )
        await queued(person).nth(1).get_by_role("button", name="Move up").click()
        await expect(queued(person).first).to_contain_text("Run the tests")
        # The focus stays on the button, also where it leads nowhere.
        up = queued(person).first.get_by_role("button", name="Move up")
        await expect(up).to_be_focused()
        await expect(up).to_have_attribute("aria-disabled", "true")
        await queued(person).first.drag_to(queued(person).nth(2))
        await expect(queued(person).last).to_contain_text("Run the tests")
        await queued(person).last.drag_to(queued(person).first)
        await expect(queued(person).first).to_contain_text("Run the tests")
        await queued(person).first.get_by_role("button", name="Edit").click()
        await person.page.get_by_label("Message text").fill("Run the slow tests too")
        await person.button("Save").click()
        await expect(queued(person).first).to_contain_text("Run the slow tests too")
        await queued(person).nth(2).get_by_role("button", name="Withdraw").click()
        await expect(queued(person).filter(has_text="Never mind")).to_be_hidden()
        assert await faults(person.page) == []
        for width in (390, 768, 1440):
            await person.page.set_viewport_size({"width": width, "height": 900})
            assert await sideways(person.page) <= 0, width

        inbox.stand("busy")
        await report(server, transcript, "PostToolUse", tool_name="AskUserQuestion")
        feed = person.page.get_by_role("feed", name="Conversation")
        await expect(feed).to_contain_text("Run the slow tests too")
        await expect(feed).to_contain_text("Use the other table")
        await expect(feed).not_to_contain_text("Never mind")
        await person.page.get_by_text("sent messages").click()
        await expect(queued(person).filter(has_text="other table")).to_contain_text(
            "Seen by the agent"
        )
        await expect(queued(person).filter(has_text="Never mind")).to_contain_text("Withdrawn")
        await person.button("Interrupt").click()
        await person.sees(re.compile("Press Esc there"))
