"""The inbox: what waits is there, is answered once, and everyone sees how it ended."""

import asyncio
import re

from playwright.async_api import Browser, Route, expect
from tests.browser.people import Person, at_a_browser
from tests.browser.story import begin, question_of, wait_until
from tests.servers import Server


async def test_a_question_comes_in_while_somebody_looks(person: Person, server: Server):
    await expect(person.heading("Inbox zero")).to_be_visible()
    await begin(server, "release", "Spring")
    await expect(person.heading("Publish Spring?")).to_be_visible()
    await person.sees("Mends late answers")
    await expect(person.page).to_have_title(re.compile(r"1"))


async def test_one_click_answers_and_the_session_goes_on(person: Person, server: Server):
    session = await begin(server, "release", "Spring")
    await person.button("Approve").click()
    await person.sees("Approved")
    await person.button("Next question").click()
    await expect(person.heading("Who should hear of it?")).to_be_visible()
    await person.page.get_by_role("button", name="testers").click()
    ended = await wait_until(server, session, "completed")
    assert ended["status"] == "completed"
    async with server.client() as http:
        asked = (await http.get("/interactions", params={"sessionId": session})).json()
    given = {
        one["prompt"].split("\n")[0]: one["response"]["value"] for one in asked["interactions"]
    }
    assert given == {"Publish Spring?": "yes", "Who should hear of it?": "testers"}


async def test_a_refusal_is_a_refusal(person: Person, server: Server):
    session = await begin(server, "release", "Spring")
    first = await question_of(server, session)
    await person.button("Reject").click()
    await person.sees("Rejected")
    await person.button("Next question").click()
    await person.sees("Repairs late answers")
    again = await question_of(server, session)
    assert again["id"] != first["id"]


async def test_of_two_people_who_answer_one_is_told(
    person: Person, browser: Browser, server: Server
):
    session = await begin(server, "release", "Spring")
    question = await question_of(server, session)
    sent, first_is_in = asyncio.Event(), asyncio.Event()

    async def keep_back(route: Route) -> None:
        sent.set()
        await first_is_in.wait()
        await route.continue_()

    async with at_a_browser(browser, server) as other:
        # The other's click leaves the page before the first answer comes, and arrives after it.
        await other.page.route("**/interactions/*/answer", keep_back)
        await other.visit(f"inbox/{question['id']}")
        await person.visit(f"inbox/{question['id']}")
        await other.button("Reject").click()
        await sent.wait()
        await person.button("Approve").click()
        await person.sees(re.compile("Approved"))
        first_is_in.set()
        await other.sees(re.compile("Your answer was not used|already answered", re.IGNORECASE))
    async with server.client() as http:
        kept = (await http.get(f"/interactions/{question['id']}")).json()
    assert kept["response"]["value"] == "yes"


async def test_whoever_claims_a_question_is_named_to_others(
    person: Person, browser: Browser, server: Server
):
    session = await begin(server, "release", "Spring")
    question = await question_of(server, session)
    await person.visit(f"inbox/{question['id']}")
    async with server.client() as http:
        body = {"by": "Ada", "ttlMs": 600_000}
        await http.post(f"/interactions/{question['id']}/claim", json=body)
    await person.sees(re.compile("Ada"))


async def test_a_dead_server_is_told_and_nothing_is_lost(person: Person, server: Server):
    await begin(server, "release", "Spring")
    await expect(person.heading("Publish Spring?")).to_be_visible()
    await server.kill()
    await person.sees("Can’t reach the server")
    await server.restart()
    await expect(person.page.get_by_text("Can’t reach the server")).to_have_count(0)
    await begin(server, "release", "Autumn")
    await expect(person.page.get_by_text("Publish Autumn?")).to_be_visible()
    await person.button("Approve").click()
    await person.sees("Who should hear of it?")
