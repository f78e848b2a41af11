"""What every page is checked for, and a board with something on it to look at."""

import asyncio
import os
from collections.abc import AsyncGenerator
from contextlib import AsyncExitStack, asynccontextmanager
from pathlib import Path
from typing import Any, NamedTuple

from playwright.async_api import Page
from tests.browser.agents import Agent
from tests.browser.story import (
    answer,
    ask,
    begin,
    complete,
    positions,
    question_of,
    wait_until,
)
from tests.servers import Server

from callboard import Callboard, Phase, Workflow

AXE = Path(__file__).parent.parent.parent / "node_modules" / "axe-core" / "axe.min.js"

KEPT = "CALLBOARD_SCREENSHOTS"
"""The folder in which screenshots are kept: `make screenshots`."""

_RULES = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"]


async def faults(page: Page) -> list[str]:
    """What axe finds wrong with a page, one line each."""
    await page.add_script_tag(path=AXE)
    found: dict[str, Any] = await page.evaluate(
        "(tags) => axe.run(document, { runOnly: tags, resultTypes: ['violations'] })", _RULES
    )
    return [
        f"{rule['id']}: {node['html']} ({node['failureSummary']})"
        for rule in found["violations"]
        for node in rule["nodes"]
    ]


async def sideways(page: Page) -> int:
    """By how many pixels the page is wider than its window."""
    return await page.evaluate("document.documentElement.scrollWidth - window.innerWidth")


class Shown(NamedTuple):
    """A page: its address, and what it says when it has come to rest."""

    path: str
    says: str
    height: int = 800
    """How high the window is: a form is to be seen down to its button."""


PAGES = {
    "home": Shown("", "Failed recently"),
    "workflows": Shown("workflows", "Runs per day"),
    "workflow": Shown("workflows/release", "Time to answer"),
    "inbox": Shown("inbox", "Full state"),
    "sessions": Shown("sessions", "crossroads"),
    "session": Shown("sessions/spring", "Cost and time"),
    "waiting": Shown("sessions/autumn", "Cost and time"),
    "failed": Shown("sessions/repair", "notes.md cannot be read"),
    "family": Shown("sessions/spring/family", "spring-for-all"),
    "compare": Shown("compare/spring/spring-for-all", "Spring release, for all"),
    "board": Shown("board", "Needs approval"),
    "plate": Shown("board/{plate}?view=events", "Session started"),
    "permission": Shown("inbox/{permission}", "Allow Bash?"),
    "question": Shown("inbox/{question}", "Which database?"),
    "plan": Shown("inbox/{plan}", "Approve this plan?"),
    "decision": Shown("inbox/{decision}", "Notes for the author", 1215),
    "team": Shown("inbox/{team}", "1 of 2 people have decided"),
    "decided": Shown("inbox/{decided}", "Decided"),
    "workers": Shown("workers", "Archive of May"),
    "people": Shown("people", "Needs the Admin role."),
    "settings": Shown("settings", "Schema version", 1500),
    "lost": Shown("no/such/page", "There is no page at"),
}

IN_THE_DOCS = ("decision",)
"""The picture that the demo has no page for; `test_pictures.py` makes the others."""


async def fill(server: Server) -> dict[str, str]:
    """Sessions of every kind, with names; gives the ids that addresses are made with."""
    await begin(server, "release", "Spring release", sessionId="spring")
    await answer(server, "spring", "no")
    await answer(server, "spring", "yes")
    await answer(server, "spring", "testers")
    await wait_until(server, "spring", "completed")
    await _fork(server, "spring", "spring-for-all")
    await begin(server, "repair", "notes.md", sessionId="repair")
    await wait_until(server, "repair", "failed")
    await begin(server, "choice", None, sessionId="crossroads")
    await begin(server, "release", "Autumn release", sessionId="autumn")
    for waiting in ("spring-for-all", "crossroads", "autumn"):
        await wait_until(server, waiting, "waiting")
    await _work_for_workers(server)
    return await _sessions_to_decide(server)


async def _work_for_workers(server: Server) -> None:
    """A session that is driven for as long as anyone looks, and one that no worker can drive."""
    gate = str(server.db.with_name("gate"))
    await begin(server, "tale", gate, sessionId="tale", title="Once upon a time")
    archive = Workflow("archive", state=dict, phases=[Phase("pack", terminal=True)], version="2")
    async with Callboard.open(server.db, [archive]) as elsewhere:
        await elsewhere.start("archive", session_id="left", title="Archive of May")


