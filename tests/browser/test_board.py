"""The board: coding agents tell what they do, ask, and get their answers from a browser."""

import asyncio
import json
import os
import re
import subprocess
import sys
from typing import Any

import pytest
from playwright.async_api import Browser, Locator, Route, expect
from tests.browser.agents import Agent, decided
from tests.browser.looks import sideways
from tests.browser.people import Person, at_a_browser
from tests.servers import Server

from callboard.board.hook_folders import hooks_folder, spool_folder
from callboard.board.spool.claims import SpoolTurn

COMMAND = "touch /home/u/proj/zz && python3 -c 'print(1)'"
WITHIN = 90
MANY = 250


def card(person: Person, project: str = "proj") -> Locator:
    """The plate of a project."""
    return person.page.get_by_role("article", name=re.compile(f"^{re.escape(project)}"))


async def printed(held: "asyncio.Task[dict[str, Any]]") -> dict[str, Any]:
    """What the held hook prints in the end."""
    async with asyncio.timeout(WITHIN):
        return await held


async def test_an_empty_board_says_how_to_fill_it_and_then_moves(person: Person, server: Server):
    await person.visit("board")
    await person.sees("callboard hooks install")
    agent = Agent(server, "todos")
    await agent.say("SessionStart")
    await expect(card(person)).to_contain_text("Idle")
    await agent.say("UserPromptSubmit", prompt="Write the code")
    await expect(card(person)).to_contain_text("Running")
    await expect(card(person)).to_contain_text("Write the code")
    await agent.say("PostToolUse")
    await expect(card(person)).to_contain_text("TodoWrite")
    await expect(card(person).get_by_role("progressbar")).to_have_attribute("max", "2")
    await expect(card(person)).to_contain_text("0/2")
    await agent.say("Stop", last_assistant_message="All is written.")
    await expect(card(person)).to_contain_text("Done")
    await expect(card(person)).to_contain_text("not seen yet")
    await expect(card(person)).to_contain_text("All is written.")
    await expect(person.page.get_by_role("link", name="Board 1 waiting for you")).to_be_visible()
    await agent.say("SessionEnd")
    await expect(card(person)).to_be_hidden()
    await person.page.get_by_text("1 closed").click()
    await expect(card(person)).to_contain_text("Closed")


async def test_a_backlog_is_announced_until_it_is_read(person: Person, server: Server):
    hooks = hooks_folder(server.db)
    # Another process has its turn to read the spool, and does not come to its end.
    turn = SpoolTurn(spool_folder(hooks) / "claimed")
    while not turn.take():
        await asyncio.sleep(0.01)
    report = {"session_id": "s1", "cwd": "/home/u/proj", "hook_event_name": "Stop"}
    for number in range(2):
        left = spool_folder(hooks) / f"claude.0.{number}.0.json"
        left.write_text(json.dumps(report))
        os.utime(left, (1, 1))
    await person.visit("board")
    await person.sees("Catching up. 2 reports from agents not shown yet")
    turn.give()
    await expect(card(person)).to_be_visible()
    await expect(person.page.get_by_text("Catching up.")).to_be_hidden()


@pytest.mark.parametrize("width", [390, 768, 1024, 1440])
async def test_long_names_fit_every_width(person: Person, server: Server, width: int):
    long = "x" * 300
    branch = {"git_branch": f"feature/{'a-long-branch-name-' * 4}{long}"}
    for number, name in enumerate(("shop", f"customers-{long}")):
        told = {"session_id": f"s{number}", "cwd": f"/home/ada/{'work/' * 30}{name}"}
        asks = {"tool_name": "AskUserQuestion", "tool_input": {"questions": [{"question": long}]}}
        async with server.client() as http:
            for hook in ("SessionStart", "UserPromptSubmit", "PreToolUse"):
                body = {**told, **asks, "prompt": long, "source": "startup", "callboard": branch}
                await http.post("/hooks/claude", json={**body, "hook_event_name": hook})
    await person.page.set_viewport_size({"width": width, "height": 800})
    await person.visit("board")
    await expect(person.page.get_by_role("article")).to_have_count(2)
    assert await sideways(person.page) <= 0
    dismiss = person.page.get_by_role("button", name="Dismiss")
    await expect(dismiss).to_have_count(2)
    for button in await dismiss.all():
        box = await button.bounding_box()
        assert box is not None
        assert box["x"] + box["width"] <= width


