"""Interactive sessions in the dashboard: read, decided by a form, and ended."""

import re
from typing import Any

import pytest
from playwright.async_api import Browser, Locator, expect
from tests.browser.people import Person, at_a_browser
from tests.browser.story import ask, begin, complete, question_of, shown, wait_until
from tests.servers import Server

PHONE = {"width": 390, "height": 844}


def group(person: Person, name: str) -> Locator:
    """The fields that belong together under a name."""
    return person.page.get_by_role("group", name=name, exact=True)


async def opens(person: Person, question: str) -> None:
    """Go to a question."""
    await person.visit(f"inbox/{question}")
    await expect(person.page.get_by_role("article")).to_be_visible()


async def test_a_phase_is_decided_by_a_form(person: Person, server: Server):
    session = await begin(server, "audit", "Website 2.5")
    question = (await question_of(server, session))["id"]
    await opens(person, question)
    for told in ("A token is written to the log", "opus", "/home/ada/website", "30 min"):
        await person.sees(told)
    await person.sees("/home/ada/audit.json")
    await person.sees("Help a security engineer to understand each finding.")

    await group(person, "Approved").get_by_label("Yes").check()
    await group(person, "Risk optional").get_by_label("medium").check()
    await person.page.get_by_label("Notes for the author").fill("Rotate the token.")
    await person.button("Add to Findings").click()
    finding = group(person, "Finding 1")
    await expect(finding.get_by_label("Title")).to_be_focused()
    await finding.get_by_label("Title").fill("Token in the log")
    await finding.get_by_label("high").check()
    await finding.get_by_label("Line").fill("12")
    await person.button("Send the decision").click()

    await person.sees("Decided")
    ended = await wait_until(server, session, "completed")
    assert ended["phase"] == "publish"
    async with server.client() as http:
        state = (await http.get(f"/sessions/{session}/state")).json()["state"]
    assert state["verdict"] == {
        "approved": True,
        "risk": "medium",
        "notes": "Rotate the token.",
        "findings": [{"title": "Token in the log", "risk": "high", "line": 12}],
    }
    kept = await shown(server, question)
    assert (kept["status"], kept["durationMs"] > 0) == ("completed", True)


async def test_what_is_wrong_stands_at_its_field(person: Person, server: Server):
    session = await begin(server, "audit", "Website 2.5")
    question = (await question_of(server, session))["id"]
    await opens(person, question)
    await person.button("Send the decision").click()
    # What the form itself knows: it sends nothing, and leads to the first of them.
    await expect(person.page.get_by_role("alert")).to_contain_text("2 fields need another look")
    await expect(group(person, "Approved").get_by_label("Yes")).to_be_focused()
    notes = person.page.get_by_label("Notes for the author")
    await expect(notes).to_have_attribute("aria-invalid", "true")
    await expect(notes).to_have_accessible_description("Fill this in.")

    await group(person, "Approved").get_by_label("No").check()
    await notes.fill("Not yet.")
    ticket = person.page.get_by_label("Ticket")
    await ticket.fill("twelve")
    await person.button("Send the decision").click()
    # What only the server knows.
    await expect(ticket).to_have_attribute("aria-invalid", "true")
    await expect(ticket).to_have_accessible_description(re.compile("does not match"))
    assert (await shown(server, question))["status"] == "pending"

    await ticket.fill("SEC-12")
    await expect(ticket).to_have_attribute("aria-invalid", "false")
    await ticket.press("Control+Enter")
    await person.sees("Decided")
    assert (await wait_until(server, session, "completed"))["phase"] == "drop"


async def test_it_is_decided_with_keys_alone(person: Person, server: Server):
    session = await begin(server, "audit", "Website 2.5")
    question = (await question_of(server, session))["id"]
    await opens(person, question)
    await expect(person.button("Send the decision")).to_be_visible()
    keyboard = person.page.keyboard
    await keyboard.press("e")
    await expect(group(person, "Approved").get_by_label("Yes")).to_be_focused()
    await keyboard.press("Space")
    await keyboard.press("Tab")
    await keyboard.press("Tab")
    await keyboard.type("Looks good: no yes")
    await keyboard.press("Control+Enter")
    await person.sees("Decided")
    kept = await shown(server, question)
    assert kept["response"]["approved"] is True
    assert kept["response"]["notes"] == "Looks good: no yes"


