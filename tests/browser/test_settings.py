"""The settings page: for an admin by keyboard alone, and for those who may do less."""

import asyncio
import os
from pathlib import Path

from playwright.async_api import Browser, expect
from tests.browser.conftest import FLOWS
from tests.browser.looks import KEPT, faults, sideways
from tests.browser.people import Person, at_a_browser
from tests.browser.test_keys import focus_on
from tests.servers import Server, serving

MINE = '{\n  "model": "opus"\n}\n'


async def look(person: Person, name: str) -> None:
    """Check a state of the page at every width; keep a picture where that is asked for."""
    for width in (390, 768, 1024, 1440):
        await person.page.set_viewport_size({"width": width, "height": 900})
        assert await sideways(person.page) <= 0, (name, width)
        if folder := os.environ.get(KEPT):
            path = Path(folder) / f"settings-{name}-{width}.png"
            await person.page.screenshot(path=path, full_page=True)
    assert await faults(person.page) == [], name


async def become_admin(person: Person, server: Server) -> None:
    """Sign in as `callboard open --admin` does."""
    async with server.client() as client:
        link = (await client.post("/login", json={"scope": "admin"})).json()
    await person.page.goto(f"{person.address}/login?code={link['code']}")
    await expect(person.heading("Settings", exact=True)).to_be_visible()


async def test_settings_by_keyboard_alone(browser: Browser, tmp_path: Path):
    home = {"HOME": str(tmp_path), "CLAUDE_CONFIG_DIR": str(tmp_path / "claude")}
    file = tmp_path / "claude" / "settings.json"
    file.parent.mkdir()
    file.write_text(MINE)
    async with (
        serving(tmp_path / "x.db", *FLOWS, env=home) as server,
        at_a_browser(browser, server, bypass_csp=True) as person,
    ):
        keyboard = person.page.keyboard
        await expect(person.page.get_by_role("link", name="Settings")).to_be_visible()
        await keyboard.press("g")
        await keyboard.press(",")
        await expect(person.heading("Settings", exact=True)).to_be_visible()
        await expect(person.page.get_by_text("Needs the Admin role.")).to_have_count(1)
        await expect(person.page.get_by_text(str(tmp_path / "x.db"), exact=True)).to_be_visible()
        command = person.page.get_by_text(f"open --db {tmp_path / 'x.db'} --admin")
        await expect(command).to_have_count(1)
        await expect(person.button("Copy")).to_have_count(1)
        await look(person, "operator")

        await become_admin(person, server)
        await install_hooks(person, file)


async def install_hooks(person: Person, file: Path) -> None:
    keyboard = person.page.keyboard
    await focus_on(person, "Install… Claude Code")
    await keyboard.press("Enter")
    dialog = person.page.get_by_role("dialog", name="Install hooks for Claude Code?")
    await expect(dialog.get_by_text("PermissionRequest")).to_be_visible()
    assert file.read_text() == MINE
    await look(person, "diff")
    await focus_on(person, "Install")
    await keyboard.press("Enter")
    await expect(person.page.get_by_role("button", name="Test Claude Code")).to_be_visible()
    assert "PermissionRequest" in file.read_text()
    await focus_on(person, "Test Claude Code")
    await keyboard.press("Enter")
    await person.sees("The test report arrived")
    await look(person, "installed")
    await focus_on(person, "Remove… Claude Code")
    await keyboard.press("Enter")
    await focus_on(person, "Remove")
    await keyboard.press("Enter")
    await expect(person.page.get_by_role("button", name="Test Claude Code")).to_have_count(0)
    assert await asyncio.to_thread(file.read_text) == MINE