async def test_a_permission_is_allowed_on_the_board(person: Person, server: Server):
    agent = Agent(server, "permission")
    await person.visit("board")
    async with agent.asking() as held:
        await expect(card(person)).to_contain_text("Needs approval")
        await expect(card(person).get_by_label("The command")).to_have_text(COMMAND)
        await card(person).get_by_role("button", name="Allow", exact=True).click()
        assert decided(await printed(held)) == {"behavior": "allow"}
    await expect(card(person)).to_contain_text("Running")


async def test_a_permission_is_denied_in_the_inbox_with_a_reason(person: Person, server: Server):
    agent = Agent(server, "permission")
    async with agent.asking() as held:
        await person.page.get_by_role("link", name=re.compile("Run: touch")).click()
        await expect(person.heading("Allow Bash?")).to_be_visible()
        await person.sees("/home/u/proj")
        await person.page.get_by_label("Feedback for the agent").fill("Leave it alone.")
        await person.button("Deny").click()
        said = decided(await printed(held))
        assert (said["behavior"], said["message"]) == ("deny", "Leave it alone.")
    await person.sees("Denied: “Leave it alone.”")
    await person.page.get_by_role("link", name="View agent").click()
    await person.page.get_by_role("tab", name="Events").click()
    await expect(person.page.get_by_role("region", name="Timeline")).to_contain_text(
        "Asked for Bash"
    )


async def test_a_command_is_edited_before_it_is_allowed(person: Person, server: Server):
    agent = Agent(server, "permission")
    inside = {"agent_id": "a1", "agent_type": "Explore"}
    async with agent.asking(**inside) as held:
        await person.page.get_by_role("link", name=re.compile("Run: touch")).click()
        await person.sees("the subagent Explore of")
        await person.page.get_by_text("Edit…").click()
        allow = person.button("Allow my version")
        await expect(allow).to_be_disabled()
        await person.page.get_by_label("command", exact=True).fill("touch /tmp/other")
        changes = person.page.get_by_role("region", name="Your changes")
        await expect(changes).to_contain_text("touch /tmp/other")
        await expect(changes).to_contain_text(COMMAND)
        await allow.click()
        said = decided(await printed(held))
        assert (said["behavior"], said["updatedInput"]["command"]) == ("allow", "touch /tmp/other")
    await person.sees("Allowed with edits")
    edited = person.page.get_by_role("region", name=re.compile("Edited by "))
    await expect(edited).to_contain_text("touch /tmp/other")


async def test_the_rule_is_shown_before_it_is_made(person: Person, server: Server):
    agent = Agent(server, "permission")
    await person.visit("board")
    async with agent.asking() as held:
        await card(person).get_by_text("Always allow…").click()
        await expect(card(person)).to_contain_text("Bash(touch /home/u/proj/zz)")
        await expect(card(person)).to_contain_text("Bash(python3 -c 'print(1)')")
        await expect(card(person)).to_contain_text(".claude/settings.local.json")
        await card(person).get_by_role("button", name="Always allow this").click()
        said = decided(await printed(held))
    rules = said["updatedPermissions"][0]["rules"]
    assert [rule["ruleContent"] for rule in rules] == [
        "touch /home/u/proj/zz",
        "python3 -c 'print(1)'",
    ]


