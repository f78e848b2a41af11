"""Claims: with 100 machines of 5 sessions each and 50 hooks a second in all, a hook is on the board
of one server within 500 ms (p99); a permission answered on the board reaches the client that waits
on another machine within 250 ms (p99); and an idle relay takes at most 0.2 % of a core and 25 MB.

All of it runs on this machine, over loopback. The machines are in two processes: each has a relay's
own outbox, connections and protocol, with what it sends down to the disk, but no hooks folder. A
latency is from when the clock sent the hook off to when `GET /stream`, which the dashboard reads,
shows it. The peer is the same load without relays: each machine's hooks go straight to the server,
over one kept connection.

Meanwhile, permissions are asked by real clients of hooks, one after the other, through a real
`callboard relay` with a home of its own. Its latency is from before the `POST` of the answer to
when the client has printed the decision. The peer is the same client that waits at the server.

Idle is measured last, with no other load: a relay over TLS, with a certificate of its own that it
was told to trust, and five agents on its machine that wait for a prompt. The peer is a Python that
has loaded asyncio and ssl, and wakes up once a second.
"""

import argparse
import asyncio
import json
import os
import ssl
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

from common import Result, Row, finish, progress, scratch, spread
from hooks import payload
from relay_load import SESSIONS, THE_END
from serving import Caller, Process, idle_shares, mb, running, serve, until

HOSTS = 100
PER_SECOND = 50
BAR_HOOK_MS, BAR_ANSWER_MS = 500, 250
BAR_IDLE, BAR_MB = 0.002, 25
LOADS = 2
"""Processes that the machines are in."""
COMES_TO_REST = 5.0
LOAD = Path(__file__).resolve().with_name("relay_load.py")
BARE = """
import asyncio, json, ssl
print("{}", flush=True)
async def wait():
    while True:
        await asyncio.sleep(1)
asyncio.run(wait())
"""

Figures = dict[str, Any]


class RelayProcess(Process):
    """`callboard relay` in a home of its own."""

    def __init__(self, home: Path, url: str, code: str, *options: str) -> None:
        self.hooks = home / "callboard" / "relay" / "hooks"
        program = ["env", f"XDG_DATA_HOME={home}", sys.executable, "-m", "callboard", "relay"]
        home.mkdir()
        super().__init__(
            [*program, f"--server={url}", f"--pair={code}", f"--name={home.name}", *options],
            home / "relay.log",
        )

    def _first_line(self) -> bytes:
        until((self.hooks / "connection").exists)  # Hooks find it now.
        return b"{}"


def hook(folder: Path, pid: int, body: bytes, *more: str) -> "subprocess.Popen[bytes]":
    """Start the real client of a hook."""
    from callboard import hookclient

    process = subprocess.Popen(
        [sys.executable, "-I", "-S", hookclient.__file__, str(folder), "claude", *more],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        env={**os.environ, "CLAUDE_PID": str(pid)},
    )
    assert process.stdin is not None
    process.stdin.write(body)
    process.stdin.close()
    return process


@contextmanager
def agents(count: int) -> Iterator[list[int]]:
    """Processes that have hooks."""
    made = [subprocess.Popen(["sleep", "3600"]) for _ in range(count)]
    try:
        yield [one.pid for one in made]
    finally:
        for one in made:
            one.kill()
            one.wait()


async def tokens(database: Path) -> list[str]:
    """One for each machine, as pairing makes them."""
    from callboard import Callboard

    async with Callboard.open(database) as board:
        made = [
            await board.tokens.create(f"machine {n}", "hook", host=f"{n:016}") for n in range(HOSTS)
        ]
    return [one.secret for one in made]


def pairing_code(database: Path) -> str:
    command = [sys.executable, "-m", "callboard", "pair", f"--db={database}", "--json"]
    return json.loads(subprocess.run(command, capture_output=True, check=True).stdout)["code"]


# -------------------------------------------------------------------------------------------------
# Load


class Load:
    """A process of `relay_load`."""

    def __init__(self, *arguments: str) -> None:
        self._process = subprocess.Popen(
            [sys.executable, str(LOAD), *arguments], stdin=subprocess.PIPE, stdout=subprocess.PIPE
        )
        assert self._process.stdout is not None
        if not self._process.stdout.readline():
            raise RuntimeError(f"{arguments} did not start")

    def begin(self) -> None:
        assert self._process.stdin is not None
        self._process.stdin.write(b"begin\n")
        self._process.stdin.flush()

    def end(self) -> None:
        assert self._process.stdin is not None
        self._process.stdin.close()
        self._process.stdin = None

    def told(self) -> dict[str, float]:
        out, _ = self._process.communicate(timeout=120)
        return json.loads(out)