@pytest.mark.parametrize(
    ("schema", "keys", "response", "said"),
    [
        ({"type": "approval"}, "y", "approved", "Approved"),
        ({"type": "approval"}, "n", "rejected", "Rejected"),
        ({"type": "selection", "options": ["left", "right"]}, "2", "right", "“right”"),
        (None, "n", "rejected", "Rejected"),
    ],
)
async def test_one_key_decides_what_needs_no_form(
    person: Person, server: Server, schema: Any, keys: str, response: Any, said: str
):
    question = await ask(server, "Which way?", outcomeSchema=schema)
    await opens(person, question)
    await expect(
        person.page.get_by_role("button", name=re.compile("Approve|right"))
    ).to_be_visible()
    await person.page.keyboard.press(keys)
    await person.sees(said)
    kept = await shown(server, question)
    assert (kept["status"], kept["response"]) == ("completed", response)


@pytest.mark.parametrize(
    ("schema", "label"),
    [({"type": "freeform"}, "Your decision"), (None, "Or in your own words")],
)
async def test_words_decide(person: Person, server: Server, schema: Any, label: str):
    question = await ask(server, "What now?", outcomeSchema=schema)
    await opens(person, question)
    await person.page.get_by_label(label).fill("Wait for Ada, she knows.")
    # What is half written is still there after another page.
    await person.visit("sessions")
    await opens(person, question)
    await person.page.get_by_label(label).press("Control+Enter")
    await person.sees("“Wait for Ada, she knows.”")
    assert (await shown(server, question))["response"] == "Wait for Ada, she knows."
    assert await person.page.evaluate("sessionStorage.length") == 0


async def test_json_is_written_where_no_field_would_do(person: Person, server: Server):
    schema = {"type": "object", "additionalProperties": {"type": "integer"}}
    question = await ask(
        server, "Limits?", outcomeSchema={"type": "structured", "jsonSchema": schema}
    )
    await opens(person, question)
    editor = person.page.get_by_label("The decision, as JSON")
    await editor.fill('{"cpu": }')
    await person.button("Send the decision").click()
    await expect(editor).to_have_accessible_description(re.compile("not valid JSON"))
    await editor.fill('{"cpu": "four"}')
    await person.button("Send the decision").click()
    await expect(editor).to_have_accessible_description(re.compile('"four" is not of type'))
    await editor.fill('{"cpu": 4}')
    await person.button("Send the decision").click()
    await person.sees("Decided")
    assert (await shown(server, question))["response"] == {"cpu": 4}


async def test_the_form_and_its_json_say_the_same(person: Person, server: Server):
    session = await begin(server, "audit", "Website 2.5")
    question = (await question_of(server, session))["id"]
    await opens(person, question)
    await person.page.get_by_label("Notes for the author").fill("From the form.")
    await person.button("Write it as JSON").click()
    editor = person.page.get_by_label("The decision, as JSON")
    await expect(editor).to_have_value(re.compile("From the form."))
    await editor.fill('{"approved": false, "notes": "From JSON.", "more": 1}')
    # The form has no field for one of these.
    await expect(person.button("Back to the form")).to_be_disabled()
    await editor.fill('{"approved": false, "notes": "From JSON."}')
    await person.button("Back to the form").click()
    await expect(person.page.get_by_label("Notes for the author")).to_have_value("From JSON.")
    await expect(group(person, "Approved").get_by_label("No")).to_be_checked()


async def test_each_of_several_people_decides(person: Person, browser: Browser, server: Server):
    people = ["ada", "grace"]
    question = await ask(
        server, "Merge it?", outcomeSchema={"type": "approval"}, requiredParticipants=people
    )
    await opens(person, question)
    async with at_a_browser(browser, server) as other:
        await opens(other, question)
        await expect(person.button("Approve")).to_be_disabled()
        await group(person, "You decide as").get_by_label("ada").check()
        await person.page.get_by_role("button", name=re.compile("^Approve")).click()
        for both in (person, other):
            await both.sees("1 of 2 people have decided")
        assert (await shown(server, question))["status"] == "pending"
        await group(other, "You decide as").get_by_label("grace").check()
        await other.page.get_by_role("button", name=re.compile("^Reject")).click()
        for both in (person, other):
            await both.sees("ada: Approved, grace: Rejected")
    kept = await shown(server, question)
    assert kept["response"] == {"ada": "approved", "grace": "rejected"}


