"""Claim: the board shows 200 agents at 60 frames a second while they work.

Each of 200 agents reports what it does through its hooks: prompts, tools that start and end, ends
of turns, 40 reports a second in all, so that cards change, move and are counted all the time. In
Chromium, the page counts its own frames meanwhile: first at rest, then while a person scrolls
through the whole board and back. A frame is late if it comes more than 25 ms after the one before.

Beside it stands the same board while no agent reports anything, and a page with one line of text,
scrolled or not: what the browser does on this machine by itself. Its processes, the server and the
script share the machine's cores.
"""

import argparse
import itertools
import random
import shutil
import statistics
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from common import ROOT, Result, Row, finish, progress, scratch, spread
from conversations import at_board
from playwright.sync_api import CDPSession, Page, sync_playwright
from serving import Caller, running, serve, until

PLATES = 200
PER_SECOND = 40
BAR_FRAMES, BAR_LATE = 58, 0.02
LATE_MS = 25

# The times between frames, in milliseconds, for so many seconds; by scrolling down and up or not.
# It asks for no sizes and positions, because the page would have to be laid out for each answer.
FRAMES = """([seconds, scrolls]) => new Promise((resolve) => {
  const took = []
  let before = performance.now()
  const end = before + 1000 * seconds
  const step = () => {
    const now = performance.now()
    took.push(now - before)
    before = now
    if (scrolls) window.scrollBy(0, took.length % 480 < 240 ? 24 : -24)
    if (now < end) requestAnimationFrame(step)
    else resolve(took)
  }
  requestAnimationFrame(step)
})"""

Figures = dict[str, Any]


def reports(rng: random.Random) -> Iterator[dict[str, Any]]:
    """What the agents' hooks send, one after the other, without an end."""
    numbers = [0] * PLATES
    for number in range(PLATES):
        yield _hook(number, "SessionStart", source="startup")
    while True:
        number = rng.randrange(PLATES)
        step, numbers[number] = numbers[number] % 8, numbers[number] + 1
        use = f"toolu_{number}_{numbers[number] // 2}"
        tool = {"tool_name": rng.choice(["Bash", "Edit", "Read", "Grep"]), "tool_use_id": use}
        tool |= {"tool_input": {"command": "make test", "file_path": "/srv/app.py"}}
        if step == 0:
            yield _hook(number, "UserPromptSubmit", prompt=f"Do part {numbers[number]} of it")
        elif step == 7:
            yield _hook(number, "Stop", last_assistant_message="Done. All tests pass.")
        elif step % 2:
            yield _hook(number, "PreToolUse", **tool)
        else:
            yield _hook(number, "PostToolUse", **tool, tool_response={"stdout": "ok"})


def _hook(number: int, name: str, **more: Any) -> dict[str, Any]:
    session = f"5f1c7a52-0000-4000-8000-{number:012}"
    told = {"session_id": session, "cwd": f"/home/sam/project-{number}", "hook_event_name": name}
    return {**told, "callboard": {"git_branch": "main"}, **more}


class Agents:
    """Sends reports by the clock, in a thread."""

    def __init__(self, url: str) -> None:
        self._url = url
        self._reports = reports(random.Random(1))
        self.sent = 0

    def start_all(self) -> None:
        ask = Caller(self._url)
        for told in itertools.islice(self._reports, PLATES):
            ask("POST", "/hooks/claude", told)
        until(lambda: len(ask("GET", "/plates?limit=1000")["plates"]) == PLATES)
        # Some of each status before anything is measured.
        for told in itertools.islice(self._reports, 4 * PLATES):
            ask("POST", "/hooks/claude", told)

    @contextmanager
    def working(self) -> Iterator[None]:
        stop = threading.Event()
        thread = threading.Thread(target=self._send, args=(stop,))
        thread.start()
        try:
            yield
        finally:
            stop.set()
            thread.join()

    def _send(self, stop: threading.Event) -> None:
        ask, began, count = Caller(self._url), time.monotonic(), 0
        while not stop.is_set():
            count += 1
            wait = began + count / PER_SECOND - time.monotonic()
            if wait > 0:
                time.sleep(wait)
            ask("POST", "/hooks/claude", next(self._reports))
            self.sent += 1


def frames(page: Page, seconds: float, *, scrolls: bool) -> Figures:
    """The times between frames, and the computing time of the page's thread for each of them."""
    devtools = page.context.new_cdp_session(page)
    devtools.send("Performance.enable", {"timeDomain": "threadTicks"})
    page.wait_for_timeout(500)
    before = _computed(devtools)
    # The first is from before anything was asked for.
    took: list[float] = page.evaluate(FRAMES, [seconds, scrolls])[1:]
    return {"took": took, "computing": 1000 * (_computed(devtools) - before) / len(took)}