async def test_who_may_only_answer_makes_no_rule(person: Person, server: Server):
    command = [sys.executable, "-m", "callboard", "token", "create", "--name=ann", "--scope=answer"]
    made = await asyncio.to_thread(
        subprocess.run,
        [*command, f"--db={server.db}", "--json"],
        capture_output=True,
        check=True,
        text=True,
    )
    token = re.search(r'"(cb_[^"]+)"', made.stdout)
    assert token, made.stdout

    async def with_less(route: Route) -> None:
        headers = {**route.request.headers, "authorization": f"Bearer {token[1]}"}
        headers.pop("cookie", None)
        await route.continue_(headers=headers)

    agent = Agent(server, "permission")
    await person.page.route("**/interactions/*/answer", with_less)
    await person.visit("board")
    async with agent.asking() as held:
        await card(person).get_by_text("Always allow…").click()
        await card(person).get_by_role("button", name="Always allow this").click()
        await expect(card(person).get_by_role("alert")).to_contain_text("Not allowed")
        await expect(card(person)).to_contain_text("operate")
        await card(person).get_by_role("button", name="Allow", exact=True).click()
        assert decided(await printed(held)) == {"behavior": "allow"}


async def test_questions_have_options_several_of_them_and_own_words(person: Person, server: Server):
    agent = Agent(server, "question")
    questions = [
        {
            "question": "Which database?",
            "header": "DB",
            "options": [{"label": "SQLite", "description": "embedded"}, {"label": "Postgres"}],
            "multiSelect": False,
        },
        {
            "question": "Which tests?",
            "header": "Tests",
            "options": [{"label": "unit"}, {"label": "browser"}],
            "multiSelect": True,
        },
    ]
    await person.visit("board")
    async with agent.asking(tool_input={"questions": questions}) as held:
        await expect(card(person)).to_contain_text("Has a question")
        await expect(card(person)).to_contain_text("embedded")
        form = card(person).get_by_role("form", name="Answer")
        await form.get_by_label("Postgres").check()
        send = form.get_by_role("button", name="Answer")
        await expect(send).to_be_disabled()
        await form.get_by_label("browser").check()
        await form.get_by_label("Or in your own words").last.fill("by hand")
        await send.click()
        said = decided(await printed(held))
    assert said["updatedInput"]["answers"] == {
        "Which database?": "Postgres",
        "Which tests?": "browser, by hand",
    }


async def test_a_plan_is_read_and_sent_back(person: Person, server: Server):
    agent = Agent(server, "plan")
    plan = "# Move the store\n\n1. Stop it\n2. Copy `a` to **b**\n\n<img src=x onerror=alert(1)>\n"
    async with agent.asking(tool_input={"plan": plan}) as held:
        await expect(person.heading("Approve this plan?")).to_be_visible()
        shown = person.page.get_by_role("region", name="The plan")
        await expect(shown.get_by_role("heading", name="Move the store")).to_be_visible()
        await expect(shown.get_by_role("listitem")).to_have_count(2)
        await expect(shown).to_contain_text("<img src=x onerror=alert(1)>")
        await person.page.get_by_label("Requested changes").fill("A backup first.")
        await person.button("Keep planning").click()
        said = decided(await printed(held))
    assert (said["behavior"], said["message"]) == ("deny", "A backup first.")


async def test_an_edit_is_shown_as_a_difference_with_nothing_hidden(person: Person, server: Server):
    agent = Agent(server, "permission")
    edit = {
        "file_path": "/home/u/proj/app.py",
        "old_string": "def main():\n    run(safe=True)\n",
        "new_string": "def main():\n    run(safe=\u202eeurT\u202c)\n",
    }
    await person.visit("board")
    async with agent.asking(tool_name="Edit", tool_input=edit):
        lines = card(person).get_by_label("The edit").get_by_role("listitem")
        await expect(lines).to_have_count(3)
        await expect(lines.nth(0)).to_contain_text("def main():")
        await expect(lines.nth(1)).to_contain_text("removed:")
        await expect(lines.nth(2)).to_contain_text(r"run(safe=\u202eeurT\u202c)")


