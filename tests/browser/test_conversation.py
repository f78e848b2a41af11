"""A plate opens into its conversation, as its client's own transcript has it."""

import asyncio
import re
from collections.abc import AsyncGenerator
from pathlib import Path

import pytest_asyncio
from playwright.async_api import Browser, Locator, Page, expect
from tests.browser.looks import faults, sideways
from tests.browser.people import Person, at_a_browser
from tests.browser.transcripts import Transcript, put_on_board
from tests.servers import Server, serving

PIXEL = (
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGA"
    "WjR9awAAAABJRU5ErkJggg=="
)
PATCH = [
    {
        "oldStart": 12,
        "oldLines": 2,
        "newStart": 12,
        "newLines": 3,
        "lines": [" def total(self):", "-    return 0", "+    self.check()", "+    return 1"],
    }
]


@pytest_asyncio.fixture(loop_scope="session")
async def home(tmp_path: Path) -> Path:
    """Where the agents keep their own files."""
    return tmp_path / "claude"


@pytest_asyncio.fixture(loop_scope="session")
async def server(tmp_path: Path, home: Path) -> AsyncGenerator[Server]:
    async with serving(tmp_path / "x.db", env={"CLAUDE_CONFIG_DIR": str(home)}) as running:
        yield running


def message(person: Person, said: str | re.Pattern[str]) -> Locator:
    """The message that says so."""
    return (
        person.page.get_by_role("feed", name="Conversation")
        .get_by_role("article")
        .filter(has_text=said)
    )


def box(page: Page) -> Locator:
    return page.get_by_role("feed", name="Conversation")


async def from_end(page: Page) -> int:
    """By how many pixels the end of the conversation is out of view."""
    return await box(page).evaluate("(it) => it.scrollHeight - it.scrollTop - it.clientHeight")


def tell(transcript: Transcript) -> None:
    """A bit of everything that a conversation has."""
    transcript.prompt("Make `total` refuse unknown accounts, please \u202eyllaer\u202c")
    transcript.think("Where are the accounts kept?")
    transcript.reply("I’ll look at the **callers** first.")
    image = {"type": "base64", "media_type": "image/png", "data": PIXEL}
    transcript.prompt([{"type": "image", "source": image}, {"type": "text", "text": "Like this"}])
    found = transcript.call("Bash", command="rg total", description="Find callers")
    transcript.result(found, "report.py:31: ledger.total(account)")
    edit = transcript.call("Edit", file_path="/srv/l.py", old_string="0", new_string="1")
    done = {"filePath": "/srv/l.py", "structuredPatch": PATCH}
    transcript.result(edit, "Updated.", toolUseResult=done)
    failing = transcript.call("Bash", command="make test")
    transcript.result(failing, "1 failed", is_error=True)
    push = transcript.call("Bash", command="git push --force")
    transcript.result(push, "Refused.", is_error=True, toolDenialKind="user")
    agent = transcript.call("Agent", description="Check callers", prompt="Check them")
    transcript.result(agent, "Both do.", toolUseResult={"agentId": "a7"})
    nested = transcript.subagent("a7")
    nested.prompt("Check them")
    nested.reply("report.py relies on zero.")
    transcript.compact("The story so far. " * 9)


async def test_everything_in_a_conversation_can_be_read(
    browser: Browser, server: Server, home: Path
):
    transcript = Transcript(home)
    tell(transcript)
    plate = await put_on_board(server, transcript)
    async with at_a_browser(browser, server, bypass_csp=True) as person:
        await read_everything(person, plate)


async def read_everything(person: Person, plate: str) -> None:
    """Look at all of it, folded and opened."""
    await person.page.set_viewport_size({"width": 1280, "height": 1800})
    await person.visit(f"board/{plate}")
    await expect(message(person, "refuse unknown accounts")).to_contain_text(r"\u202eyllaer")
    await expect(message(person, "look at the").locator("strong")).to_have_text("callers")
    await expect(message(person, "Context compacted")).to_contain_text("The story so far.")
    image = message(person, "Like this").get_by_role("img")
    assert await image.evaluate("(it) => it.naturalWidth") == 1
    thought = message(person, "Thinking")
    await thought.get_by_role("button", name="Thinking").click()
    await expect(thought.locator(".md")).to_have_text("Where are the accounts kept?")
    await expect(message(person, "rg total")).not_to_contain_text("ledger.total")
    await message(person, "rg total").get_by_role("button", name="Bash").click()
    await expect(message(person, "rg total")).to_contain_text("ledger.total(account)")
    edit = message(person, "Edit")
    await expect(edit).to_contain_text("2 lines added")
    await edit.get_by_role("button", name="Edit").click()
    diff = edit.get_by_role("figure", name="Changes in /srv/l.py")
    await expect(diff.get_by_role("listitem").nth(1)).to_contain_text("removed: return 0")
    await expect(diff.locator(".code--keyword").first).to_have_text("def")
    await expect(message(person, "make test")).to_contain_text("Failed")
    await expect(message(person, "git push")).to_contain_text("Denied")
    await person.button("Show the subagent’s conversation").click()
    nested = person.page.get_by_role("figure", name="Subagent")
    await expect(nested).to_contain_text("report.py relies on zero.")
    assert await faults(person.page) == []
    for width in (390, 768):
        await person.page.set_viewport_size({"width": width, "height": 900})
        assert await sideways(person.page) <= 0, width


