"""The admin token's file, and the tokens that are rows of the database."""

import json
import multiprocessing
import os
import subprocess
import sys
from contextlib import closing
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from callboard.app import Callboard
from callboard.board.tokens import AccessTokens, hashed
from callboard.clock import Clock, SystemClock
from callboard.errors import NotFound, StoreCorrupt, StoreError, ValidationError
from callboard.events.access import SCOPES, allows
from callboard.log.memory import MemoryLog
from callboard.log.sqlite.file import connect
from callboard.server.access.tokens import Tokens
from callboard.testing.fake_clock import FakeClock


@pytest.fixture(autouse=True)
def _no_token_in_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("CALLBOARD_TOKEN", raising=False)


@pytest.fixture
def db(tmp_path: Path) -> Path:
    return tmp_path / "x.db"


@pytest.fixture
def issued() -> AccessTokens:
    return AccessTokens(MemoryLog().tokens, FakeClock())


def tokens_of(db: Path) -> Tokens:
    return Tokens(db, AccessTokens(MemoryLog().tokens, FakeClock()))


async def holder(tokens: Tokens, secret: str) -> tuple[str, str] | None:
    found = await tokens.find(secret)
    return None if found is None else (found.name, found.scope)


def mode(path: Path) -> int:
    return path.stat().st_mode & 0o777


async def test_the_admin_token_is_made_once_and_kept(db: Path):
    first = tokens_of(db).admin()
    assert first.startswith("cb_")
    assert len(first) == 46
    assert tokens_of(db).admin() == first
    assert (db.parent / "x.db.token").read_text().strip() == first
    assert await holder(tokens_of(db), first) == ("admin", "admin")


def test_files_are_private_whatever_the_umask(db: Path):
    old = os.umask(0)
    try:
        tokens_of(db).admin()
    finally:
        os.umask(old)
    assert {path.name: mode(path) for path in db.parent.iterdir()} == {
        "x.db.token": 0o600,
        "x.db.tokens.lock": 0o600,
    }


async def test_a_file_that_others_can_read_is_repaired_and_told(
    db: Path, caplog: pytest.LogCaptureFixture
):
    admin = tokens_of(db).admin()
    path = db.parent / "x.db.token"
    path.chmod(0o644)
    assert await holder(tokens_of(db), admin) == ("admin", "admin")
    assert mode(path) == 0o600
    assert str(path) in caplog.text
    assert admin not in caplog.text


def test_a_link_in_the_place_of_the_token_is_not_followed(db: Path, tmp_path: Path):
    (tmp_path / "elsewhere").write_text("cb_another_token")
    (tmp_path / "x.db.token").symlink_to(tmp_path / "elsewhere")
    with pytest.raises(StoreError, match=r"x\.db\.token"):
        tokens_of(db).admin()


