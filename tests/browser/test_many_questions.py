"""The inbox with a thousand questions: found, answered together, assigned; by keyboard too."""

import asyncio
import re

from playwright.async_api import Browser, expect
from tests.browser.looks import faults, sideways
from tests.browser.people import Person, at_a_browser
from tests.browser.story import begin, question_of, wait_until
from tests.servers import Server

from callboard import Callboard

MANY = 1000


async def ask_many(server: Server) -> list[str]:
    """A thousand approvals of refunds; every tenth is for ada."""
    async with Callboard.open(server.db) as board:
        asked = [
            board.people.ask(
                type="approval",
                prompt=f"Refund order {number:04}?",
                assignees=["ada"] if number % 10 == 0 else None,
            )
            for number in range(MANY)
        ]
        return [one.id for one in await asyncio.gather(*asked)]


async def test_a_thousand_questions_are_found_and_answered_together(
    browser: Browser, server: Server
):
    ids = await ask_many(server)
    # The page's policy would keep axe out, too.
    async with at_a_browser(browser, server, bypass_csp=True) as person:
        await answer_some(person, server, ids)


async def test_what_is_beyond_the_list_is_found_by_the_server(person: Person, server: Server):
    await ask_many(server)
    async with Callboard.open(server.db) as board:
        await board.people.ask(type="approval", prompt="Publish the very last one?")
    await person.visit("inbox")
    await person.sees("More than 1,000 open questions")
    await person.sees("The 1,000 oldest are listed. Search or filter to find the others.")
    await person.page.keyboard.press("/")
    await person.page.keyboard.type("publish last")
    await person.page.get_by_role("link", name="Publish the very last one?").click()
    await expect(person.heading("Publish the very last one?")).to_be_visible()
    await person.sees("1 of more than 1,000 open questions")


async def answer_some(person: Person, server: Server, ids: list[str]) -> None:
    page = person.page
    await begin(server, "release", "Spring")
    await person.visit("inbox")
    await person.sees("open questions")
    rows = page.get_by_role("navigation", name="Questions").get_by_role("listitem")
    await expect(rows.first).to_be_visible()
    assert await rows.count() < 100
    assert await faults(page) == []

    await page.keyboard.press("/")
    await page.keyboard.type("order 033")  # 0033, and 0330 to 0339.
    await expect(rows).to_have_count(11)
    await page.keyboard.press("Escape")
    await page.get_by_label("Assigned to").select_option("Unassigned")
    await expect(rows).to_have_count(10)
    assert "assigned=none" in page.url

    await person.button("Save view").click()
    await page.get_by_label("Name").fill("Refunds")
    await page.get_by_role("dialog").get_by_role("button", name="Save view").click()
    await page.get_by_role("link", name="All", exact=True).click()
    await expect(rows.nth(12)).to_be_visible()
    await page.get_by_role("link", name="Refunds").click()
    await expect(rows).to_have_count(10)

    for _ in range(3):
        await page.keyboard.press("j")
        await page.keyboard.press("x")
    await person.sees("3 selected")
    assert await faults(page) == []
    await person.button("Approve…").click()
    await expect(page.get_by_role("dialog").get_by_role("listitem")).to_have_count(3)
    assert await faults(page) == []
    await person.button("Approve 3").click()
    await person.sees("3 approvals")
    await page.keyboard.press("u")
    await expect(page.get_by_text("3 approvals")).to_have_count(0)

    await page.get_by_label(re.compile("Select: Refund order 0331")).check()
    await page.get_by_label(re.compile("Select: Refund order 0332")).check()
    await person.button("Reject…").click()
    await person.button("Reject 2").click()
    await expect(rows).to_have_count(8)
    async with server.client() as http:
        answers = [(await http.get(f"/interactions/{ids[n]}")).json() for n in (331, 332, 333)]
    assert [one["status"] for one in answers] == ["completed", "completed", "pending"]
    assert await sideways(page) <= 0


async def test_a_question_is_assigned_by_a_key_and_grouped(person: Person, server: Server):
    page = person.page
    session = await begin(server, "release", "Spring")
    question = await question_of(server, session)
    async with server.client() as http:
        body = {"type": "approval", "prompt": "Pay?", "assignees": ["ada", "group:finance"]}
        await http.post("/interactions", json=body)
    await person.visit(f"inbox/{question['id']}?group=workflow")
    await expect(person.heading(re.compile("^release"))).to_be_visible()
    await person.sees("Assigned to ada or the finance group")
    await expect(page.get_by_text("can answer.")).to_have_count(0)
    await page.keyboard.press("a")
    await expect(person.button("Unassign")).to_be_visible()
    async with server.client() as http:
        assigned = (await http.get(f"/interactions/{question['id']}")).json()
    assert assigned["assignedTo"]
    assert assigned["claimedBy"] is None
    await person.button("Unassign").click()
    await expect(person.button("Unassign")).to_have_count(0)
    await person.button("Approve").click()
    await person.sees("Who should hear of it?")
    await wait_until(server, session, "waiting")
