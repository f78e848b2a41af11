"""A server full of content that breaks pages, and what a page has to withstand."""

import json
from collections.abc import AsyncGenerator
from contextlib import AsyncExitStack, asynccontextmanager
from typing import Any, NamedTuple

from playwright.async_api import Page
from tests.browser.agents import Agent
from tests.browser.hostile_text import (
    EMOJI,
    OPTIONS,
    RIGHT_TO_LEFT,
    UNBROKEN,
    UNBROKEN_NAME,
)
from tests.browser.looks import waiting_plates
from tests.browser.story import answer, begin, positions, question_of, wait_until
from tests.servers import Server

WIDTHS = (390, 768, 1024, 1440)


class Hostile(NamedTuple):
    """A page: its address, a text that shows it has loaded, and buttons that are always in view."""

    path: str
    says: str
    in_view: tuple[str, ...] = ()


PAGES = {
    "inbox": Hostile("inbox", "unbroken"),
    "approval": Hostile("inbox/{approval}", "unbroken", ("Approve", "Reject")),
    "options": Hostile("inbox/{options}", "unbroken"),
    "decision": Hostile("inbox/{decision}", "unbroken"),
    "permission": Hostile("inbox/{permission}", "Allow Bash?"),
    "question": Hostile("inbox/{question}", "unbroken"),
    "plan": Hostile("inbox/{plan}", "Approve this plan?"),
    "home": Hostile("", "unbroken"),
    "workflows": Hostile("workflows", "loud"),
    "workflow": Hostile("workflows/loud", "loud"),
    "settings": Hostile("settings", "Settings"),
    "sessions": Hostile("sessions", "loud"),
    "session": Hostile("sessions/{loud}", "unbroken", ("Fork here",)),
    "asking": Hostile("sessions/asks", "unbroken", ("Approve", "Reject")),
    "failed": Hostile("sessions/broken", "unbroken"),
    "winding": Hostile("sessions/winding", "step-79"),
    "forks": Hostile("sessions/{loud}/family", "fork"),
    "compare": Hostile("compare/{loud}/{fork}", "fork"),
    "board": Hostile("board", "Needs approval"),
    "plate": Hostile("board/{plate}?view=events", "Session started"),
    "lost": Hostile(f"no/{UNBROKEN[:1000]}", "unbroken"),
    "no-session": Hostile(f"sessions/{UNBROKEN[:500]}", "unbroken"),
    "no-plate": Hostile(f"board/{UNBROKEN[:500]}", "unbroken"),
    "no-question": Hostile(f"inbox/{UNBROKEN[:500]}", "Question not found"),
}

LONG_ID = "a-session-" * 12


async def fill(server: Server, events: int) -> dict[str, str]:
    """Sessions of every kind; gives the ids that addresses are made with."""
    loud, fork = LONG_ID, f"{LONG_ID}fork"
    await begin(server, "loud", events, sessionId=loud)
    await answer(server, loud, "yes")
    await begin(server, "loud", 3, sessionId="asks")
    await begin(server, "options", None, sessionId="options")
    await begin(server, "decided", None, sessionId="decided")
    await begin(server, "broken", None, sessionId="broken")
    await begin(server, "winding", None, sessionId="winding")
    await wait_until(server, "broken", "failed")
    await wait_until(server, "winding", "completed")
    at = (await positions(server, loud))["agent:started"]
    edits = [{"op": "replace", "path": "/text", "value": f"fork {UNBROKEN}"}]
    async with server.client() as http:
        body = {"at": {"position": at}, "edits": edits, "sessionId": fork}
        (await http.post(f"/sessions/{loud}/fork", json=body)).raise_for_status()
    asked = {
        name: (await question_of(server, session))["id"]
        for name, session in (("approval", "asks"), ("options", "options"), ("decision", "decided"))
    }
    return {"loud": loud, "fork": fork, **asked}


@asynccontextmanager
async def agents(server: Server, count: int) -> AsyncGenerator[dict[str, str]]:
    """A board of so many plates; the first three ask. Gives the ids of what they ask."""
    ask = {
        "permission": {"command": UNBROKEN, "description": RIGHT_TO_LEFT},
        "question": {"questions": [_question(), _question(several=True)]},
        "plan": {"plan": _plan()},
    }
    async with AsyncExitStack() as stack:
        held: dict[str, Agent] = {}
        for name, input in ask.items():
            agent = held[name] = Agent(server, name, f"{'work/' * 30}{UNBROKEN_NAME}{name}")
            await agent.say("SessionStart", callboard={"git_branch": UNBROKEN})
            await agent.say("UserPromptSubmit", prompt=UNBROKEN)
            await stack.enter_async_context(agent.asking(tool_input=input))
        await _crowd(server, count - len(held))
        plates = await waiting_plates(server, len(held))
        found = {one["sessionId"]: one for one in plates}
        ids = {name: found[agent.session]["interactionId"] for name, agent in held.items()}
        yield ids | {"plate": found[held["permission"].session]["plateId"]}


