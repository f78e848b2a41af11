"""The page about tokens and money, and the daily budget."""

import asyncio
import json
import os
import re
from pathlib import Path

from playwright.async_api import Browser, Route, expect
from tests.browser.looks import KEPT, faults, sideways
from tests.browser.people import Person, at_a_browser
from tests.browser.usages import spend, use_for_a_month
from tests.servers import Server, serving

from callboard import Callboard

PRICES = {"date": "2026-10-01", "models": [{"model": "house-*", "input": 1, "output": 1}]}


async def look(person: Person, name: str) -> None:
    """Check a state of the page at every width; keep a picture where that is asked for."""
    for width in (390, 768, 1440):
        await person.page.set_viewport_size({"width": width, "height": 900})
        assert await sideways(person.page) <= 0, (name, width)
        if folder := os.environ.get(KEPT):
            path = Path(folder) / f"usage-{name}-{width}.png"
            await person.page.screenshot(path=path, full_page=True)
    assert await faults(person.page) == [], name


async def test_what_agents_used_is_shown_by_day_and_by_what_it_was_for(
    browser: Browser, tmp_path: Path
):
    database = tmp_path / "x.db"
    await use_for_a_month(database)
    async with (
        serving(database) as server,
        at_a_browser(browser, server, bypass_csp=True) as person,
    ):
        page = person.page
        await expect(person.heading("Inbox", exact=True)).to_be_visible()
        await page.keyboard.press("g")
        await page.keyboard.press("u")
        await expect(person.heading("Usage", exact=True)).to_be_visible()
        await person.sees(re.compile(r"\$[\d.]+ a day on average"))
        chart = page.get_by_role("img", name=re.compile(r"^\$[\d,.]+ in the last 30 days$"))
        await expect(chart).to_be_visible()
        legend = page.get_by_role("region", name="By day").get_by_role("listitem")
        await expect(legend.first).to_contain_text("Claude Code")
        await expect(legend.filter(has_text="Workflows")).to_contain_text("$3.20")
        await look(person, "month")
        await page.keyboard.press("T")
        await look(person, "dark")
        await page.keyboard.press("T")

        await person.button("Tokens").click()
        await expect(page.get_by_role("img", name=re.compile("tokens in the last"))).to_be_visible()
        await page.keyboard.press("m")
        await expect(chart).to_be_visible()
        days = page.get_by_role("region", name="By day")
        await days.get_by_role("button", name="Model").click()
        await expect(legend.first).to_contain_text(re.compile("claude-(opus|sonnet)-4-5"))
        await days.get_by_text("Show as a table").click()
        await expect(days.get_by_role("table").get_by_role("row")).not_to_have_count(1)
        await look(person, "table")

        groups = page.get_by_role("region", name="What it was spent on")
        rows = groups.get_by_role("row")
        await expect(rows.nth(1)).to_contain_text("/home/ada/")
        for group, says in {
            "Agent": "Claude Code",
            "Model": "house-model",
            "Workflow": "review",
            "Session": "shop",
        }.items():
            await groups.get_by_role("button", name=group).click()
            await expect(rows.filter(has_text=says)).to_have_count(1)
        await rows.get_by_role("link", name="shop").click()
        await person.sees(re.compile(r"^[\d.,]+[MK]? tokens, \$[\d,.]+$"))
        await page.go_back()
        await person.button("7 days").click()
        await expect(page.get_by_role("img", name=re.compile("last 7 days"))).to_be_visible()
        await expect(page).to_have_url(re.compile("days=7"))
        await person.sees(re.compile("Without a price, and not in the cost: .* of house-model"))


