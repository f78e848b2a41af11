"""Claim: a message from the board reaches the model of an idle session within 1 s, whether
`callboard start` runs the session or it sits in tmux.

The real clients, each with a home of its own and its hooks, are led by a scripted model on
loopback. Someone writes a message on the board (`POST /plates/{id}/messages`) while the session is
idle; it counts as delivered when the model gets a request with its text. Beside it: when the board
says so, from what the client itself shows.

The peer is a person at the client: the same text is typed into the same terminal with tmux, and
Enter is pressed. What the client takes from there to its request is in both.
"""

import argparse
import asyncio
import sys
import time
from collections.abc import AsyncGenerator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from common import ROOT, Result, Row, finish, progress, scratch, spread

sys.path.insert(0, str(ROOT))  # The tests know how to lead the clients.

from tests.real_clients.background import Background, data_of
from tests.real_clients.board import Board, Wire
from tests.real_clients.claude import Claude
from tests.real_clients.codex import TRUST, Codex
from tests.real_clients.contents import Contents
from tests.real_clients.gemini import Gemini
from tests.real_clients.home import Home
from tests.real_clients.messages import Messages
from tests.real_clients.model import Model, Reply
from tests.real_clients.opencode import Opencode
from tests.real_clients.patience import until, until_told
from tests.real_clients.responses import Responses
from tests.real_clients.script import Say
from tests.real_clients.terminal import Terminal
from tests.servers import serving

BAR_MS = 1_000
RESTS = 0.5
"""Seconds between the end of a turn and the next message."""
SCRIPT = {"say": [[Say("Done.")]]}

Figures = dict[str, list[float]]


@dataclass
class Timed(Model):
    """A model that notes when it is sent what."""

    times: list[tuple[float, str]] = field(default_factory=list[tuple[float, str]], repr=False)

    def reply(self, path: str, sent: str) -> Reply:
        self.times.append((time.perf_counter(), sent))
        return super().reply(path, sent)

    def got(self, text: str) -> float | None:
        """When it was first sent this."""
        return next((at for at, sent in self.times if text in sent), None)


@dataclass(frozen=True)
class Session:
    """An idle session of a client. terminal: where it can be typed into."""

    board: Board
    plate: Wire
    model: Timed
    terminal: Terminal | None = None

    async def write(self, text: str) -> None:
        async with self.board.server.client() as client:
            path = f"/plates/{self.plate['plateId']}/messages"
            said = await client.post(path, json={"text": text})
            if said.status_code != 201:
                raise RuntimeError(said.text)

    async def receipt(self, text: str) -> float:
        """When the board says that a message was delivered, at the latest by looking at it."""

        async def look() -> bool:
            path = f"/plates/{self.plate['plateId']}/messages"
            messages = (await self.board.get(path))["messages"]
            return any(
                one["text"] == text and one["status"] in ("delivered", "seen") for one in messages
            )

        await until_told(look, lambda: f"the receipt of {text!r}")
        return time.perf_counter()

    async def type(self, text: str) -> None:
        """Write it into the terminal, as a person would."""
        assert self.terminal is not None
        self.terminal.press("-l", text)
        await self.terminal.shows(text.splitlines()[0])
        self.terminal.press("Enter")

    async def rests(self) -> None:
        await self.board.plate(plateId=self.plate["plateId"], status="idle")
        await asyncio.sleep(RESTS)


# -------------------------------------------------------------------------------------------------
# The sessions


@asynccontextmanager
async def started(home: Home) -> AsyncGenerator[Session]:
    """Claude Code in the background, as `callboard start` runs it."""
    with Timed(Messages(), SCRIPT) as model:
        claude = Claude(home, model)
        claude.prepare()
        await home.install_hooks("claude")
        background = Background(home, claude.env | data_of(home))
        async with serving(home.database, env=home.env | data_of(home)) as server:
            board = Board(server)
            plate = await background.start("claude", "Start. play:say")
            try:
                # It is idle once before it takes the prompt that it was started with.
                await until(lambda: model.got("Start."), "the first prompt at the model")
                await board.heard(plate, "stop")
                yield Session(board, plate, model)
            finally:
                await background.run("stop", plate["plateId"])


@asynccontextmanager
async def claude_in_tmux(home: Home) -> AsyncGenerator[Session]:
    with Timed(Messages(), SCRIPT) as model:
        claude = Claude(home, model)
        claude.prepare()
        await home.install_hooks("claude")
        async with serving(home.database, env=home.env) as server:
            with claude.terminal() as terminal:
                await terminal.is_ready()
                board = Board(server)
                yield Session(board, await board.plate(status="idle"), model, terminal)


@asynccontextmanager
async def codex_in_tmux(home: Home) -> AsyncGenerator[Session]:
    with Timed(Responses(), SCRIPT) as model:
        codex = Codex(home, model)
        codex.prepare()
        await home.install_hooks("codex")
        async with codex.app_server(), serving(home.database, env=home.env) as server:
            with codex.terminal(home.project, "play:say") as terminal:
                await terminal.leaves(TRUST, "2", "Enter")
                await terminal.shows("Done.")
                board = Board(server)
                yield Session(board, await board.plate(status="idle"), model, terminal)


