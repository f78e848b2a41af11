"""Figures: what a hook adds to the work of the real Claude Code, for each way to reach the server.

The real client reads a file again and again, led by a scripted model on loopback: each turn is one
call of a tool, with a hook before it and one after it. A turn lasts from one request that the
model gets to the next. So the start and the end of the client are not counted, and neither is the
model, which answers at once. What a hook adds is half of what a turn takes longer than one of the
same client without any hooks.

The peers are hooks as bare as they can be, in the same client: a shell that writes its input to a
file and renames it, and a Python that starts and does nothing.
"""

import argparse
import asyncio
import json
import statistics
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from common import ROOT, Result, Row, finish, progress, scratch, spread
from serving import Caller, Process, running, serve

sys.path.insert(0, str(ROOT))  # The tests know how to lead the client.

from tests.real_clients.claude import Claude
from tests.real_clients.home import Home
from tests.real_clients.messages import Messages
from tests.real_clients.model import Model, Reply
from tests.real_clients.script import Call, Say

PER_TURN = 2
OURS = ("spool", "command", "http")
PEERS = {"spool": "bare shell", "command": "bare python", "http": ""}
BARE = {
    "bare shell": "cat >{folder}/$$.part && mv {folder}/$$.part {folder}/$$.json",
    "bare python": f"{Path(sys.executable).resolve()} -I -S -c pass",
}
SIDES = ("none", *OURS, *BARE)


@dataclass
class Timed(Model):
    """A model that notes when it is asked."""

    asked: list[float] = field(default_factory=list[float])

    def reply(self, path: str, sent: str) -> Reply:
        if self.dialect.place(json.loads(sent or "{}")) is not None:
            self.asked.append(time.perf_counter())
        return super().reply(path, sent)


async def prepare(claude: Claude, side: str, server: Process) -> None:
    claude.prepare()
    if side in OURS:
        port = server.url.rpartition(":")[2]
        more = ("--force", f"--port={port}") if side == "http" else ()
        await claude.home.install_hooks("claude", f"--transport={side}", *more)
    elif side in BARE:
        folder = claude.home.folder / "dropped"
        folder.mkdir()
        entry = {"type": "command", "command": BARE[side].format(folder=folder), "timeout": 10}
        hooks = {event: [{"hooks": [entry]}] for event in ("PreToolUse", "PostToolUse")}
        claude.settings.parent.mkdir()
        claude.settings.write_text(json.dumps({"hooks": hooks}))


async def run(home: Home, side: str, turns: int, server: Process) -> list[float]:
    """How long each turn of one session took, in milliseconds."""
    file = home.project / "letter.txt"
    file.write_text("Dear reader\n")
    read = [Call("Read", {"file_path": str(file)})]
    with Timed(Messages(), {"read": [*[read] * turns, [Say("Read.")]]}) as model:
        claude = Claude(home, model)
        await prepare(claude, side, server)
        done = await claude.run("play:read")
    if done.code != 0 or len(model.asked) != turns + 1:
        raise RuntimeError(f"{side}: {done}, asked {len(model.asked)} times")
    pairs = zip(model.asked, model.asked[1:], strict=False)
    return [1000 * (after - before) for before, after in pairs]


def heard(server: Process) -> int:
    """How many tools the board has heard of: a transport that loses hooks is quick, too."""
    ask = Caller(server.url)
    try:
        plates = ask("GET", "/plates")["plates"]
        told = [ask("GET", f"/plates/{plate['plateId']}/events")["events"] for plate in plates]
    finally:
        ask.close()
    return sum(event["name"] in ("tool_start", "tool_call") for events in told for event in events)


def measured(rounds: int, turns: int) -> dict[str, list[float]]:
    """The median turn of every session, side by side, `rounds` times."""
    found: dict[str, list[float]] = {side: [] for side in SIDES}
    with scratch() as folder, running(serve(folder)) as server:
        for number in range(rounds):
            for side in SIDES:
                place = folder / f"{number}-{side.replace(' ', '-')}"
                home = Home(place / "home", place / "home" / "project", folder / "callboard.db")
                home.project.mkdir(parents=True)
                took = statistics.median(asyncio.run(run(home, side, turns, server)))
                found[side].append(took)
                progress(f"  round {number + 1}/{rounds}  {side}: {took:.1f} ms a turn")
        wait_for(lambda: heard(server), rounds * len(OURS) * turns * PER_TURN)
    return found


def wait_for(count: Callable[[], int], wanted: int) -> None:
    end = time.monotonic() + 30
    while (got := count()) < wanted and time.monotonic() < end:
        time.sleep(0.2)
    if got != wanted:
        raise RuntimeError(f"the board heard of {got} hooks, not of {wanted}")


def measure(quick: bool = False) -> Result:
    rounds, turns = (3, 20) if quick else (8, 60)
    progress("real_hooks: what a hook adds inside the real Claude Code")
    found = measured(rounds, turns)
    # In each round by itself: what disturbs the machine disturbs the whole round.
    added = {
        side: [
            (with_ - bare) / PER_TURN
            for with_, bare in zip(found[side], found["none"], strict=True)
        ]
        for side in SIDES
    }
    middle = {side: statistics.median(values) for side, values in added.items()}

    def row(side: str) -> Row:
        peer = PEERS[side]
        return Row(
            f"added to the real client by one hook, {side}",
            "–",
            f"{middle[side]:.1f} ms",
            f"{middle[peer]:.1f} ms ({peer})" if peer else "–",
            f"{middle[side] / middle[peer]:.2f}" if peer and middle[peer] > 0 else "–",
            None,
        )

    noise = statistics.pstdev(found["none"]) / PER_TURN
    data: dict[str, Any] = {"turns_ms": found, "added_ms": added}
    return Result(
        "real_hooks",
        rows=[row(side) for side in OURS],
        notes=[
            f"{rounds} rounds of {turns} calls of Read with two hooks each, all sides in turn; "
            f"medians. Without hooks a turn takes {spread(found['none'])['p50']:.1f} ms, and "
            f"differs between rounds by {noise:.1f} ms a hook. The board heard every hook.",
            "Against no hooks at all; the client itself pays for starting a process, so a bare "
            "hook that does nothing of use is shown beside ours.",
        ],
        data=data,
    )


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--quick", action="store_true")
    finish(measure(parser.parse_args().quick))


if __name__ == "__main__":
    main()
