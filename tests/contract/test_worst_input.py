"""Every route with the worst that can be sent to it: nobody else waits for long.

What counts is the computing time of the server's event loop between two looks at it, which the
server measures itself. Where others use the cores, caches and memory as well, the same work takes
more computing time, so the limit is a measure of work: reading the longest question twice.
"""

import json
import os
import re
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from math import inf
from pathlib import Path
from typing import Any

import httpx
import orjson
import psutil
import pytest
from tests import server_flows
from tests.servers import serving
from tests.worst_agents import worst_agents

from callboard import Callboard
from callboard.relay.batches import INCARNATION, RelayItem, packed
from callboard.server.application import ROUTERS
from callboard.testing.log_suite_material import happened

MB = 1_048_576
SHORT = 0.075
"""Seconds that the loop may always compute without coming round. 50 ms are meant."""

TRIES = 10
"""The same work needs the same time whenever the machine gives it: the quickest of these counts."""

LISTS = b"[" + b"[]," * 49_000 + b"[]]"
FIELDS = json.dumps({f"k{n}": 1 for n in range(49_000)}).encode()
DEEP = b"[" * 49_000 + b"]" * 49_000
MANY = b"[" + b"[]," * 300_000 + b"[]]"
BIG_NUMBERS = b"[" + (b"1" * 4000 + b",") * 200 + b"1e400]"
RANDOM = os.urandom(4 * MB).hex().encode()
LARGEST = 4 * MB - 1000
"""Bytes of text that still fit into an answer."""
LARGEST_QUESTION = 10 * MB - 1000
"""Bytes of text that still fit into a question."""
ESCAPED = b'\\"' * (LARGEST // 2)
WIDE = (b"a" * 1000 + "\N{GRINNING FACE}".encode()) * (LARGEST // 1004)
MIXED = b',\\"' * (LARGEST // 3)
HARDEST = (ESCAPED, WIDE)
"""Text that takes long to write, and text that takes long to read."""
TEXTS = (*HARDEST, RANDOM[:LARGEST], MIXED)


def as_long_as_questions(texts: tuple[bytes, ...]) -> tuple[bytes, ...]:
    """The same texts, as long as a question may be."""
    return tuple((one * 3)[: LARGEST_QUESTION // 3012 * 3012] for one in texts)


def bomb(length: int) -> dict[str, Any]:
    defs: dict[str, Any] = {
        f"d{n}": {"allOf": [{"$ref": f"#/$defs/d{n + 1}"}] * 2} for n in range(length)
    }
    return {"$ref": "#/$defs/d0", "$defs": {**defs, f"d{length}": {"type": "string"}}}


@dataclass
class Sent:
    """One request."""

    method: str
    path: str
    content: bytes = b""
    headers: dict[str, str] = field(default_factory=dict)
    reads: int = 0
    """How many bytes of a stream are read; of any other answer, all."""


EVENTS = "text/event-stream"
Place = tuple[str, str]
Asked = tuple[str, str, list[str], str]
Texts = tuple[bytes, ...]


def get(path: str, **headers: str) -> Sent:
    return Sent("GET", path, headers=headers)


def post(path: str, content: bytes | dict[str, Any]) -> Sent:
    body = content if isinstance(content, bytes) else json.dumps(content).encode()
    return Sent("POST", path, body)


def hook(tool: str, given: bytes, event: bytes = b"PermissionRequest") -> Sent:
    about = b'{"session_id":"s","cwd":"/x","callboard":{},"hook_event_name":"%b","tool_name":"%b",'
    return post("/hooks/claude", about % (event, tool.encode()) + b'"tool_input":%b}' % given)


def questions(count: int) -> bytes:
    one = {"options": [{"label": "a"}, {"label": "b"}]}
    return json.dumps({"questions": [{"question": f"q{n}", **one} for n in range(count)]}).encode()


def in_config(text: bytes, session: bytes = b"") -> bytes:
    """An interactive session with so much context."""
    within = b'"sessionId":"%b",' % session if session else b""
    config = b'"config":{"captureTranscript":true,"context":{"text":"%b"}}' % text
    return b'{"type":"interactive_session",%b"prompt":"?",%b}' % (within, config)


def by(text: bytes) -> bytes:
    return b'{"by":"%b"}' % text[: MB // 24 * 24 - 1200]


def copying(times: int) -> dict[str, Any]:
    return {"run": False, "edits": [{"op": "copy", "from": "/city", "path": "/plan/-"}] * times}


MANY_PARAMETERS = "&".join(f"a{n}=b" for n in range(7000))
NO_ID = "x" * 8000


def of_a_relay(secret: str, texts: Texts) -> dict[Place, list[Sent]]:
    """What is worst of what a machine sends that has a token of its own."""
    headers = {"Authorization": f"Bearer {secret}", INCARNATION: "worst123"}
    tool = b'{"session_id":"s","cwd":"/x","hook_event_name":"PreToolUse","tool_name":"Write",'
    bodies = [tool + b'"tool_input":{"content":"%b"}}' % one for one in texts]
    one_each = [[RelayItem(1, "hook", body, 1, "claude")] for body in bodies]
    many = [RelayItem(n, "hook", tool + b'"n":%d}' % n, 1, "claude") for n in range(1, 101)]
    result = b'{"id":"x","result":"done","value":[%b1]}' % (b"{}," * (MB // 3 - 100))
    results = [RelayItem(n, "receipt", result, 1) for n in range(1, 9)]
    batches = (*one_each, many, results)
    return {
        ("POST", "/relay/reports"): [
            Sent("POST", "/relay/reports", packed(items), headers) for items in batches
        ],
        ("POST", "/relay/commands"): [
            Sent("POST", "/relay/commands", json.dumps(given).encode(), headers)
            for given in ({"name": "x" * LARGEST}, {"name": "x", "holds": ["x"] * 100_000})
        ],
        ("POST", "/relay/pair"): [
            post("/relay/pair", {"code": "x" * LARGEST, "host": "h", "name": "n"}),
            post("/relay/pair", {"code": "x", "host": "h" * LARGEST, "name": "n" * LARGEST}),
        ],
        ("POST", "/pairing"): [post("/pairing", {"server": "x" * LARGEST})],
        ("GET", "/hosts"): [],
        ("DELETE", "/hosts/{host_id}"): [Sent("DELETE", "/hosts/" + "x" * 64)],
        ("POST", "/hosts/{host_id}/check"): [post("/hosts/" + "x" * 64 + "/check", {})],
        ("POST", "/hosts/{host_id}/log"): [post("/hosts/x/log", {"lines": 10**1000})],
    }


def special(asked: Asked, texts: Texts) -> dict[Place, list[Sent]]:
    """What is worst for a route beside what is bad for all; a new route has to say."""
    text = b'"' + RANDOM[:LARGEST] + b'"'
    long = as_long_as_questions(texts)
    open_question, with_schema, heavy, gone = asked
    schema = {"type": "interactive_session", "prompt": "?", "config": {"outcomeSchema": bomb(30)}}
    return {
        ("POST", "/hooks/{agent}"): [
            hook("Write", b'{"content":%b}' % text),
            hook("Write", b'{"content":"\\ud800%b"}' % (b"x" * 3 * MB)),
            hook("Write", b'{"content":"%b"}' % WIDE),
            hook("Write", b'{"content":"%b"}' % ESCAPED),
            hook("Write", b'{"content":["\\ud800%b"]}' % WIDE),
            hook("AskUserQuestion", questions(5000)),
            hook("AskUserQuestion", b'{"questions":[{"question":"?","options":["%b"]}]}' % WIDE),
            post("/hooks/claude", b'""' * 2 * MB),
            hook("Bash", BIG_NUMBERS, b"PreToolUse"),
            post("/hooks/claude", b"[" * 4 * MB),
            post("/hooks/codex", b'{"session_id":"s","tool_input":%b}' % LISTS),
            post("/hooks/gemini", b'{"session_id":"s","tool_input":%b}' % LISTS),
            post("/hooks/opencode", b'{"type":"x","properties":%b}' % LISTS),
        ],
        ("GET", "/workflows"): [],
        ("POST", "/sessions"): [
            *(
                post(
                    "/sessions", b'{"workflowId":"trip","input":"%b"}' % one[: MB // 24 * 24 - 1200]
                )
                for one in texts
            ),
            post("/sessions", b'{"workflowId":"trip","input":%b}' % LISTS),
        ],
        ("GET", "/sessions"): [
            get(f"/sessions?limit=1000&q={'x' * 8000}"),
            get("/sessions?limit=" + "9" * 4000),
        ],
        ("GET", "/sessions/{session_id}"): [get("/sessions/large")],
        ("DELETE", "/sessions/{session_id}"): [],
        ("GET", "/sessions/{session_id}/state"): [
            get("/sessions/large/state?position=" + "9" * 4000)
        ],
        ("POST", "/sessions/{session_id}/input"): [
            post("/sessions/large/input", b'{"input":%b}' % LISTS)
        ],
        ("POST", "/sessions/{session_id}/pause"): [],
        ("POST", "/sessions/{session_id}/resume"): [],
        ("POST", "/sessions/{session_id}/cancel"): [],
        ("POST", "/sessions/{session_id}/fork"): [
            post("/sessions/large/fork", copying(1000)),
            post(
                "/sessions/large/fork",
                {"edits": [{"op": "copy", "from": "", "path": f"/{n}"} for n in range(40)]},
            ),
            post("/sessions/large/fork", b'{"run":false}'),
        ],
        ("POST", "/sessions/{session_id}/retry"): [
            post("/sessions/large/retry", copying(1000)),
        ],
        ("GET", "/sessions/{session_id}/events"): [
            get("/sessions/large/events"),
            get("/sessions/large/events?after=5"),
            get("/sessions/large/events?after=9"),
            Sent("GET", "/sessions/large/events", headers={"Accept": EVENTS}, reads=4 * LARGEST),
            get(
                "/sessions/large/events",
                Accept=EVENTS,
                **{"Last-Event-ID": "9" * 5000},
            ),
        ],
        ("GET", "/stream"): [get("/stream", **{"Last-Event-ID": "9" * 5000})],
        ("GET", "/interactions"): [
            get("/interactions"),
            get("/interactions?status=completed"),
            get("/interactions?cursor=" + "A" * 40_000),
        ],
        ("POST", "/interactions"): [
            *(post("/interactions", b'{"type":"approval","prompt":"%b"}' % one) for one in long),
            *(post("/interactions", in_config(one)) for one in long),
            *(post("/interactions", in_config(one, b"large")) for one in long),
            post(
                "/interactions",
                {"type": "choice", "prompt": "?", "options": [f"o{n}" for n in range(49_000)]},
            ),
            post("/interactions", schema),
        ],
        ("GET", "/interactions/{interaction_id}"): [
            get(f"/interactions/{one}") for one in (*heavy, gone)
        ],
        ("POST", "/interactions/{interaction_id}/claim"): [
            post(f"/interactions/{open_question}/claim", {"by": "x" * LARGEST}),
            *(post(f"/interactions/{one}/claim", {"by": "x"}) for one in heavy),
        ],
        ("POST", "/interactions/{interaction_id}/release"): [
            post(f"/interactions/{one}/release", {"by": "x"}) for one in heavy
        ],
        ("POST", "/interactions/{interaction_id}/answer"): [
            post(f"/interactions/{open_question}/answer", b'{"value":%b}' % LISTS),
            *(
                post(f"/interactions/{open_question}/answer", b'{"value":"%b"}' % one)
                for one in texts
            ),
        ],
        ("POST", "/interactions/{interaction_id}/complete"): [
            post(
                f"/interactions/{with_schema}/complete", {"outcome": "completed", "response": "x"}
            ),
            post(
                f"/interactions/{with_schema}/complete",
                b'{"outcome":"completed","response":%b}' % text,
            ),
            *(
                post(
                    f"/interactions/{asked}/complete",
                    b'{"outcome":"completed","response":"%b","transcript":"%b"}'
                    % (one[: LARGEST // 4 // 24 * 24], one[: LARGEST // 4 * 3 // 24 * 24]),
                )
                for asked, one in zip(heavy, texts, strict=False)
            ),
        ],
        ("POST", "/interactions/{interaction_id}/cancel"): [
            post(f"/interactions/{gone}/cancel", b"")
        ],
        ("POST", "/interactions/{interaction_id}/assign"): [
            post(f"/interactions/{one}/assign", {"to": "x" * LARGEST}) for one in (*heavy, gone)
        ],
        ("GET", "/workers"): [get("/workers"), get(f"/workers?sessionId={NO_ID}")],
        ("GET", "/overview"): [get("/overview?days=" + "9" * 4000)],
        ("GET", "/workflows/{workflow:path}/stats"): [get(f"/workflows/{NO_ID}/stats")],
        ("PATCH", "/sessions/{session_id}"): [
            Sent("PATCH", "/sessions/large", b'{"title":"%b"}' % one) for one in texts
        ],
        ("GET", "/sessions/{session_id}/export"): [
            get(f"/sessions/large/export?format={format}") for format in ("json", "markdown")
        ],
        ("GET", "/me"): [],
        ("GET", "/tokens"): [],
        ("GET", "/team"): [],
        ("POST", "/tokens"): [
            post("/tokens", {"name": "x", "scope": "read", "groups": ["x"] * 100_000}),
            *(post("/tokens", b'{"scope":"read","name":"%b"}' % one) for one in texts),
        ],
        ("DELETE", "/tokens/{token_id}"): [],
        ("GET", "/limits"): [get(f"/limits?sessionId={NO_ID}")],
        ("PUT", "/limits/{name:path}"): [
            Sent("PUT", f"/limits/{NO_ID}", b'{"number":1}'),
            Sent("PUT", "/limits/x", b'{"number":1%b}' % (b"0" * 4000)),
        ],
        ("DELETE", "/limits/{name:path}"): [],
        ("GET", "/server"): [],
        ("GET", "/settings/hooks"): [],
        ("POST", "/settings/hooks/{agent}/install"): [],
        ("POST", "/settings/hooks/{agent}/remove"): [],
        ("POST", "/settings/hooks/{agent}/test"): [],
        ("GET", "/plates"): [get("/plates?dismissed=true")],
        ("GET", "/plates/backlog"): [],
        ("GET", "/plates/{plate_id}"): [],
        ("GET", "/plates/{plate_id}/events"): [],
        ("PATCH", "/plates/{plate_id}"): [],
        ("DELETE", "/plates/{plate_id}"): [],
        ("POST", "/plates/register"): [
            post("/plates/register", b'{"project_path":"%b"}' % (b"/x" * 400_000))
        ],
        ("POST", "/plates/stopped"): [],
        ("POST", "/events"): [
            post(
                "/events",
                b'{"session_id":"s","event_type":"tool_call","cwd":"/x","tool_input":%b}' % LISTS,
            )
        ],
        ("POST", "/login"): [],
        ("GET", "/login"): [get("/login?code=" + NO_ID)],
        ("POST", "/logout"): [],
        ("GET", "/health"): [],
        ("GET", "/metrics"): [],
        ("GET", "/docs"): [],
        ("GET", "/"): [],
        ("GET", "/app"): [],
        ("GET", "/app/{path:path}"): [
            get("/app/" + "a/../" * 8000),
            get("/app/", **{"If-None-Match": "a," * 25_000, "Accept": "text/html"}),
        ],
    }


def of_agents(plates: dict[str, str]) -> dict[Place, list[Sent]]:
    """What is worst of reading, reviewing and steering coding agents."""
    plate, changes = plates["huge"], plates["changes"]
    readers = [one for name, one in plates.items() if name != "changes"]
    texts = [one[: 262_144 // 24 * 24] for one in HARDEST]
    line = {"path": "large", "line": 1, "text": "\N{GRINNING FACE}" * 200, "excerpt": '\\"' * 200}
    messages, message = "/plates/{plate_id}/messages", "/plates/{plate_id}/messages/{message_id}"
    reading, changed = "/plates/{plate_id}/conversation", "/plates/{plate_id}/changes"
    return {
        ("GET", reading): [
            *(get(f"/plates/{one}/conversation?limit=200") for one in readers),
            get(f"/plates/{plate}/conversation?before=" + "9" * 400),
        ],
        ("GET", f"{reading}/search"): [
            *(get(f"/plates/{one}/conversation/search?text=x") for one in readers),
            get(f"/plates/{plate}/conversation/search?text=" + "%22" * 400),
        ],
        ("GET", f"{reading}/items/{{item_id}}"): [
            get(f"/plates/{one}/conversation/items/c1?cursor=1.1.1") for one in readers
        ],
        ("GET", changed): [get(f"/plates/{changes}/changes"), get(f"/plates/{plate}/changes")],
        ("GET", f"{changed}/file"): [
            get(f"/plates/{changes}/changes/file?path=large"),
            get(f"/plates/{changes}/changes/file?path=" + "../" * 1000),
        ],
        ("POST", f"{changed}/comments"): [
            post(f"/plates/{changes}/changes/comments", {"comments": [line] * 200}),
        ],
        ("GET", messages): [get(f"/plates/{plate}/messages")],
        ("POST", messages): [
            post(f"/plates/{plate}/messages", b'{"text":"%b"}' % one) for one in texts * 5
        ],
        ("PATCH", message): [],
        ("DELETE", message): [],
        ("POST", "/plates/{plate_id}/interrupt"): [post(f"/plates/{plate}/interrupt", {})],
        ("POST", "/plates/{plate_id}/stop"): [post(f"/plates/{plate}/stop", {})],
        ("POST", "/plates/start"): [
            post("/plates/start", {"agent": "claude", "folder": "/x" * 2000, "prompt": "x" * MB}),
            post("/plates/start", {"agent": "x" * LARGEST}),
        ],
        ("GET", "/usage"): [get("/usage?days=" + "9" * 4000)],
        ("GET", "/usage/budget"): [],
        ("PUT", "/usage/budget"): [Sent("PUT", "/usage/budget", b'{"daily":1%b}' % (b"0" * 4000))],
    }


def anywhere(method: str, path: str, *, everything: bool) -> Iterator[Sent]:
    """What is bad for every route."""
    # Each place of the path gets its share, because a client makes no longer addresses.
    share = NO_ID[: len(NO_ID) // max(1, path.count("{"))]
    there = re.sub(r"\{[a-z_:]+\}", share, path)
    if method == "GET":
        yield get(f"{there}?{MANY_PARAMETERS}", Cookie="; ".join(["a=b"] * 3000))
        if everything:
            for query in ("a&" * 30_000, "%" * 60_000, "a&" * 8000, "%" * 16_000):
                yield get(f"{there[:200]}?{query}")
        return
    yield Sent(method, there, FIELDS)
    if everything:
        for body in (LISTS, DEEP, MANY, BIG_NUMBERS, b'""' * (MB // 2), *map(by, TEXTS)):
            yield Sent(method, there, body)


def routes() -> set[Place]:
    found = [route for router in ROUTERS for route in router.routes]
    return {
        (method, route.path)  # type: ignore[attr-defined]
        for route in found
        for method in route.methods - {"HEAD"}  # type: ignore[attr-defined]
    }


async def large_things(db: Path, texts: Texts = TEXTS) -> Asked:
    """Sessions and questions that are large; returns the questions to be answered."""
    async with Callboard.open(db, [server_flows.trip]) as board:
        await board.start("trip", "x" * 900_000, session_id="large")
        for text in texts:
            note = {"text": orjson.loads(b'"%b"' % text)}
            await board.log.append("large", [happened("agent:note", note)])
        await board.log.append("large", [happened("agent:note", {"list": [[]] * 90_000})])
        await board.log.append("large", [happened("agent:note", {"n": n}) for n in range(1500)])
        for session in ("large", *(f"other{n}" for n in range(8))):
            if session != "large":
                await board.start("trip", "x", session_id=session)
            for _ in range(8 if session == "large" else 1):
                config = {"context": {"text": "x" * LARGEST}}
                await board.people.ask(
                    type="interactive_session", prompt="?", config=config, session_id=session
                )
        heavy: list[str] = []
        for text in as_long_as_questions((*texts, RANDOM[:LARGEST])):
            config = {"context": {"text": orjson.loads(b'"%b"' % text)}, "captureTranscript": True}
            made = await board.people.ask(type="interactive_session", prompt="?", config=config)
            heavy.append(made.id)
        asked = await board.people.ask(type="approval", prompt="?")
        config = {"outcomeSchema": bomb(30)}
        checked = await board.people.ask(type="interactive_session", prompt="?", config=config)
        return asked.id, checked.id, heavy[:-1], heavy[-1]


async def turns(http: httpx.AsyncClient) -> dict[float, float]:
    """How many turns of the loop took at most so many seconds."""
    found: dict[float, float] = {}
    for line in (await http.get("/metrics")).text.splitlines():
        if line.startswith("callboard_loop_busy_seconds_bucket"):
            name, _, value = line.rpartition(" ")
            found[float(name.split('"')[1])] = float(value)
    return found


def allowed() -> float:
    """Seconds that reading the longest question twice takes here and now."""
    longest = as_long_as_questions(HARDEST)
    return max(2 * reading(b'"%b"' % one) for one in longest)


def reading(text: bytes) -> float:
    """The computing time of parsing a text, without what only the first time takes."""
    taken: list[float] = []
    for _ in range(3):
        began = time.thread_time()
        orjson.loads(text)
        taken.append(time.thread_time() - began)
    return min(taken)


async def read(answer: httpx.Response, reads: int) -> None:
    if answer.headers.get("content-type", "").startswith(EVENTS):
        parts = answer.aiter_bytes()
        while reads > 0:
            reads -= len(await anext(parts))
    else:
        await answer.aread()


async def is_slow(http: httpx.AsyncClient, given: list[Sent]) -> bool:
    """Whether these kept the event loop busy for too long."""
    before = await turns(http)
    for one in given:
        headers = {"Content-Type": "application/json", **one.headers}
        async with http.stream(
            one.method, one.path, content=one.content, headers=headers
        ) as answer:
            assert answer.status_code < 500, f"{one.method} {one.path[:80]}: {answer.status_code}"
            await read(answer, one.reads)
    after = await turns(http)
    taken = {most: after[most] - before[most] for most in after}
    exceeded = [most for most in taken if taken[most] < taken[inf]]
    return any(most >= SHORT for most in exceeded) and max(exceeded) >= allowed()


async def is_always_slow(http: httpx.AsyncClient, given: list[Sent]) -> bool:
    """Whether they do so each time: where others use the cores too, even little takes long once."""
    for _ in range(TRIES):
        if not await is_slow(http, given):
            return False
    return True


async def drive(tmp_path: Path, *, everything: bool) -> None:
    db = tmp_path / "x.db"
    texts = TEXTS if everything else HARDEST
    cases = special(await large_things(db, texts), texts)
    async with Callboard.open(db) as board:
        paired = await board.tokens.create("relay", "hook", host="worst-host")
    cases |= of_a_relay(paired.secret, texts)
    agents = worst_agents(tmp_path, changed=20_000 if everything else 3000)
    slow: list[str] = []
    running = serving(db, server_flows.__file__, env=dict(agents.env))
    async with running as server, server.client() as http:
        cases |= of_agents(await agents.register(http))
        assert set(cases) == routes(), "say what is worst for each route"
        await http.get("/openapi.json")  # What is made once is made before.
        # What is asked for comes last, so that all that was sent is in it.
        for (method, path), worst in sorted(cases.items(), key=lambda one: one[0][0] == "GET"):
            given = [*worst, *anywhere(method, path, everything=everything)]
            if await is_always_slow(http, given):
                slow.append(f"{method} {path}")
        assert slow == []
        assert not [line for line in server.log if '"level":"error"' in line]


@pytest.mark.timeout(900)  # It sends some 200 MB, which a busy machine takes a while for.
async def test_no_input_keeps_the_others_waiting(tmp_path: Path):
    await drive(tmp_path, everything=False)


MOST_MEMORY = 40 * MB
"""How much more a server may take for all that is read of agents: it was 4 MB."""


@pytest.mark.timeout(300)
async def test_whatever_agents_leave_takes_little_memory(tmp_path: Path):
    agents = worst_agents(tmp_path, changed=3000)
    async with serving(tmp_path / "x.db", env=dict(agents.env)) as server, server.client() as http:
        plates = await agents.register(http)
        await http.get("/openapi.json")
        assert server.process is not None
        process = psutil.Process(server.process.pid)
        before = process.memory_info().rss
        for name, plate in plates.items():
            is_read = name != "changes"
            read = "/conversation?limit=200", "/conversation/search?text=x"
            reviewed = "/changes", "/changes/file?path=large"
            for path in read if is_read else reviewed:
                answer = await http.get(f"/plates/{plate}{path}", timeout=60)
                assert answer.status_code == 200, f"{name}: {answer.text[:300]}"
                assert len(answer.content) < MB
                assert process.memory_info().rss - before < MOST_MEMORY, name


@pytest.mark.long
@pytest.mark.timeout(300)
async def test_nothing_that_is_bad_anywhere_keeps_the_others_waiting(tmp_path: Path):
    await drive(tmp_path, everything=True)
