"""Tokens and the files that they lie in."""

import json
import multiprocessing
import os
import subprocess
import sys
from datetime import timedelta
from pathlib import Path

import pytest

from callboard.clock import SystemClock
from callboard.errors import NotFound, StoreCorrupt, StoreError, ValidationError
from callboard.server.access.scopes import SCOPES, allows
from callboard.server.access.tokens import Tokens
from callboard.testing.fake_clock import FakeClock


@pytest.fixture(autouse=True)
def _no_token_in_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("CALLBOARD_TOKEN", raising=False)


@pytest.fixture
def db(tmp_path: Path) -> Path:
    return tmp_path / "x.db"


def mode(path: Path) -> int:
    return path.stat().st_mode & 0o777


def test_the_admin_token_is_made_once_and_kept(db: Path):
    first = Tokens(db, FakeClock()).admin()
    assert first.startswith("cb_")
    assert len(first) == 46
    assert Tokens(db, FakeClock()).admin() == first
    assert (db.parent / "x.db.token").read_text().strip() == first
    assert Tokens(db, FakeClock()).identify(first) == ("admin", "admin")


def test_files_are_private_whatever_the_umask(db: Path):
    old = os.umask(0)
    try:
        tokens = Tokens(db, FakeClock())
        tokens.admin()
        tokens.create("ci", "read")
    finally:
        os.umask(old)
    assert {path.name: mode(path) for path in db.parent.iterdir()} == {
        "x.db.token": 0o600,
        "x.db.tokens": 0o600,
        "x.db.tokens.lock": 0o600,
    }


@pytest.mark.parametrize("name", ["x.db.token", "x.db.tokens"])
def test_a_file_that_others_can_read_is_repaired_and_told(
    db: Path, name: str, caplog: pytest.LogCaptureFixture
):
    tokens = Tokens(db, FakeClock())
    admin, (_, secret) = tokens.admin(), tokens.create("ci", "read")
    path = db.parent / name
    path.chmod(0o644)
    again = Tokens(db, FakeClock())
    assert again.identify(admin) == ("admin", "admin")
    assert again.identify(secret) == ("ci", "read")
    assert mode(path) == 0o600
    assert str(path) in caplog.text
    assert admin not in caplog.text


def test_a_link_in_the_place_of_the_token_is_not_followed(db: Path, tmp_path: Path):
    (tmp_path / "elsewhere").write_text("cb_somebody_elses_token")
    (tmp_path / "x.db.token").symlink_to(tmp_path / "elsewhere")
    with pytest.raises(StoreError, match=r"x\.db\.token"):
        Tokens(db, FakeClock()).admin()


