"""Claims: of 1,000 files that an agent changed, the first diff is there within 1 s, over HTTP and
in the dashboard; and with 100,000 changed files, the list comes within the time limit, the server
takes at most 50 MB more, and its event loop computes for no longer than 75 ms at a time.

A session starts in a repository of 1,000 tracked files, so that its working tree is recorded. Then
most of them are changed, some are removed, renamed and added. Over HTTP, the list and the diff of
its first file are asked for, as the dashboard does; in Chromium, a person clicks on "Changes", and
the time is the page's own, until the lines of the first file are drawn.

The peers are what a person would type there: `git status`, and `git diff` of everything and of the
first file. They compare with the last commit, and run whatever the repository's configuration
names; what we compare with is the start of the session.
"""

import argparse
import os
import shutil
import statistics
import subprocess
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

from common import ROOT, Result, Row, finish, progress, scratch, spread
from conversations import at_board, timed
from playwright.sync_api import sync_playwright
from serving import Caller, mb, running, serve, until

MANY, HUGE = 1_000, 100_000
BAR_MS = 1_000
BAR_HUGE_S, BAR_HUGE_MB, BAR_LOOP_MS = 12, 50, 75
SESSION = "5f1c7a52-0000-4000-8000-000000000001"
QUIET_GIT = {
    "GIT_CONFIG_GLOBAL": os.devnull,
    "GIT_CONFIG_NOSYSTEM": "1",
    **{f"GIT_{who}_{what}": f"{who}@example.com".lower() for who in ("AUTHOR", "COMMITTER")
       for what in ("NAME", "EMAIL")},
}  # fmt: skip

# From a click on the tab until the first file's lines are drawn.
FIRST_DIFF = """() => new Promise((resolve, reject) => {
  const start = performance.now()
  const tab = [...document.querySelectorAll('[role=tab]')].find((one) => /changes/i.test(one.id))
  const look = () => {
    if (document.querySelector('.file .diff__text')) resolve(performance.now() - start)
    else if (performance.now() - start > 60000) reject(new Error('no diff was drawn'))
    else requestAnimationFrame(look)
  }
  tab.click()
  look()
})"""

Figures = dict[str, Any]


def git(root: Path, *arguments: str) -> bytes:
    environment = {**os.environ, **QUIET_GIT}
    command = ["git", *arguments]
    return subprocess.run(
        command, cwd=root, env=environment, check=True, capture_output=True
    ).stdout


def source(number: int, value: int) -> str:
    functions = [f"def part{n}():\n    return {number} + {n}\n\n\n" for n in range(20)]
    return "".join([*functions[:10], f"VALUE = {value}\n\n\n", *functions[10:]])


def file_of(root: Path, number: int) -> Path:
    return root / f"src/part{number // 1000}/m{number % 1000 // 50}/file{number}.py"


def repository(folder: Path, count: int) -> Path:
    """A repository with so many tracked files."""
    root = folder / f"repository{count}"
    root.mkdir()
    git(root, "init", "-q", "-b", "main")
    for number in range(count):
        file = file_of(root, number)
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(source(number, 0))
    git(root, "add", "-A")
    git(root, "commit", "-q", "-m", "Start")
    return root


def change(root: Path, count: int) -> None:
    """Change every file: of a hundred, five are removed, five renamed, five are new."""
    for number in range(count):
        file = file_of(root, number)
        kind = number % 100 // 5
        if kind == 1:
            file.unlink()
        elif kind == 2:
            file.rename(file.with_name(f"renamed{number}.py"))
        elif kind == 3:
            file.with_name(f"new{number}.py").write_text(source(number, 1))
        else:
            file.write_text(source(number, 1))


def start(ask: Caller, root: Path) -> str:
    """A session that starts there, once its working tree is recorded; returns its plate."""
    told = {"session_id": SESSION, "cwd": str(root)}
    ask("POST", "/hooks/claude", {**told, "hook_event_name": "SessionStart", "source": "startup"})
    prompted = {"hook_event_name": "UserPromptSubmit", "prompt": "Change it"}
    ask("POST", "/hooks/claude", {**told, **prompted})
    plates = ask("GET", "/plates")["plates"]
    plate = next(one["plateId"] for one in plates if one["sessionId"] == SESSION)
    until(lambda: bool(listed(ask, plate)["turns"]))
    return plate


def listed(ask: Caller, plate: str) -> Figures:
    return ask("GET", f"/plates/{plate}/changes")


def first_diff(ask: Caller, plate: str) -> None:
    path = listed(ask, plate)["files"][0]["path"]
    told = ask("GET", f"/plates/{plate}/changes/file?{urlencode({'path': path})}")
    if not told["hunks"]:
        raise RuntimeError(f"no diff: {told}")


def loop_blocks(ask: Caller) -> dict[float, float]:
    """How many turns of the server's loop took at most so many seconds."""
    found: dict[float, float] = {}
    for line in ask("GET", "/metrics").splitlines():
        if line.startswith("callboard_loop_busy_seconds_bucket"):
            name, _, value = line.rpartition(" ")
            found[float(name.split('"')[1])] = float(value)
    return found


def longest_block(before: dict[float, float], after: dict[float, float]) -> float:
    """Milliseconds: the bound of the bucket that has the longest turn between two looks."""
    total = after[float("inf")] - before[float("inf")]
    return 1000 * min(most for most in after if after[most] - before[most] >= total)


# -------------------------------------------------------------------------------------------------