async def _sessions_to_decide(server: Server) -> dict[str, str]:
    """Interactive sessions: one to decide, one that several decide, one that was decided."""
    await begin(server, "audit", "Website 2.5", sessionId="audit")
    decision = (await question_of(server, "audit"))["id"]
    schema = {"type": "approval"}
    people = ["ada", "grace"]
    team = await ask(server, "Merge it?", outcomeSchema=schema, requiredParticipants=people)
    await complete(server, team, response="approved", by="ada")
    decided = await ask(server, "How long?", outcomeSchema={"type": "object"})
    await complete(server, decided, response={"days": 3, "why": "It is small."}, durationMs=61_000)
    return {"decision": decision, "team": team, "decided": decided}


PLAN = """# Move the store to SQLite

The old store keeps everything in one file that is read whole.

1. Write both, read the old one
2. Copy what is there, in slices of 1,000
   - stop when the copy is a minute behind
3. Read the new one

```sh
callboard doctor --db new.db
```
"""
QUESTIONS = [
    {
        "question": "Which database?",
        "header": "Store",
        "options": [
            {"label": "SQLite", "description": "One file, no server"},
            {"label": "PostgreSQL", "description": "For several machines"},
        ],
        "multiSelect": False,
    }
]


PROMPTS = {
    "permission": "Release 0.2.0 once the tests pass",
    "question": "Keep what visitors choose",
    "plan": "Plan how we move the ledger to SQLite",
}
BRANCHES = {"permission": "main", "question": "visitors", "plan": "sqlite"}


@asynccontextmanager
async def agents_at_work(server: Server) -> AsyncGenerator[dict[str, str]]:
    """A board with agents in every standing; gives the ids that addresses are made with."""
    async with AsyncExitStack() as stack:
        held = {
            "permission": (Agent(server, "permission", "callboard"), _command()),
            "question": (Agent(server, "question", "website"), {"tool_input": _questions()}),
            "plan": (Agent(server, "plan", "store"), {"tool_input": {"plan": PLAN}}),
        }
        for name, (agent, changed) in held.items():
            await agent.say("SessionStart", callboard={"git_branch": BRANCHES[name]})
            await agent.say("UserPromptSubmit", prompt=PROMPTS[name])
            await stack.enter_async_context(agent.asking(**changed))
        works = Agent(server, "todos", "engine")
        await works.say("SessionStart", callboard={"git_branch": "quicker-streams"})
        await works.say("UserPromptSubmit", prompt="Make the event stream quicker")
        await works.say("PostToolUse", **_todos())
        done = Agent(server, "subagent", "docs")
        await done.say("Stop", last_assistant_message="The guide is written and links work.")
        gone = Agent(server, "todos", "spike")
        await gone.say("SessionEnd")
        plates = await waiting_plates(server, len(held))
        asked = {one["sessionId"]: one["interactionId"] for one in plates}
        ids = {name: asked[agent.session] for name, (agent, _) in held.items()}
        ids["plate"] = next(one["plateId"] for one in plates if one["sessionId"] == done.session)
        yield ids


def _command() -> dict[str, Any]:
    command = "git push --follow-tags origin main"
    rule = {"toolName": "Bash", "ruleContent": "git push *"}
    return {
        "tool_input": {"command": command, "description": "Push the release"},
        "permission_suggestions": [
            {
                "type": "addRules",
                "rules": [rule],
                "behavior": "allow",
                "destination": "localSettings",
            }
        ],
    }


def _questions() -> dict[str, Any]:
    return {"questions": QUESTIONS}


def _todos() -> dict[str, Any]:
    things = {"Find what is slow": "completed", "Encode once": "completed"}
    things |= {"Wake readers together": "in_progress", "Measure again": "pending"}
    todos = [{"content": text, "status": how} for text, how in things.items()]
    told = {"oldTodos": [], "newTodos": todos}
    return {"tool_input": {"todos": todos}, "tool_response": told}


async def waiting_plates(server: Server, count: int) -> list[dict[str, Any]]:
    """The plates, once so many of them wait for an answer."""
    async with server.client() as http, asyncio.timeout(90):
        while True:
            plates = (await http.get("/plates")).json()["plates"]
            if sum(one["interactionId"] is not None for one in plates) == count:
                return plates
            await asyncio.sleep(0.02)


async def _fork(server: Server, session: str, name: str) -> None:
    at = (await positions(server, session))["input:requested"]
    edits = [{"op": "replace", "path": "/title", "value": "Spring release, for all"}]
    async with server.client() as http:
        body = {"at": {"position": at}, "edits": edits, "sessionId": name}
        forked = await http.post(f"/sessions/{session}/fork", json=body)
        forked.raise_for_status()


def keep(picture: bytes, name: str, scheme: str) -> None:
    """Keep a screenshot for the README, when somebody wants that."""
    folder = os.environ.get(KEPT)
    if folder and name in IN_THE_DOCS:
        Path(folder).mkdir(parents=True, exist_ok=True)
        Path(folder, f"{name}-{scheme}.png").write_bytes(picture)