def under_load(how: str, server: Process, known: Path, work: Callable[[], Figures]) -> Figures:
    """What `work` finds while all machines report, and how long each of their hooks took."""
    share = ["--tokens", str(known), "--rate", str(PER_SECOND / LOADS)]
    watching = Load("watch", server.url)
    loads = [Load(how, server.url, *share, "--part", str(n), str(LOADS)) for n in range(LOADS)]
    for load in loads:
        load.begin()
    busy, began = server.busy(), time.monotonic()
    found = work()
    took = time.monotonic() - began
    found["server"] = (server.busy() - busy) / took
    for load in loads:
        load.end()
    sent = {name: at for load in loads for name, at in load.told().items()}
    ask = Caller(server.url)
    told = {**json.loads(payload(999_999, 0)), "hook_event_name": "UserPromptSubmit"}
    ask("POST", "/hooks/claude", {**told, "prompt": THE_END})
    seen = watching.told()
    if lost := sent.keys() - seen.keys():
        raise RuntimeError(f"{len(lost)} of {len(sent)} hooks never appeared: {sorted(lost)[:3]}")
    found["hooks"] = [1000 * (seen[name] - at) for name, at in sent.items()]
    found["rate"] = len(sent) / (max(sent.values()) - min(sent.values()))
    progress(f"  {how}: {spread(found['hooks'])}, permissions {spread(found['answers'])}")
    return found


# -------------------------------------------------------------------------------------------------
# Permissions


def permission(session: int, number: int, name: str) -> bytes:
    told = json.loads(payload(session, 0))
    command = {"command": f"rm -r build/{number}"}
    return json.dumps({**told, "hook_event_name": name, "tool_input": command}).encode()


def answered(url: str, folder: Path, pid: int, session: int, count: int) -> Figures:
    """Milliseconds from a person's answer to a client's decision, for so many permissions."""
    ask, took = Caller(url), []
    where = (
        f"/interactions?status=pending&sessionId={json.loads(payload(session, 0))['session_id']}"
    )

    def asked() -> list[Any]:
        found = ask("GET", where)["interactions"]
        return [one for one in found if one.get("accepted") is None]

    for number in range(count):
        held = hook(folder, pid, permission(session, number, "PermissionRequest"), "--hold")
        until(lambda: bool(asked()), every=0.02)
        (question,) = asked()
        began = time.perf_counter()
        printed: list[float] = []

        def wait(held: Any = held, number: int = number, printed: list[float] = printed) -> None:
            if b'"allow"' in held.stdout.read():
                printed.append(time.perf_counter())
            held.wait()
            # The server's response waits a moment for what the agent does.
            hook(folder, pid, permission(session, number, "PostToolUse")).wait()

        waiting = threading.Thread(target=wait)
        waiting.start()
        ask("POST", f"/interactions/{question['id']}/answer", {"value": "yes"})
        waiting.join()
        took.append(1000 * (printed[0] - began))
    return {"answers": took}


# -------------------------------------------------------------------------------------------------
# Idle