def _question(*, several: bool = False) -> dict[str, Any]:
    options = [{"label": text, "description": UNBROKEN, "preview": UNBROKEN} for text in OPTIONS]
    header = UNBROKEN_NAME
    asked = f"{'several' if several else 'one'} {UNBROKEN}"
    return {"question": asked, "header": header, "options": options, "multiSelect": several}


def _plan() -> str:
    items = f"1. {RIGHT_TO_LEFT}\n   - {UNBROKEN}"
    return f"# {UNBROKEN}\n\n{items}\n\n```sh\n{UNBROKEN}\n```\n{EMOJI * 99}"


async def _crowd(server: Server, count: int) -> None:
    """Many more plates, in every standing."""
    async with server.client() as http:
        for number in range(count):
            told = {"session_id": f"s{number}", "cwd": f"/home/{UNBROKEN_NAME}/{number}{EMOJI}"}
            branch = {"callboard": {"git_branch": f"{RIGHT_TO_LEFT}{UNBROKEN_NAME}"}}
            hooks: list[dict[str, Any]] = [{"hook_event_name": "SessionStart", "source": "startup"}]
            if number % 2:
                hooks.append({"hook_event_name": "UserPromptSubmit", "prompt": UNBROKEN})
            if number % 3 == 0:
                hooks.append({"hook_event_name": "Stop", "last_assistant_message": UNBROKEN})
            for hook in hooks:
                body = json.dumps({**told, **branch, **hook})
                (await http.post("/hooks/claude", content=body)).raise_for_status()


# What can be pressed has to be where a person can see it, unless it is in a box that scrolls.
_OUTSIDE = """() => {
  // A box that scrolls leads to it; one that cuts its text off with an ellipsis shows the start.
  const inBox = (one) => {
    const { left } = one.getBoundingClientRect()
    for (let box = one.parentElement; box; box = box.parentElement) {
      const overflow = getComputedStyle(box).overflowX
      const edges = box.getBoundingClientRect()
      if (box.matches('.answers, dialog')) return false
      if (/auto|scroll/.test(overflow) && box.scrollWidth > box.clientWidth) return true
      if (overflow === 'hidden' && left >= edges.left && left + 40 < edges.right) return true
    }
    return false
  }
  return [...document.querySelectorAll('button, a[href], input, select, textarea, summary')]
    .filter((one) => one.checkVisibility() && !one.closest('.skip') && !one.matches('.skip'))
    .filter((one) => {
      const { left, right, width } = one.getBoundingClientRect()
      return width > 0 && (left < -1 || right > window.innerWidth + 1) && !inBox(one)
    })
    .map((one) => one.outerHTML.slice(0, 120))
}"""


async def outside(page: Page) -> list[str]:
    """What can be pressed, but is cut off at the side of the window."""
    return await page.evaluate(_OUTSIDE)


# Answers that stay in view lie over the prompt, and no word of it may stick out beside them.
_BESIDE_ANSWERS = """() => [...document.querySelectorAll('.answers--sticky')]
  .map((bar) => [bar.getBoundingClientRect(), bar.parentElement?.querySelector('.md')])
  .filter(([, prompt]) => prompt)
  .map(([bar, prompt]) => [bar, prompt.getBoundingClientRect()])
  .filter(([bar, prompt]) => prompt.bottom > bar.top)
  .filter(([bar, prompt]) => prompt.left < bar.left || prompt.right > bar.right)
  .map(([bar, prompt]) => `${prompt.right - bar.right} px`)"""


async def beside_answers(page: Page) -> list[str]:
    """How far prompts stick out beside the answers that lie over them."""
    return await page.evaluate(_BESIDE_ANSWERS)


async def hidden_below(page: Page, names: tuple[str, ...]) -> list[str]:
    """Which of these buttons are not within the height of the window."""
    missing: list[str] = []
    for name in names:
        box = await page.get_by_role("button", name=name).first.bounding_box()
        height = page.viewport_size["height"] if page.viewport_size else 0
        if box is None or box["y"] < 0 or box["y"] + box["height"] > height:
            missing.append(name)
    return missing
