"""Who signs in through a proxy: with proof that the proxy said so, and with nothing else."""

import asyncio
import base64
import contextlib
import json
import logging
import sys
import time
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from tempfile import TemporaryDirectory
from threading import Thread
from typing import Any, ClassVar

import jwt
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.unit.server.assertions import (
    PLAIN,
    SECRET,
    SIGNED,
    Issuer,
    jwks,
    unsigned,
    written,
)
from tests.unit.server.guarded import HOST, Answer, Guarded

from callboard.errors import MissingExtra, StoreError, ValidationError
from callboard.server.access import issuer_keys
from callboard.server.access.identity import Identity
from callboard.server.access.proxy_settings import load_proxy_settings
from callboard.server.settings import ServerSettings

OWN = ("origin", f"http://{HOST[1]}")
PROOF = ("x-callboard-proxy-secret", SECRET)
ISSUED = Issuer()


@pytest.fixture(autouse=True)
def no_token(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("CALLBOARD_TOKEN", raising=False)


def guarded_by(folder: Path, text: str) -> Guarded:
    return Guarded(folder, ServerSettings(proxy_auth=written(folder, text)))


@pytest.fixture
def signed(tmp_path: Path) -> Guarded:
    (tmp_path / "keys.json").write_bytes(jwks(ISSUED))
    return guarded_by(tmp_path, SIGNED)


@pytest.fixture
def plain(tmp_path: Path) -> Guarded:
    (tmp_path / "secret").write_text(f"{SECRET}\n")
    (tmp_path / "secret").chmod(0o600)
    return guarded_by(tmp_path, PLAIN)


async def asserted(guarded: Guarded, assertion: str, *more: tuple[str, str], **how: Any) -> Answer:
    return await guarded.ask(headers=[HOST, ("x-assertion", assertion), *more], **how)


def caller(guarded: Guarded) -> Identity:
    found = guarded.reached[-1]["callboard.identity"]
    assert isinstance(found, Identity)
    return found


async def test_a_signed_assertion_signs_a_person_in_with_their_groups(signed: Guarded):
    assertion = ISSUED.assertion(groups=["release", "staff"])
    assert (await asserted(signed, f"Bearer {assertion}")).status == 200
    found = caller(signed)
    assert (found.name, found.person, found.scope) == ("ada", "ada", "operate")
    assert found.groups == ("release", "staff")
    assert found.is_proxied


async def test_the_highest_scope_of_someone_s_groups_counts(signed: Guarded):
    for groups, scope in (([], "answer"), (["admins", "release"], "admin"), (7, "answer")):
        assert (await asserted(signed, ISSUED.assertion(groups=groups))).status == 200
        assert caller(signed).scope == scope


def forged() -> dict[str, str]:
    other = Issuer()
    now = int(time.time())
    return {
        "is not signed with a key": other.assertion(),
        "is not signed with a key that": Issuer("another").assertion(),
        "has expired": ISSUED.assertion(exp=now - 3600),
        "is not valid yet": ISSUED.assertion(nbf=now + 3600),
        "is for another audience": ISSUED.assertion(aud="another"),
        "is from another issuer": ISSUED.assertion(iss="https://evil.example.com"),
        "must have exp, iss and aud": ISSUED.assertion(exp=None),
        "must have exp, iss": ISSUED.assertion(iss=None),
        "must have exp": ISSUED.assertion(aud=None),
        "is not valid": ISSUED.assertion(exp="soon"),
        "is not valid.": ISSUED.assertion(exp=float("inf")),
        "is not a signed JWT": unsigned(),
        "must be signed with RS256, ES256": unsigned("none", "AAAA"),
        "must be signed with RS256": unsigned("nOnE", "AAAA"),
        "must be signed with": unsigned("HS256", "AAAA"),
        "is not a signed": "not.a token",
        "is not a": "a.b.c",
        "is longer than": ISSUED.assertion(filler="x" * 20_000),
        "has no name": ISSUED.assertion(email=None),
        "has no name: email": ISSUED.assertion(email=["ada"]),
        "is a group": ISSUED.assertion(email="group:admins"),
        "is reserved": ISSUED.assertion(email="me"),
        "must not contain": ISSUED.assertion(email='ada", "bob'),
        "must be a person's name": ISSUED.assertion(email=" "),
        "must have at most": ISSUED.assertion(email="x" * 300),
    }


@pytest.mark.parametrize("why", list(forged()))
async def test_anything_else_is_refused_and_says_why(signed: Guarded, why: str):
    # Made only now: on a busy machine, those that were made for the names have expired.
    answer = await asserted(signed, forged()[why])
    assert (answer.status, answer.code) == (401, "UNAUTHENTICATED")
    assert why in answer.json["error"]["message"]
    assert not signed.reached


async def test_a_key_in_the_set_is_never_a_shared_secret(tmp_path: Path):
    # The public key as the secret of an HMAC: whoever knows it could sign.
    (tmp_path / "keys.json").write_bytes(ISSUED.pem)
    guarded = guarded_by(tmp_path, SIGNED)
    assert (await asserted(guarded, ISSUED.assertion())).status == 200
    shared = {"kty": "oct", "k": "c2VjcmV0", "kid": "first", "alg": "HS256"}
    (tmp_path / "keys.json").write_text(json.dumps({"keys": [shared]}))
    guarded = guarded_by(tmp_path, SIGNED)
    made = jwt.encode({"email": "ada"}, "secret" * 8, algorithm="HS256", headers={"kid": "first"})
    assert (await asserted(guarded, made)).status == 401


async def test_a_header_that_decides_may_not_come_twice(signed: Guarded, plain: Guarded):
    one = ("x-assertion", ISSUED.assertion())
    assert (await signed.ask(headers=[HOST, one, one])).status == 403
    for name, value in (PROOF, ("x-forwarded-user", "ada"), ("x-forwarded-groups", "release")):
        others = [PROOF, ("x-forwarded-user", "ada")]
        headers = [HOST, *others, (name, value), (name, "other")]
        assert (await plain.ask(headers=headers)).status == 403, name
    assert not plain.reached


@settings(deadline=None, max_examples=100)
@given(st.text(st.characters(max_codepoint=255), max_size=300), st.binary(max_size=200))
def test_garbage_is_refused_and_breaks_nothing(text: str, data: bytes):
    async def ask(folder: Path) -> None:
        (folder / "keys.json").write_bytes(jwks(ISSUED))
        guarded = guarded_by(folder, SIGNED)
        part = base64.urlsafe_b64encode(data).decode().rstrip("=")
        head, _, signature = ISSUED.assertion().split(".")
        for made in (text, f"{part}.{part}.{part}", f"{head}.{part}.{signature}"):
            assert (await asserted(guarded, f"x{made}")).status in (401, 403)
        assert not guarded.reached

    with TemporaryDirectory() as folder:
        asyncio.run(ask(Path(folder)))


async def test_deeply_nested_json_is_refused(signed: Guarded):
    part = base64.urlsafe_b64encode(b"[" * 11_000).decode().rstrip("=")
    assert (await asserted(signed, f"{part}.e30.AAAA")).status == 401


async def test_off_means_that_nothing_of_it_is_read(tmp_path: Path):
    guarded = Guarded(tmp_path)
    headers = [HOST, PROOF, ("x-forwarded-user", "ada"), ("x-forwarded-user", "bob")]
    assertions = [("x-assertion", ISSUED.assertion())] * 2
    assert (await guarded.ask(headers=[*headers, *assertions])).status == 401
    assert (await guarded.ask(headers=[*headers, *assertions, guarded.right])).status == 200
    assert caller(guarded).name == "admin"


@pytest.mark.parametrize("method", ["POST", "DELETE", "PATCH", "PUT"])
async def test_commands_count_only_from_our_own_pages(signed: Guarded, method: str):
    assertion = ISSUED.assertion(groups=["admins"])
    assert (await asserted(signed, assertion, OWN, method=method)).status == 200
    told = await asserted(signed, assertion, method=method)
    assert told.status == 401
    assert "Programs need a token" in told.json["error"]["message"]
    for foreign in (("origin", "https://evil.com"), ("sec-fetch-site", "cross-site")):
        assert (await asserted(signed, assertion, foreign, method=method)).status == 403


async def test_an_allowed_site_needs_a_token_of_its_own(tmp_path: Path):
    (tmp_path / "keys.json").write_bytes(jwks(ISSUED))
    trusted = written(tmp_path, SIGNED)
    site = "https://app.example.com"
    guarded = Guarded(tmp_path, ServerSettings(proxy_auth=trusted, cors_origins=frozenset({site})))
    assert (await asserted(guarded, ISSUED.assertion(), ("origin", site))).status == 401


async def test_a_token_counts_more_than_the_proxy_and_the_proxy_more_than_a_cookie(
    signed: Guarded,
):
    cookie = await signed.cookie()
    assert (await asserted(signed, ISSUED.assertion(email="bob"), cookie)).status == 200
    assert caller(signed).name == "bob"
    assert (await asserted(signed, ISSUED.assertion(email="bob"), signed.right)).status == 200
    assert caller(signed).name == "admin"
    wrong = ("authorization", "Bearer cb_wrong")
    assert (await asserted(signed, ISSUED.assertion(), wrong)).status == 401
    # What is wrong is never replaced by something older.
    assert (await asserted(signed, Issuer().assertion(), cookie)).status == 401
    assert (await signed.ask(headers=[HOST, cookie])).status == 200


async def test_pages_load_for_those_whose_sign_in_is_over(signed: Guarded):
    expired = ISSUED.assertion(exp=1)
    assert (await asserted(signed, expired, path="/app/")).status == 200
    assert signed.reached[-1]["callboard.identity"] is None


async def test_plain_headers_count_with_the_secret(plain: Guarded):
    headers = [HOST, PROOF, ("x-forwarded-user", "ada"), ("x-forwarded-groups", "release, ops ,")]
    assert (await plain.ask(headers=headers)).status == 200
    found = caller(plain)
    assert (found.name, found.scope, found.groups) == ("ada", "operate", ("release", "ops"))


async def test_plain_headers_without_the_secret_are_refused(plain: Guarded):
    user = ("x-forwarded-user", "ada")
    for headers in ([user], [user, (PROOF[0], "")], [user, (PROOF[0], SECRET[:-1] + "é")]):
        answer = await plain.ask(headers=[HOST, *headers])
        assert answer.status == 401
        assert "counts only from the proxy" in answer.json["error"]["message"]
    assert (await plain.ask(headers=[HOST, PROOF])).status == 401
    assert (await plain.ask(headers=[HOST, user, plain.right])).status == 200
    assert caller(plain).name == "admin"


async def test_guesses_of_the_secret_are_limited(plain: Guarded):
    headers = [HOST, ("x-forwarded-user", "ada"), (PROOF[0], "guess")]
    statuses = [(await plain.ask(headers=headers)).status for _ in range(12)]
    assert statuses == [401] * 10 + [429] * 2


@pytest.mark.parametrize(
    ("user", "groups"),
    [("x" * 20_000, ""), ("ada", "g," * 10_000), ("\xff\xfe", ""), ("a,b", ""), ("ada\x01", "")],
)
async def test_names_that_cannot_be_recorded_are_refused(plain: Guarded, user: str, groups: str):
    headers = [HOST, PROOF, ("x-forwarded-user", user), ("x-forwarded-groups", groups)]
    assert (await plain.ask(headers=headers)).status == 401
    assert not plain.reached


async def test_names_are_utf_8(plain: Guarded):
    groups = ("x-forwarded-groups", "release")
    name = ("x-forwarded-user", "Zoë".encode().decode("latin-1"))
    assert (await plain.ask(headers=[HOST, PROOF, name, groups])).status == 200
    assert caller(plain).name == "Zoë"


async def test_a_person_without_a_scope_is_told_so(plain: Guarded):
    answer = await plain.ask(headers=[HOST, PROOF, ("x-forwarded-user", "eve")])
    assert (answer.status, answer.code) == (403, "FORBIDDEN")
    assert "as eve, who has no access" in answer.json["error"]["message"]


async def test_who_signed_in_is_listed_and_written_once_an_hour(signed: Guarded):
    start = signed.clock.now_ms()
    for _ in range(3):
        await asserted(signed, ISSUED.assertion(groups=["release"]))
        signed.clock.skip(60)
    [seen] = await signed.sign_ins.list()
    assert (seen.person, seen.scope, seen.groups) == ("ada", "operate", ("release",))
    assert (seen.by_proxy, seen.last_seen) == (True, start)
    signed.clock.skip(3600)
    await asserted(signed, ISSUED.assertion())
    [seen] = await signed.sign_ins.list()
    assert (seen.scope, seen.groups, seen.last_seen > start) == ("answer", (), True)


async def test_new_keys_are_found_and_old_ones_kept_for_a_while(
    signed: Guarded, caplog: pytest.LogCaptureFixture
):
    file, second = signed.folder / "keys.json", Issuer("second")
    assert (await asserted(signed, ISSUED.assertion())).status == 200
    file.write_bytes(jwks(ISSUED, second))
    assert (await asserted(signed, second.assertion())).status == 401
    signed.clock.skip(issuer_keys.AGAIN_AFTER)
    assert (await asserted(signed, second.assertion())).status == 200
    # A key that was withdrawn is unknown once they are read again.
    file.write_bytes(jwks(second))
    signed.clock.skip(issuer_keys.FRESH_FOR)
    assert (await asserted(signed, ISSUED.assertion())).status == 401
    file.unlink()
    signed.clock.skip(issuer_keys.FRESH_FOR)
    with caplog.at_level(logging.ERROR):
        assert (await asserted(signed, second.assertion())).status == 200
    assert "can't be read" in caplog.text
    signed.clock.skip(issuer_keys.KEPT_FOR)
    assert (await asserted(signed, second.assertion())).status == 401


@pytest.mark.parametrize("keys", [b"", b"{}", b"[" * 100_000, b"x" * 2_000_000, b"-----BEGIN x"])
async def test_without_usable_keys_no_one_signs_in(
    tmp_path: Path, keys: bytes, caplog: pytest.LogCaptureFixture
):
    (tmp_path / "keys.json").write_bytes(keys)
    guarded = guarded_by(tmp_path, SIGNED)
    for _ in range(3):
        assert (await asserted(guarded, ISSUED.assertion())).status == 401
    assert len(caplog.records) == 1


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("", "scopes: Field required"),
        ("nonsense", "proxy.toml"),
        ('[scopes]\ndefault = "read"', "either [assertion] or [headers]"),
        (SIGNED + PLAIN.replace("[scopes.", "[x."), "proxy.toml"),
        (PLAIN + '[headers.more]\nx = "y"', "headers.more"),
        (PLAIN.replace('"operate"', '"hook"'), "hook is for programs"),
        (PLAIN.replace('"operate"', '"owner"'), "scopes.people.ada"),
        (SIGNED.replace("X-Assertion", "Authorization"), "none of authorization"),
        (SIGNED.replace("X-Assertion", "X Assertion"), "assertion.header"),
        (SIGNED.replace('"keys.json"', '"http://id.example.com/keys"'), "https://"),
        (SIGNED.replace('"keys.json"', '"ftp://id.example.com/keys"'), "https://"),
        (SIGNED.replace("[scopes]", 'algorithms = ["HS256"]\n[scopes]'), "public key"),
        (SIGNED.replace("[scopes]", 'algorithms = ["none"]\n[scopes]'), "public key"),
        (SIGNED.replace("/oauth2/sign_out", "javascript:alert(1)"), "sign_out"),
        (SIGNED.replace("/oauth2/sign_out", "//evil.com"), "sign_out"),
        (PLAIN + 'person = "X-Callboard-Proxy-Secret"', "proxy.toml"),
    ],
)
def test_a_file_with_a_mistake_is_refused(tmp_path: Path, text: str, why: str):
    (tmp_path / "secret").write_text(SECRET)
    with pytest.raises(ValidationError) as refused:
        load_proxy_settings(written(tmp_path, text))
    assert why in refused.value.message


