"""Claims: the first screen of a conversation of 10,000 messages is there within 300 ms, over HTTP
and in the dashboard; the server takes at most 20 MB more for it, and as little for a transcript of
500 MB; and a new message is shown within 300 ms of the client writing it.

The transcripts are those that the real clients wrote in a recorded session, again and again with
new ids. Agents that speak ACP have none: theirs is in the log, and one of them has to meet the same
bars. Over HTTP, a page is what the dashboard asks for: the last 100 messages. In Chromium, a person
clicks on an agent on the board, in a fresh profile; the time is the page's own, from the click
until the last message is drawn. Beside it, a link to the same page is opened with nothing cached,
which includes loading the dashboard.

The peers: a server that reads the whole transcript with `json.loads` for each request and returns
its last 100 messages, as boards do that have no index, or all of them; `jq` and `tail`, which show
no conversation, as the floor of reading the whole file and only its end. New messages are appended
by this script, at random moments; beside it, `tail -F` prints them.

Memory is the highest that the server took (VmHWM) above what it took before. What it loads for its
first conversation is in it.
"""

import argparse
import random
import shutil
import statistics
import subprocess
import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

from common import PEERS, ROOT, Result, Row, finish, peers_python, progress, scratch, spread
from logged_conversations import fill_log, noticed
from long_transcripts import PROJECT, SESSIONS, fill, fill_to, homes, say
from playwright.sync_api import Browser, Page, sync_playwright
from serving import PATIENCE, Caller, Process, mb, running, serve, until

MANY = 10_000
HUGE = 500_000_000
BAR_MS, BAR_MB = 300, 20
LAST = "This is the last message of the conversation."
READING = "?limit=100"

# From a click on the agent until its last message is drawn.
OPENED = """([id, says]) => new Promise((resolve, reject) => {
  const start = performance.now()
  const look = () => {
    const articles = [...document.querySelectorAll('[role=feed] article')]
    if (articles.some((one) => one.textContent.includes(says))) resolve(performance.now() - start)
    else if (performance.now() - start > 30000) reject(new Error('no message says ' + says))
    else requestAnimationFrame(look)
  }
  if (id) document.querySelector('#plate-' + CSS.escape(id) + ' a').click()
  look()
})"""

# When messages were drawn, by their text, on the clock of the machine.
WATCHED = """() => {
  window.shown = {}
  const look = () => {
    for (const one of document.querySelectorAll('[role=feed] article')) {
      const found = /new message (\\d+)\\./.exec(one.textContent)
      if (found && !(found[1] in window.shown)) {
        window.shown[found[1]] = performance.timeOrigin + performance.now()
      }
    }
    requestAnimationFrame(look)
  }
  look()
}"""

Figures = dict[str, Any]


def on_board(ask: Caller, agent: str, transcript: Path) -> str:
    """An agent with this transcript; returns its plate."""
    told = {"agent": agent, "session_id": SESSIONS[agent], "cwd": PROJECT, "event_type": "stop"}
    ask("POST", "/events", {**told, "transcript_path": str(transcript)})
    plates = ask("GET", "/plates")["plates"]
    return next(one["plateId"] for one in plates if one["sessionId"] == SESSIONS[agent])


def timed(work: Any) -> float:
    began = time.perf_counter()
    work()
    return 1000 * (time.perf_counter() - began)


# -------------------------------------------------------------------------------------------------
# Opening


def opened(folder: Path, paths: dict[str, Path], rounds: int) -> Figures:
    """Milliseconds to the last 100 messages over HTTP: each client's, and the peers'."""
    found: Figures = {}
    whole = [peers_python(), PEERS / "fastapi_transcript.py", paths["claude"]]
    peer = Process([str(one) for one in whole], folder / "peer.log")
    with running(serve(folder)) as server, running(peer):
        ask, other = Caller(server.url), Caller(peer.url)
        plates = {agent: on_board(ask, agent, path) for agent, path in paths.items()}
        found["first"] = [timed(lambda: page(ask, plates["claude"]))]
        other("GET", "/conversation?last=100")
        took: dict[str, list[float]] = {}
        for _ in range(rounds):
            for agent, plate in plates.items():
                took.setdefault(agent, []).append(timed(lambda plate=plate: page(ask, plate)))
            for name, path in (("whole, last 100", "?last=100"), ("whole", "")):
                one = timed(lambda path=path: other("GET", f"/conversation{path}"))
                took.setdefault(name, []).append(one)
            for name, command in _bare(paths["claude"]).items():
                took.setdefault(name, []).append(timed(lambda run=command: printed(run)))
    return found | took


