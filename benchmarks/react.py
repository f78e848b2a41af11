"""Claim: 10,000 events into a mounted `useWorkflow` take at most 1.5× a bare TanStack Query cache.

A finished session of 10,000 events is read from a real server into a mounted React component, in
Node with jsdom, each time in a process of its own. `useWorkflow` folds them, asks for the state and
renders. The bare cache gets the same stream through the same reader and does nothing else: once
appended chunk by chunk, which is the floor, and once event by event, as hooks over server-sent
events are usually written.
"""

import argparse
import json
import os
import statistics
import subprocess
from typing import Any

from common import ROOT, Result, Row, finish, progress, scratch
from serving import TOKEN, Caller, running, serve, until

BAR = 1.5
EVENTS = 10_000
MOST_RENDERS = 100
KINDS = ("hook", "chunk", "event")
FLOWS = ROOT / "clients" / "react" / "tests" / "flows.py"


def one(kind: str, url: str, session: str, count: int) -> dict[str, Any]:
    """One process of one kind."""
    command = ["node", str(ROOT / "benchmarks" / "react.mjs"), kind, url, session, str(count)]
    environment = {**os.environ, "CALLBOARD_TOKEN": TOKEN, "NODE_ENV": "production"}
    done = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=300)
    if done.returncode:
        raise SystemExit(f"react: {kind} failed.\n{done.stderr}")
    return json.loads(done.stdout)


def sample(rounds: int) -> dict[str, list[dict[str, Any]]]:
    found: dict[str, list[dict[str, Any]]] = {kind: [] for kind in KINDS}
    with scratch() as folder, running(serve(folder, flows=FLOWS)) as server:
        ask = Caller(server.url)
        given = {"workflowId": "chatter", "input": EVENTS}
        session = ask("POST", "/sessions", given)["sessionId"]
        until(lambda: ask("GET", f"/sessions/{session}")["status"] == "completed", 120, 0.2)
        count = ask("GET", f"/sessions/{session}")["position"]
        for _ in range(rounds):
            for kind in KINDS:
                found[kind].append(one(kind, server.url, session, count))
    return found


def measure(quick: bool = False) -> Result:
    rounds = 3 if quick else 15
    progress("react: 10,000 events into a mounted useWorkflow")
    if not (ROOT / "clients" / "react" / "dist" / "index.js").exists():
        raise SystemExit("The React package is not built. Run `make setup`.")
    found = sample(rounds)
    ms = {kind: statistics.median(one["ms"] for one in found[kind]) for kind in KINDS}
    renders = {kind: max(one["renders"] for one in found[kind]) for kind in KINDS}
    ratio = ms["hook"] / ms["chunk"]
    return Result(
        "react",
        rows=[
            Row(
                "useWorkflow: 10,000 events shown",
                f"≤ {BAR}×",
                f"{ms['hook']:.0f} ms",
                f"{ms['chunk']:.0f} ms (bare query cache, by the chunk)",
                f"{ratio:.2f}×",
                ratio <= BAR,
            ),
            Row(
                "useWorkflow: 10,000 events shown",
                "–",
                f"{ms['hook']:.0f} ms",
                f"{ms['event']:.0f} ms (bare query cache, by the event)",
                f"{ms['hook'] / ms['event']:.2f}×",
                None,
            ),
            Row(
                "useWorkflow: renders for 10,000 events",
                f"≤ {MOST_RENDERS}",
                str(renders["hook"]),
                f"{renders['chunk']} by the chunk, {renders['event']} by the event",
                f"{renders['hook'] / renders['chunk']:.2f}×",
                renders["hook"] <= MOST_RENDERS,
            ),
        ],
        notes=[
            f"{rounds} processes of each kind, in turn; medians of times, maxima of renders. The "
            "bare caches fold nothing and ask for no state; useWorkflow does both."
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
