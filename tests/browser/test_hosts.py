"""Agents of another machine in the browser: unreachable and back, paired, removed, revoked."""

import re
from pathlib import Path

import pytest
from playwright.async_api import Browser, Locator, expect
from tests.browser.agents import Agent
from tests.browser.conftest import FLOWS
from tests.browser.people import Person, at_a_browser
from tests.browser.test_people import entry
from tests.browser.test_settings import become_admin
from tests.held_hooks import bash, behavior, hook, living_agent
from tests.relays import RelayProcess, printed, relaying
from tests.servers import Server, serving

REVOKED = 4


def card(person: Person, project: str) -> Locator:
    return person.page.get_by_role("article", name=re.compile(f"^{project}"))


async def test_an_agent_of_a_machine_that_becomes_unreachable_and_comes_back(
    browser: Browser, server: Server, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    async with (
        living_agent(monkeypatch),
        relaying(tmp_path / "atlas", "atlas", server) as relay,
        at_a_browser(browser, server) as person,
    ):
        await person.visit("board")
        await printed(await relay.hook(hook("SessionStart", cwd="/srv/shop", source="startup")))
        shop = card(person, "shop")
        await expect(shop).to_be_visible()
        await expect(shop).not_to_contain_text("atlas")
        await Agent(server, "permission", "docs").say("SessionStart")
        await expect(shop).to_contain_text("atlas")
        held = await relay.hook(bash("PermissionRequest", cwd="/srv/shop"), "--hold")
        await expect(shop.get_by_role("button", name="Allow", exact=True)).to_be_visible()

        await relay.stop()
        lost = re.compile("Unreachable · last seen (just now|\\d+ s ago)")
        await expect(shop).to_contain_text(lost)
        await expect(shop).to_contain_text("Last known status: Needs approval")
        await expect(shop).to_contain_text("Answers are delivered when it’s back")
        await expect(card(person, "docs")).not_to_contain_text("Unreachable")
        await person.visit("")
        needs = person.page.get_by_role("region", name="Needs you")
        await expect(needs.get_by_role("listitem").filter(has_text="shop")).to_contain_text(lost)
        await person.visit("board")
        await shop.get_by_role("button", name="Allow", exact=True).click()
        await expect(shop).to_contain_text("Waiting for the agent to confirm")

        await relay.start()
        assert behavior(await printed(held)) == "allow"
        await printed(await relay.hook(bash("PostToolUse", cwd="/srv/shop")))
        await expect(shop).to_contain_text("Delivered")
        await expect(shop).not_to_contain_text("nreachable")


async def paired_by(person: Person, server: Server, relay: RelayProcess) -> None:
    """Pair a machine with the code on the page."""
    await person.button("Pair a machine").click()
    dialog = person.page.get_by_role("dialog", name="Pair a machine")
    await expect(dialog.get_by_role("img", name="QR code")).to_be_visible()
    await expect(dialog).to_contain_text(re.compile("Expires in [45]:"))
    command = await dialog.locator("pre").inner_text()
    assert command.startswith("callboard relay --server URL --pair ")
    code = command.split()[-1]
    options = ["--pair", code, "--name", relay.name, "--allow", "read"]
    await relay.start("--server", server.url, *options)
    await expect(dialog).to_contain_text("atlas is connected.")
    await person.button("Done").click()


async def test_a_machine_is_paired_removed_and_revoked(browser: Browser, tmp_path: Path):
    relay = RelayProcess(tmp_path / "atlas", "atlas")
    async with (
        serving(tmp_path / "x.db", *FLOWS) as server,
        at_a_browser(browser, server, bypass_csp=True) as person,
    ):
        await become_admin(person, server)
        await person.visit("people")
        await paired_by(person, server, relay)
        row = entry(person, "Hosts", "atlas")
        await expect(row).to_contain_text("allows read")
        await expect(row).to_contain_text("Connected")
        await person.button("Remove atlas").click()
        await person.page.get_by_role("dialog").get_by_role("button", name="Remove").click()
        assert relay.process is not None
        assert await relay.process.wait() == REVOKED
        await expect(row).to_have_count(0)
        assert any("callboard pair" in line for line in relay.log)

        await paired_by(person, server, relay)
        await person.button("Revoke atlas").click()
        await person.page.get_by_role("dialog").get_by_role("button", name="Revoke").click()
        assert await relay.process.wait() == REVOKED