async def test_the_environment_replaces_the_admin_token(db: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("CALLBOARD_TOKEN", "a-token-of-my-own")
    assert await holder(tokens_of(db), "a-token-of-my-own") == ("admin", "admin")
    assert not (db.parent / "x.db.token").exists()


async def test_a_short_token_in_the_environment_is_taken_with_a_warning(
    db: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
):
    monkeypatch.setenv("CALLBOARD_TOKEN", "hunter2")
    assert await holder(tokens_of(db), "hunter2") == ("admin", "admin")
    assert "CALLBOARD_TOKEN is short" in caplog.text
    assert "hunter2" not in caplog.text


@pytest.mark.parametrize("token", ["two words", "schlüssel-ist-zu-lang", "tab\tbed-token-of-mine"])
def test_a_token_that_no_header_can_carry_is_refused(
    db: Path, token: str, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setenv("CALLBOARD_TOKEN", token)
    with pytest.raises(ValidationError, match="CALLBOARD_TOKEN"):
        tokens_of(db).admin()


@pytest.mark.parametrize("content", ["", "\n", "two words"])
def test_a_token_file_without_a_token_opens_nothing(db: Path, content: str):
    (db.parent / "x.db.token").write_text(content)
    with pytest.raises(StoreCorrupt, match="Delete it"):
        tokens_of(db).admin()


async def test_what_is_kept_does_not_hold_the_secret(db: Path):
    async with Callboard.open(db, clock=FakeClock()) as board:
        made = await board.tokens.create(
            "ci",
            "operate",
            person="ada",
            groups=["release", "ops", "release"],
            host="build-1",
            expires=timedelta(days=90),
        )
    kept = b"".join(path.read_bytes() for path in db.parent.iterdir() if path.is_file())
    assert made.secret.removeprefix("cb_").encode() not in kept
    assert made.token.to_wire() == {
        "id": made.token.id,
        "name": "ci",
        "person": "ada",
        "scope": "operate",
        "groups": ["release", "ops"],
        "host": "build-1",
        "createdAt": "2026-01-31T12:00:00.000Z",
        "expiresAt": "2026-05-01T12:00:00.000Z",
    }
    assert made.token.sha256 == hashed(made.secret)


async def test_a_token_stands_for_its_name_unless_it_says(issued: AccessTokens):
    made = await issued.create("ada", "answer")
    assert (made.token.person, made.token.groups) == ("ada", ())


async def test_a_running_server_sees_what_another_process_changes(db: Path):
    async with Callboard.open(db) as serving, Callboard.open(db) as other:
        made = await other.tokens.create("ci", "read")
        for _ in range(2):
            found = await serving.tokens.find(made.secret)
            assert found is not None
            assert found.revoked_at is None
        await other.tokens.revoke(made.token.id)
        found = await serving.tokens.find(made.secret)
        assert found is not None
        assert found.revoked_at is not None
        assert await serving.tokens.list() == []
        with pytest.raises(NotFound, match=made.token.id):
            await serving.tokens.revoke(made.token.id)


@pytest.mark.parametrize(
    ("field", "given"),
    [
        ("name", {"name": ""}),
        ("name", {"name": " ci"}),
        ("name", {"name": "c\x1bi"}),
        ("name", {"name": "x" * 65}),
        ("person", {"person": "group:release"}),
        ("person", {"name": "group:release"}),
        ("person", {"person": ""}),
        ("person", {"person": "ada, bo"}),
        ("person", {"person": "me"}),
        ("scope", {"scope": "root"}),
        ("groups", {"groups": ["group:release"]}),
        ("groups", {"groups": ["x,y"]}),
        ("groups", {"groups": [""]}),
        ("groups", {"groups": [f"g{n}" for n in range(33)]}),
        ("host", {"host": ""}),
        ("expires", {"expires": timedelta(0)}),
        ("expires", {"expires": timedelta(days=40_000)}),
    ],
)
async def test_a_wrong_token_is_not_made(issued: AccessTokens, field: str, given: dict[str, Any]):
    wanted: dict[str, Any] = {"name": "ci", "scope": "read", **given}
    with pytest.raises(ValidationError) as caught:
        await issued.create(**wanted)
    assert caught.value.context["field"] == field
    assert await issued.list() == []


HASH = hashed("cb_kept")
KEPT = {
    "id": "one",
    "name": "ci",
    "scope": "operate",
    "sha256": HASH,
    "createdAt": 1,
    "expiresAt": None,
}


async def opened(db: Path, clock: Clock | None = None) -> list[str]:
    async with Callboard.open(db, clock=clock) as board:
        return [token.id for token in await board.tokens.list()]


async def test_tokens_of_a_file_are_imported_once(db: Path):
    file = db.parent / "x.db.tokens"
    file.write_text(json.dumps([KEPT, {**KEPT, "id": "two", "sha256": "b", "expiresAt": 9}]))
    file.chmod(0o644)
    assert await opened(db) == ["one", "two"]
    assert not file.exists()
    assert mode(db.parent / "x.db.tokens.imported") == 0o600
    async with Callboard.open(db) as board:
        found = await board.tokens.find("cb_kept")
        assert found is not None
        assert (found.name, found.person, found.scope) == ("ci", "ci", "operate")
        await board.tokens.revoke("one")
    # As after a crash before the file had its new name: what was revoked stays revoked.
    file.write_text(json.dumps([KEPT]))
    assert await opened(db) == ["two"]
    assert not file.exists()


@pytest.mark.parametrize(
    "content", ["", "{", "[1]", "[{}]", '{"id": 1}', '[{"scope": "root"}]', "null"]
)
async def test_a_damaged_file_opens_nothing_and_stops_nothing(
    db: Path, content: str, caplog: pytest.LogCaptureFixture
):
    (db.parent / "x.db.tokens").write_text(content)
    assert await opened(db) == []
    assert "can't be read" in caplog.text
    assert (db.parent / "x.db.tokens.damaged").read_text() == content


async def test_a_link_in_the_place_of_the_file_is_not_followed(db: Path, tmp_path: Path):
    (tmp_path / "theirs").write_text(json.dumps([KEPT]))
    (tmp_path / "x.db.tokens").symlink_to(tmp_path / "theirs")
    assert await opened(db) == []


async def test_tokens_survive_a_rebuild(db: Path):
    async with Callboard.open(db) as board:
        made = await board.tokens.create("ci", "read")
        await board.rebuild()
        assert await board.tokens.list() == [made.token]


async def _create_some(db: Path, name: str) -> None:
    async with Callboard.open(db, clock=SystemClock()) as board:
        for n in range(5):
            await board.tokens.create(f"{name}{n}", "read")


def _creating(db: Path, name: str) -> None:
    import asyncio

    asyncio.run(_create_some(db, name))


def test_processes_that_make_tokens_at_once_lose_none(db: Path):
    context = multiprocessing.get_context("spawn")
    workers = [context.Process(target=_creating, args=(db, name)) for name in "ab"]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    assert [worker.exitcode for worker in workers] == [0] * 2
    with closing(connect(db)) as database:
        (count,) = database.execute("SELECT count(DISTINCT name) FROM tokens").fetchone()
    assert count == 10


def test_servers_that_start_at_once_make_one_admin_token(db: Path):
    script = (
        "import sys; from pathlib import Path; from callboard.app import Callboard;"
        "from callboard.server.access.tokens import Tokens;"
        "print(Tokens(Path(sys.argv[1]), Callboard.open().tokens).admin())"
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
