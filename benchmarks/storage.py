"""Claim: storage and speed stay linear in what a workflow does.

1,000 steps of 2 KB random content take at most 3× the content on disk (LangGraph: about 500×), and
the step rate at 10,000 steps is at least 0.8 of the rate at 100. The cost of every step is drawn
in cost_per_step.png.

A step is one visit of a phase that loops: its agent returns 2,000 characters, `update` appends
them to a list in the state. Content means those characters, 1 byte each in UTF-8 (2,000,000 bytes
for 1,000 steps), and both sides are given the same ones. They are drawn evenly from the 93
characters that JSON text holds without an escape, which is 6.54 bits a byte: the densest text that
JSON has, of which a perfect compressor could save 18 %, so a second factor is given against the
1,635,000 bytes of pure chance in it. Stored means every file in the database's folder after it was
closed.

A step lasts from the start of its agent to the start of the next one; the last one, which also
ends the run, is left out.
"""

import argparse
import asyncio
import itertools
import json
import math
import random
import statistics
import time
from pathlib import Path
from typing import Any

from common import (
    ALPHABET,
    HERE,
    PEERS,
    Result,
    Row,
    Side,
    alternate,
    finish,
    folder_bytes,
    progress,
    random_text,
    scratch,
)

SIZE = 2000
PLOT = HERE / "cost_per_step.png"


async def ours(folder: Path, steps: int, size: int, seed: int) -> dict[str, Any]:
    from pydantic import Field

    from callboard import Callboard, Context, Phase, State, Workflow, agent

    rng, starts = random.Random(seed), []
    texts = [random_text(rng, size) for _ in range(steps)]

    class Growing(State):
        items: list[str] = Field(default_factory=list)

    @agent
    async def work(state: Growing, ctx: Context) -> str:
        starts.append(time.perf_counter())
        return texts[len(starts) - 1]

    def keep(state: Growing, output: str) -> None:
        state.items.append(output)

    def onward(state: Growing) -> str:
        return "work" if len(starts) < steps else "end"

    loop = Workflow(
        "loop",
        state=Growing,
        start=lambda state, input: None,
        phases=[
            Phase("work", agent=work, update=keep, next=onward, to=["work", "end"]),
            Phase("end", terminal=True),
        ],
    )
    async with Callboard.open(f"sqlite:///{folder / 'callboard.db'}", workflows=[loop]) as board:
        result = await board.run(loop, input="go")
        ended = time.perf_counter()
        assert result.status == "completed", result
        content = sum(len(item.encode()) for item in result.state.items)
        assert len(result.state.items) == steps
    stored = folder_bytes(folder)
    return {
        "stored": stored,
        "content": content,
        "factor": stored / content if content else None,
        "per_second": steps / (ended - starts[0]),
        "seconds": ended - starts[0],
        "step_seconds": [round(after - before, 7) for before, after in itertools.pairwise(starts)],
    }