@asynccontextmanager
async def opencode_in_tmux(home: Home) -> AsyncGenerator[Session]:
    with Timed(Messages(), SCRIPT) as model:
        opencode = Opencode(home, model)
        opencode.prepare()
        await home.install_hooks("opencode")
        async with serving(home.database, env=home.env) as server:
            with opencode.terminal("--prompt", "play:say") as terminal:
                await terminal.shows("Done.")
                board = Board(server)
                yield Session(board, await board.plate(status="idle"), model, terminal)


@asynccontextmanager
async def gemini_in_tmux(home: Home) -> AsyncGenerator[Session]:
    with Timed(Contents(), SCRIPT) as model:
        gemini = Gemini(home, model)
        gemini.prepare()
        await home.install_hooks("gemini")
        async with serving(home.database, env=home.env) as server:
            with gemini.terminal() as terminal:
                await terminal.shows("Type your message")
                await terminal.type("play:say")
                await terminal.shows("Done.")
                board = Board(server)
                yield Session(board, await board.plate(status="idle"), model, terminal)


SIDES: dict[str, Callable[[Home], Any]] = {
    "Claude Code that `callboard start` runs": started,
    "Claude Code in tmux": claude_in_tmux,
    "Codex in tmux": codex_in_tmux,
    "opencode in tmux": opencode_in_tmux,
    "Gemini CLI in tmux": gemini_in_tmux,
}


# -------------------------------------------------------------------------------------------------


async def delivered(make: Callable[[Home], Any], folder: Path, count: int) -> Figures:
    """Milliseconds to the model, and to the board's receipt; and to the model if it is typed."""
    found: Figures = {"model": [], "receipt": [], "typed": []}
    async with make(Home.made_in(folder)) as session:
        await session.rests()
        for number in range(count):
            text = f"Message {number:03} from the board. play:say"
            began = time.perf_counter()
            await session.write(text)
            seen = await session.receipt(text)
            at = await until(lambda text=text: session.model.got(text), f"{text!r} at the model")
            found["model"].append(1000 * (at - began))
            found["receipt"].append(1000 * (seen - began))
            await session.rests()
        for number in range(count if session.terminal else 0):
            text = f"Message {number:03} typed. play:say"
            began = time.perf_counter()
            await session.type(text)
            at = await until(lambda text=text: session.model.got(text), f"{text!r} at the model")
            found["typed"].append(1000 * (at - began))
            await session.rests()
    return found


def measure(quick: bool = False) -> Result:
    count = 5 if quick else 30
    found: dict[str, Figures] = {}
    failed: dict[str, str] = {}
    for number, (name, make) in enumerate(SIDES.items()):
        progress(f"messages_delivery: {name}")
        with scratch() as folder:
            try:
                found[name] = asyncio.run(delivered(make, folder / str(number), count))
            except AssertionError as error:
                failed[name] = str(error)[:300]
                progress(f"  failed: {error}")
                continue
        progress(f"  { ({key: spread(values) for key, values in found[name].items() if values}) }")
    by_hand = found.get("Claude Code in tmux", {}).get("typed", [])

    def row(name: str) -> Row:
        ours = spread(found[name]["model"])
        typed = found[name]["typed"] or by_hand
        peer = spread(typed) if typed else None
        return Row(
            f"a message to an idle {name}: at its model",
            f"p99 ≤ {BAR_MS:,} ms",
            f"p50 {ours['p50']:.0f} ms, p99 {ours['p99']:.0f} ms",
            f"p50 {peer['p50']:.0f} ms, p99 {peer['p99']:.0f} ms (typed)" if peer else "–",
            f"{ours['p50'] / peer['p50']:.1f}×" if peer else "–",
            ours["p99"] <= BAR_MS,
        )

    def missing(name: str) -> Row:
        claim = f"a message to an idle {name}: at its model"
        return Row(claim, f"p99 ≤ {BAR_MS:,} ms", "failed, see below", "–", "–", False)

    receipts = ", ".join(
        f"{name} p50 {took['p50']:.0f} ms, p99 {took['p99']:.0f} ms"
        for name in found
        for took in [spread(found[name]["receipt"])]
    )
    return Result(
        "messages_delivery",
        rows=[row(name) if name in found else missing(name) for name in SIDES],
        notes=[
            f"{count} messages each, half a second after the end of the turn before. "
            f"The board says that they were delivered after: {receipts}.",
            "Typed: the text is sent to the terminal with tmux, seen there, and Enter is pressed; "
            "for the session in the background, in the terminal of the other Claude Code.",
            *(f"Failed: {name}: {why}" for name, why in failed.items()),
        ],
        data={"samples": found},
    )


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--quick", action="store_true")
    finish(measure(parser.parse_args().quick))


if __name__ == "__main__":
    main()