@contextmanager
def with_tls(folder: Path, url: str) -> Iterator[tuple[str, Path]]:
    """The server behind a proxy; gives its URL, and a certificate that has to be trusted."""
    certificate, key = folder / "own.crt", folder / "own.key"
    subprocess.run(
        ["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256",
         "-nodes", "-days", "2", "-subj", "/CN=localhost",
         "-addext", "subjectAltName=DNS:localhost", "-out", certificate, "-keyout", key],
        check=True, capture_output=True,
    )  # fmt: skip
    tls = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    tls.load_cert_chain(certificate, key)
    port = int(url.rpartition(":")[2])

    async def copy(source: asyncio.StreamReader, target: asyncio.StreamWriter) -> None:
        while part := await source.read(65_536):
            target.write(part)
            await target.drain()
        target.close()

    async def take(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        there, back = await asyncio.open_connection("127.0.0.1", port)
        await asyncio.gather(copy(reader, back), copy(there, writer), return_exceptions=True)
        writer.close()
        back.close()

    loop = asyncio.new_event_loop()
    listening = loop.run_until_complete(asyncio.start_server(take, "127.0.0.1", 0, ssl=tls))
    thread = threading.Thread(target=loop.run_forever, daemon=True)
    thread.start()
    try:
        yield f"https://localhost:{listening.sockets[0].getsockname()[1]}", certificate
    finally:
        loop.call_soon_threadsafe(loop.stop)
        thread.join()


def idle(folder: Path, seconds: float) -> Figures:
    """What a relay takes while nothing happens, with five agents on its machine."""
    with ExitStack() as stack:
        server = stack.enter_context(running(serve(folder, "--allowed-host=localhost", db="i.db")))
        url, certificate = stack.enter_context(with_tls(folder, server.url))
        code = pairing_code(folder / "i.db")
        relay = RelayProcess(folder / "idle", url, code, "--ca-file", str(certificate))
        stack.enter_context(running(relay))
        bare = Process([sys.executable, "-I", "-S", "-c", BARE], folder / "bare.log")
        stack.enter_context(running(bare))
        for session, pid in enumerate(stack.enter_context(agents(SESSIONS))):
            told = json.loads(permission(session, 0, "SessionStart"))
            hook(relay.hooks, pid, json.dumps({**told, "source": "startup"}).encode()).wait()
        ask = Caller(server.url)
        until(lambda: len(ask("GET", "/plates")["plates"]) == SESSIONS)
        time.sleep(COMES_TO_REST)  # After its start, a relay still has something to do.
        shares = idle_shares([relay, bare], seconds)
        found = {"share": shares[0], "bare share": shares[1]}
        found |= {"rss": relay.memory(), "pss": relay.share()}
        found |= {"bare rss": bare.memory(), "bare pss": bare.share()}
    progress(f"  idle: {found}")
    return found


# -------------------------------------------------------------------------------------------------


def loaded(folder: Path, count: int) -> dict[str, Figures]:
    from callboard.board.hook_folders import hooks_folder

    database, known = folder / "callboard.db", folder / "tokens.json"
    known.write_text(json.dumps(asyncio.run(tokens(database))))
    found: dict[str, Figures] = {}
    with running(serve(folder)) as server, agents(2) as (there, here):
        relay = RelayProcess(folder / "there", server.url, pairing_code(database))
        with running(relay):

            def across() -> Figures:
                return answered(server.url, relay.hooks, there, 800_001, count)

            found["relays"] = under_load("relays", server, known, across)
            found["relays"]["rss"] = relay.memory()

        def straight() -> Figures:
            return answered(server.url, hooks_folder(database), here, 800_002, count)

        found["direct"] = under_load("direct", server, known, straight)
    return found


def measure(quick: bool = False) -> Result:
    with scratch() as folder:
        progress("relays: 100 machines")
        runs = loaded(folder, 20 if quick else 100)
        progress("relays: idle")
        still = idle(folder, 10.0 if quick else 30.0)
    hooks = {how: spread(run["hooks"]) for how, run in runs.items()}
    answers = {how: spread(run["answers"]) for how, run in runs.items()}

    def row(claim: str, bar: int, found: dict[str, dict[str, float]]) -> Row:
        ours, peer = found["relays"], found["direct"]
        return Row(
            claim,
            f"p99 ≤ {bar} ms",
            f"p50 {ours['p50']:.0f} ms, p99 {ours['p99']:.0f} ms",
            f"p50 {peer['p50']:.0f} ms, p99 {peer['p99']:.0f} ms (no relay)",
            f"{ours['p99'] / peer['p99']:.1f}×",
            ours["p99"] <= bar,
        )

    share, bare = still["share"], still["bare share"]
    return Result(
        "relays",
        rows=[
            row(f"{HOSTS} machines, {PER_SECOND} hooks/s: hook to board", BAR_HOOK_MS, hooks),
            row("an answer reaches a client on another machine", BAR_ANSWER_MS, answers),
            Row(
                "an idle relay with 5 agents, over TLS",
                f"≤ {BAR_IDLE:.1%} of a core",
                f"{share:.3%}",
                f"{bare:.3%} (bare Python)",
                f"{share / bare:.1f}×",
                share <= BAR_IDLE,
            ),
            Row(
                "its memory (RSS)",
                f"≤ {BAR_MB} MB",
                mb(still["rss"]),
                f"{mb(still['bare rss'])} (bare Python)",
                f"{still['rss'] / still['bare rss']:.2f}×",
                still["rss"] <= BAR_MB * 1e6,
            ),
        ],
        notes=[
            f"{len(runs['relays']['hooks']):,} hooks at {runs['relays']['rate']:.0f}/s through "
            f"relays, slowest {hooks['relays']['max']:.0f} ms, and "
            f"{len(runs['direct']['hooks']):,} at {runs['direct']['rate']:.0f}/s without, slowest "
            f"{hooks['direct']['max']:.0f} ms; "
            f"the server took {runs['relays']['server']:.0%} of a core with relays, and "
            f"{runs['direct']['server']:.0%} without. The board's stream collects events for up to "
            "50 ms. Machines, clients and the server shared this machine's cores.",
            f"{len(runs['relays']['answers'])} answers each, one at a time, during that load; "
            f"slowest {answers['relays']['max']:.0f} ms with a relay and "
            f"{answers['direct']['max']:.0f} ms without.",
            f"Idle: {mb(still['rss'])} are {still['rss'] / 2**20:.1f} MiB, of which libraries "
            f"are shared with other processes: PSS {mb(still['pss'])}, of bare Python "
            f"{mb(still['bare pss'])}. After "
            f"{len(runs['relays']['answers'])} permissions, a relay without TLS had "
            f"{mb(runs['relays']['rss'])} (RSS).",
            "Where we lose: a relay is another process on the way, so hooks and answers take "
            "longer than without one, which only works on the server's own machine.",
        ],
        data={"runs": runs, "idle": still},
    )


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--quick", action="store_true")
    finish(measure(parser.parse_args().quick))


if __name__ == "__main__":
    main()
