"""Claim: 100,000 sessions that wait for people cost rows, not memory: no task each, ≤ 100 MB above
an empty server, ready within 2 s of a restart. An idle server takes ≤ 0.15 % of a core (0.1 % is
the aim), whether none or 100,000 wait. An empty one is ready in ≤ 1.0 s and takes ≤ 55 MB.

All wait in one SQLite file. One session is run by the engine until it waits; the others are the
same events under ids of their own, appended through the log with its views, as their drivers would
have done. Then a server is started on the file, after a shutdown in order and after `kill -9`.
Ready means: from the start of the process to the whole answer to the first
`GET /sessions?status=waiting&limit=50`. Memory is RSS, after the same requests as the empty server
was sent (listings, answers), and two seconds later.

Tasks cannot be counted from outside. `/metrics` says how many sessions are being driven, and a task
that waits takes about 900 bytes with its future, so memory tells as well. Threads are given too.

Idle is measured last: both servers and the peer, uvicorn with an empty FastAPI application, run
beside each other and are left alone. What they take is read from the system: to ask a server would
wake it.
"""

import argparse
import asyncio
import json
import signal
import statistics
import time
from pathlib import Path
from typing import Any

from common import PEERS, Result, Row, call, finish, peers_python, progress, scratch, spread
from serving import Caller, Process, idle_shares, mb, running, serve, until

SESSIONS = 100_000
BAR_MB, BAR_SECONDS = 100, 2.0
BAR_IDLE, BAR_READY, BAR_EMPTY_MB = 0.0015, 1.0, 55
COMES_TO_REST = 5.0
"""Seconds after its start in which a server still has something to do."""
BATCH = 1000
TASK = 500
"""Bytes, and less than any waiting task with its coroutine and its future takes."""
FIRST = "/sessions?status=waiting&limit=50"


async def fill(database: str, count: int) -> dict[str, Any]:
    """Make sessions that wait, in the database with this address; returns how long that took."""
    from callboard import Callboard
    from callboard.events.envelope import NewEvent
    from callboard.ids import event_id, short_id
    from callboard.log.protocol import Writing
    from server_flows import letter

    async with Callboard.open(database, workflows=[letter]) as board:
        first = await board.run(letter, input="go")
        assert first.status == "waiting", first
        pattern = await board.log.read(first.session_id)

        def copies(question: str) -> list[NewEvent]:
            """The same events, with ids of their own and one question of their own."""
            made, ids = [], {event.id: event_id() for event in pattern}
            for event in pattern:
                payload = dict(event.payload)
                if event.name == "input:requested":
                    payload["id"] = question
                caused = ids.get(event.caused_by or "")
                made.append(
                    NewEvent(ids[event.id], event.name, payload, event.at_ms, event.version, caused)
                )
            return made

        writing = Writing(expect=0, claim=True, settle=True)
        began = time.perf_counter()
        for at in range(1, count, BATCH):
            await asyncio.gather(
                *(
                    board.log.append(short_id(), copies(short_id()), writing)
                    for _ in range(min(BATCH, count - at))
                )
            )
        took = time.perf_counter() - began
    return {"seconds": took, "events": len(pattern) * count}


def use(server: Process, ask: Caller, listings: int, answers: int) -> dict[str, Any]:
    """List and answer as people would; the empty server is given sessions of its own to answer."""
    lists, replies, ends = [], [], []
    for _ in range(listings):
        began = time.perf_counter()
        ask("GET", FIRST)
        lists.append(time.perf_counter() - began)
    for session in ask("GET", f"/sessions?status=waiting&limit={answers}")["sessions"]:
        question = session["pending"][0]["id"]
        began = time.perf_counter()
        ask("POST", f"/interactions/{question}/answer", {"value": "yes", "approved": True})
        replies.append(time.perf_counter() - began)
        path = f"/sessions/{session['sessionId']}"
        until(lambda path=path: ask("GET", path)["status"] == "completed", every=0.001)
        ends.append(time.perf_counter() - began)
    return {
        "list_ms": 1000 * statistics.median(lists),
        "answer_ms": 1000 * statistics.median(replies),
        "answer_p99_ms": 1000 * spread(replies)["p99"],
        "completed_ms": 1000 * statistics.median(ends),
    }


