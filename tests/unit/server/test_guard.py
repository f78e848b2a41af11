"""Who is let in: every host, origin, kind of fetch, method and credential with every other."""

import asyncio
import logging
from collections.abc import Iterator
from datetime import timedelta
from itertools import product
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from starlette.types import Message, Receive, Scope, Send
from tests.unit.server.guarded import HOST, Guarded, request

from callboard.server.settings import ServerSettings

NAMED = "https://app.example.com"
SETTINGS = ServerSettings(
    cors_origins=frozenset({NAMED}),
    allowed_hosts=frozenset({"board.example.com"}),
    max_body=1000,
    max_question_body=3000,
    max_answer_body=3000,
)

HOSTS = {
    "callboard.localhost:2255": True,
    "localhost": True,
    "127.0.0.1:2255": True,
    "[::1]:80": True,
    "LOCALHOST:2255": True,
    "board.example.com": True,
    None: False,
    "": False,
    "evil.com": False,
    "localhost.evil.com": False,
    "evil.localhost:2255": False,
    "localhost@evil.com": False,
    "localhost:2255:1": False,
    "127.0.0.1.evil.com:2255": False,
    "0.0.0.0:2255": False,
}
SITES = (None, "none", "same-origin", "same-site", "cross-site", "whatever")


@pytest.fixture
def guarded(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Guarded:
    monkeypatch.delenv("CALLBOARD_TOKEN", raising=False)
    return Guarded(tmp_path, SETTINGS)


def origins(host: str | None) -> Iterator[tuple[str | None, str]]:
    """Origins and what each is to a page at this host."""
    yield None, "none"
    yield f"http://{host}", "own" if host else "foreign"
    yield NAMED, "named"
    yield f"https://{host}", "foreign"
    yield "null", "foreign"
    yield "http://evil.com", "foreign"
    yield f"http://{host}:1", "foreign"
    yield "", "foreign"


def expected(host_fits: bool, origin: str, site: str | None, method: str, shown: str) -> int:
    """What the rules say, for a path that needs a token and is no page."""
    if not host_fits or origin == "foreign":
        return 403
    if origin == "named" and method == "OPTIONS":
        return 204
    if origin != "named" and site in ("same-site", "cross-site", "whatever"):
        return 403
    if shown == "right":
        return 200
    if shown == "cookie" and origin != "named":
        ours = method in ("GET", "OPTIONS") or origin == "own" or site == "same-origin"
        return 200 if ours else 401
    return 401


async def test_every_combination_is_answered_by_the_rules(guarded: Guarded):
    credentials = {
        "none": [],
        "right": [guarded.right],
        "wrong": [("authorization", "Bearer cb_wrong")],
        "cookie": [await guarded.cookie()],
    }
    tried = 0
    for (host, fits), site, method, shown in product(
        HOSTS.items(), SITES, ("GET", "POST", "DELETE", "OPTIONS"), credentials
    ):
        for origin, kind in origins(host):
            headers = [("host", host)] if host is not None else []
            headers += [("origin", origin)] if origin is not None else []
            headers += [("sec-fetch-site", site)] if site else []
            headers += [("access-control-request-method", "POST")] if method == "OPTIONS" else []
            guarded.guard = guarded.fresh()
            guarded.reached.clear()
            answer = await guarded.ask(method, headers=[*headers, *credentials[shown]])
            want = expected(fits, kind, site, method, shown)
            assert answer.status == want, (host, origin, site, method, shown)
            assert bool(guarded.reached) == (want == 200)
            tried += 1
    assert tried == len(HOSTS) * len(SITES) * 4 * 4 * 8


@pytest.mark.parametrize("path", ["/", "/app", "/app/", "/app/x.js", "/login"])
async def test_a_person_may_follow_a_link_to_a_page(guarded: Guarded, path: str):
    visit = [HOST, ("sec-fetch-site", "cross-site"), ("sec-fetch-mode", "navigate")]
    assert (await guarded.ask("GET", path, [*visit, ("sec-fetch-dest", "document")])).status == 200
    for other in (
        [*visit, ("sec-fetch-dest", "iframe")],
        [HOST, ("sec-fetch-site", "cross-site"), ("sec-fetch-mode", "no-cors")],
        [HOST, ("sec-fetch-site", "cross-site")],
    ):
        assert (await guarded.ask("GET", path, other)).status == 403
    assert (await guarded.ask("POST", path, [*visit, guarded.right])).status == 403
    assert (await guarded.ask("GET", "/sessions", [*visit, guarded.right])).status == 403


@pytest.mark.parametrize(
    ("method", "path", "is_open"),
    [
        ("GET", "/health", True),
        ("HEAD", "/health", True),
        ("GET", "/", True),
        ("GET", "/app", True),
        ("GET", "/app/assets/index.js", True),
        ("GET", "/login", True),
        ("POST", "/health", False),
        ("POST", "/login", False),
        ("DELETE", "/app/x", False),
        ("GET", "/application", False),
        ("GET", "/health/", False),
        ("GET", "/no/such/route", False),
        ("GET", "/docs", False),
        ("GET", "/openapi.json", False),
        ("GET", "/metrics", False),
        ("TRACE", "/", False),
    ],
)
async def test_only_these_paths_need_no_token(
    guarded: Guarded, method: str, path: str, is_open: bool
):
    answer = await guarded.ask(method, path)
    assert answer.status == (200 if is_open else 401)
    assert bool(guarded.reached) == is_open
    if not is_open:
        assert answer.code == "UNAUTHENTICATED"
        assert answer.headers["www-authenticate"] == "Bearer"


async def test_an_open_path_does_not_say_whether_a_token_is_right(guarded: Guarded):
    for _ in range(30):
        answer = await guarded.ask("GET", "/health", [HOST, ("authorization", "Bearer guess")])
        assert answer.status == 200
    assert guarded.reached[-1]["callboard.identity"] is None


@pytest.mark.parametrize(
    "name", ["host", "origin", "sec-fetch-site", "authorization", "callboard-via"]
)
async def test_a_header_that_decides_may_not_come_twice(guarded: Guarded, name: str):
    value = dict([HOST, guarded.right]).get(name, "same-origin")
    if name == "origin":
        value = f"http://{HOST[1]}"
    others = [one for one in (HOST, guarded.right) if one[0] != name]
    assert (await guarded.ask("GET", headers=[*others, (name, value)])).status == 200
    twice = await guarded.ask("GET", headers=[*others, (name, value), (name, value)])
    assert twice.status == 403
    assert name in twice.json["error"]["message"].lower()


async def test_a_target_with_a_host_in_it_is_refused(guarded: Guarded):
    answer = await guarded.ask("GET", "http://evil.com/sessions", [HOST, guarded.right])
    assert answer.code == "FORBIDDEN"


@pytest.mark.parametrize(
    ("bound", "host", "status"),
    [
        ("192.0.2.7", "192.0.2.7:2255", 200),
        ("2001:db8::1", "[2001:db8::1]:2255", 200),
        ("0.0.0.0", "0.0.0.0:2255", 403),
        ("::", "[::]:2255", 403),
        ("192.0.2.7", "192.0.2.8:2255", 403),
    ],
)
async def test_the_address_that_it_is_bound_to_is_its_name_if_it_is_one(
    tmp_path: Path, bound: str, host: str, status: int
):
    guarded = Guarded(tmp_path, ServerSettings(host=bound))
    answer = await guarded.ask("GET", headers=[("host", host), guarded.right])
    assert answer.status == status


async def test_behind_a_proxy_with_tls_the_origin_is_https(guarded: Guarded):
    own = [("origin", "https://board.example.com"), ("host", "board.example.com")]
    assert (await guarded.ask("POST", headers=[*own, guarded.right])).status == 403
    proxied = [*own, ("x-forwarded-proto", "https")]
    assert (await guarded.ask("POST", headers=[*proxied, await guarded.cookie()])).status == 200
    assert guarded.reached[-1]["scheme"] == "https"
    # Who is no proxy cannot say so: under our own names nobody stands in front.
    local = [("origin", "https://localhost"), ("host", "localhost"), proxied[-1], guarded.right]
    assert (await guarded.ask("POST", headers=local)).status == 403


async def test_a_named_site_learns_what_it_may_do_and_never_gets_cookies(guarded: Guarded):
    ask = [HOST, ("origin", NAMED), ("access-control-request-method", "DELETE")]
    answer = await guarded.ask("OPTIONS", "/sessions/x", ask)
    assert answer.status == 204
    assert answer.headers["access-control-allow-origin"] == NAMED
    allowed = answer.headers["access-control-allow-headers"].lower().split(", ")
    assert allowed == ["authorization", "content-type", "last-event-id", "callboard-via"]
    assert "DELETE" in answer.headers["access-control-allow-methods"]
    assert int(answer.headers["access-control-max-age"]) > 0
    assert answer.headers["vary"] == "Origin"
    assert "access-control-allow-credentials" not in answer.headers
    read = await guarded.ask("GET", headers=[HOST, ("origin", NAMED), guarded.right])
    assert read.headers["access-control-allow-origin"] == NAMED
    exposed = read.headers["access-control-expose-headers"]
    assert exposed == "Location, Retry-After, Callboard-Last-Event"
    refused = await guarded.ask("GET", headers=[HOST, ("origin", NAMED), await guarded.cookie()])
    assert refused.status == 401
    assert refused.headers["access-control-allow-origin"] == NAMED


async def test_others_get_no_cors_headers(guarded: Guarded):
    for origin in ("http://evil.com", f"http://{HOST[1]}"):
        answer = await guarded.ask("GET", headers=[HOST, ("origin", origin), guarded.right])
        assert not [name for name in answer.headers if name.startswith("access-control")]


@pytest.mark.parametrize("path", ["/health", "/sessions"])
async def test_every_answer_binds_the_browser(guarded: Guarded, path: str):
    for headers in ([HOST], [HOST, guarded.right], [("host", "evil.com")]):
        found = (await guarded.ask("GET", path, headers)).headers
        policy = found["content-security-policy"].split("; ")
        assert {"default-src 'self'", "frame-ancestors 'none'", "base-uri 'none'"} <= set(policy)
        assert found["x-content-type-options"] == "nosniff"
        assert found["referrer-policy"] == "no-referrer"
        assert found["cross-origin-resource-policy"] == "same-origin"
        assert found["cross-origin-opener-policy"] == "same-origin"
        assert found["cache-control"] == "no-store"


async def test_too_many_wrong_tokens_are_told_to_wait_and_the_right_one_passes(guarded: Guarded):
    wrong = [HOST, ("authorization", "Bearer cb_wrong")]
    assert [(await guarded.ask(headers=wrong)).status for _ in range(10)] == [401] * 10
    await guarded.clock.advance(20)
    answer = await guarded.ask(headers=wrong)
    assert answer.code == "TOO_MANY_FAILURES"
    assert answer.headers["retry-after"] == "40"
    assert answer.json["error"]["retryAfter"] == 40
    assert (await guarded.ask(headers=[HOST, guarded.right])).status == 200
    # Another address has its own count, and who shows nothing is not counted at all.
    assert (await guarded.ask(headers=wrong, client=("127.0.0.2", 1))).status == 401
    assert (await guarded.ask(headers=[HOST])).status == 401
    await guarded.clock.advance(40)
    assert (await guarded.ask(headers=wrong)).status == 401


@pytest.mark.parametrize(
    ("sent", "via"),
    [("react", "react"), ("a" * 32, "a" * 32), ("a" * 33, "http"), ("A b", "http"), ("", "http")],
)
async def test_the_identity_says_who_and_through_what(guarded: Guarded, sent: str, via: str):
    made = await guarded.tokens.issued.create("ci", "answer", person="ada", groups=["ops"])
    await guarded.ask(
        headers=[HOST, ("authorization", f"bearer {made.secret}"), ("callboard-via", sent)]
    )
    identity = guarded.reached[-1]["callboard.identity"]
    assert (identity.name, identity.scope, identity.via) == ("ci", "answer", via)
    assert (identity.person, identity.groups) == ("ada", ("ops",))


async def test_a_token_expires_to_the_millisecond_and_says_so(guarded: Guarded):
    made = await guarded.tokens.issued.create("ci", "read", expires=timedelta(hours=1))
    headers = [HOST, ("authorization", f"Bearer {made.secret}")]
    await guarded.clock.advance(3599.999)
    assert (await guarded.ask(headers=headers)).status == 200
    await guarded.clock.advance(0.001)
    answers = [await guarded.ask(headers=headers) for _ in range(20)]
    # Not counted as guessing, so there is no 429.
    assert {(answer.status, answer.code) for answer in answers} == {(401, "UNAUTHENTICATED")}
    answer = answers[0]
    message = answer.json["error"]["message"]
    assert message.startswith(f"The token {made.token.id} (ci) expired at 2026-01-31T13:00:00.000Z")
    await guarded.tokens.issued.revoke(made.token.id)
    again = await guarded.ask(headers=headers)
    assert "was revoked" in again.json["error"]["message"]


async def test_a_body_that_says_it_is_too_large_is_refused_unread(guarded: Guarded):
    headers = [HOST, guarded.right, ("content-length", "1001")]
    answer = await guarded.ask("POST", headers=headers, chunks=[])  # There is nothing to read.
    assert (answer.status, answer.code) == (413, "TOO_LARGE")
    assert answer.json["error"]["limit"] == 1000
    assert not guarded.reached


@pytest.mark.parametrize(("size", "status"), [(16_384, 200), (16_385, 400)])
async def test_a_query_that_is_too_long_is_refused(guarded: Guarded, size: int, status: int):
    headers = [HOST, guarded.right]
    answer = await guarded.ask(headers=headers, query_string=b"&" * size)
    assert answer.status == status
    assert bool(guarded.reached) == (status == 200)


@pytest.mark.parametrize("path", ["/interactions", "/interactions/x/complete"])
@pytest.mark.parametrize(("size", "status"), [(3000, 200), (3001, 413)])
async def test_a_question_may_bring_more(guarded: Guarded, path: str, size: int, status: int):
    headers = [HOST, guarded.right, ("content-length", str(size))]
    answer = await guarded.ask("POST", path, headers=headers, chunks=[b"x" * size])
    assert answer.status == status
    if status == 413:
        assert answer.json["error"]["limit"] == 3000
        assert "into files" in answer.json["error"]["message"]


async def test_another_path_that_begins_alike_may_not(guarded: Guarded):
    headers = [HOST, guarded.right, ("content-length", "1001")]
    assert (await guarded.ask("POST", "/interactionsx", headers=headers)).status == 413


@pytest.mark.parametrize(("size", "status"), [(999, 200), (1000, 200), (1001, 413)])
async def test_a_body_in_chunks_is_counted(guarded: Guarded, size: int, status: int):
    body = bytes(n % 251 for n in range(size))
    chunks = [body[at : at + 100] for at in range(0, size, 100)]
    headers = [HOST, guarded.right, ("transfer-encoding", "chunked")]
    answer = await guarded.ask("POST", headers=headers, chunks=chunks)
    assert answer.status == status
    assert guarded.bodies == ([body] if status == 200 else [])


async def test_nobody_who_is_not_let_in_can_make_us_read_a_body(guarded: Guarded):
    async def receive() -> Message:
        raise AssertionError("the body was read")

    sent: list[Message] = []

    async def send(message: Message) -> None:
        sent.append(message)

    head = request("POST", "/x", [(b"host", b"localhost"), (b"transfer-encoding", b"chunked")])
    await guarded.guard(head, receive, send)
    assert sent[0]["status"] == 401


async def test_a_command_whose_sender_left_is_noted_and_not_done(guarded: Guarded):
    sent: list[Message] = []

    async def receive() -> Message:
        return {"type": "http.disconnect"}

    async def send(message: Message) -> None:
        sent.append(message)

    raw = [(name.encode(), value.encode()) for name, value in (HOST, guarded.right)]
    await guarded.guard(request("POST", "/x", [*raw, (b"content-length", b"5")]), receive, send)
    assert (sent, guarded.reached) == ([], [])
    assert [entry["status"] for entry in guarded.audited] == [499]


async def test_a_websocket_is_refused(guarded: Guarded):
    sent: list[Message] = []

    async def receive() -> Message:
        return {"type": "websocket.connect"}

    async def send(message: Message) -> None:
        sent.append(message)

    scope = {**request("GET", "/", [(b"host", b"localhost")]), "type": "websocket"}
    await guarded.guard(scope, receive, send)
    assert [one["type"] for one in sent] == ["websocket.close"]
    assert not guarded.reached


async def test_commands_and_refusals_are_recorded_and_nothing_else(
    guarded: Guarded, caplog: pytest.LogCaptureFixture
):
    caplog.set_level(logging.INFO, "callboard.audit")
    await guarded.ask("GET", headers=[HOST, guarded.right])
    await guarded.ask("POST", "/sessions/a/pause", [HOST, guarded.right, ("callboard-via", "cli")])
    await guarded.ask("GET", headers=[("host", "evil.com"), guarded.right])
    await guarded.ask("GET", headers=[HOST, ("authorization", "Bearer cb_wrong")])
    command, *refusals = guarded.audited
    assert command == {
        "at": "2026-01-31T12:00:00.000Z",
        "who": "admin",
        "scope": "admin",
        "via": "cli",
        "method": "POST",
        "path": "/sessions/a/pause",
        "status": 200,
        "remote": "127.0.0.1",
    }
    assert [(one["status"], one["who"]) for one in refusals] == [(403, None), (401, None)]
    written = (guarded.folder / "x.db.audit.jsonl").read_text() + caplog.text
    assert guarded.tokens.admin() not in written
    assert "cb_wrong" not in written
    assert len(caplog.records) == 3


async def test_the_code_of_a_link_is_seen_by_the_route_alone(guarded: Guarded):
    scope = request("GET", "/login", [(b"host", b"localhost")]) | {"query_string": b"code=secret"}

    async def receive() -> Message:
        return {"type": "http.request", "body": b"", "more_body": False}

    async def send(message: Message) -> None:
        # This is when servers write their access log, from the scope that they made.
        assert b"secret" not in scope["query_string"]

    await guarded.guard(scope, receive, send)
    assert guarded.reached[-1]["query_string"] == b"code=secret"


_NAMES = st.sampled_from(
    [
        "host",
        "origin",
        "sec-fetch-site",
        "sec-fetch-mode",
        "authorization",
        "cookie",
        "content-length",
        "x-forwarded-proto",
        "callboard-via",
        "access-control-request-method",
    ]
)
_VALUES = st.one_of(
    st.text(st.characters(max_codepoint=255), max_size=40),
    st.sampled_from(
        [
            "localhost",
            "127.0.0.1:2255",
            "http://localhost",
            "null",
            "same-origin",
            "cross-site",
            "navigate",
            "Bearer x",
            "bearer",
            "callboard=v1.admin.9999999999999999." + "0" * 64,
            "callboard=v1.admin.1.é",
            "https",
            "²",
            "POST",
        ]
    ),
)
_PATHS = st.one_of(
    st.text(max_size=30),
    st.sampled_from(["/sessions", "/app/../sessions", "/app%2f..", "//app/", "/login/", "*"]),
)


@given(
    method=st.sampled_from(["GET", "HEAD", "POST", "OPTIONS", "DELETE", "BREW"]),
    path=_PATHS,
    headers=st.lists(st.tuples(_NAMES, _VALUES), max_size=8),
    chunks=st.lists(st.binary(max_size=400), min_size=1, max_size=5),
)
@example("GET", "/sessions", [("host", "localhost"), ("content-length", "²")], [b""])
@example("GET", "/\udcff", [("host", "localhost")], [b""])
def test_garbage_is_answered_in_the_envelope_and_lets_nobody_in(
    method: str, path: str, headers: list[tuple[str, str]], chunks: list[bytes]
):
    with TemporaryDirectory() as folder:
        guarded = Guarded(Path(folder), SETTINGS)
        answer = asyncio.run(guarded.ask(method, path, headers, chunks))
        assert answer.status in (200, 204, 400, 401, 403, 413)
        if answer.status >= 400:
            assert set(answer.json) == {"error"}
            assert {"code", "message"} <= set(answer.json["error"])
        if guarded.reached:
            # None of it is a credential, so only what is open may be reached.
            assert method in ("GET", "HEAD")
            assert path in ("/", "/health", "/app", "/login") or path.startswith("/app/")
            assert [name for name, _ in headers].count("host") == 1


async def test_a_request_that_a_stopping_server_abandons_is_told_so(guarded: Guarded):
    waiting = asyncio.Event()

    async def hang(scope: Scope, receive: Receive, send: Send) -> None:
        waiting.set()
        await asyncio.Event().wait()

    guarded.guard.app = hang
    asking = asyncio.create_task(guarded.ask("POST", headers=(HOST, guarded.right)))
    await waiting.wait()
    asking.cancel()  # As uvicorn does after its grace.
    answer = await asking
    assert (answer.status, answer.code) == (503, "OVERLOADED")
    assert answer.headers["retry-after"] == "1"
    assert [one["status"] for one in guarded.audited] == [503]


async def test_an_unexpected_failure_of_a_check_has_the_common_format(
    guarded: Guarded, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
):
    async def fail(*_: object) -> None:
        raise RuntimeError("something that no one thought of")

    monkeypatch.setattr(guarded.guard.credentials, "find", fail)
    answer = await guarded.ask(headers=(HOST, guarded.right))
    assert (answer.status, answer.code) == (500, "INTERNAL_ERROR")
    assert "no one thought of" not in answer.body.decode()
    assert "no one thought of" in caplog.text