def test_the_secret_is_long_and_private(tmp_path: Path, caplog: pytest.LogCaptureFixture):
    file = written(tmp_path, PLAIN)
    with pytest.raises(ValidationError, match="no such file"):
        load_proxy_settings(file)
    secret = tmp_path / "secret"
    secret.write_text("short")
    with pytest.raises(ValidationError, match="at least 32"):
        load_proxy_settings(file)
    secret.write_text(SECRET)
    secret.chmod(0o644)
    caplog.clear()
    loaded = load_proxy_settings(file)
    assert secret.stat().st_mode & 0o777 == 0o600
    assert "could be read by other users" in caplog.text
    assert SECRET not in repr(loaded)
    with pytest.raises(StoreError, match="cannot be read"):
        load_proxy_settings(tmp_path / "missing.toml")


class Keys(BaseHTTPRequestHandler):
    """Serves keys. What it does depends on the address."""

    asked: ClassVar[list[str]] = []

    def do_GET(self) -> None:
        self.asked.append(self.path)
        if self.path == "/moved":
            self.send_response(302)
            self.send_header("Location", "/keys")
            self.end_headers()
            return
        self.send_response(500 if self.path == "/broken" else 200)
        self.end_headers()
        with contextlib.suppress(OSError):
            self.wfile.write(b" " * 2_000_000 if self.path == "/large" else jwks(ISSUED))

    def log_request(self, code: int | str = "-", size: int | str = "-") -> None:
        """Say nothing."""