def driven(ask: Caller) -> int:
    """How many sessions the server drives, by its own count."""
    for line in ask("GET", "/metrics").splitlines():
        if line.startswith("callboard_sessions_driven "):
            return int(float(line.split()[1]))
    raise LookupError("callboard_sessions_driven")


def weighed(server: Process, ask: Caller) -> dict[str, Any]:
    """Memory when it has come to rest."""
    time.sleep(2)
    return {
        "driven": driven(ask),
        "memory": server.memory(),
        "threads": server.threads(),
    }


def idle(empty: Path, full: Path, seconds: float) -> dict[str, Any]:
    """What servers take when nothing happens, and what a bare one takes."""
    bare = [str(peers_python()), str(PEERS / "fastapi_idle.py")]
    with (
        running(serve(empty)) as one,
        running(serve(full)) as other,
        running(Process(bare, empty / "peer.log")) as peer,
    ):
        time.sleep(COMES_TO_REST)
        names = ("empty", "full", "peer")
        shares = idle_shares((one, other, peer), seconds)
        found: dict[str, Any] = dict(zip(names, shares, strict=True))
        return found | {"peer_ready": peer.listening - peer.began, "peer_memory": peer.memory()}


def started(folder: Path) -> tuple[Process, Caller, float]:
    """A server, and how long it took from its process's start to the first listing."""
    server = serve(folder)
    ask = Caller(server.url)
    found = ask("GET", FIRST)
    ready = time.monotonic() - server.began
    assert found["sessions"], found
    return server, ask, ready


def once(folder: Path, how: signal.Signals, answers: int) -> dict[str, Any]:
    """Start on the file, weigh, use, weigh again, end."""
    server, ask, ready = started(folder)
    try:
        fresh = server.memory()
        used = use(server, ask, 20, answers)
        found = {"ready": ready, "listening": server.listening - server.began, "fresh": fresh}
        return found | used | weighed(server, ask)
    finally:
        ask.close()
        server.stop(how)


def run(count: int, rounds: int, answers: int, rest: float) -> dict[str, Any]:
    with scratch() as folder, scratch() as empty:
        path = folder / "callboard.db"
        made = asyncio.run(fill(f"sqlite:///{path}", count))
        made["bytes"] = path.stat().st_size
        # An empty server has as many sessions as are answered, and no more.
        asyncio.run(fill(f"sqlite:///{empty}/callboard.db", (answers + 1) * rounds * 2 + 1))
        progress(f"  {count:,} sessions made in {made['seconds']:.0f} s, {mb(made['bytes'])}")
        found: dict[str, Any] = {"made": made, "full": [], "empty": []}
        for number in range(rounds * 2):
            how = signal.SIGKILL if number % 2 else signal.SIGTERM
            found["empty"].append(once(empty, how, answers))
            found["full"].append(once(folder, how, answers))
        found["idle"] = idle(empty, folder, rest)
    return found


