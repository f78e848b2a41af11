"""Home and the pages of workflows: what they show, by keys alone, at every width."""

import re
import sqlite3
import time
from contextlib import closing
from pathlib import Path

from playwright.async_api import Browser, expect
from tests.browser.looks import faults, sideways
from tests.browser.people import Person, at_a_browser
from tests.browser.story import begin, question_of, wait_until
from tests.servers import Server

HOUR = 3_600_000
WIDTHS = (390, 768, 1024, 1440)


def remember(path: Path) -> None:
    """Runs of the last month, as a server that is not new has them."""
    now = int(time.time() * 1000)
    rows = [
        (f"old-{number:03}", now - number * 5 * HOUR - 1, now - number * 5 * HOUR + 900 * number)
        for number in range(1, 120)
    ]
    with closing(sqlite3.connect(path, timeout=30)) as database, database:
        for id, created, ended in rows:
            outcome = "failed" if id.endswith("7") else "completed"
            database.execute(
                "INSERT INTO streams (id, head, updated_at, settled) VALUES (?, 0, ?, 0)",
                (id, ended),
            )
            database.execute(
                "INSERT INTO sessions (id, workflow, created_at, phase, ended, ended_at, "
                "input_tokens, output_tokens) VALUES (?, 'release', ?, 'draft', ?, ?, 1200, 80)",
                (id, created, outcome, ended),
            )


async def go(person: Person, keys: str, heading: str) -> None:
    for key in keys.split():
        await person.page.keyboard.press(key)
    await expect(person.page.get_by_role("heading", name=heading, level=1)).to_be_visible()


async def well_made(person: Person) -> None:
    """Nothing that axe finds, and nothing that scrolls sideways."""
    assert await faults(person.page) == []
    for width in WIDTHS:
        await person.page.set_viewport_size({"width": width, "height": 800})
        assert await sideways(person.page) <= 0, width
    await person.page.set_viewport_size({"width": 1280, "height": 800})


async def test_by_keys_from_home_to_the_workflow_that_failed(
    browser: Browser, server: Server, tmp_path: Path
):
    # For axe only, whose script the policy would forbid.
    async with at_a_browser(browser, server, bypass_csp=True) as person:
        await walk(person, server, tmp_path / "x.db")


async def walk(person: Person, server: Server, database: Path) -> None:
    """Empty, then full: home, answer, workflows, the one that failed, retry."""
    await person.visit()
    await expect(person.heading("Welcome to Callboard")).to_be_visible()
    await well_made(person)

    remember(database)
    failed = await begin(server, "broken", None)
    await wait_until(server, failed, "failed")
    asked = await question_of(server, await begin(server, "release", "Spring"))
    await person.visit()
    await expect(person.page.get_by_role("img", name=re.compile(r"^12\d runs"))).to_be_visible()
    await expect(person.page.get_by_role("region", name="Needs you")).to_contain_text("Publish")
    await expect(person.page.get_by_role("region", name="Failed recently")).to_contain_text(
        "broken"
    )
    await well_made(person)

    await person.page.get_by_role("link", name="Answer: Publish Spring?").press("Enter")
    await expect(person.page).to_have_url(re.compile(f"/inbox/{asked['id']}$"))
    await go(person, "g h", "Home")
    await go(person, "g w", "Workflows")
    await expect(
        person.page.get_by_role("link", name=re.compile("^release Runs: 120"))
    ).to_be_visible()
    await well_made(person)

    await person.page.get_by_role("link", name=re.compile("^broken")).press("Enter")
    await expect(person.page.get_by_role("heading", name="broken", level=1)).to_be_visible()
    await expect(person.page.get_by_role("region", name="Last failure")).to_be_visible()
    await expect(person.page.get_by_text("Traceback", exact=True)).to_be_visible()
    await well_made(person)

    await go(person, "g h", "Home")
    await person.page.get_by_role("button", name="Retry").first.press("Enter")
    await person.sees("Retry started.")
