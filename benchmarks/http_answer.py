"""Claim: from a person's answer over HTTP to the start of the next agent, p50 ≤ 10 ms.

Measured from just before `POST /interactions/{id}/answer` is sent to the first line of the agent of
the next phase, in the server's process, by the clock that all processes share. The answer is on
the disk before the agent starts. The client keeps one connection; every sample is a session of its
own, one at a time.

The peer is LangGraph behind the thinnest route that FastAPI allows: `ainvoke(Command(resume=…))`
with AsyncSqliteSaver and `durability="sync"`, and the same client.
"""

import argparse
import json
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
    peers_python,
    progress,
    scratch,
    spread,
)
from serving import Caller, Process, running, serve, until

BAR_MS = 10


def ours(ask: Caller) -> tuple[float, float, float]:
    """One session: when the answer was sent, when it was replied to, when the agent started."""
    session = ask("POST", "/sessions", {"workflowId": "letter", "input": "go"})["sessionId"]
    path = f"/interactions?status=pending&sessionId={session}"
    until(lambda: bool(ask("GET", path)["interactions"]), every=0.001)
    question = ask("GET", path)["interactions"][0]["id"]
    # What the answer wakes shall not find the server still busy with putting the session down.
    until(lambda: not ask("GET", f"/sessions/{session}")["running"], every=0.001)
    sent = time.monotonic_ns()
    ask("POST", f"/interactions/{question}/answer", {"value": "yes", "approved": True})
    replied = time.monotonic_ns()
    until(lambda: ask("GET", f"/sessions/{session}")["status"] == "completed", every=0.001)
    items = ask("GET", f"/sessions/{session}/state")["state"]["items"]
    return sent, replied, int(items[-1])


def peer(ask: Caller) -> tuple[float, float, float]:
    thread = ask("POST", "/threads", {"input": "go"})["thread"]
    sent = time.monotonic_ns()
    ask("POST", f"/threads/{thread}/answer", {"value": "yes"})
    replied = time.monotonic_ns()
    return sent, replied, int(ask("GET", f"/threads/{thread}")["items"][-1])


def run(side: str, count: int, warm: int) -> dict[str, Any]:
    with scratch() as folder:
        if side == "ours":
            server, one = serve(folder), ours
        else:
            script = str(PEERS / "langgraph_http_answer.py")
            command = [str(peers_python()), script, str(folder / "langgraph.db")]
            server, one = Process(command, folder / "server.log"), peer
        with running(server):
            ask = Caller(server.url)
            samples = [one(ask) for _ in range(warm + count)][warm:]
            ask.close()
    waits = spread([(started - sent) / 1e6 for sent, _, started in samples])
    trips = spread([(replied - sent) / 1e6 for sent, replied, _ in samples])
    return waits | {"trip_p50": trips["p50"], "trip_p99": trips["p99"]}


def measure(quick: bool = False) -> Result:
    here = Path(__file__).resolve()
    rounds, count = (3, 50) if quick else (5, 200)
    progress("http_answer: from the answer to the next agent, over HTTP")
    sides = [
        Side(name, here, (f"--side={name}", f"--count={count}"), peer=False)
        for name in ("ours", "peer")
    ]
    runs = alternate(sides, rounds)

    def middle(name: str, figure: str) -> float:
        return statistics.median(one[figure] for one in runs[name])

    mine, theirs = middle("ours", "p50"), middle("peer", "p50")
    return Result(
        "http_answer",
        rows=[
            Row(
                "answer → next agent starts, over HTTP",
                f"p50 ≤ {BAR_MS} ms",
                f"p50 {mine:.2f} ms, p99 {middle('ours', 'p99'):.2f} ms",
                f"p50 {theirs:.2f} ms, p99 {middle('peer', 'p99'):.2f} ms (LangGraph, FastAPI)",
                f"{mine / theirs:.2f}",
                mine <= BAR_MS,
            )
        ],
        notes=[
            f"{rounds} rounds of {count} answers; medians over the rounds. Ours also checks a "
            "token and an origin, and writes the command into the audit; the peer has none of it.",
            f"The reply to the POST: p50 {middle('ours', 'trip_p50'):.2f} ms, the peer "
            f"{middle('peer', 'trip_p50'):.2f} ms: its route returns when the run has ended.",
        ],
        data={"runs": runs},
    )


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--side", choices=["ours", "peer"], help="run one side once")
    parser.add_argument("--count", type=int, default=200)
    parser.add_argument("--warm", type=int, default=20)
    given = parser.parse_args()
    if given.side:
        print(json.dumps(run(given.side, given.count, given.warm)))
    else:
        finish(measure(given.quick))


if __name__ == "__main__":
    main()