def page(ask: Caller, plate: str) -> Figures:
    told = ask("GET", f"/plates/{plate}/conversation{READING}")
    if len(told["items"]) < 20:
        raise RuntimeError(f"only {len(told['items'])} messages: {str(told)[:300]}")
    return told


def printed(command: Sequence[str]) -> None:
    subprocess.run(command, stdout=subprocess.PIPE, check=True)


def _bare(path: Path) -> dict[str, list[str]]:
    found = {"tail": ["tail", "-n", "100", str(path)]}
    if shutil.which("jq"):
        found["jq"] = ["jq", "-c", "select(.message) | .message.content", str(path)]
    return found


def logged(folder: Path, rounds: int, count: int) -> Figures:
    """The same for an agent that speaks ACP: opening, memory, and what it reports meanwhile."""
    plate = fill_log(folder / "acp.db", MANY)
    with running(serve(folder, db="acp.db")) as server:
        ask = Caller(server.url)
        for _ in range(20):
            ask("GET", "/plates")
        time.sleep(2)
        before = server.memory()
        first = timed(lambda: page(ask, plate))
        opened = server.highest() - before
        took = [timed(lambda: page(ask, plate)) for _ in range(rounds)]
        heard: dict[int, float] = {}
        stop, start = threading.Event(), page(ask, plate)["after"]
        reading = threading.Thread(target=_poll, args=(server.url, plate, start, heard, stop))
        reading.start()
        wrote = _report(ask, count)
        until(lambda: len(heard) == count)
        stop.set()
        ask("POST", "/hooks/acp", noticed("the end"))
        reading.join()
    new = [1000 * (heard[number] - at) for number, at in wrote.items()]
    return {"first": first, "took": took, "memory": opened, "new": new}


def _report(ask: Caller, count: int) -> dict[int, float]:
    """Report replies at random moments, as the process does that keeps the agent."""
    rng, wrote = random.Random(count), {}
    for number in range(count):
        time.sleep(rng.uniform(0.1, 0.4))
        wrote[number] = time.time()
        ask("POST", "/hooks/acp", noticed(f"new message {number}."))
    return wrote


# -------------------------------------------------------------------------------------------------
# Chromium


@contextmanager
def at_board(browser: Browser, ask: Caller, url: str, path: str) -> Iterator[Page]:
    """A page in a fresh profile, as someone who is let in."""
    code = ask("POST", "/login")["code"]
    context = browser.new_context(viewport={"width": 1280, "height": 800})
    try:
        context.request.get(f"{url}/login?code={code}", max_redirects=0)
        page = context.new_page()
        page.goto(f"{url}{path}", wait_until="commit")
        yield page
    finally:
        context.close()


def drawn(folder: Path, path: Path, rounds: int) -> Figures:
    """Milliseconds in Chromium: from a click, from a click once it was open, from a link."""
    found: Figures = {"click": [], "again": [], "link": []}
    with running(serve(folder)) as server, sync_playwright() as playwright:
        ask = Caller(server.url)
        plate = on_board(ask, "claude", path)
        browser = playwright.chromium.launch(executable_path=shutil.which("chromium"))
        for _ in range(rounds):
            with at_board(browser, ask, server.url, "/app/board") as page:
                page.wait_for_selector(".plate a")
                page.wait_for_timeout(500)  # People look before they click.
                for name in ("click", "again"):
                    found[name].append(page.evaluate(OPENED, [plate, LAST]))
                    page.wait_for_timeout(300)
                    page.go_back()
                    page.wait_for_selector(".plate a")
            with at_board(browser, ask, server.url, f"/app/board/{plate}") as page:
                page.evaluate(OPENED, [None, LAST])
                found["link"].append(page.evaluate("performance.now()"))
        browser.close()
    return found


