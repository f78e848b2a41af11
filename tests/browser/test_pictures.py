"""The pictures of README and documentation, from the demo that `make run` shows."""

import asyncio
import json
import os
import re
import subprocess
import sys
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Literal, NamedTuple

import pytest
from playwright.async_api import Browser, expect
from tests.browser.ledger import Work, agent_at_work
from tests.browser.looks import KEPT
from tests.browser.people import Person, at_a_browser
from tests.browser.story import answer, wait_until
from tests.browser.test_settings import become_admin
from tests.browser.usages import use_for_a_month
from tests.held_hooks import bash, hook, living_agent
from tests.relays import RelayProcess, printed, relaying
from tests.servers import Server, serving

from callboard.board.demo.playing import DemoHook, scripts

ROOT = Path(__file__).parents[2]
WORKFLOWS = [ROOT / "examples" / f"{name}.py" for name in ("release", "refund", "research")]


class Picture(NamedTuple):
    """A page: its address, what it says when it has come to rest, and the height of its window."""

    path: str
    says: str
    height: int = 800


PICTURES = {
    "home": Picture("", "Publish 2.4.0", 900),
    "workflow": Picture("workflows/refund", "refund", 900),
    "inbox": Picture("inbox/{release}", "Publish 2.4.0", 860),
    "session": Picture("sessions/queue-study", "Cost and time", 900),
    "compare": Picture("compare/queue-study/queue-study-short", "events are shared", 900),
    "board": Picture("board", "Needs approval", 900),
    "plan": Picture("inbox/{plan}", "Approve this plan?", 900),
}


@asynccontextmanager
async def demo(folder: Path) -> AsyncGenerator[tuple[Server, dict[str, str]]]:
    """A server with the demo's sessions and agents; gives the ids that addresses are made with."""
    database = folder / "demo.db"
    made = [sys.executable, str(ROOT / "tools" / "demo_data.py"), str(database)]
    await asyncio.to_thread(subprocess.run, made, check=True)
    async with serving(database, *WORKFLOWS) as server, asyncio.TaskGroup() as held:
        await _fork(server)
        asking = [held.create_task(_hold(server, *one)) for one in _questions()]
        async with server.client() as http, asyncio.timeout(60):
            while True:
                questions = (await http.get("/interactions")).json()["interactions"]
                if {"permission", "plan", "question"} <= {one["type"] for one in questions}:
                    break
                await asyncio.sleep(0.1)
        ids = {one["type"]: one["id"] for one in questions}
        ids |= {one["sessionId"]: one["id"] for one in questions if one["sessionId"]}
        ids["release"] = ids["release-2-4-0"]
        yield server, ids
        for task in asking:
            task.cancel()


def _questions() -> list[tuple[str, DemoHook]]:
    """The first question of each agent that asks one."""
    asked = [
        (one.agent, next((line for line in one.lines if line.asks), None)) for one in scripts()
    ]
    return [(agent, line) for agent, line in asked if line is not None]


async def _hold(server: Server, agent: str, hook: DemoHook) -> None:
    """Ask what an agent asks after all that it reported before, and hold that open."""
    sender = json.loads(json.dumps(hook.payload["callboard"]))
    hold = f"hold-{hook.payload['session_id']}"
    payload = {**hook.payload, "callboard": {**sender, "hold": hold}}
    async with server.client() as http:
        await http.post(f"/hooks/{agent}", json=payload, timeout=None)


async def _fork(server: Server) -> None:
    """A second version of the study, without its last finding."""
    async with server.client() as http:
        events = (await http.get("/sessions/queue-study/events")).json()["events"]
        at = next(one["position"] for one in events if one["name"] == "input:requested")
        edits = [{"op": "remove", "path": "/findings/When vacuum falls behind"}]
        body = {"at": {"position": at}, "edits": edits, "sessionId": "queue-study-short"}
        (await http.post("/sessions/queue-study/fork", json=body)).raise_for_status()
    await answer(server, "queue-study-short", "yes")
    await wait_until(server, "queue-study-short", "completed")


SCHEMES: tuple[Literal["light", "dark"], ...] = ("light", "dark")


async def take(person: Person, name: str, part: str | None = None) -> None:
    """Keep a picture of the page, or of a part of it, once it has come to rest."""
    folder = Path(os.environ[KEPT])
    folder.mkdir(parents=True, exist_ok=True)
    await expect(person.page.locator("[aria-busy=true]")).to_have_count(0)
    await person.page.evaluate("document.fonts.ready")
    seen = person.page if part is None else person.page.locator(part)
    await seen.screenshot(path=folder / f"{name}.png")


async def test_every_picture(browser: Browser, tmp_path: Path):
    async with demo(tmp_path) as (server, ids):
        for scheme in SCHEMES:
            async with at_a_browser(browser, server, color_scheme=scheme) as person:
                for name, picture in PICTURES.items():
                    await person.page.set_viewport_size({"width": 1280, "height": picture.height})
                    await person.visit(picture.path.format(**ids))
                    await expect(person.page.get_by_role("main")).to_contain_text(picture.says)
                    await take(person, f"{name}-{scheme}")


async def test_picture_of_usage(browser: Browser, tmp_path: Path):
    await use_for_a_month(tmp_path / "x.db")
    async with serving(tmp_path / "x.db") as server:
        async with server.client() as http:
            (await http.put("/usage/budget", json={"daily": 20})).raise_for_status()
        for scheme in SCHEMES:
            async with at_a_browser(browser, server, color_scheme=scheme) as person:
                await person.page.set_viewport_size({"width": 1280, "height": 1040})
                await person.visit("usage")
                await person.sees(re.compile("spent today"))
                await expect(person.page.get_by_role("row")).not_to_have_count(0)
                await take(person, f"usage-{scheme}")


