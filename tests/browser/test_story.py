"""A person's way through the dashboard: start, approve, go back, fork, see both ends."""

import json
import re
from typing import Any

from playwright.async_api import expect
from tests.browser.people import Person
from tests.browser.story import begin, positions, wait_until
from tests.servers import Server


def session_at(person: Person) -> str:
    """The session whose page a person looks at."""
    found = re.search(r"/app/sessions/([^/?]+)", person.page.url)
    assert found, person.page.url
    return found[1]


async def start(person: Person, workflow: str, input: str) -> str:
    """Start a session from the form; gives its id."""
    await person.visit("sessions")
    # A list with nothing in it offers the same button a second time.
    await person.button("Start a session").first.click()
    form = person.page.get_by_role("form", name="Start a session")
    await form.get_by_label("Workflow").select_option(workflow)
    await form.get_by_label("Input").fill(input)
    await form.get_by_role("button", name="Start", exact=True).click()
    await expect(person.heading(re.compile("^Session "))).to_be_visible()
    return session_at(person)


async def state_of(server: Server, session: str) -> dict[str, Any]:
    async with server.client() as http:
        return (await http.get(f"/sessions/{session}/state")).json()["state"]


async def fork_here(person: Person, **changed: object) -> str:
    """Fork at the position that is shown, with another state; gives the fork's id."""
    before = session_at(person)
    await person.button("Fork here").click()
    dialog = person.page.get_by_role("dialog", name=re.compile("^Fork at"))
    field = dialog.get_by_label("State", exact=True)
    state = json.loads(await field.input_value())
    await field.fill(json.dumps({**state, **changed}))
    for value in changed.values():
        await expect(dialog.get_by_text(str(value)).last).to_be_visible()
    await dialog.get_by_role("button", name="Fork", exact=True).click()
    await expect(person.page).not_to_have_url(re.compile(f"/sessions/{before}"))
    return session_at(person)


async def test_start_approve_go_back_fork_and_see_both_ends(person: Person, server: Server):
    first = await start(person, "release", "Spring")
    await person.sees("Mends late answers")
    await person.button("Approve").click()
    await person.sees("Who should hear of it?")

    await server.kill()
    await person.sees("Can’t reach the server")
    await server.restart()
    await expect(person.page.get_by_text("Can’t reach the server")).to_have_count(0)

    await person.page.get_by_role("button", name="everyone").click()
    await person.sees("Completed")
    assert (await state_of(server, first))["published"] == "Spring is out"

    await expect(person.button("Pause")).to_have_count(0)
    await person.button("Fork here").click()
    await person.sees("This session completed here")
    await person.page.get_by_role("button", name=re.compile("^Fork before")).click()
    await expect(person.page.get_by_role("dialog", name=re.compile("^Fork at"))).to_be_visible()
    await person.page.keyboard.press("Escape")

    state = person.page.get_by_role("region", name="State", exact=True)
    await expect(state).to_contain_text("Spring is out")
    asked = (await positions(server, first))["input:requested"]
    await person.page.get_by_role("slider", name="Position").fill(str(asked))
    await expect(person.heading(re.compile(f"State at {asked}"))).to_be_visible()
    await expect(state).not_to_contain_text("Spring is out")
    await expect(state).to_contain_text("Spring")

    second = await fork_here(person, title="Autumn")
    await person.sees(f"forked from {first} at {asked}")
    await person.sees("Publish Autumn?")
    await person.button("Approve").click()
    await person.page.get_by_role("button", name="nobody yet").click()
    await person.sees("Completed")
    assert (await state_of(server, second))["published"] == "Autumn is out"
    assert (await state_of(server, first))["published"] == "Spring is out"

    await person.page.get_by_role("link", name="Forks").click()
    await person.page.get_by_label(f"Compare {first}").check()
    await person.page.get_by_label(f"Compare {second}").check()
    await person.button("Compare").click()
    await expect(person.heading("Compare sessions")).to_be_visible()
    await person.sees(f"The first {asked} events are shared")
    difference = person.page.get_by_role("region", name="Final state changes")
    await expect(difference).to_contain_text("Spring is out")
    await expect(difference).to_contain_text("Autumn is out")


async def test_the_server_is_killed_while_an_agent_works_and_nothing_is_lost(
    person: Person, server: Server
):
    gate = server.db.with_name("gate")
    session = await start(person, "gate", str(gate))
    await person.sees("Running")
    await server.kill()
    await server.restart()
    gate.touch()
    await person.sees("Completed")
    async with server.client() as http:
        events = (await http.get(f"/sessions/{session}/events")).json()["events"]
    names = [event["name"] for event in events]
    assert names.count("workflow:completed") == 1
    # What the page followed is what the log holds: nothing is missing, nothing is there twice.
    end = events[-1]["position"]
    await expect(person.page.get_by_text(re.compile(rf"^{end} / {end}$"))).to_be_visible()


async def test_pause_resume_and_cancel(person: Person, server: Server):
    session = await begin(server, "release", "Spring")
    await person.visit(f"sessions/{session}")
    await person.button("Pause").click()
    await person.sees("Paused")
    await person.button("Resume").click()
    await person.sees("Needs you")
    await person.button("Cancel").click()
    await person.button("Cancel the session").click()
    await person.sees("Cancelled")
    assert (await wait_until(server, session, "cancelled"))["pending"] == []


async def test_a_session_that_is_deleted_while_it_is_open_says_so(person: Person, server: Server):
    session = await begin(server, "broken", None)
    await person.visit(f"sessions/{session}")
    await person.sees("broken on purpose")
    async with server.client() as http:
        assert (await http.delete(f"/sessions/{session}")).status_code < 300
    await expect(person.heading("This session was deleted")).to_be_visible()


async def test_input_that_does_not_fit_is_told_in_the_form(person: Person):
    await person.visit("sessions?start=1")
    form = person.page.get_by_role("form", name="Start a session")
    await form.get_by_label("Workflow").select_option("count")
    await form.get_by_label("Input").fill("many")
    await form.get_by_role("button", name="Start", exact=True).click()
    await expect(form.get_by_role("alert")).to_be_visible()


async def test_a_family_of_many_forks_is_shown_whole(person: Person, server: Server):
    first = await begin(server, "release", "Spring", sessionId="spring")
    await wait_until(server, first, "waiting")
    many = 120
    async with server.client() as http:
        for number in range(many):
            body = {"sessionId": f"fork-{number:03}", "run": False}
            (await http.post(f"/sessions/{first}/fork", json=body)).raise_for_status()
    await person.visit(f"sessions/{first}/family")
    await expect(person.page.get_by_role("checkbox")).to_have_count(many + 1)
    await expect(person.page.get_by_label("Compare fork-119")).to_be_visible()
    await expect(person.page.get_by_text("It has more")).to_have_count(0)
    async with server.client() as http:
        for number in range(many, 310):
            body = {"sessionId": f"fork-{number:03}", "run": False}
            (await http.post(f"/sessions/{first}/fork", json=body)).raise_for_status()
    await person.sees("Showing 300 of these sessions")