def measure(quick: bool = False) -> Result:
    count, rounds, answers, rest = (20_000, 1, 20, 20) if quick else (SESSIONS, 3, 50, 60)
    few = 500 if quick else 2000
    progress(f"waiting: {count:,} sessions that wait for people")
    found = call_side(count, rounds, answers, rest)
    theirs = call(peers_python(), PEERS / "langgraph_waiting.py", f"--count={few}")

    def middle(which: str, figure: str) -> float:
        return statistics.median(one[figure] for one in found[which])

    above = middle("full", "memory") - middle("empty", "memory")
    ready, each = max(one["ready"] for one in found["full"]), theirs["list_s"] / few
    threads = middle("full", "threads") - middle("empty", "threads")
    task, driving = above / count, max(one["driven"] for one in found["full"])
    named = f"{count:,} sessions waiting"
    return Result(
        "waiting",
        rows=[
            Row(
                f"{named}: memory above an empty server",
                f"≤ {BAR_MB} MB",
                f"{mb(above)} ({mb(middle('full', 'memory'))} against "
                f"{mb(middle('empty', 'memory'))})",
                "–",
                "–",
                above <= BAR_MB * 1e6,
            ),
            Row(
                f"{named}: no task each",
                "none",
                f"{driving} driven, {task:,.0f} bytes a session, {threads:+g} threads",
                "–",
                "–",
                driving == 0 and task < TASK and threads < 10,
            ),
            Row(
                f"{named}: ready after a restart",
                f"≤ {BAR_SECONDS:g} s",
                f"{ready:.2f} s (the slowest of {len(found['full'])}; empty "
                f"{middle('empty', 'ready'):.2f} s)",
                "–",
                "–",
                ready <= BAR_SECONDS,
            ),
            Row(
                f"{named}: list 50 of them",
                "–",
                f"p50 {middle('full', 'list_ms'):.1f} ms",
                f"{1e3 * theirs['list_s']:,.0f} ms for {few:,} threads in all: {1e3 * each:.2f} ms "
                "each, and there is no listing of 50 (LangGraph)",
                "–",
                None,
            ),
            Row(
                f"{named}: answer one",
                "–",
                f"p50 {middle('full', 'answer_ms'):.1f} ms, completed after "
                f"{middle('full', 'completed_ms'):.1f} ms",
                "–",
                f"{middle('full', 'answer_ms') / middle('empty', 'answer_ms'):.2f}× an empty one",
                None,
            ),
            *_idle_rows(found["idle"], count),
            *_start_rows(found["idle"], middle("empty", "ready"), middle("empty", "fresh")),
        ],
        notes=[
            f"{2 * rounds} starts on the same file, alternating with an empty server, half of "
            f"them after kill -9. The file is {mb(found['made']['bytes'])}, made in "
            f"{found['made']['seconds']:.0f} s ({found['made']['events']:,} events). Memory right "
            f"after the first listing: {mb(middle('full', 'fresh'))} against "
            f"{mb(middle('empty', 'fresh'))}.",
            "No task each: the server's own count of sessions that it drives (`/metrics`) is 0, "
            f"and there are fewer than {TASK} bytes a session, in which no task has room.",
            f"An empty server printed its address after {middle('empty', 'listening'):.2f} s; it "
            "counts as ready when it has answered the first listing. Its memory is measured then.",
            "LangGraph's checkpointer has no list of threads that wait: every thread's newest "
            "checkpoint is read, and its pending writes are looked through. "
            f"That was measured at {few:,} threads, which took {theirs['make_s']:.0f} s to make.",
        ],
        data={"ours": found, "peer": theirs},
    )


def _idle_rows(idle: dict[str, Any], count: int) -> list[Row]:
    bar, peer = f"≤ {BAR_IDLE:.2%} of a core", f"{idle['peer']:.3%} (bare uvicorn and FastAPI)"
    return [
        Row(
            f"idle server, {waiting:,} waiting",
            bar,
            f"{idle[which]:.3%}",
            peer,
            f"{idle[which] / idle['peer']:.2f}×",
            idle[which] <= BAR_IDLE,
        )
        for which, waiting in (("empty", 0), ("full", count))
    ]


def _start_rows(idle: dict[str, Any], ready: float, memory: float) -> list[Row]:
    return [
        Row(
            "callboard serve: ready",
            f"≤ {BAR_READY} s",
            f"{ready:.2f} s",
            f"{idle['peer_ready']:.2f} s (bare uvicorn and FastAPI)",
            f"{ready / idle['peer_ready']:.2f}×",
            ready <= BAR_READY,
        ),
        Row(
            "callboard serve: memory",
            f"≤ {BAR_EMPTY_MB} MB",
            mb(memory),
            f"{mb(idle['peer_memory'])} (bare uvicorn and FastAPI)",
            f"{memory / idle['peer_memory']:.2f}×",
            memory <= BAR_EMPTY_MB * 1e6,
        ),
    ]


def call_side(count: int, rounds: int, answers: int, rest: float) -> dict[str, Any]:
    import sys

    here = Path(__file__).resolve()
    options = (f"--count={count}", f"--rounds={rounds}", f"--answers={answers}", f"--rest={rest}")
    return call(sys.executable, here, "--side", *options)


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--side", action="store_true", help="run our side once and print its JSON")
    parser.add_argument("--count", type=int, default=SESSIONS)
    parser.add_argument("--rounds", type=int, default=1)
    parser.add_argument("--answers", type=int, default=20)
    parser.add_argument("--rest", type=float, default=20.0, help="seconds of doing nothing")
    given = parser.parse_args()
    if given.side:
        print(json.dumps(run(given.count, given.rounds, given.answers, given.rest)))
    else:
        finish(measure(given.quick))


if __name__ == "__main__":
    main()