async def test_pictures_of_an_agent_at_work(browser: Browser, tmp_path: Path):
    async with agent_at_work(tmp_path) as at_work:
        for scheme in SCHEMES:
            async with at_a_browser(browser, at_work.server, color_scheme=scheme) as person:
                await person.page.set_viewport_size({"width": 1280, "height": 1240})
                await picture_conversation(person, at_work, scheme)
                await person.page.set_viewport_size({"width": 1280, "height": 1000})
                await picture_changes(person, at_work, scheme)
                await picture_start(person, scheme)
                await picture_composer(person, at_work, scheme)


async def picture_conversation(person: Person, at_work: Work, scheme: str) -> None:
    await person.visit(f"board/{at_work.plate}")
    await person.sees("One test fails")
    feed = person.page.get_by_role("feed", name="Conversation")
    await feed.get_by_role("button", name=re.compile("^Edit")).click()
    await feed.get_by_role("button", name=re.compile("make test")).click()
    await expect(feed.get_by_text("47 passed")).to_be_visible()
    await person.page.mouse.move(0, 0)
    await take(person, f"conversation-{scheme}", ".views")


async def picture_changes(person: Person, at_work: Work, scheme: str) -> None:
    await person.visit(f"board/{at_work.plate}?view=changes")
    await person.sees("4 files changed")
    ledger = person.page.get_by_role("article", name="ledger.py", exact=True)
    await ledger.get_by_role("button").first.click()
    await ledger.get_by_role("button", name=re.compile("^Comment on")).nth(4).click()
    field = person.page.get_by_role("textbox", name="Comment", exact=True)
    await field.fill("Say which accounts there are, as in `move`.")
    await field.press("Control+Enter")
    await expect(ledger).to_contain_text("Say which accounts")
    await person.page.mouse.move(0, 0)
    await take(person, f"changes-{scheme}", ".views")


async def picture_start(person: Person, scheme: str) -> None:
    await person.page.set_viewport_size({"width": 1280, "height": 720})
    await person.visit("board")
    await person.button("Start an agent").click()
    dialog = person.page.get_by_role("dialog", name="Start an agent")
    await dialog.get_by_label("Folder").fill("/home/ada/ledger")
    await dialog.get_by_label("Prompt").fill("Make the slow tests faster, one commit for each.")
    await take(person, f"start-{scheme}")


async def picture_composer(person: Person, at_work: Work, scheme: str) -> None:
    """Two messages wait, and a third is written."""
    texts = ("Then add `total_of_known`.", "Run the slow tests, too.")
    async with at_work.server.client() as http:
        path = f"/plates/{at_work.plate}/messages"
        for text in texts if scheme == SCHEMES[0] else ():
            message = {"text": text, "when": "after_turn"}
            (await http.post(path, json=message)).raise_for_status()
    await person.visit(f"board/{at_work.plate}")
    await person.sees("Run the slow tests")
    await person.page.get_by_label("Message to Claude Code").fill("Commit both when they pass.")
    await expect(person.page.get_by_text("Checking how")).to_have_count(0)
    await take(person, f"composer-{scheme}", ".composer")


async def work(relay: RelayProcess, project: str, prompt: str) -> None:
    """An agent of a machine starts to work."""
    told = {"session_id": project, "cwd": f"/srv/{project}"}
    await printed(await relay.hook(hook("SessionStart", source="startup", **told)))
    await printed(await relay.hook(hook("UserPromptSubmit", prompt=prompt, **told)))


async def give_tokens(server: Server) -> None:
    people = [
        {"name": "ada’s laptop", "person": "ada", "scope": "answer", "groups": ["release"]},
        {"name": "ci", "scope": "operate", "expiresInMs": 30 * 86_400_000},
    ]
    async with server.client() as admin:
        for one in people:
            (await admin.post("/tokens", json=one)).raise_for_status()


async def test_pictures_of_several_machines(
    browser: Browser, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setenv(KEPT, str(Path(os.environ[KEPT]).absolute()))
    monkeypatch.chdir(tmp_path)  # Else the agents would be on the branch that is checked out here.
    async with (
        living_agent(monkeypatch),
        serving(tmp_path / "x.db", env={"LOGNAME": "dana"}) as server,
        relaying(tmp_path / "atlas", "atlas", server) as atlas,
        relaying(tmp_path / "mira", "mira", server) as mira,
        relaying(tmp_path / "studio", "studio", server) as studio,
    ):
        await work(mira, "search", "Speed up the index")
        await work(studio, "docs", "Fix broken links")
        await work(atlas, "shop", "Remove the old build")
        asks = bash("PermissionRequest", session_id="shop", cwd="/srv/shop")
        held = await atlas.hook(asks, "--hold")
        await give_tokens(server)
        await mira.stop()
        for scheme in SCHEMES:
            async with at_a_browser(browser, server, color_scheme=scheme) as person:
                await person.page.set_viewport_size({"width": 1280, "height": 640})
                await person.visit("board")
                await person.sees(re.compile("Unreachable"))
                await expect(person.button("Allow")).to_be_visible()
                await take(person, f"hosts-{scheme}")
                await become_admin(person, server)
                await person.page.set_viewport_size({"width": 1280, "height": 1180})
                await person.visit("people")
                await person.sees(re.compile("Unreachable"))
                await take(person, f"people-{scheme}")
        held.kill()
