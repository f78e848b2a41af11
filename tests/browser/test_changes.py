"""What an agent changed: files, diffs, comments that become a message, and the pull request."""

import json
import os
import re
from pathlib import Path

from playwright.async_api import Browser, Locator, expect
from tests.browser.looks import faults, sideways
from tests.browser.people import Person, at_a_browser
from tests.browser.transcripts import Transcript, put_on_board
from tests.repositories import TestRepository, new_repository
from tests.servers import Server, serving

BEFORE = "".join(f"def part_{number}():\n    return {number}\n\n\n" for number in range(12))
PULL = {
    "number": 12,
    "title": "Refuse unknown accounts",
    "url": "https://example.com/pull/12",
    "state": "OPEN",
    "isDraft": False,
    "statusCheckRollup": [
        {
            "__typename": "CheckRun",
            "name": "lint",
            "status": "COMPLETED",
            "conclusion": "FAILURE",
            "detailsUrl": "https://example.com/run/1",
        }
    ],
}


def script_gh(folder: Path) -> str:
    """A `gh` that knows one pull request; returns the PATH that has it first."""
    folder.mkdir()
    (folder / "told.json").write_text(json.dumps(PULL))
    (folder / "gh").write_text(f"#!/bin/sh\ncat {folder}/told.json\n")
    (folder / "gh").chmod(0o755)
    return f"{folder}:{os.environ['PATH']}"


def file(person: Person, name: str) -> Locator:
    return person.page.get_by_role("article", name=name, exact=True)


async def messages(server: Server, plate: str) -> list[str]:
    async with server.client() as http:
        told = (await http.get(f"/plates/{plate}/messages")).json()["messages"]
    return [one["text"] for one in told]


def change(repository: TestRepository) -> None:
    """Changes of every kind that the page distinguishes."""
    changed = BEFORE.replace("return 3", 'raise ValueError("no \u202ereal")')
    repository.write("ledger.py", changed)
    repository.git("mv", "old.txt", "new.txt")
    (repository.root / "logo.png").write_bytes(bytes(range(256)))
    repository.write("accounts.py", "class Unknown(Exception):\n    pass\n")
    repository.git("add", "accounts.py")


async def test_changes_are_reviewed_and_commented_on(browser: Browser, tmp_path: Path):
    home = tmp_path / "claude"
    repository = new_repository(tmp_path)
    repository.write("ledger.py", BEFORE)
    repository.write("old.txt", "one\ntwo\nthree\n")
    repository.commit()
    env = {"CLAUDE_CONFIG_DIR": str(home), "PATH": script_gh(tmp_path / "bin")}
    async with (
        serving(tmp_path / "x.db", env=env) as server,
        at_a_browser(browser, server, bypass_csp=True) as person,
    ):
        plate = await put_on_board(server, Transcript(home), cwd=str(repository.root))
        await person.visit(f"board/{plate}?view=changes")
        await person.sees("No changes.")
        change(repository)
        await person.button("Refresh").click()
        await person.sees("4 files changed")
        for name, said in {
            "accounts.py": "New",
            "ledger.py": "Not staged",
            "logo.png": "Binary",
            "new.txt": "from old.txt",
        }.items():
            await expect(file(person, name)).to_contain_text(said)
        await expect(file(person, "accounts.py")).to_contain_text("Staged")
        # The first one is open, the others are loaded when they are.
        await expect(file(person, "accounts.py")).to_contain_text("class Unknown")
        await file(person, "ledger.py").get_by_role("button").first.click()
        await expect(file(person, "ledger.py")).to_contain_text(
            r'raise ValueError("no \u202ereal")'
        )
        await expect(file(person, "ledger.py").locator(".code--keyword").first).to_be_visible()
        await comment(person)
        assert await faults(person.page) == []
        for width in (390, 768, 1440):
            await person.page.set_viewport_size({"width": width, "height": 900})
            assert await sideways(person.page) <= 0, width
        await send_comments(person, server, plate, repository)
        await person.page.get_by_label("Compare with").select_option("the last commit")
        await person.sees("4 files changed")
        await send_check(person, server, plate)


async def comment(person: Person) -> None:
    """Write one with the keyboard alone, and change it."""
    ledger = file(person, "ledger.py")
    await ledger.get_by_role("button", name=re.compile("^Comment on")).first.focus()
    for _ in range(4):
        await person.page.keyboard.press("ArrowDown")
    await person.page.keyboard.press("Enter")
    field = person.page.get_by_role("textbox", name="Comment", exact=True)
    await expect(field).to_be_focused()
    await person.page.keyboard.type("Use our own error.")
    await person.page.keyboard.press("Control+Enter")
    await ledger.get_by_role("button", name="Edit").click()
    await field.fill("Use Unknown here.")
    await person.button("Save").click()
    await expect(ledger).to_contain_text("Use Unknown here.")
    await person.page.reload()
    await expect(file(person, "ledger.py")).to_contain_text("1 comment")


async def send_comments(
    person: Person, server: Server, plate: str, repository: TestRepository
) -> None:
    """The line changes before they are sent, which is said here and to the agent."""
    tray = person.page.get_by_role("region", name="Comments", exact=True)
    ledger = (repository.root / "ledger.py").read_text()
    repository.write("ledger.py", ledger.replace("ValueError", "KeyError"))
    await person.button("Refresh").click()
    await tray.get_by_role("button", name="1 comment").click()
    await expect(tray).to_contain_text("Line changed since")
    await tray.get_by_role("button", name="Send anyway").click()
    await person.sees("Comments sent to the agent.")
    await expect(tray).to_have_count(0)
    [sent] = await messages(server, plate)
    assert "Use Unknown here." in sent
    assert "ledger.py" in sent


async def send_check(person: Person, server: Server, plate: str) -> None:
    await person.button("Refresh").click()
    await person.page.get_by_text("1 failed").click()
    await expect(person.page.get_by_role("link", name="View log")).to_have_attribute(
        "href", "https://example.com/run/1"
    )
    await person.button("Send to the agent").click()
    await expect(person.button("Send to the agent")).to_be_disabled()
    assert "lint" in (await messages(server, plate))[-1]
