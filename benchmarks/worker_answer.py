"""Claim: from an answer through a server to the start of the next agent on a worker: p50 ≤ 15 ms
(worker --driver local), ≤ 30 ms (procrastinate), ≤ 100 ms (Temporal).

The server drives nothing (`--driver none`, or an engine, which only queues there); one worker
in a process of its own does. Both share a PostgreSQL database. Measured as in `http_answer`: from
just before `POST /interactions/{id}/answer` is sent to the first line of the agent of the next
phase, by the clock that all processes share; every sample is a session of its own, one at a time.
Of several rounds, on the same processes, those count in which the host took the least from this
machine. How long the server and the worker had no processor although they could have run is told.

There is no peer: none of them has questions over HTTP and separate workers. Beside it stands our
own server that drives its sessions itself, on the same PostgreSQL.
"""

import argparse
import json
import statistics
from collections.abc import Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pictures
from common import (
    HERE,
    Result,
    Row,
    Side,
    alternate,
    finish,
    progress,
    quietest,
    scratch,
    spread,
)
from databases import postgres, serve_on, temporal_of_our_own, version, work_on
from http_answer import ours
from serving import Caller, Process, running

WARM = 10
BARS_MS = {"local": 15, "procrastinate": 30, "temporal": 100, "temporal-standalone": 100}
ALONE = "one server"
PLOT = HERE / "worker_answer.png"


def answered(ask: Caller, processes: Sequence[Process], count: int) -> dict[str, float]:
    """One round: milliseconds from answers to agents, and to the replies."""
    before = sum(process.waited() for process in processes)
    samples = [ours(ask) for _ in range(count)]
    waited = sum(process.waited() for process in processes) - before
    waits = spread([(started - sent) / 1e6 for sent, _, started in samples])
    trips = spread([(replied - sent) / 1e6 for sent, replied, _ in samples])
    return waits | {"trip_p50": trips["p50"], "no_processor": 1000 * waited / count}


def run(side: str, count: int, rounds: int, most: int) -> dict[str, Any]:
    with postgres() as server, scratch() as folder, ExitStack() as stack:
        url = server.create()
        serves = {"local": "none", ALONE: "local"}.get(side, side)
        stack.enter_context(temporal_of_our_own(folder, side))
        answers = stack.enter_context(running(serve_on(folder, url, f"--driver={serves}")))
        processes = [answers]
        if side != ALONE:
            worker = work_on(folder, url, f"--driver={side}")
            processes.append(stack.enter_context(running(worker)))
        ask = Caller(answers.url)
        answered(ask, processes, WARM)
        found = quietest(rounds, most, lambda: answered(ask, processes, count))
        ask.close()
        about = version(server)
    middle = {name: statistics.median(one[name] for one in found) for name in found[0]}
    return middle | {"about": about, "rounds": found}


def measure(quick: bool = False) -> Result:
    here = Path(__file__).resolve()
    rounds, most, count = (1, 1, 30) if quick else (3, 7, 30)
    progress("worker_answer: from an answer through a server to the next agent on a worker")
    sizes = (f"--count={count}", f"--rounds={rounds}", f"--most={most}")
    sides = [Side(name, here, (f"--side={name}", *sizes), peer=False) for name in (*BARS_MS, ALONE)]
    runs = {name: found for name, (found,) in alternate(sides, 1).items()}

    def middle(name: str, figure: str) -> float:
        return runs[name][figure]

    if not quick:
        draw(runs)
    alone = middle(ALONE, "p50")
    return Result(
        "worker_answer",
        rows=[
            Row(
                f"answer through a server → next agent on a worker (--driver {name})",
                f"p50 ≤ {bar} ms",
                f"p50 {middle(name, 'p50'):.1f} ms, p99 {middle(name, 'p99'):.1f} ms",
                f"p50 {alone:.1f} ms (ours, the server drives)",
                f"{middle(name, 'p50') / alone:.2f}",
                middle(name, "p50") <= bar,
            )
            for name, bar in BARS_MS.items()
        ],
        notes=[
            f"{rounds} round(s) of {count} answers, one at a time; medians over the rounds; "
            f"{runs[ALONE]['about']}. The reply to the POST takes "
            f"{middle('local', 'trip_p50'):.1f} ms of it (local), "
            f"{middle('procrastinate', 'trip_p50'):.1f} ms (procrastinate).",
            "What the host took of the processors' time in these rounds, and how long in each "
            "session, from its start to its end, the server and the worker had to wait for one: "
            + ", ".join(
                f"{name} {middle(name, 'stolen'):.1%} and {middle(name, 'no_processor'):.1f} ms"
                for name in runs
            )
            + ".",
        ],
        data={"runs": runs},
    )


def draw(runs: dict[str, dict[str, Any]]) -> None:
    """The median and the p99 of each driver, and the bars."""
    names = [ALONE, *BARS_MS]

    def paint(axes: Any) -> None:
        for place, name in enumerate(reversed(names)):
            p50, p99 = runs[name]["p50"], runs[name]["p99"]
            colour = pictures.QUIETER if name == ALONE else pictures.OURS
            axes.barh(place, p50, height=0.5, color=colour)
            axes.plot([p50, p99], [place, place], color=colour, linewidth=1.4, marker="|")
            if name in BARS_MS:
                bar = BARS_MS[name]
                axes.plot([bar, bar], [place - 0.4, place + 0.4], color=pictures.THEIRS)
        axes.plot([], [], color=pictures.THEIRS, label="the bar of the median")
        labels = [f"{name}\n{runs[name]['p50']:.1f} ms" for name in reversed(names)]
        axes.set_yticks(range(len(names)), labels)
        axes.set_xlabel("ms from the answer to the next agent: median, and p99 as a line")
        axes.set_title("An answer through a server, until a worker runs the agent", loc="left")
        axes.legend(frameon=False, loc="upper right")

    pictures.draw(PLOT, paint)


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--side", choices=[*BARS_MS, ALONE], help="run one side once")
    parser.add_argument("--count", type=int, default=30)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--most", type=int, default=7, help="rounds to choose the quietest from")
    given = parser.parse_args()
    if given.side:
        print(json.dumps(run(given.side, given.count, given.rounds, given.most)))
    else:
        finish(measure(given.quick))


if __name__ == "__main__":
    main()