async def test_of_two_browsers_one_is_told(person: Person, browser: Browser, server: Server):
    agent = Agent(server, "permission")
    sent, first_is_in = asyncio.Event(), asyncio.Event()

    async def keep_back(route: Route) -> None:
        sent.set()
        await first_is_in.wait()
        await route.continue_()

    async with at_a_browser(browser, server) as other, agent.asking() as held:
        await other.page.route("**/interactions/*/answer", keep_back)
        await person.visit("board")
        await other.visit("board")
        await card(other).get_by_role("button", name="Deny", exact=True).click()
        await sent.wait()
        await card(person).get_by_role("button", name="Allow", exact=True).click()
        assert decided(await printed(held)) == {"behavior": "allow"}
        await expect(card(other)).to_contain_text("Running")
        first_is_in.set()
        await other.sees(re.compile("Your answer was not used"))


async def test_the_server_is_killed_while_a_hook_is_held(person: Person, server: Server):
    agent = Agent(server, "permission")
    await person.visit("board")
    async with agent.asking() as held:
        await expect(card(person)).to_contain_text("Needs approval")
        await server.kill()
        await person.sees("Can’t reach the server")
        await expect(card(person)).to_contain_text("Needs approval")
        await server.restart()
        await expect(person.page.get_by_text("Can’t reach the server")).to_have_count(0)
        await card(person).get_by_role("button", name="Allow", exact=True).click()
        assert decided(await printed(held)) == {"behavior": "allow"}
    await agent.say("Stop")
    await expect(card(person)).to_contain_text("Done")


async def test_an_answer_in_the_terminal_closes_the_question(person: Person, server: Server):
    agent = Agent(server, "permission")
    async with agent.asking() as held:
        await expect(person.heading("Allow Bash?")).to_be_visible()
        await agent.say("PostToolUse")
        await person.sees("in the terminal")
        assert await printed(held) == {}
    await expect(person.button("Allow")).to_have_count(0)


async def test_a_plate_is_named_pinned_seen_and_dismissed_by_keys(person: Person, server: Server):
    for project in ("one", "two"):
        agent = Agent(server, "todos", project)
        await agent.say("SessionStart")
    await agent.say("Stop")
    keyboard = person.page.keyboard
    await person.visit("board")
    # The one that has something to tell stands first.
    await expect(person.page.get_by_role("article").first).to_contain_text("two")
    await keyboard.press("j")
    await expect(card(person, "two")).to_have_attribute("aria-current", "true")
    await keyboard.press("m")
    await expect(card(person, "two")).not_to_contain_text("not seen yet")
    await keyboard.press("p")
    await expect(card(person, "two")).to_contain_text("pinned")
    await keyboard.press("N")
    await keyboard.type("The second")
    await keyboard.press("Enter")
    await expect(card(person, "The second")).to_be_visible()
    await keyboard.press("d")
    await expect(card(person, "The second")).to_have_count(0)
    await expect(card(person, "one")).to_be_visible()
    await agent.say("SessionEnd")
    restarted = Agent(server, "todos", "two")
    restarted.session = agent.session
    await restarted.say("SessionStart")
    await expect(card(person, "The second")).to_be_visible()


async def test_keys_answer_only_the_plate_that_was_chosen(person: Person, server: Server):
    first, second = Agent(server, "permission", "one"), Agent(server, "permission", "two")
    await person.visit("board")
    async with first.asking() as one, second.asking() as two:
        for name in ("one", "two"):
            await expect(card(person, name).get_by_role("button", name="Allow")).to_be_enabled()
        await person.page.keyboard.press("y")
        await person.page.keyboard.press("j")
        await expect(person.page.locator("[aria-current=true]")).to_have_count(1)
        await person.page.keyboard.press("j")
        await expect(card(person, "two")).to_have_attribute("aria-current", "true")
        await expect(card(person, "two").locator(".key", has_text="n")).to_be_visible()
        await person.page.keyboard.press("n")
        assert decided(await printed(two))["behavior"] == "deny"
        assert not one.done()


async def test_the_key_of_a_rule_shows_it_and_only_enter_makes_it(person: Person, server: Server):
    agent = Agent(server, "permission")
    await person.visit("board")
    async with agent.asking() as held:
        await expect(card(person).get_by_role("button", name="Allow", exact=True)).to_be_enabled()
        await person.page.keyboard.press("j")
        await expect(card(person)).to_have_attribute("aria-current", "true")
        await person.page.keyboard.press("a")
        await expect(card(person)).to_contain_text("Bash(touch /home/u/proj/zz)")
        await expect(card(person).get_by_role("button", name="Always allow this")).to_be_focused()
        assert not held.done()
        await person.page.keyboard.press("Enter")
        assert decided(await printed(held))["updatedPermissions"]


