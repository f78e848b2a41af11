"""An answer is shown as accepted until the agent has confirmed it, and then as what happened."""

import asyncio
import re
from typing import Any

from playwright.async_api import Browser, Locator, Route, expect
from tests.browser.agents import Agent
from tests.browser.people import Person, at_a_browser
from tests.servers import Server

WITHIN = 90
CONFIRM = "Waiting for the agent to confirm"


def card(person: Person) -> Locator:
    """The plate of the agent."""
    return person.page.get_by_role("article", name=re.compile("^proj"))


def press(person: Person, name: str) -> Locator:
    """A button of the question."""
    return person.page.get_by_role("button", name=re.compile(f"^{name}"))


async def printed(held: "asyncio.Task[dict[str, Any]]") -> dict[str, Any]:
    """What the held hook prints in the end."""
    async with asyncio.timeout(WITHIN):
        return await held


async def test_an_answer_is_delivered_once_the_agent_goes_on(
    person: Person, browser: Browser, server: Server
):
    agent = Agent(server, "permission")
    async with at_a_browser(browser, server) as other, agent.asking() as held:
        await expect(press(other, "Allow")).to_be_enabled()
        await press(person, "Allow").click()
        await printed(held)
        closed = person.page.get_by_role("status").filter(has_text="Allowed")
        await expect(closed).to_contain_text(CONFIRM)
        await expect(closed).to_contain_text(re.compile("by .+"))
        # It is closed to everybody else, and says why.
        await other.sees(CONFIRM)
        await expect(press(other, "Allow")).to_have_count(0)
        await expect(press(other, "Deny")).to_have_count(0)
        await expect(person.page.get_by_role("link", name=re.compile("^Inbox"))).to_have_text(
            re.compile("^ ?Inbox$")
        )
        await agent.say("PostToolUse")
        for both in (person, other):
            await both.sees("Delivered")
            await expect(both.page.get_by_text(CONFIRM)).to_have_count(0)


async def test_what_the_terminal_did_instead_is_shown(person: Person, server: Server):
    agent = Agent(server, "permission")
    async with agent.asking() as held:
        await press(person, "Deny").click()
        await printed(held)
        await person.sees(CONFIRM)
        # The call ran all the same: somebody had said yes in the terminal.
        await agent.say("PostToolUse")
        await person.sees("Overruled in the terminal: it was allowed there")
        await person.sees(re.compile("^The answer from .+ was: Denied"))
        await person.page.get_by_role("link", name="View agent").click()
        await person.sees("Overruled in the terminal: it was allowed there")
        await person.page.get_by_role("tab", name="Events").click()
        timeline = person.page.get_by_role("region", name="Timeline")
        await expect(timeline).to_contain_text("Answer accepted by")
        await expect(timeline).to_contain_text("Overruled in the terminal")


async def test_a_card_says_what_became_of_its_answer(person: Person, server: Server):
    agent = Agent(server, "permission")
    await person.visit("board")
    async with agent.asking() as held:
        await card(person).get_by_role("button", name="Deny", exact=True).click()
        await printed(held)
        await expect(card(person)).to_contain_text(re.compile(f"Denied by .*{CONFIRM}"))
        await agent.say("PostToolUse")
        await expect(card(person)).to_contain_text(
            "Overruled in the terminal: it was allowed there"
        )


async def test_nothing_is_said_to_be_answered_while_it_is_sent(person: Person, server: Server):
    agent = Agent(server, "permission")
    sent, go = asyncio.Event(), asyncio.Event()

    async def keep_back(route: Route) -> None:
        sent.set()
        await go.wait()
        await route.continue_()

    await person.page.route("**/interactions/*/answer", keep_back)
    async with agent.asking() as held:
        await press(person, "Allow").click()
        await sent.wait()
        await person.sees("Sending…")
        await expect(press(person, "Deny")).to_be_disabled()
        go.set()
        await printed(held)
        await person.sees(CONFIRM)


async def test_the_name_that_was_only_given_stands_beside_the_other(person: Person, server: Server):
    async with server.client() as http:
        body = {"type": "confirmation", "prompt": "Is it so?"}
        id = (await http.post("/interactions", json=body)).json()["id"]
        answer = {"approved": True, "by": "dana"}
        (await http.post(f"/interactions/{id}/answer", json=answer)).raise_for_status()
    await person.visit(f"inbox/{id}")
    await person.sees("by admin, as “dana”")


async def test_every_question_is_declined_with_a_message(person: Person, server: Server):
    sent: list[Any] = []

    async def refuse(route: Route) -> None:
        # What the page sends is looked at; nothing is decided.
        sent.append(route.request.post_data_json)
        told = {"error": {"code": "VALIDATION_ERROR", "message": "Not now."}}
        await route.fulfill(status=400, json=told)

    await person.page.route(re.compile("/interactions/.*/(answer|complete)$"), refuse)
    async with server.client() as http:
        asked = {"prompt": "Is it so?"}
        verdict = (await http.post("/interactions", json=asked | {"type": "approval"})).json()["id"]
        words = (await http.post("/interactions", json=asked | {"type": "input"})).json()["id"]

    async def declines(summary: str, button: str) -> None:
        await person.page.get_by_text(summary).click()
        await person.page.get_by_label("Message (optional)").fill("Later.")
        await person.button(button).click()
        await person.sees("Not now.")

    await person.visit(f"inbox/{verdict}")
    await declines("Reject with a message…", "Send rejection")
    await person.visit(f"inbox/{words}")
    await declines("Decline to answer…", "Decline")
    agent = Agent(server, "question")
    await person.visit("board")
    async with agent.asking():
        await declines("Decline to answer…", "Decline")
    no = {"approved": False, "message": "Later."}
    assert [sent[0], sent[2]] == [{"value": no}, {"value": no}]
    assert (sent[1]["outcome"], sent[1]["error"]) == ("cancelled", "Later.")