def test_the_environment_replaces_the_admin_token(db: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("CALLBOARD_TOKEN", "a-token-of-my-own")
    tokens = Tokens(db, FakeClock())
    assert tokens.identify("a-token-of-my-own") == ("admin", "admin")
    assert not (db.parent / "x.db.token").exists()


def test_a_short_token_in_the_environment_is_taken_with_a_warning(
    db: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
):
    monkeypatch.setenv("CALLBOARD_TOKEN", "hunter2")
    assert Tokens(db, FakeClock()).identify("hunter2") == ("admin", "admin")
    assert "CALLBOARD_TOKEN is short" in caplog.text
    assert "hunter2" not in caplog.text


@pytest.mark.parametrize("token", ["two words", "schlüssel-ist-zu-lang", "tab\tbed-token-of-mine"])
def test_a_token_that_no_header_can_carry_is_refused(
    db: Path, token: str, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setenv("CALLBOARD_TOKEN", token)
    with pytest.raises(ValidationError, match="CALLBOARD_TOKEN"):
        Tokens(db, FakeClock()).admin()


@pytest.mark.parametrize("content", ["", "\n", "two words"])
def test_a_token_file_without_a_token_opens_nothing(db: Path, content: str):
    (db.parent / "x.db.token").write_text(content)
    with pytest.raises(StoreCorrupt, match="Delete it"):
        Tokens(db, FakeClock()).admin()


def test_what_is_kept_does_not_hold_the_secret(db: Path):
    token, secret = Tokens(db, FakeClock()).create("ci", "operate", timedelta(days=90))
    text = (db.parent / "x.db.tokens").read_text()
    assert secret not in text
    assert secret.removeprefix("cb_") not in text
    assert token.to_wire() == {
        "id": token.id,
        "name": "ci",
        "scope": "operate",
        "createdAt": "2026-01-31T12:00:00.000Z",
        "expiresAt": "2026-05-01T12:00:00.000Z",
    }
    assert "sha256" not in token.to_wire()


async def test_a_token_expires_to_the_millisecond(db: Path):
    clock = FakeClock()
    tokens = Tokens(db, clock)
    _, secret = tokens.create("ci", "read", timedelta(hours=1))
    await clock.advance(3599.999)
    assert tokens.identify(secret) == ("ci", "read")
    await clock.advance(0.001)
    assert tokens.identify(secret) is None
    assert [token.name for token in tokens.list()] == ["ci"]


def test_a_running_server_sees_what_another_process_changes(db: Path):
    serving = Tokens(db, FakeClock())
    token, secret = Tokens(db, FakeClock()).create("ci", "read")
    assert serving.identify(secret) == ("ci", "read")
    Tokens(db, FakeClock()).revoke(token.id)
    assert serving.identify(secret) is None
    with pytest.raises(NotFound, match=token.id):
        serving.revoke(token.id)


@pytest.mark.parametrize(
    "content", ["", "{", "[1]", "[{}]", '{"id": 1}', '[{"scope": "root"}]', "null"]
)
def test_a_damaged_file_lets_nobody_in_but_the_administrator(
    db: Path, content: str, caplog: pytest.LogCaptureFixture
):
    tokens = Tokens(db, FakeClock())
    admin, (_, secret) = tokens.admin(), tokens.create("ci", "read")
    (db.parent / "x.db.tokens").write_text(content)
    assert tokens.identify(secret) is None
    assert tokens.identify(admin) == ("admin", "admin")
    assert "is damaged" in caplog.text
    with pytest.raises(StoreCorrupt):
        tokens.create("more", "read")
    assert (db.parent / "x.db.tokens").read_text() == content


@pytest.mark.parametrize(
    ("name", "scope", "expires", "field"),
    [
        ("", "read", None, "name"),
        (" ci", "read", None, "name"),
        ("c\x1bi", "read", None, "name"),
        ("x" * 65, "read", None, "name"),
        ("ci", "root", None, "scope"),
        ("ci", "read", timedelta(0), "expires"),
    ],
)
def test_a_wrong_token_is_not_made(db: Path, name: str, scope: str, expires: object, field: str):
    with pytest.raises(ValidationError) as caught:
        Tokens(db, FakeClock()).create(name, scope, expires)  # type: ignore[arg-type]
    assert caught.value.context["field"] == field
    assert not (db.parent / "x.db.tokens").exists()


def _create_some(db: Path, name: str) -> None:
    for n in range(10):
        Tokens(db, SystemClock()).create(f"{name}{n}", "read")


def test_processes_that_make_tokens_at_once_lose_none(db: Path):
    context = multiprocessing.get_context("spawn")
    workers = [context.Process(target=_create_some, args=(db, name)) for name in "abcd"]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    assert [worker.exitcode for worker in workers] == [0] * 4
    assert len({token.name for token in Tokens(db, SystemClock()).list()}) == 40


def test_servers_that_start_at_once_make_one_admin_token(db: Path):
    script = (
        "import sys; from pathlib import Path; from callboard.clock import SystemClock;"
        "from callboard.server.access.tokens import Tokens;"
        "print(Tokens(Path(sys.argv[1]), SystemClock()).admin())"
    )
    started = [
        subprocess.Popen([sys.executable, "-c", script, str(db)], stdout=subprocess.PIPE, text=True)
        for _ in range(4)
    ]
    assert len({process.communicate()[0] for process in started}) == 1


def test_making_tokens_needs_nothing_of_the_server():
    script = (
        "import sys, json; import callboard.cli.commands.token;"
        "print(json.dumps([n for n in ('fastapi', 'uvicorn', 'starlette') if n in sys.modules]))"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, check=True)
    assert json.loads(done.stdout) == []


def test_each_scope_allows_what_those_before_it_allow():
    ranks = ["read", "answer", "operate", "admin"]
    for has in SCOPES:
        for needed in SCOPES:
            if has == "admin" or has == needed:
                want = True
            elif "hook" in (has, needed):
                want = False
            else:
                want = ranks.index(has) >= ranks.index(needed)
            assert allows(has, needed) == want, (has, needed)