async def test_it_follows_the_end_only_where_the_reader_is(
    person: Person, server: Server, home: Path
):
    transcript = Transcript(home)
    for number in range(250):
        transcript.reply(f"Step {number} of many.\n\nIt has two paragraphs.")
    plate = await put_on_board(server, transcript)
    await person.visit(f"board/{plate}")
    await expect(message(person, "Step 249 of")).to_be_visible()
    transcript.reply("It goes on.")
    await expect(message(person, "It goes on.")).to_be_in_viewport()
    await box(person.page).evaluate("(it) => { it.scrollTop -= 1500 }")
    await expect(person.button("Jump to latest")).to_be_visible()
    transcript.reply("And on.")
    news = person.button("1 new message")
    await expect(news).to_be_visible()
    assert await from_end(person.page) > 1000
    await news.click()
    await expect(message(person, "And on.")).to_be_in_viewport()
    await expect(person.button("Jump to latest")).to_have_count(0)
    # The field below takes its room, and the end stays in view.
    await person.page.get_by_label("Message to Claude Code").fill("A line.\n" * 9)
    await expect(message(person, "And on.")).to_be_in_viewport()
    await expect(person.button("Jump to latest")).to_have_count(0)
    # Far back, nothing but what is in view is drawn.
    async with person.page.expect_response(re.compile("before=")):
        await box(person.page).evaluate("(it) => { it.scrollTop = 0 }")
    assert await person.page.get_by_role("article").count() < 60


async def test_messages_are_found_and_linked_to(
    browser: Browser, person: Person, server: Server, home: Path
):
    transcript = Transcript(home)
    for number in range(450):
        transcript.prompt(f"Message {number}.")
    plate = await put_on_board(server, transcript)
    await person.visit(f"board/{plate}")
    await expect(message(person, "Message 449.")).to_be_visible()
    await person.page.keyboard.press("/")
    await person.page.keyboard.type("message 42.")
    await person.page.get_by_role("button", name=re.compile("^Prompt Message 42")).click()
    found = message(person, "Message 42.")
    await expect(found).to_be_in_viewport()
    await expect(found).to_be_focused()
    await person.context.grant_permissions(["clipboard-read", "clipboard-write"])
    await found.get_by_role("button", name="Copy link").click()
    link = await person.page.evaluate("navigator.clipboard.readText()")
    await person.button("Jump to latest").click()
    await expect(message(person, "Message 449.")).to_be_in_viewport()
    async with at_a_browser(browser, server) as other:
        await other.page.goto(link)
        await expect(message(other, "Message 42.")).to_be_in_viewport()
        # It goes on from there to the end.
        await other.page.keyboard.press("G")
        await expect(message(other, "Message 449.")).to_be_in_viewport()


async def test_a_request_shows_what_led_to_it_to_those_who_may_read(
    person: Person, server: Server, home: Path
):
    transcript = Transcript(home)
    transcript.prompt("Release it once the tests pass")
    transcript.reply("The tests pass, so I push the tag.")
    plate = await put_on_board(server, transcript)
    asks = {
        "hook_event_name": "PermissionRequest",
        "session_id": transcript.session,
        "cwd": "/srv/ledger",
        "tool_name": "Bash",
        "tool_input": {"command": "git push --tags"},
        "callboard": {"hold": "hold-1"},
    }
    async with server.client() as http:
        held = asyncio.create_task(http.post("/hooks/claude", json=asks, timeout=None))
        await person.visit("inbox/hold-1")
        led = person.page.get_by_role("region", name="What led to this")
        await expect(led).to_contain_text("The tests pass, so I push the tag.")
        await person.visit("board")
        await person.page.get_by_text("What led to this").click()
        await expect(led).to_contain_text("Release it once the tests pass")
        ann = {"name": "ann", "scope": "answer"}
        secret = (await http.post("/tokens", json=ann)).json()["secret"]
        await person.context.clear_cookies()
        await person.context.set_extra_http_headers({"Authorization": f"Bearer {secret}"})
        await person.visit("inbox/hold-1")
        await expect(person.heading("Allow Bash?")).to_be_visible()
        await expect(led).to_have_count(0)
        await person.visit(f"board/{plate}")
        await person.sees("Reading a conversation needs the Operator role.")
        held.cancel()