async def test_a_budget_is_set_and_asks(browser: Browser, tmp_path: Path):
    database = tmp_path / "x.db"
    await use_for_a_month(database, days=1)
    async with (
        serving(database) as server,
        at_a_browser(browser, server, bypass_csp=True) as person,
    ):
        page = person.page
        await person.visit("usage")
        await person.sees("No budget is set.")
        await expect(person.button("Set budget")).to_be_visible()
        await page.keyboard.press("b")
        await expect(page.get_by_label("US dollars a day")).to_be_focused()
        await page.keyboard.type("nothing")
        await page.keyboard.press("Enter")
        await person.sees("Enter an amount above 0.")
        await page.get_by_label("US dollars a day").fill("1000")
        await person.button("Set budget").click()
        await person.sees(re.compile(r"\$[\d.]+ of \$1,000.00 spent today"))
        await look(person, "budget")

        async with Callboard.open(database) as board:
            await spend(board, 1200.0)
        async with server.client() as http:
            budget = (await http.get("/usage/budget")).json()
            assert budget["daily"] == 1000
        waiting = page.get_by_role("link", name=re.compile("^Inbox"))
        await expect(waiting).to_contain_text("1")
        await page.reload()
        await page.get_by_role("link", name="Answer the question").click()
        await person.sees("Nothing was stopped: agents continue until you stop them.")
        await look(person, "question")
        await page.get_by_role("button", name=re.compile("^Raise today's budget")).click()
        async with server.client() as http, asyncio.timeout(60):
            while (await http.get("/usage/budget")).json()["limit"] != 2000:
                await asyncio.sleep(0.1)
        await person.visit("usage")
        await person.sees(re.compile(r"of \$2,000.00 spent today"))
        await person.sees("Raised for today; the budget is $1,000.00.")
        await look(person, "raised")
        await person.button("Remove budget").click()
        await person.sees("No budget is set.")


async def test_without_usage_the_page_says_what_is_missing(person: Person):
    await person.visit("usage")
    await expect(person.heading("No usage yet")).to_be_visible()
    await person.sees("callboard hooks install")
    await expect(person.button("Set budget")).to_be_visible()


async def test_a_page_that_fails_can_be_tried_again(person: Person):
    async def refuse(route: Route) -> None:
        error = {"code": "FORBIDDEN", "message": "Needs another token."}
        await route.fulfill(status=403, json={"error": error})

    await person.context.route(f"{person.address}/usage?*", refuse)
    await person.visit("usage")
    await expect(person.page.get_by_role("alert")).to_contain_text("Needs another token.")
    await person.context.unroute_all()
    await person.button("Try again").click()
    await expect(person.heading("No usage yet")).to_be_visible()
    await expect(person.page.get_by_role("alert")).to_have_count(0)


async def test_prices_of_ones_own_are_named_and_wrong_ones_are_said(
    browser: Browser, tmp_path: Path
):
    database, file = tmp_path / "x.db", tmp_path / "prices.json"
    file.write_text(json.dumps(PRICES), encoding="utf-8")
    await use_for_a_month(database, days=1)
    options = ["--prices", str(file)]
    async with (
        serving(database, options=options) as server,
        at_a_browser(browser, server) as person,
    ):
        await person.visit("usage")
        await person.sees(f"Prices: as of 2026-10-01, from {file}.")
        file.write_text("{}", encoding="utf-8")
        await person.page.reload()
        alert = person.page.get_by_role("alert")
        await expect(alert).to_contain_text("can't be used: models must be a list")


async def test_who_may_only_answer_sees_the_budget_but_no_form(server: Server, person: Person):
    async with server.client() as http:
        (await http.put("/usage/budget", json={"daily": 20})).raise_for_status()
        ann = (await http.post("/tokens", json={"name": "ann", "scope": "answer"})).json()
    async with server.client(ann["secret"]) as http:
        assert (await http.put("/usage/budget", json={"daily": 30})).status_code == 403
        assert (await http.get("/usage/budget")).json()["daily"] == 20
    await person.context.clear_cookies()
    authorization = {"Authorization": f"Bearer {ann['secret']}"}
    await person.context.set_extra_http_headers(authorization)
    await person.visit("usage")
    await person.sees("$0 of $20.00 spent today")
    await person.sees("Your token can’t change the budget: that needs the role operator.")
    await expect(person.button("Set budget")).to_have_count(0)


async def test_on_a_phone_the_settings_lead_there(browser: Browser, server: Server):
    phone = {"width": 390, "height": 844}
    async with at_a_browser(browser, server, viewport=phone, has_touch=True) as person:
        navigation = person.page.get_by_role("navigation", name="Pages")
        await navigation.get_by_role("link", name="Settings").tap()
        await person.page.get_by_role("link", name="Show usage").tap()
        await expect(person.heading("Usage", exact=True)).to_be_visible()
