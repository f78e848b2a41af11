"""A failed session: why it failed, and how to try again."""

import re
from typing import Any

from playwright.async_api import Route, expect
from tests.browser.looks import sideways
from tests.browser.people import Person
from tests.browser.story import begin, positions, wait_until
from tests.servers import Server

TRACEBACK = """Traceback (most recent call last):
  File "flows.py", line 81, in courier
    raise RuntimeError("The road is closed.")
RuntimeError: The road is closed.
"""


async def failed(server: Server) -> str:
    session = await begin(server, "delivery", None)
    await wait_until(server, session, "failed")
    return session


async def retried(person: Person, server: Server, session: str) -> dict[str, Any]:
    """The session to which the browser went after a retry."""
    await expect(person.page).not_to_have_url(re.compile(session))
    [again] = re.findall(r"/sessions/([^/?]+)", person.page.url)
    async with server.client() as http:
        found: dict[str, Any] = (await http.get(f"/sessions/{again}")).json()
    assert found["parent"] == session
    return found


async def test_one_click_retries_from_the_failed_phase(person: Person, server: Server):
    session = await failed(server)
    await person.visit(f"sessions/{session}")
    await expect(person.heading("Failed in deliver")).to_be_visible()
    await person.sees("The road is closed.")
    await person.button("Retry from deliver").click()
    again = await retried(person, server, session)
    await wait_until(server, again["sessionId"], "failed")
    async with server.client() as http:
        state = (await http.get(f"/sessions/{again['sessionId']}/state")).json()["state"]
    assert state["packed"] == 1
    await person.page.get_by_role("link", name="Compare with the failed session").click()
    await expect(person.page).to_have_url(re.compile("compare"))


async def test_what_was_wrong_is_mended_before_the_retry(person: Person, server: Server):
    session = await failed(server)
    await person.visit(f"sessions/{session}")
    await person.button("Edit and retry…").click()
    dialog = person.page.get_by_role("dialog")
    state = dialog.get_by_label("State", exact=True)
    await state.fill((await state.input_value()).replace("closed", "open"))
    await dialog.get_by_role("button", name="Retry", exact=True).click()
    again = await retried(person, server, session)
    await wait_until(server, again["sessionId"], "completed")
    await person.sees("Completed")
    assert again["forkPosition"] > 1


async def test_a_retry_from_any_point_of_the_timeline(person: Person, server: Server):
    session = await failed(server)
    first = (await positions(server, session))["phase:entered"] - 1
    await person.visit(f"sessions/{session}?at={first}")
    await person.button(f"Retry from position {first}…").click()
    dialog = person.page.get_by_role("dialog", name=f"Retry from position {first}")
    await dialog.get_by_role("button", name="Retry", exact=True).click()
    again = await retried(person, server, session)
    assert again["forkPosition"] == first


async def test_the_traceback_is_folded_below_the_ways_to_retry(person: Person, server: Server):
    session = await failed(server)

    async with server.client() as http:
        told = (await http.get(f"/sessions/{session}")).json()
    told["error"]["traceback"] = TRACEBACK

    async def with_traceback(route: Route) -> None:
        await route.fulfill(json=told)

    await person.page.route(f"{person.address}/sessions/{session}", with_traceback)
    await person.visit(f"sessions/{session}")
    lines = person.page.get_by_role("region", name="Traceback")
    await expect(person.page.get_by_text("Traceback", exact=True)).to_be_visible()
    await expect(lines).not_to_be_visible()
    await person.page.get_by_text("Traceback", exact=True).click()
    await expect(lines).to_contain_text("line 81, in courier")
    button = await person.button("Retry from deliver").bounding_box()
    shown = await lines.bounding_box()
    assert button
    assert shown
    assert button["y"] < shown["y"]
    for width in (390, 768, 1024, 1440):
        await person.page.set_viewport_size({"width": width, "height": 900})
        assert await sideways(person.page) <= 0
        shown = await lines.bounding_box()
        assert shown
        assert shown["x"] + shown["width"] <= width


async def test_only_a_failed_session_can_be_retried(person: Person, server: Server):
    session = await begin(server, "release", "Spring")
    await person.visit(f"sessions/{session}")
    await person.sees("Needs you")
    await expect(person.page.get_by_role("button", name=re.compile("[Rr]etry"))).to_have_count(0)
