"""Claim: the dashboard stays quick with 100,000 sessions: the list, a search in it, and scrolling.

A database gets 100,000 sessions, made of three that really ran: most have completed, some failed,
a thousand wait for a person. Chromium then opens the list on a real server, searches for one
session by its id and for a word that nothing has, and scrolls through thousands. Times are the
page's own, from the key to the row that is drawn. The same page with 100 sessions stands beside it.
"""

import argparse
import asyncio
import os
import shutil
import statistics
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from common import ROOT, Result, Row, finish, progress, scratch, spread
from playwright.sync_api import Browser, Page, sync_playwright
from serving import Caller, running, serve

sys.path.insert(0, str(ROOT))
from tests.server_flows import broken, count, trip

from callboard.app import Callboard
from callboard.events.envelope import Event, NewEvent
from callboard.ids import event_id
from callboard.log.protocol import Writing

MANY = 100_000
FEW = 100
WAITING_EVERY = 100
FAILED_EVERY = 20
AT_ONCE = 500
BAR_MS = 1_000

# When a row that says this is drawn, counted from now.
DRAWN = """([says, key]) => new Promise((resolve, reject) => {
  const start = performance.now()
  const look = () => {
    const rows = [...document.querySelectorAll('.sessions__row, .empty h2')]
    if (rows.some((row) => row.textContent.includes(says))) resolve(performance.now() - start)
    else if (performance.now() - start > 30000) reject(new Error(`no row says ${says}`))
    else requestAnimationFrame(look)
  }
  if (key !== null) {
    const field = document.querySelector('input[type=search]')
    Object.getOwnPropertyDescriptor(HTMLInputElement.prototype, 'value').set.call(field, key)
    field.dispatchEvent(new Event('input', { bubbles: true }))
  }
  look()
})"""

# Scroll down a screen with each frame; gives how long each frame took, and how far it came.
SCROLLED = """(frames) => new Promise((resolve) => {
  const took = []
  let before = performance.now()
  const step = () => {
    const now = performance.now()
    took.push(now - before)
    before = now
    window.scrollBy(0, window.innerHeight)
    if (took.length < frames) requestAnimationFrame(step)
    else resolve({ took, far: window.scrollY })
  }
  requestAnimationFrame(step)
})"""


async def seed(db: Path, many: int) -> None:
    """Fill a database with copies of sessions that ran."""
    async with Callboard.open(db, [trip, count, broken]) as board:
        waits, done, failed = [await _ran(board, *one) for one in _MODELS]
        for first in range(0, many, AT_ONCE):
            numbers = range(first, min(first + AT_ONCE, many))
            await asyncio.gather(
                *(_copy(board, _model(at, waits, done, failed), at) for at in numbers)
            )


_MODELS = (("trip", "Lisbon"), ("count", 3), ("broken", None))


async def _ran(board: Callboard, workflow: str, given: object) -> list[Event]:
    session = await board.start(workflow, given)
    await board.drive(session)
    return await board.events(session)


def _model(at: int, waits: list[Event], done: list[Event], failed: list[Event]) -> list[Event]:
    if at % WAITING_EVERY == 0:
        return waits
    return failed if at % FAILED_EVERY == 1 else done


async def _copy(board: Callboard, model: Sequence[Event], at: int) -> None:
    name = f"many-{at:06}"
    events = [_event(one, name, at) for one in model]
    await board.log.append(name, events, Writing(expect=0, settle=True))


def _event(model: Event, session: str, at: int) -> NewEvent:
    payload = dict(model.payload)
    if "id" in payload:
        payload["id"] = f"{session}-question"
    return NewEvent(event_id(), model.name, payload, model.at_ms + at, model.version)


def open_list(browser: Browser, ask: Caller, address: str) -> tuple[Page, float]:
    """Open the list in a fresh profile; gives it, and when its first row was there."""
    code = ask("POST", "/login")["code"]
    context = browser.new_context(viewport={"width": 1280, "height": 800})
    context.request.get(f"{address}/login?code={code}", max_redirects=0)
    page = context.new_page()
    page.goto(f"{address}/app/sessions", wait_until="commit")
    page.evaluate(DRAWN, ["many-", None])
    return page, page.evaluate("performance.now()")


def look(many: int, rounds: int) -> dict[str, list[float]]:
    """What a person does with the list, and how long each takes, in milliseconds."""
    found: dict[str, list[float]] = {name: [] for name in ("first", "found", "none", "frames")}
    flows = ROOT / "tests" / "server_flows.py"
    with scratch() as folder:
        progress(f"many_sessions: seeding {many:,} sessions")
        asyncio.run(seed(folder / "callboard.db", many))
        with running(serve(folder, flows=flows)) as server, sync_playwright() as playwright:
            browser = playwright.chromium.launch(executable_path=shutil.which("chromium"))
            for number in range(rounds):
                page, first = open_list(browser, Caller(server.url), server.url)
                found["first"].append(first)
                page.wait_for_timeout(500)  # People look before they search.
                name = f"many-{(number * 7919) % many:06}"
                found["found"].append(page.evaluate(DRAWN, [name, name]))
                found["none"].append(
                    page.evaluate(DRAWN, ["No matching sessions", "nowhere at all"])
                )
                page.evaluate(DRAWN, ["count", ""])
                scrolled: dict[str, Any] = page.evaluate(SCROLLED, 120)
                found["frames"].extend(scrolled["took"])
                page.context.close()
            browser.close()
    return found


def measure(quick: bool = False) -> Result:
    rounds, many = (3, 10_000) if quick else (10, MANY)
    if not (ROOT / "src" / "callboard" / "server" / "ui" / "index.html").exists():
        raise SystemExit("The dashboard is not built. Run `make setup`.")
    ours, beside = look(many, rounds), look(FEW, rounds)
    said = {
        "first": "list: first row, nothing cached",
        "found": "list: one session found by its id",
        "none": "list: a word that no session has",
    }
    rows = [
        _row(f"{what}, {many:,} sessions", ours[key], beside[key]) for key, what in said.items()
    ]
    frames = spread(ours["frames"])
    return Result(
        "many_sessions",
        rows=rows,
        notes=[
            f"{rounds} fresh profiles, {os.cpu_count()} cores. Beside it the same with {FEW} "
            f"sessions. Scrolling a screen with each frame: median {frames['p50']:.0f} ms a frame, "
            f"p99 {frames['p99']:.0f} ms."
        ],
        data={
            "many": {name: spread(values) for name, values in ours.items()},
            "few": {name: spread(values) for name, values in beside.items()},
        },
    )


def _row(what: str, ours: list[float], beside: list[float]) -> Row:
    middle, floor = statistics.median(ours), statistics.median(beside)
    return Row(
        what,
        f"≤ {BAR_MS:,} ms",
        f"{middle:.0f} ms",
        f"{floor:.0f} ms ({FEW} sessions)",
        f"{middle / floor:.1f}×",
        middle <= BAR_MS,
    )


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--quick", action="store_true")
    finish(measure(parser.parse_args().quick))


if __name__ == "__main__":
    main()