def reviewed(folder: Path, rounds: int) -> Figures:
    """Milliseconds to the first diff of 1,000 changed files: over HTTP, Chromium, and of git."""
    root, found = repository(folder, MANY), {}
    with running(serve(folder)) as server, sync_playwright() as playwright:
        ask = Caller(server.url)
        plate = start(ask, root)
        change(root, MANY)
        # Before anyone has looked, neither the server nor git knows what has changed.
        found["unseen"] = [timed(lambda: first_diff(ask, plate))]
        path = listed(ask, plate)["files"][0]["path"]
        sides: dict[str, Callable[[], object]] = {
            "list": lambda: listed(ask, plate),
            "first": lambda: first_diff(ask, plate),
            "git status": lambda: git(root, "status", "--porcelain", "-uall"),
            "git diff": lambda: git(root, "diff"),
            "git diff of one": lambda: git(root, "diff", "--", path),
        }
        for _ in range(rounds):
            for name, work in sides.items():
                found.setdefault(name, []).append(timed(work))
        browser = playwright.chromium.launch(executable_path=shutil.which("chromium"))
        for _ in range(max(3, rounds // 3)):
            with at_board(browser, ask, server.url, f"/app/board/{plate}") as page:
                page.wait_for_selector("[role=tab]")
                page.wait_for_timeout(500)  # People look before they click.
                found.setdefault("chromium", []).append(page.evaluate(FIRST_DIFF))
        browser.close()
    return found


def overwhelmed(folder: Path, count: int) -> Figures:
    """What a list of very many changed files takes."""
    root = repository(folder, count)
    with running(serve(folder, db="huge.db")) as server:
        ask = Caller(server.url)
        plate = start(ask, root)
        change(root, count)
        time.sleep(1)
        ask, before, blocks = Caller(server.url), server.memory(), loop_blocks(ask)
        began = time.perf_counter()
        told = listed(ask, plate)
        seconds = time.perf_counter() - began
        return {
            "count": count,
            "seconds": seconds,
            "listed": len(told["files"]),
            "more": told["more"],
            "memory": server.highest() - before,
            "loop": longest_block(blocks, loop_blocks(ask)),
            "git status": timed(lambda: git(root, "status", "--porcelain", "-uall")) / 1000,
        }


def sampled(quick: bool) -> Figures:
    with scratch() as folder:
        # What is recorded of working trees goes there, too.
        before = os.environ.get("XDG_DATA_HOME")
        os.environ["XDG_DATA_HOME"] = str(folder / "data")
        try:
            progress(f"changes: {MANY:,} files")
            found = reviewed(folder, 5 if quick else 30)
            progress(f"changes: {HUGE:,} files")
            found["huge"] = overwhelmed(folder, HUGE // 5 if quick else HUGE)
        finally:
            os.environ.pop("XDG_DATA_HOME")
            if before is not None:
                os.environ["XDG_DATA_HOME"] = before
    return found


def measure(quick: bool = False) -> Result:
    if not (ROOT / "src" / "callboard" / "server" / "ui" / "index.html").exists():
        raise SystemExit("The dashboard is not built. Run `make setup`.")
    found = sampled(quick)
    http, shown, huge = spread(found["first"]), spread(found["chromium"]), found["huge"]
    middle = {name: statistics.median(found[name]) for name in found if name != "huge"}
    unseen = found["unseen"][0]
    by_git = middle["git status"] + middle["git diff of one"]
    what = f"{huge['count']:,} changed files"
    return Result(
        "changes",
        rows=[
            Row(
                f"{MANY:,} changed files: the list and the first diff, over HTTP",
                f"p99 ≤ {BAR_MS:,} ms",
                f"p50 {http['p50']:.0f} ms, p99 {http['p99']:.0f} ms, the first {unseen:.0f} ms",
                f"{by_git:.0f} ms (git status and git diff of the file)",
                f"{http['p50'] / by_git:.1f}×",
                max(unseen, http["p99"]) <= BAR_MS,
            ),
            Row(
                "the same in the dashboard, from a click to the drawn lines",
                f"p99 ≤ {BAR_MS:,} ms",
                f"p50 {shown['p50']:.0f} ms, p99 {shown['p99']:.0f} ms",
                f"{middle['git diff']:.0f} ms (git diff of everything)",
                f"{shown['p50'] / middle['git diff']:.1f}×",
                shown["p99"] <= BAR_MS,
            ),
            Row(
                f"{what}: the list of the first {huge['listed']:,}",
                f"≤ {BAR_HUGE_S} s",
                f"{huge['seconds']:.2f} s",
                f"{huge['git status']:.2f} s (git status)",
                f"{huge['seconds'] / huge['git status']:.1f}×",
                huge["seconds"] <= BAR_HUGE_S,
            ),
            Row(
                f"{what}: memory of the server",
                f"≤ {BAR_HUGE_MB} MB more",
                mb(huge["memory"]),
                "–",
                "–",
                huge["memory"] <= BAR_HUGE_MB * 1e6,
            ),
            Row(
                f"{what}: longest computation of the event loop",
                f"≤ {BAR_LOOP_MS} ms",
                f"≤ {huge['loop']:.0f} ms",
                "–",
                "–",
                huge["loop"] <= BAR_LOOP_MS,
            ),
        ],
        notes=[
            f"{len(found['first'])} rounds, all sides in turn. The list alone takes "
            f"{middle['list']:.0f} ms: it compares with the snapshot of the session's start, finds "
            "renames, counts lines and says what is staged. "
            f"Beside it: `git status` {middle['git status']:.0f} ms, `git diff` of everything "
            f"{middle['git diff']:.0f} ms, of the first file {middle['git diff of one']:.0f} ms.",
            f"{huge['listed']:,} of {huge['count']:,} files are listed and compared; of the other "
            f"{huge['more']:,}, only their number is given.",
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