# -------------------------------------------------------------------------------------------------
# Memory


def taken(folder: Path, path: Path, work: Any) -> tuple[int, float]:
    """Bytes that a server takes at most above those before, and how long its first page took."""
    with running(serve(folder, db=f"{path.stem[:4]}{path.stat().st_size}.db")) as server:
        ask = Caller(server.url)
        plate = on_board(ask, "claude", path)
        for _ in range(20):
            ask("GET", "/plates")
        time.sleep(2)  # After its start, a server still has something to do.
        before = server.memory()
        first = timed(lambda: page(ask, plate))
        work(ask, plate)
        return server.highest() - before, first


def all_pages(ask: Caller, plate: str) -> None:
    told, count = page(ask, plate), 0
    while told["before"] and count < MANY:
        told = ask("GET", f"/plates/{plate}/conversation?limit=200&before={told['before']}")
        count += len(told["items"])


def a_search(ask: Caller, plate: str) -> None:
    """A word that is nowhere, so that all is read, as far as one request looks."""
    before = ""
    for _ in range(10):
        query = urlencode({"text": "nowhere at all", **({"before": before} if before else {})})
        before = ask("GET", f"/plates/{plate}/conversation/search?{query}")["before"]
        if not before:
            return


def taken_by_peer(folder: Path, path: Path) -> tuple[int, float]:
    command = [peers_python(), PEERS / "fastapi_transcript.py", path]
    with running(Process([str(one) for one in command], folder / "peer.log")) as peer:
        ask, before = Caller(peer.url), peer.memory()
        first = timed(lambda: ask("GET", "/conversation?last=100"))
        return peer.highest() - before, first


# -------------------------------------------------------------------------------------------------
# What is new


def followed(folder: Path, path: Path, count: int) -> Figures:
    """Milliseconds from a client's write until a reader has it: over HTTP, `tail`, Chromium."""
    found: Figures = {}
    with running(serve(folder)) as server, sync_playwright() as playwright:
        ask = Caller(server.url)
        plate = on_board(ask, "claude", path)
        browser = playwright.chromium.launch(executable_path=shutil.which("chromium"))
        with at_board(browser, ask, server.url, f"/app/board/{plate}") as shown:
            shown.evaluate(OPENED, [None, LAST])
            shown.evaluate(WATCHED)
            found["chromium"] = _written(path, 0, count, shown)
        browser.close()
        heard, stop = {}, threading.Event()
        start = page(Caller(server.url), plate)["after"]
        reading = threading.Thread(target=_poll, args=(server.url, plate, start, heard, stop))
        reading.start()
        wrote = _write(path, count, count)
        until(lambda: len(heard) == count)
        stop.set()
        say(path, "the end", 2 * count)
        reading.join()
        found["http"] = [1000 * (heard[number] - at) for number, at in wrote.items()]
    found["tail"] = _tailed(path, 3 * count, count)
    return found


def _write(path: Path, first: int, count: int) -> dict[int, float]:
    rng, wrote = random.Random(first), {}
    for number in range(first, first + count):
        time.sleep(rng.uniform(0.1, 0.4))
        wrote[number] = time.time()
        say(path, f"new message {number}.", number)
    return wrote


def _written(path: Path, first: int, count: int, shown: Page) -> list[float]:
    """Write messages while a page shows them: in a thread, because the page needs this one."""
    wrote: dict[int, float] = {}
    writing = threading.Thread(target=lambda: wrote.update(_write(path, first, count)))
    writing.start()
    seen: dict[str, float] = {}
    end = time.monotonic() + PATIENCE
    while len(seen) < count and time.monotonic() < end:
        shown.wait_for_timeout(200)
        seen = shown.evaluate("window.shown")
    writing.join()
    return [seen[str(number)] - 1000 * at for number, at in wrote.items()]


def _poll(url: str, plate: str, after: str, heard: dict[int, float], stop: threading.Event) -> None:
    ask = Caller(url)
    while not stop.is_set():
        query = urlencode({"after": after, "wait": 20_000})
        told = ask("GET", f"/plates/{plate}/conversation?{query}")
        now, after = time.time(), told["after"]
        for item in told["items"]:
            number = item["text"].rpartition(" ")[2].rstrip(".")
            if number.isdigit():
                heard[int(number)] = now


