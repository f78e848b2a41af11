"""Claim: from a person's answer to the start of the next agent, in process, no slower than
LangGraph's resume.

Both sides are on SQLite with every step durable: the answer is on the disk before the next agent
starts. Ours is measured from the call of `answer` to the first line of the agent of the next
phase. LangGraph's is measured from the call of `invoke(Command(resume=…))` to the first line of
the node after the one that called `interrupt()`; of its sync and its async saver the quicker is
compared. Every sample is a session of its own.
"""

import argparse
import asyncio
import json
import random
import statistics
import time
from pathlib import Path
from typing import Any

from common import (
    PEERS,
    Result,
    Row,
    Side,
    alternate,
    finish,
    progress,
    random_text,
    scratch,
    spread,
)


async def ours(path: Path, count: int, warm: int, size: int) -> dict[str, Any]:
    from pydantic import Field

    from callboard import Approval, Callboard, Context, Phase, State, Workflow, agent

    rng = random.Random(1)
    first = [random_text(rng, min(2000, size - at)) for at in range(0, size, 2000)]
    watch = {"started": 0.0}

    class Letter(State):
        items: list[str] = Field(default_factory=list)

    @agent
    async def draft(state: Letter, ctx: Context) -> str:
        return "draft"

    @agent
    async def send(state: Letter, ctx: Context) -> str:
        watch["started"] = time.perf_counter()
        return "sent"

    def begin(state: Letter, input: str) -> None:
        state.items = list(first)

    def keep(state: Letter, output: str) -> None:
        state.items.append(output)

    letter = Workflow(
        "letter",
        state=Letter,
        start=begin,
        phases=[
            Phase("draft", agent=draft, update=keep, human=Approval("Send it?"), next="send"),
            Phase("send", agent=send, update=keep, terminal=True),
        ],
    )
    samples = []
    async with Callboard.open(f"sqlite:///{path}", workflows=[letter]) as board:
        for number in range(warm + count):
            waiting = await board.run(letter, input="go")
            assert waiting.status == "waiting", waiting
            (question,) = await board.inbox(waiting.session_id)
            answered = time.perf_counter()
            await board.answer(question.id, "yes", approved=True)
            await board.drive(waiting.session_id)
            if number >= warm:
                samples.append(watch["started"] - answered)
            assert watch["started"] > answered
    return {key: value if key == "n" else value * 1000 for key, value in spread(samples).items()}


def measure(quick: bool = False) -> Result:
    here, peer = Path(__file__).resolve(), PEERS / "langgraph_answer.py"
    rounds, count = (3, 50) if quick else (5, 200)
    progress("answer: from the answer to the next agent, in process")
    sides = [
        Side("ours", here, ("--side", f"--count={count}"), peer=False),
        Side("LangGraph sync", peer, ("--mode=sync", f"--count={count}")),
        Side("LangGraph async", peer, ("--mode=async", f"--count={count}")),
    ]
    runs = alternate(sides, rounds)

    def row(claim: str, results: dict[str, list[dict[str, Any]]]) -> Row:
        p50 = {
            name: statistics.median(run["p50"] for run in side) for name, side in results.items()
        }
        p99 = {
            name: statistics.median(run["p99"] for run in side) for name, side in results.items()
        }
        quickest = min(("LangGraph sync", "LangGraph async"), key=lambda name: p50[name])
        ratio = p50["ours"] / p50[quickest]
        return Row(
            claim,
            "≤ LangGraph",
            f"p50 {p50['ours']:.2f} ms, p99 {p99['ours']:.2f} ms",
            f"p50 {p50[quickest]:.2f} ms, p99 {p99[quickest]:.2f} ms ({quickest})",
            f"{ratio:.2f}",
            ratio <= 1,
        )

    return Result(
        "answer",
        rows=[
            row("answer → next agent starts, in process", runs),
        ],
        notes=["Medians over the rounds of each round's p50 and p99. Over HTTP: see http_answer."],
        data={"runs": runs},
    )


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--side", action="store_true", help="run our side once and print its JSON")
    parser.add_argument("--count", type=int, default=200)
    parser.add_argument("--warm", type=int, default=20)
    parser.add_argument("--state", type=int, default=0, help="bytes of text in the state")
    options = parser.parse_args()
    if not options.side:
        finish(measure(options.quick))
        return
    with scratch() as folder:
        path = folder / "callboard.db"
        print(json.dumps(asyncio.run(ours(path, options.count, options.warm, options.state))))


if __name__ == "__main__":
    main()
