"""Claim: the dashboard's first paint comes within a second, from a server on this machine.

Chromium opens the inbox of a server with a hundred sessions, half of which wait for a person: each
time in a fresh profile, so that nothing is cached. The browser's own clock says when it first
painted something of the page, and when it painted the largest part of it. Beside it, a page of one
line from the same server: what the browser and the way there take by themselves.
"""

import argparse
import os
import shutil
import statistics
from pathlib import Path

from common import ROOT, Result, Row, finish, progress, scratch, spread
from playwright.sync_api import Browser, sync_playwright
from serving import Caller, running, serve

BAR_MS = 1000
SESSIONS = 100

# Paints are told to observers, those that were before too. The largest is final when the page has
# been quiet for a while.
PAINTS = """() => new Promise((resolve) => {
  let first = 0
  let largest = 0
  let quiet
  const seen = (list) => {
    for (const entry of list.getEntries()) {
      if (entry.name === 'first-contentful-paint') first = entry.startTime
      if (entry.entryType === 'largest-contentful-paint') largest = entry.startTime
    }
    clearTimeout(quiet)
    if (first) quiet = setTimeout(() => resolve({ first, largest }), 300)
  }
  new PerformanceObserver(seen).observe({ type: 'paint', buffered: true })
  new PerformanceObserver(seen).observe({ type: 'largest-contentful-paint', buffered: true })
})"""


def fill(ask: Caller) -> None:
    for number in range(SESSIONS):
        workflow, given = ("trip", f"City {number}") if number % 2 else ("count", 3)
        ask("POST", "/sessions", {"workflowId": workflow, "input": given})


def paints(browser: Browser, ask: Caller, address: str, path: str) -> dict[str, float]:
    """Open a page in a fresh profile, as someone who is let in."""
    code = ask("POST", "/login")["code"]
    context = browser.new_context(viewport={"width": 1280, "height": 800})
    try:
        context.request.get(f"{address}/login?code={code}", max_redirects=0)
        page = context.new_page()
        page.goto(f"{address}{path}", wait_until="load")
        return page.evaluate(PAINTS)
    finally:
        context.close()


def sample(rounds: int) -> dict[str, list[dict[str, float]]]:
    found: dict[str, list[dict[str, float]]] = {"inbox": [], "line": []}
    flows = ROOT / "tests" / "server_flows.py"
    with scratch() as folder, running(serve(folder, flows=flows)) as server:
        ask = Caller(server.url)
        fill(ask)
        with sync_playwright() as playwright:
            browser = playwright.chromium.launch(executable_path=shutil.which("chromium"))
            for _ in range(rounds):
                found["inbox"].append(paints(browser, ask, server.url, "/app/"))
                found["line"].append(paints(browser, ask, server.url, "/health"))
            browser.close()
    return found


def measure(quick: bool = False) -> Result:
    rounds = 5 if quick else 25
    progress("first_paint: the inbox in a fresh browser")
    if not (ROOT / "src" / "callboard" / "server" / "ui" / "index.html").exists():
        raise SystemExit("The dashboard is not built. Run `make setup`.")
    found = sample(rounds)
    first = [one["first"] for one in found["inbox"]]
    largest = [one["largest"] for one in found["inbox"]]
    line = [one["first"] for one in found["line"]]
    middle, floor = statistics.median(first), statistics.median(line)
    return Result(
        "first_paint",
        rows=[
            Row(
                "dashboard: first paint, nothing cached",
                f"≤ {BAR_MS:,} ms",
                f"{middle:.0f} ms",
                f"{floor:.0f} ms (one line of text)",
                f"{middle / floor:.1f}×",
                middle <= BAR_MS,
            )
        ],
        notes=[
            f"{rounds} fresh profiles, {SESSIONS} sessions, {os.cpu_count()} cores; p90 of the "
            f"first paint {spread(first)['p90']:.0f} ms; largest paint "
            f"{statistics.median(largest):.0f} ms, p90 {spread(largest)['p90']:.0f} ms. "
            f"The build weighs {built_kb():,.0f} KB."
        ],
        data={"samples": found},
    )


def built_kb() -> float:
    folder = Path(ROOT, "src", "callboard", "server", "ui")
    return sum(path.stat().st_size for path in folder.rglob("*") if path.is_file()) / 1024


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--quick", action="store_true")
    finish(measure(parser.parse_args().quick))


if __name__ == "__main__":
    main()