def marginal(run: dict[str, Any], centre: int, width: int) -> float:
    """Steps per second over `width` steps that end or centre at step `centre`."""
    steps = run["step_seconds"]
    low = max(0, min(centre - width // 2, len(steps) - width))
    window = steps[low : low + width]
    return len(window) / sum(window)


def measure(quick: bool = False) -> Result:
    here, peer = Path(__file__).resolve(), PEERS / "langgraph_storage.py"
    long = 2000 if quick else 10_000
    rounds = 1 if quick else 3
    progress("storage: 1,000 steps of 2 KB random text, then many more")
    sides = [
        Side("ours", here, ("--side", "--steps=1000"), peer=False),
        Side("LangGraph", peer, ("--steps=1000",)),
        Side("LangGraph DeltaChannel (beta)", peer, ("--steps=1000", "--channel=delta")),
        Side("ours, long", here, ("--side", f"--steps={long}"), peer=False),
    ]
    runs = alternate(sides, rounds)
    longs = runs["ours, long"]
    first = runs["ours"][0]
    chance = first["content"] * math.log2(len(ALPHABET)) / 8

    # Two readings of "the rate at N", and the bar must hold for both: the steps around N, and a
    # whole run of N steps.
    around = statistics.median(marginal(run, long, 500) / marginal(run, 100, 200) for run in longs)
    whole = statistics.median(
        (long / sum(run["step_seconds"])) / (100 / sum(run["step_seconds"][:100])) for run in longs
    )
    at_first = statistics.median(marginal(run, 100, 200) for run in longs)
    at_last = statistics.median(marginal(run, long, 500) for run in longs)

    def factor(name: str) -> float:
        return statistics.median(run["factor"] for run in runs[name])

    def stored(name: str) -> str:
        return f"{statistics.median(run['stored'] for run in runs[name]) / 1e6:,.1f} MB"

    def slowing(name: str) -> float:
        return statistics.median(
            marginal(run, 1000, 100) / marginal(run, 100, 100) for run in runs[name]
        )

    def row(claim: str, other: str) -> Row:
        return Row(
            claim,
            "≤ 3× the content" if other == "LangGraph" else "–",
            f"{stored('ours')} ({factor('ours'):.2f}×)",
            f"{stored(other)} ({factor(other):,.1f}×, {other})",
            f"1/{factor(other) / factor('ours'):,.1f}",
            factor("ours") <= 3 if other == "LangGraph" else None,
        )

    if not quick:
        draw(longs, runs["LangGraph"], runs["LangGraph DeltaChannel (beta)"])
    return Result(
        "storage",
        rows=[
            row("storage for 1,000 steps of 2 KB random text", "LangGraph"),
            row("storage for 1,000 steps of 2 KB random text", "LangGraph DeltaChannel (beta)"),
            Row(
                f"step rate at {long:,} against the rate at 100",
                "≥ 0.8",
                f"{at_first:,.0f} → {at_last:,.0f} steps/s",
                f"at 1,000: {slowing('LangGraph'):.2f} (LangGraph)",
                f"{min(around, whole):.2f}",
                min(around, whole) >= 0.8,
            ),
        ],
        notes=[
            f"The content is {first['content']:,} bytes, of which {chance:,.0f} are pure chance; "
            f"against those ours takes {factor('ours') * first['content'] / chance:.2f}×.",
            f"Step rate: {around:.2f} for the last 500 steps against the first 200, {whole:.2f} "
            f"for the whole run of {long:,} against its first 100; the lower one is judged.",
        ],
        data={
            "around": around,
            "whole": whole,
            "runs": {
                name: [
                    {key: value for key, value in run.items() if key != "step_seconds"}
                    for run in side
                ]
                for name, side in runs.items()
            },
        },
    )


def draw(
    ours_long: list[dict[str, Any]], langgraph: list[dict[str, Any]], delta: list[dict[str, Any]]
) -> None:
    """Cost per step against the number of the step, as the mean of 50 steps so that no checkpoint
    is hidden.
    """
    try:
        import matplotlib
    except ImportError:
        progress("  matplotlib is not installed: cost_per_step.png is not drawn")
        return
    matplotlib.use("Agg")
    from matplotlib import pyplot, ticker

    def curve(runs: list[dict[str, Any]], bucket: int = 50) -> tuple[list[float], list[float]]:
        middle = sorted(runs, key=lambda run: run["seconds"])[len(runs) // 2]["step_seconds"]
        starts = range(0, len(middle) - bucket + 1, bucket)
        return (
            [at + bucket / 2 for at in starts],
            [1000 * statistics.fmean(middle[at : at + bucket]) for at in starts],
        )

    figure, axes = pyplot.subplots(figsize=(8, 4.2), dpi=150)
    for runs, label, colour in (
        (langgraph, "LangGraph SqliteSaver", "#c2410c"),
        (delta, "LangGraph DeltaChannel (beta)", "#a3a3a3"),
        (ours_long, "Callboard", "#1d4ed8"),
    ):
        axes.plot(*curve(runs), label=label, color=colour, linewidth=1.4)
    axes.set_yscale("log")
    axes.yaxis.set_major_locator(ticker.LogLocator(subs=(1, 2, 5)))
    axes.yaxis.set_major_formatter(ticker.FormatStrFormatter("%g"))
    axes.yaxis.set_minor_formatter(ticker.NullFormatter())
    axes.set_xlabel("step (each adds 2 KB of random text to the state)")
    axes.set_ylabel("cost of a step, ms (mean of 50)")
    axes.set_title("Cost per step on SQLite, every step durable", loc="left")
    axes.grid(visible=True, which="both", alpha=0.2)
    axes.legend(frameon=False)
    figure.tight_layout()
    figure.savefig(PLOT)


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--side", action="store_true", help="run our side once and print its JSON")
    parser.add_argument("--steps", type=int, default=1000)
    parser.add_argument("--size", type=int, default=SIZE)
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    if not options.side:
        finish(measure(options.quick))
        return
    with scratch() as folder:
        print(json.dumps(asyncio.run(ours(folder, options.steps, options.size, options.seed))))


if __name__ == "__main__":
    main()
