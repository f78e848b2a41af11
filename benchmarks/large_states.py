"""Claim: large states are no reason to wait.

From a person's answer to the start of the next agent, at most half of what LangGraph takes with
1 MB or 10 MB of text or 10,000 typed messages in the state, where the process that asked is still
there; at most as long in a process that has never seen the session. The first step of a session
with 1 MB of input takes at most twice as long as LangGraph's. One more message in a list of 10,000
costs at most 1.5 times what it costs in a list of 10.

Both sides are on SQLite with every step durable. Text is random, 2,000 characters an element;
messages are pydantic models on both sides. Of LangGraph's sync and async savers the quicker is
compared. Every sample is a session of its own.
"""

import argparse
import asyncio
import json
import statistics
from itertools import pairwise
from pathlib import Path
from typing import Any, ClassVar

from common import (
    PEERS,
    Result,
    Row,
    Side,
    alternate,
    clock,
    finish,
    large_content,
    on_a_fresh_database,
    progress,
    spread,
)


class Watch:
    count = 0
    drafted = 0.0
    started = 0.0
    steps: ClassVar[list[float]] = []


def letter(kind: str, content: list[Any]) -> Any:
    """A draft, a question about it, and what happens after the answer.

    The state starts with the input, or with the content if there is no input.
    """
    from pydantic import BaseModel, Field

    from callboard import Approval, Context, Phase, State, Workflow, agent

    class Message(BaseModel):
        role: str
        content: str
        at: int = 0

    class Letter(State):
        text: list[str] = Field(default_factory=list)
        messages: list[Message] = Field(default_factory=list)
        steps: int = 0

    @agent
    async def draft(state: Letter, ctx: Context) -> str:
        Watch.drafted = clock()
        return "draft"

    @agent
    async def send(state: Letter, ctx: Context) -> str:
        Watch.started = clock()
        return "sent"

    @agent
    async def work(state: Letter, ctx: Context) -> str:
        Watch.steps.append(clock())
        return "one more"

    typed = kind == "messages"

    def begin(state: Letter, input: list[Any] | None) -> None:
        setattr(state, kind, content if input is None else input)

    def keep(state: Letter, output: str) -> None:
        state.steps += 1
        one = Message(role="agent", content=output) if typed else output
        getattr(state, kind).append(one)

    def onward(state: Letter) -> str:
        return "work" if state.steps < Watch.count else "end"

    answered = Workflow(
        "letter",
        state=Letter,
        start=begin,
        phases=[
            Phase("draft", agent=draft, update=keep, human=Approval("Send it?"), next="send"),
            Phase("send", agent=send, update=keep, terminal=True),
        ],
    )
    loop = Workflow(
        "loop",
        state=Letter,
        start=begin,
        phases=[
            Phase("work", agent=work, update=keep, next=onward, to=["work", "end"]),
            Phase("end", terminal=True),
        ],
    )
    return answered, loop


async def answers(options: argparse.Namespace, path: Path) -> None:
    """Make the sessions, then answer them: here, or in a process that has not seen them."""
    from callboard import Callboard

    content = large_content(options.kind, options.size)
    flow, _ = letter(options.kind, content)
    input = content if options.case == "first" else None
    samples, waiting = list[float](), list[str]()
    async with Callboard.open(f"sqlite:///{path}", workflows=[flow]) as board:
        for _ in range(options.warm + options.count):
            began = clock()
            session = (await board.run(flow, input=input)).session_id
            (question,) = await board.inbox(session)
            if options.case == "first":
                samples.append(Watch.drafted - began)
            elif options.case == "warm":
                samples.append(await answer(board, session, question.id))
            else:
                waiting.append(f"{session}:{question.id}")
    if options.case == "cold":
        print(json.dumps(waiting))
    else:
        report(samples, options.warm)


async def answer(board: Any, session: str, question: str) -> float:
    """Seconds from the answer to the next agent."""
    answered = clock()
    await board.answer(question, "yes", approved=True)
    await board.drive(session)
    assert Watch.started > answered
    return Watch.started - answered


async def resume(options: argparse.Namespace, path: Path) -> None:
    from callboard import Callboard

    flow, _ = letter(options.kind, [])
    async with Callboard.open(f"sqlite:///{path}", workflows=[flow]) as board:
        waiting = [one.split(":") for one in options.resume.split(",")]
        report([await answer(board, *one) for one in waiting], options.warm)


async def appending(options: argparse.Namespace, path: Path) -> None:
    from callboard import Callboard

    _, loop = letter("messages", large_content("messages", options.size))
    Watch.count = options.count
    async with Callboard.open(f"sqlite:///{path}", workflows=[loop]) as board:
        result = await board.run(loop)
        assert result.status == "completed", result
    report([after - before for before, after in pairwise(Watch.steps)], options.warm)