async def test_it_ends_without_a_decision_when_that_is_said_twice(person: Person, server: Server):
    session = await begin(server, "audit", "Website 2.5")
    question = (await question_of(server, session))["id"]
    await opens(person, question)
    await person.button("Dismiss without deciding…").click()
    await person.button("Cancel").click()
    assert (await shown(server, question))["status"] == "pending"
    await person.button("Dismiss without deciding…").click()
    await person.button("Dismiss").click()
    await person.sees("Dismissed without a decision")
    assert (await shown(server, question))["status"] == "cancelled"
    assert (await wait_until(server, session, "completed"))["phase"] == "drop"


async def test_whoever_writes_holds_it_and_whoever_holds_it_is_named(
    person: Person, browser: Browser, server: Server
):
    question = await ask(server, "What now?", outcomeSchema={"type": "freeform"})
    async with at_a_browser(browser, server) as other:
        await opens(other, question)
        await opens(person, question)
        await person.page.get_by_label("Answering as").fill("grace")
        await person.page.get_by_label("Your decision").fill("I think")
        await other.sees(re.compile("grace.* is on this"))
    held = await ask(server, "And now?")
    async with server.client() as http:
        body = {"by": "ada (attend 12.34@laptop)", "ttlMs": 600_000}
        await http.post(f"/interactions/{held}/claim", json=body)
    await opens(person, held)
    await person.sees("ada, in a terminal on laptop,")


async def test_a_decision_that_comes_second_is_told(person: Person, server: Server):
    question = await ask(server, "Merge it?", outcomeSchema={"type": "approval"})
    await opens(person, question)
    await expect(person.page.get_by_role("button", name=re.compile("^Approve"))).to_be_visible()
    await complete(server, question, response="rejected", by="Ada")
    await person.sees("Rejected")
    await person.sees(", as “Ada”")


async def test_large_context_is_folded_and_nothing_in_it_can_act(person: Person, server: Server):
    rows = [{"id": n, "text": "x" * 100} for n in range(5000)]
    prompt = "Look\u202e at this <img src=x onerror=alert(1)>"
    evil = {"title": "<b>Bold</b>\u202e", "description": "<script>alert(1)</script>"}
    schema = {"type": "object", "properties": {"a": {"type": "string", **evil}}}
    question = await ask(server, prompt, context={"rows": rows}, outcomeSchema=schema)
    await opens(person, question)
    await expect(person.heading(re.compile(r"Look\\u202e at this <img"))).to_be_visible()
    await expect(person.page.get_by_label(r"<b>Bold</b>\u202e")).to_be_visible()
    await person.sees("<script>alert(1)</script>")
    brief = person.page.get_by_role("region", name="What it is about")
    await expect(brief.get_by_role("region", name="Context")).to_have_count(0)
    await brief.get_by_text("Context").click()
    await expect(brief.get_by_role("region", name="Context")).to_be_visible()


async def test_the_page_of_a_session_asks_the_same(person: Person, server: Server):
    session = await begin(server, "audit", "Website 2.5")
    await question_of(server, session)
    await person.visit(f"sessions/{session}")
    await person.sees("A token is written to the log")
    await group(person, "Approved").get_by_label("Yes").check()
    await person.page.get_by_label("Notes for the author").fill("Fine.")
    await person.button("Send the decision").click()
    await wait_until(server, session, "completed")
    await person.sees("Workflow is waiting for this")


async def test_a_form_is_filled_in_on_a_phone(browser: Browser, server: Server):
    session = await begin(server, "audit", "Website 2.5")
    await question_of(server, session)
    async with at_a_browser(browser, server, viewport=PHONE, has_touch=True) as person:
        await person.visit("inbox")
        await person.page.get_by_role("link", name="May Website 2.5 go out?").tap()
        await group(person, "Approved").get_by_text("Yes").tap()
        await person.page.get_by_label("Notes for the author").fill("Fine.")
        await person.button("Send the decision").tap()
        await person.sees("Decided")
    assert (await wait_until(server, session, "completed"))["phase"] == "publish"