@pytest.fixture
def issuer_url() -> Iterator[str]:
    server = ThreadingHTTPServer(("127.0.0.1", 0), Keys)
    thread = Thread(target=server.serve_forever)
    thread.start()
    Keys.asked.clear()
    yield f"http://127.0.0.1:{server.server_port}"
    server.shutdown()
    server.server_close()
    thread.join()


async def test_keys_are_fetched_once_for_all_who_wait(
    tmp_path: Path, issuer_url: str, monkeypatch: pytest.MonkeyPatch
):
    # Nothing is between us and our own machine.
    monkeypatch.setenv("HTTP_PROXY", "http://127.0.0.1:1")
    guarded = guarded_by(tmp_path, SIGNED.replace("keys.json", f"{issuer_url}/keys"))
    answers = await asyncio.gather(*(asserted(guarded, ISSUED.assertion()) for _ in range(20)))
    assert {answer.status for answer in answers} == {200}
    unknown = Issuer("another").assertion()
    answers = await asyncio.gather(*(asserted(guarded, unknown) for _ in range(20)))
    assert {answer.status for answer in answers} == {401}
    assert Keys.asked == ["/keys"]


@pytest.mark.parametrize("path", ["/moved", "/broken", "/large"])
async def test_keys_that_are_not_there_let_no_one_in(tmp_path: Path, issuer_url: str, path: str):
    guarded = guarded_by(tmp_path, SIGNED.replace("keys.json", f"{issuer_url}{path}"))
    assert (await asserted(guarded, ISSUED.assertion())).status == 401
    assert Keys.asked == [path]


def test_without_the_extra_it_says_what_to_install(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    (tmp_path / "keys.json").write_bytes(jwks(ISSUED))
    monkeypatch.setitem(sys.modules, "jwt", None)
    for name in ("assertions", "issuer_keys"):
        monkeypatch.delitem(sys.modules, f"callboard.server.access.{name}", raising=False)
    with pytest.raises(MissingExtra, match=r"callboard\[oidc\]"):
        guarded_by(tmp_path, SIGNED)