async def test_a_question_is_declined_by_its_key_with_a_message(person: Person, server: Server):
    agent = Agent(server, "question")
    await person.visit("board")
    async with agent.asking() as held:
        await expect(card(person).get_by_role("form", name="Answer")).to_be_visible()
        await person.page.keyboard.press("j")
        await expect(card(person)).to_have_attribute("aria-current", "true")
        await person.page.keyboard.press("n")
        await person.page.keyboard.type("Ask me tomorrow.")
        assert not held.done()
        await person.page.keyboard.press("Control+Enter")
        said = decided(await printed(held))
    assert (said["behavior"], said["message"]) == ("deny", "Ask me tomorrow.")


async def test_of_many_agents_only_those_near_the_window_are_drawn(person: Person, server: Server):
    async with server.client() as http:
        for number in range(MANY):
            told = {"session_id": f"s{number}", "cwd": f"/home/u/p{number:04}"}
            body = {**told, "hook_event_name": "SessionStart", "source": "startup"}
            (await http.post("/hooks/claude", json=body)).raise_for_status()
    cards = person.page.get_by_role("article")
    await person.visit("board")
    await expect(person.page.get_by_role("status").first).to_contain_text(f"{MANY} agents")
    await expect(cards.first).to_contain_text("p0000")
    assert await cards.count() < 40
    await person.page.keyboard.press("Shift+G")
    await expect(card(person, f"p{MANY - 1:04}")).to_be_in_viewport()
    await expect(card(person, f"p{MANY - 1:04}")).to_have_attribute("aria-current", "true")
    # What was chosen stays where it is drawn, and keeps its keys, while others come and go.
    await person.page.evaluate("window.scrollTo(0, 0)")
    await expect(card(person, "p0000")).to_be_in_viewport()
    await person.page.keyboard.press("p")
    await expect(cards.first).to_contain_text(f"p{MANY - 1:04}")
    await person.page.keyboard.press("o")
    await expect(person.page).to_have_url(re.compile("sort=latest"))
    await person.page.keyboard.press("/")
    await person.page.keyboard.type("p0123")
    await expect(cards).to_have_count(1)
    await person.page.keyboard.press("Escape")
    await expect(cards.nth(5)).to_be_visible()


async def test_a_plate_tells_what_happened_readable_first(person: Person, server: Server):
    agent = Agent(server, "subagent")
    await agent.say("Stop")
    await person.visit("board")
    await card(person).get_by_role("link", name="proj").click()
    await person.page.get_by_role("tab", name="Events").click()
    timeline = person.page.get_by_role("region", name="Timeline")
    await expect(timeline).to_contain_text("Subagent: Bash finished")
    await expect(timeline).to_contain_text("Session started")
    facts = person.page.get_by_role("region", name="Details")
    await expect(facts).to_contain_text(agent.session)
    await timeline.get_by_role("button", name="Raw event 1", exact=True).click()
    await expect(timeline).to_contain_text('"hook_event_name": "SessionStart"')
    await agent.say("SessionEnd")
    await expect(timeline).to_contain_text("Session ended")
    # Whoever looks at a plate has seen it.
    await person.visit("board")
    await person.page.get_by_text("1 closed").click()
    await expect(card(person)).not_to_contain_text("not seen yet")


async def test_the_board_is_searched(person: Person, server: Server):
    for project in ("engine", "website"):
        await Agent(server, "todos", project).say("SessionStart")
    await person.visit("board")
    await expect(card(person, "engine")).to_be_visible()
    await person.page.keyboard.press("/")
    await person.page.keyboard.type("web")
    await expect(card(person, "engine")).to_have_count(0)
    await expect(card(person, "website")).to_be_visible()
    await person.page.keyboard.type("nothing")
    await person.sees("No matching agents")