def _computed(devtools: CDPSession) -> float:
    told = devtools.send("Performance.getMetrics")["metrics"]
    return next(one["value"] for one in told if one["name"] == "TaskDuration")


def sampled(rounds: int, seconds: float) -> Figures:
    """The times between frames of each side, in turn."""
    found: Figures = {}
    with scratch() as folder, running(serve(folder)) as server, sync_playwright() as playwright:
        agents = Agents(server.url)
        agents.start_all()
        browser = playwright.chromium.launch(executable_path=shutil.which("chromium"))
        for number in range(rounds):
            for scrolls in (False, True):
                word = "scrolled" if scrolls else "at rest"
                with at_board(browser, Caller(server.url), server.url, "/health") as page:
                    if scrolls:
                        page.evaluate("document.body.style.height = '26000px'")
                    one = frames(page, seconds, scrolls=scrolls)
                    found.setdefault(f"line, {word}", []).append(one)
                with at_board(browser, Caller(server.url), server.url, "/app/board") as page:
                    page.wait_for_selector(".plate a")
                    one = frames(page, seconds, scrolls=scrolls)
                    found.setdefault(f"quiet, {word}", []).append(one)
                    with agents.working():
                        one = frames(page, seconds, scrolls=scrolls)
                    found.setdefault(f"working, {word}", []).append(one)
            progress(f"  round {number + 1}/{rounds}  {_brief(found)}")
        browser.close()
        found["sent"] = agents.sent
    return found


def per_second(rounds: list[Figures]) -> float:
    """Frames a second, in the median round."""
    return statistics.median(1000 * len(one["took"]) / sum(one["took"]) for one in rounds)


def computing(rounds: list[Figures]) -> float:
    """Milliseconds of computing for a frame, in the median round."""
    return statistics.median(one["computing"] for one in rounds)


def all_times(rounds: list[Figures]) -> list[float]:
    """The times between frames of all rounds."""
    return [took for one in rounds for took in one["took"]]


def late(rounds: list[Figures]) -> float:
    """The share of frames that came late."""
    took = all_times(rounds)
    return sum(one > LATE_MS for one in took) / len(took)


def _brief(found: Figures) -> str:
    return ", ".join(f"{name}: {per_second(values):.1f}/s" for name, values in found.items())


def measure(quick: bool = False) -> Result:
    if not (ROOT / "src" / "callboard" / "server" / "ui" / "index.html").exists():
        raise SystemExit("The dashboard is not built. Run `make setup`.")
    rounds, seconds = (2, 5.0) if quick else (5, 15.0)
    progress(f"board_frames: {PLATES} agents")
    found = sampled(rounds, seconds)
    sent = found.pop("sent")

    def row(word: str) -> Row:
        ours, line = found[f"working, {word}"], found[f"line, {word}"]
        rate, floor = per_second(ours), per_second(line)
        return Row(
            f"board of {PLATES} agents at work, {word}: frames",
            f"≥ {BAR_FRAMES}/s, ≤ {BAR_LATE:.0%} late",
            f"{rate:.1f}/s, {late(ours):.1%} late",
            f"{floor:.1f}/s, {late(line):.1%} late (one line of text)",
            f"{rate / floor:.2f}×",
            rate >= BAR_FRAMES and late(ours) <= BAR_LATE,
        )

    quiet = [
        f"{word} {per_second(found[f'quiet, {word}']):.1f}/s, "
        f"{late(found[f'quiet, {word}']):.1%} late"
        for word in ("at rest", "scrolled")
    ]
    slowest = {
        word: spread(all_times(found[f"working, {word}"])) for word in ("at rest", "scrolled")
    }
    return Result(
        "board_frames",
        rows=[row("at rest"), row("scrolled")],
        notes=[
            f"{rounds} rounds of {seconds:g} s each, all sides in turn; {PER_SECOND} reports a "
            f"second, {sent:,} in all. The same board while no one reports: {'; '.join(quiet)}.",
            "; ".join(
                f"{word}: p99 {one['p99']:.0f} ms between frames, at most {one['max']:.0f} ms"
                for word, one in slowest.items()
            )
            + f". Late: more than {LATE_MS} ms after the one before.",
            "The page's thread computes for "
            + " and ".join(
                f"{computing(found[f'working, {word}']):.1f} ms a frame {word}"
                for word in ("at rest", "scrolled")
            )
            + ", of the 16.7 ms that there are. Only that thread's own time counts: where others "
            "take the processors, frames come late although there is little to compute.",
        ],
        data=found,
    )


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--quick", action="store_true")
    finish(measure(parser.parse_args().quick))


if __name__ == "__main__":
    main()