def _tailed(path: Path, first: int, count: int) -> list[float]:
    command = ["tail", "-n", "0", "-F", str(path)]
    heard: list[float] = []
    with subprocess.Popen(command, stdout=subprocess.PIPE) as tail:
        assert tail.stdout is not None
        lines = tail.stdout

        def listen() -> None:
            for _ in range(count):
                lines.readline()
                heard.append(time.time())

        listening = threading.Thread(target=listen)
        listening.start()
        time.sleep(0.5)
        wrote = _write(path, first, count)
        listening.join()
        tail.kill()
    return [1000 * (seen - at) for seen, at in zip(heard, wrote.values(), strict=True)]


# -------------------------------------------------------------------------------------------------


def sampled(quick: bool) -> Figures:
    rounds, count = (5, 20) if quick else (30, 100)
    with scratch() as folder, homes(folder) as paths:
        progress("conversations: writing transcripts")
        sizes = {agent: fill(agent, path, MANY) for agent, path in paths.items()}
        say(paths["claude"], LAST, 0)
        progress("conversations: over HTTP")
        found: Figures = {"sizes": sizes, "http": opened(folder, paths, rounds)}
        progress("conversations: of an agent that speaks ACP")
        found["acp"] = logged(folder, rounds, count)
        progress("conversations: in Chromium")
        found["chromium"] = drawn(folder, paths["claude"], max(3, rounds // 3))
        progress("conversations: memory")
        found["memory"] = {
            "opened": taken(folder, paths["claude"], lambda *_: None),
            "all pages": taken(folder, paths["claude"], all_pages),
            "peer": taken_by_peer(folder, paths["claude"]),
        }
        progress("conversations: what is new")
        found["new"] = followed(folder, paths["claude"], count)
        progress("conversations: 500 MB")
        fill_to(paths["claude"], HUGE)
        found["memory"]["huge"] = taken(folder, paths["claude"], lambda *_: None)
        found["memory"]["huge, searched"] = taken(folder, paths["claude"], a_search)
        if not quick:  # It takes gigabytes.
            found["memory"]["huge, peer"] = taken_by_peer(folder, paths["claude"])
    return found


def measure(quick: bool = False) -> Result:
    if not (ROOT / "src" / "callboard" / "server" / "ui" / "index.html").exists():
        raise SystemExit("The dashboard is not built. Run `make setup`.")
    found = sampled(quick)
    http, chromium, new = found["http"], found["chromium"], found["new"]
    middle = {name: statistics.median(values) for name, values in http.items()}
    whole = f"{middle['whole, last 100']:.0f} ms (all of it is parsed)"

    def over_http(agent: str) -> Row:
        took = spread(http[agent])
        is_claude = agent == "claude"
        return Row(
            f"conversation of {MANY:,} messages of {agent}: first screen over HTTP",
            f"p99 ≤ {BAR_MS} ms",
            f"p50 {took['p50']:.1f} ms, p99 {took['p99']:.1f} ms",
            whole if is_claude else "–",
            f"{took['p50'] / middle['whole, last 100']:.2f}×" if is_claude else "–",
            took["p99"] <= BAR_MS,
        )

    click, again, link = (statistics.median(chromium[one]) for one in ("click", "again", "link"))
    return Result(
        "conversations",
        rows=[
            *(over_http(agent) for agent in SESSIONS),
            *_logged(found["acp"], middle["whole, last 100"], new["tail"]),
            Row(
                "the first one after the server's start",
                f"≤ {BAR_MS} ms",
                f"{http['first'][0]:.0f} ms",
                whole,
                f"{http['first'][0] / middle['whole, last 100']:.2f}×",
                http["first"][0] <= BAR_MS,
            ),
            Row(
                "dashboard: from a click to the first screen of it, never opened before",
                f"≤ {BAR_MS} ms",
                f"{click:.0f} ms",
                f"{again:.0f} ms (opened before)",
                f"{click / again:.1f}×",
                click <= BAR_MS,
            ),
            Row(
                "dashboard: a link to it, nothing cached",
                "–",
                f"{link:.0f} ms",
                f"{middle['whole']:.0f} ms (all messages over HTTP, and nothing drawn)",
                f"{link / middle['whole']:.2f}×",
                None,
            ),
            *_memory(found["memory"]),
            *(_fresh(name, new[name], new["tail"]) for name in ("http", "chromium")),
        ],
        notes=_notes(found, middle, quick=quick),
        data=found,
    )


def _logged(found: Figures, whole: float, tail: Sequence[float]) -> Iterator[Row]:
    took, agent = spread(found["took"]), "an agent that speaks ACP"
    slowest = max(found["first"], took["p99"])
    yield Row(
        f"conversation of {MANY:,} messages of {agent}: first screen over HTTP",
        f"p99 ≤ {BAR_MS} ms",
        f"p50 {took['p50']:.1f} ms, p99 {took['p99']:.1f} ms, the first {found['first']:.0f} ms",
        f"{whole:.0f} ms (all of a transcript is parsed)",
        f"{took['p50'] / whole:.2f}×",
        slowest <= BAR_MS,
    )
    yield Row(
        f"opening that of {agent}: memory of the server",
        f"≤ {BAR_MB} MB more",
        mb(found["memory"]),
        "–",
        "–",
        found["memory"] <= BAR_MB * 1e6,
    )
    yield _fresh("acp", found["new"], tail)


def _memory(found: Figures) -> Iterator[Row]:
    said = {
        "opened": ("opening it: memory of the server", "peer"),
        "all pages": ("opening it and reading all of it: memory", "peer"),
        "huge": ("opening one of 500 MB: memory", "huge, peer"),
        "huge, searched": ("searching 500 MB for what is nowhere: memory", "huge, peer"),
    }
    for name, (claim, peer) in said.items():
        size, other = found[name][0], found.get(peer)
        yield Row(
            claim,
            f"≤ {BAR_MB} MB more",
            mb(size),
            f"{mb(other[0])} (all of it is parsed)" if other else "–",
            f"{size / other[0]:.3f}×" if other else "–",
            size <= BAR_MB * 1e6,
        )


def _fresh(name: str, ours: Sequence[float], tail: Sequence[float]) -> Row:
    took, floor = spread(ours), spread(tail)
    where = {
        "http": "to a reader over HTTP",
        "chromium": "to the dashboard, drawn",
        "acp": "(a report, of an agent that speaks ACP) to a reader over HTTP",
    }[name]
    return Row(
        f"a new message: from the client's write {where}",
        f"p99 ≤ {BAR_MS} ms",
        f"p50 {took['p50']:.0f} ms, p99 {took['p99']:.0f} ms",
        f"p50 {floor['p50']:.1f} ms, p99 {floor['p99']:.1f} ms (tail -F)",
        f"{took['p50'] / floor['p50']:.0f}×",
        took["p99"] <= BAR_MS,
    )


def _notes(found: Figures, middle: dict[str, float], *, quick: bool) -> list[str]:
    sizes = ", ".join(f"{agent} {mb(size)}" for agent, size in found["sizes"].items())
    bare = ", ".join(f"`{name}` {middle[name]:.0f} ms" for name in ("tail", "jq") if name in middle)
    huge = found["memory"]
    slowest = max(found["chromium"]["click"])
    return [
        f"{len(found['http']['claude'])} rounds, all sides in turn. Transcripts: {sizes}. "
        f"Beside it: {bare}; the peer that returns all messages {middle['whole']:.0f} ms.",
        f"{len(found['chromium']['click'])} fresh profiles; the slowest click {slowest:.0f} ms.",
        f"The first page of 500 MB came after {huge['huge'][1]:.0f} ms"
        + ("." if quick else f", from the peer after {huge['huge, peer'][1] / 1000:.1f} s."),
        f"{len(found['new']['http'])} new messages each, at random moments. Files are looked at "
        "every 100 ms while someone reads: `tail -F` is told by the system, for one file.",
    ]


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--quick", action="store_true")
    finish(measure(parser.parse_args().quick))


if __name__ == "__main__":
    main()
