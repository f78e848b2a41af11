"""The page about people: who may do what, their tokens and hosts, by keyboard alone."""

import os
import re
from pathlib import Path
from typing import Literal

import httpx
import pytest
from playwright.async_api import Browser, Locator, expect
from tests.browser.conftest import FLOWS
from tests.browser.looks import KEPT, faults, sideways
from tests.browser.people import Person, at_a_browser
from tests.browser.test_keys import focus_on
from tests.browser.test_settings import become_admin
from tests.servers import Server, serving
from tests.unit.server.assertions import SIGNED, Issuer, jwks, written

ISSUED = Issuer()


async def look(person: Person, name: str) -> None:
    """Check a state of the page at every width; keep a picture where that is asked for."""
    for width in (390, 768, 1440):
        await person.page.set_viewport_size({"width": width, "height": 900})
        assert await sideways(person.page) <= 0, (name, width)
        if folder := os.environ.get(KEPT):
            path = Path(folder) / f"people-{name}-{width}.png"
            await person.page.screenshot(path=path, full_page=True)
    assert await faults(person.page) == [], name


async def fill(server: Server) -> None:
    """People with tokens, and a host with an agent."""
    long = "deployment-of-the-documentation-and-everything-else-at-night"
    people = [
        {"name": "ada’s laptop", "person": "ada", "scope": "answer", "groups": ["release", "ops"]},
        {"name": "ada’s phone", "person": "ada", "scope": "read", "expiresInMs": 86_400_000},
        {"name": long, "scope": "operate", "expiresInMs": 1},
        {"name": "atlas", "scope": "hook", "host": "atlas"},
    ]
    async with server.client() as admin:
        made = [(await admin.post("/tokens", json=one)).json() for one in people]
    start = {"session_id": "s1", "cwd": "/srv/shop", "hook_event_name": "SessionStart"}
    async with server.client(made[-1]["secret"]) as atlas:
        await atlas.post("/hooks/claude", json=start)


def entry(person: Person, section: str, name: str) -> Locator:
    """A row of one of the lists."""
    listed = person.page.get_by_role("region", name=section).get_by_role("listitem")
    return listed.filter(has_text=name)


@pytest.mark.parametrize("theme", ["light", "dark"])
async def test_people_tokens_and_hosts_by_keyboard_alone(
    browser: Browser, tmp_path: Path, theme: Literal["light", "dark"]
):
    async with (
        serving(tmp_path / "x.db", *FLOWS) as server,
        at_a_browser(browser, server, bypass_csp=True, color_scheme=theme) as person,
    ):
        await fill(server)
        await become_admin(person, server)
        await person.page.keyboard.press("g")
        await person.page.keyboard.press("p")
        await expect(person.heading("People", exact=True).first).to_be_visible()

        ada = entry(person, "People", "ada")
        await expect(ada).to_contain_text("Answerer · ops · release")
        await expect(ada).to_contain_text("2 tokens")
        await expect(ada).to_contain_text("Has not signed in lately")
        token = entry(person, "Access tokens", "ada’s laptop")
        await expect(token).to_contain_text("Answerer · ada · release · ops")
        await expect(token).to_contain_text("Never expires")
        await expect(entry(person, "Access tokens", "deployment")).to_contain_text("Expired")
        host = entry(person, "Hosts", "atlas")
        await expect(host).to_contain_text("1 open agent session")
        await expect(host).to_contain_text("1 token")
        await expect(entry(person, "Hosts", "This server")).to_have_count(1)
        await look(person, f"lists-{theme}")

        await create_a_reporter(person, theme)
        await revoke_it(person)


async def create_a_reporter(person: Person, theme: str) -> None:
    keyboard, page = person.page.keyboard, person.page
    await focus_on(person, "Create token")
    await keyboard.press("Enter")
    await keyboard.type("mira")
    await expect(page.get_by_label("Host (optional)")).to_have_count(0)
    await page.get_by_label("Role").focus()
    await keyboard.press("R")
    await expect(page.get_by_label("Role")).to_have_value("hook")
    await page.get_by_label("Host (optional)").focus()
    await keyboard.type("mira-1")
    await look(person, f"create-{theme}")
    await keyboard.press("Enter")
    secret = page.get_by_label("Secret")
    await expect(secret).to_have_value(re.compile("^cb_"))
    await look(person, f"secret-{theme}")
    await page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    await focus_on(person, "Copy")
    await keyboard.press("Enter")
    await expect(page.get_by_role("status").get_by_text("Copied.")).to_be_visible()
    await keyboard.press("Escape")
    await expect(secret).to_have_count(0)
    made = entry(person, "Access tokens", "mira")
    await expect(made).to_contain_text("Reporter · only for mira-1")
    await expect(entry(person, "Hosts", "mira-1")).to_contain_text("No reports yet")


async def revoke_it(person: Person) -> None:
    await focus_on(person, "Revoke mira")
    await person.page.keyboard.press("Enter")
    await expect(person.page.get_by_role("dialog", name="Revoke mira?")).to_be_visible()
    await focus_on(person, "Revoke")
    await person.page.keyboard.press("Enter")
    await expect(person.page.get_by_role("button", name="Revoke mira")).to_have_count(0)
    await expect(entry(person, "Hosts", "mira-1")).to_have_count(0)


async def test_who_is_no_admin_is_told_how_to_become_one(browser: Browser, server: Server):
    async with at_a_browser(browser, server, bypass_csp=True) as person:
        await person.visit("people")
        await expect(person.page.get_by_text("Needs the Admin role.")).to_be_visible()
        await expect(person.button("Create token")).to_have_count(0)
        await look(person, "operator")


async def test_on_a_phone_the_settings_lead_there(browser: Browser, server: Server):
    phone = {"width": 390, "height": 844}
    async with at_a_browser(browser, server, viewport=phone, has_touch=True) as person:
        navigation = person.page.get_by_role("navigation", name="Pages")
        await expect(navigation.get_by_role("link", name="People")).to_be_hidden()
        await navigation.get_by_role("link", name="Settings").tap()
        await person.page.get_by_role("link", name="Show people and tokens").tap()
        await expect(person.heading("People", exact=True).first).to_be_visible()


async def test_a_person_whom_a_proxy_signed_in_is_listed_and_signs_out_there(
    browser: Browser, tmp_path: Path
):
    (tmp_path / "keys.json").write_bytes(jwks(ISSUED))
    trusted = f"--proxy-auth={written(tmp_path, SIGNED)}"
    async with serving(tmp_path / "x.db", *FLOWS, options=[trusted]) as server:
        headers = {"X-Assertion": ISSUED.assertion(email="zoe", groups=["admins"])}
        async with httpx.AsyncClient(base_url=server.url, headers=headers) as direct:
            assert (await direct.get("/me")).status_code == 200
        context = await browser.new_context(extra_http_headers=headers)
        page = await context.new_page()
        address = f"http://callboard.localhost:{server.port}"
        try:
            await page.goto(f"{address}/app/people")
            listed = page.get_by_role("region", name="People").get_by_role("listitem")
            await expect(listed).to_contain_text("zoeAdmin · admins")
            await expect(listed).to_contain_text("Signed in through the proxy")
            await page.goto(f"{address}/app/settings")
            await page.get_by_role("button", name="Sign out").click()
            await page.wait_for_url(f"{address}/oauth2/sign_out")
        finally:
            await context.close()