def report(samples: list[float], warm: int) -> None:
    found = spread(samples[warm:])
    print(json.dumps({k: v * 1000 if k != "n" else v for k, v in found.items()}))


def case(name: str, kind: str, size: int, count: int) -> list[Side]:
    here, peer = Path(__file__).resolve(), PEERS / "langgraph_large_states.py"
    given = (f"--case={name}", f"--kind={kind}", f"--size={size}", f"--count={count}")
    return [
        Side("ours", here, ("--side", *given), peer=False),
        Side("LangGraph sync", peer, ("--mode=sync", *given)),
        Side("LangGraph async", peer, ("--mode=async", *given)),
    ]


CASES = [
    ("answer → next agent, 1 MB of text, warm", ("warm", "text", 1_000_000, 30), 0.5),
    ("the same in another process", ("cold", "text", 1_000_000, 20), 1.0),
    ("answer → next agent, 10 MB of text, warm", ("warm", "text", 10_000_000, 10), 0.5),
    ("answer → next agent, 10,000 typed messages, warm", ("warm", "messages", 10_000, 10), 0.5),
    ("the same in another process", ("cold", "messages", 10_000, 10), None),
    ("first step with 1 MB of text as input", ("first", "text", 1_000_000, 20), 2.0),
    ("first step with 10,000 messages as input", ("first", "messages", 10_000, 10), None),
]


def measure(quick: bool = False) -> Result:
    rounds, steps = (1, 100) if quick else (3, 200)
    rows, data = [], {}
    for claim, (name, kind, size, count), bar in CASES:
        progress(f"large_states: {claim} ({kind})")
        runs = alternate(case(name, kind, size, max(count // 2, 5) if quick else count), rounds)
        rows.append(row(claim, runs, bar))
        data[f"{name} {kind} {size}"] = runs
    progress("large_states: one more message in a list of 10, and of 10,000")
    short, long = (
        alternate(case("append", "messages", size, steps), rounds) for size in (10, 10_000)
    )
    rows.append(growth(short, long))
    data |= {"append 10": short, "append 10,000": long}
    return Result(
        "large_states",
        rows=rows,
        notes=["Medians over the rounds of each round's p50 and p99."],
        data=data,
    )


def medians(runs: dict[str, list[dict[str, Any]]], what: str) -> dict[str, float]:
    return {name: statistics.median(run[what] for run in side) for name, side in runs.items()}


def row(claim: str, runs: dict[str, list[dict[str, Any]]], bar: float | None) -> Row:
    p50, p99 = medians(runs, "p50"), medians(runs, "p99")
    quickest = min(("LangGraph sync", "LangGraph async"), key=lambda name: p50[name])
    ratio = p50["ours"] / p50[quickest]
    return Row(
        claim,
        "–" if bar is None else f"≤ {bar:g}× LangGraph",
        f"p50 {p50['ours']:.1f} ms, p99 {p99['ours']:.1f} ms",
        f"p50 {p50[quickest]:.1f} ms, p99 {p99[quickest]:.1f} ms ({quickest})",
        f"{ratio:.2f}",
        None if bar is None else ratio <= bar,
    )


def growth(short: dict[str, list[dict[str, Any]]], long: dict[str, list[dict[str, Any]]]) -> Row:
    few, many = medians(short, "p50"), medians(long, "p50")
    factors = {name: many[name] / few[name] for name in few}
    quickest = min(("LangGraph sync", "LangGraph async"), key=lambda name: many[name])
    return Row(
        "a step that adds a message to 10,000, against one that adds it to 10",
        "≤ 1.5×",
        f"{many['ours']:.2f} ms and {few['ours']:.2f} ms",
        f"{many[quickest]:.1f} ms and {few[quickest]:.1f} ms ({quickest})",
        f"{factors['ours']:.2f}",
        factors["ours"] <= 1.5,
    )


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--side", action="store_true", help="run our side once and print its JSON")
    parser.add_argument("--case", choices=["warm", "cold", "first", "append"], default="warm")
    parser.add_argument("--kind", choices=["text", "messages"], default="text")
    parser.add_argument("--size", type=int, default=1_000_000)
    parser.add_argument("--count", type=int, default=50)
    parser.add_argument("--warm", type=int, default=5)
    parser.add_argument("--resume", default="", help="answer these questions of --path")
    parser.add_argument("--path", type=Path)
    options = parser.parse_args()
    if not options.side:
        finish(measure(options.quick))
        return
    work = resume if options.resume else appending if options.case == "append" else answers
    on_a_fresh_database(options, lambda path: asyncio.run(work(options, path)))


if __name__ == "__main__":
    main()
