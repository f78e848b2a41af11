"""A React component asks in Chromium, somebody decides in the dashboard, and it sees the answer."""

from collections.abc import AsyncGenerator
from pathlib import Path
from typing import NamedTuple

import pytest_asyncio
from playwright.async_api import Browser, Page, expect
from tests.browser.conftest import FLOWS
from tests.browser.own_page import address, built, served
from tests.browser.people import Person, at_a_browser
from tests.browser.story import shown
from tests.servers import Server, serving


class Meeting(NamedTuple):
    """Somebody's own page, and a person at the dashboard of the same server."""

    origin: str
    server: Server
    page: Page
    person: Person


@pytest_asyncio.fixture(scope="session", loop_scope="session")
async def examples(tmp_path_factory) -> Path:
    return await built(tmp_path_factory.mktemp("examples"))


@pytest_asyncio.fixture(loop_scope="session")
async def meeting(browser: Browser, examples: Path, tmp_path: Path) -> AsyncGenerator[Meeting]:
    with served(examples) as origin:
        options = [f"--cors-origin={origin}"]
        async with (
            serving(tmp_path / "x.db", *FLOWS, options=options) as server,
            at_a_browser(browser, server) as person,
            await browser.new_context() as context,
        ):
            yield Meeting(origin, server, await context.new_page(), person)


async def test_a_component_gets_the_object_that_the_form_sends(meeting: Meeting):
    origin, server, page, person = meeting
    await page.goto(address(origin, "Structured", server))
    await page.get_by_role("button", name="Audit").click()

    await expect(person.heading("Review the security audit findings")).to_be_visible()
    await person.sees("A token is written to the log")
    await person.page.get_by_role("group", name="Approved").get_by_label("Yes").check()
    await person.page.get_by_label("Notes").fill("Rotate the token first.")
    await person.button("Send the decision").click()

    await expect(page.get_by_text("Approved: Rotate the token first.")).to_be_visible()


async def test_a_component_hears_that_nothing_was_decided(meeting: Meeting):
    origin, server, page, person = meeting
    await page.goto(address(origin, "Reactive", server))
    await expect(page.get_by_text("Waiting for human review...")).to_be_visible()
    await expect(person.heading("Review the deployment plan")).to_be_visible()
    await person.button("Dismiss without deciding…").click()
    await person.button("Dismiss").click()
    await expect(page.get_by_text("Not deployed.")).to_be_visible()


async def test_a_component_awaits_a_verdict(meeting: Meeting):
    origin, server, page, person = meeting
    await page.goto(address(origin, "Awaited", server))
    await page.get_by_role("button", name="Review the changes").click()
    await expect(person.heading("Please review the proposed database schema")).to_be_visible()
    await expect(person.button("Approve")).to_be_enabled()
    await person.page.keyboard.press("y")
    await expect(page.get_by_text("The migration is done.")).to_be_visible()


async def test_a_component_finds_its_question_again_when_the_page_is_loaded_anew(meeting: Meeting):
    origin, server, page, person = meeting
    await page.goto(address(origin, "Remembered", server))
    await page.get_by_role("button", name="Ask").click()
    await expect(person.heading("Which way?")).to_be_visible()
    kept = await page.evaluate("localStorage.getItem('review')")
    await page.reload()
    await expect(page.get_by_text("It is pending.")).to_be_visible()
    await page.goto("about:blank")
    # Nobody asks any more, and the question waits all the same.
    await person.page.keyboard.press("2")
    await person.sees("“right”")
    await page.goto(address(origin, "Remembered", server))
    await expect(page.get_by_text("They said right.")).to_be_visible()
    assert (await shown(server, kept))["response"] == "right"


async def test_a_component_sees_the_answer_over_the_death_of_the_server(meeting: Meeting):
    origin, server, page, person = meeting
    await page.goto(address(origin, "Remembered", server))
    await page.get_by_role("button", name="Ask").click()
    await expect(person.heading("Which way?")).to_be_visible()
    await server.kill()
    await person.sees("Can’t reach the server")
    await server.restart()
    await expect(person.page.get_by_text("Can’t reach the server")).to_have_count(0)
    await person.page.keyboard.press("1")
    await expect(page.get_by_text("They said left.")).to_be_visible()


async def test_the_address_of_the_server_is_enough_while_a_page_is_written(
    browser: Browser, examples: Path, tmp_path: Path
):
    """`--dev`: the provider has `baseUrl` alone, and a query of one's own follows the session."""
    with served(examples) as origin, served(examples) as other:
        options = ["--dev", f"--cors-origin={origin}"]
        async with (
            serving(tmp_path / "x.db", *FLOWS, options=options) as server,
            server.client() as http,
            await browser.new_context() as context,
        ):
            body = {"workflowId": "trip", "input": "Lisbon"}
            id = (await http.post("/sessions", json=body)).json()["sessionId"]
            page = await context.new_page()
            await page.goto(address(origin, "Simple", server, token=None, id=id))
            await expect(page.get_by_text("Go to Lisbon?")).to_be_visible()
            await expect(page.get_by_text("events, running")).to_be_visible()
            await page.get_by_role("button", name="Approve").click()
            await expect(page.get_by_text("events, stopped")).to_be_visible()
            await expect(page.get_by_role("status")).to_have_text("completed")
            # The same page from anywhere else shows nothing.
            await page.goto(address(other, "Simple", server, token=None, id=id))
            await expect(page.get_by_text("0 events, stopped")).to_be_visible()
            await expect(page.get_by_role("status")).to_have_text("")
