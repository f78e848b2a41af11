"""The one-time link, the cookie that it becomes, and the record of commands."""

import json
import logging
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from callboard.log.memory import MemoryLog, SharedMemory
from callboard.server.access import audit as auditing
from callboard.server.access.audit import Audit, AuditEntry
from callboard.server.access.credentials import Failures
from callboard.server.access.identity import Identity
from callboard.server.access.login import Links, SignIn
from callboard.testing.fake_clock import FakeClock

ADMIN = "cb_the-admin-token"
DAY = 86_400
NOON = 1_769_860_800_000


def made(clock: FakeClock) -> Links:
    return Links(MemoryLog(clock=clock).server_state, clock, 30)


async def test_a_code_works_once():
    links = made(FakeClock())
    code, until = await links.create(SignIn("ada", groups=("ops",)))
    assert until == NOON + 30_000
    assert await links.use(code) == SignIn("ada", "operate", ("ops",))
    assert await links.use(code) is None


async def test_a_code_works_for_as_long_as_it_says():
    clock = FakeClock()
    links = made(clock)
    early, _ = await links.create(SignIn("ada", "read"))
    late, _ = await links.create(SignIn("ada"))
    await clock.advance(29.999)
    assert await links.use(early) == SignIn("ada", "read")
    await clock.advance(0.001)
    assert await links.use(late) is None


@pytest.mark.parametrize("code", ["", "x", "é", "\udcff", "x" * 100_000])
async def test_a_wrong_code_opens_nothing(code: str):
    links = made(FakeClock())
    await links.create(SignIn("ada"))
    assert await links.use(code) is None
    assert await links.identify(code) is None


async def test_servers_that_share_a_log_share_codes_and_cookies():
    clock, memory = FakeClock(), SharedMemory()
    one, two = (Links(MemoryLog(clock=clock, memory=memory).server_state, clock, 30) for _ in "ab")
    code, _ = await one.create(SignIn("ada"))
    assert await two.use(code) == SignIn("ada")
    assert await one.use(code) is None
    assert await one.identify(await two.cookie(SignIn("ada"))) == SignIn("ada")


async def test_a_cookie_counts_for_thirty_days():
    clock = FakeClock()
    links = made(clock)
    value = await links.cookie(SignIn("ada"))
    clock.skip(30 * DAY - 0.001)
    assert await links.identify(value) == SignIn("ada")
    clock.skip(0.001)
    assert await links.identify(value) is None


async def test_a_cookie_dies_with_its_session_and_with_the_admin_token():
    links = made(FakeClock())
    await links.check_admin("here", ADMIN)
    left, stays = await links.cookie(SignIn("ada")), await links.cookie(SignIn("ada"))
    await links.sign_out(left)
    await links.check_admin("here", ADMIN)
    await links.check_admin("there", "cb_of-another-server")
    assert [await links.identify(one) for one in (left, stays)] == [None, SignIn("ada")]
    await links.check_admin("here", "cb_another-token")
    assert await links.identify(stays) is None
    later = await links.cookie(SignIn("ada"))
    await links.check_admin("here", "cb_another-token")
    assert await links.identify(later) == SignIn("ada")


async def test_nothing_that_is_stored_is_a_code_or_a_cookie():
    clock, memory = FakeClock(), SharedMemory()
    links = Links(MemoryLog(clock=clock, memory=memory).server_state, clock, 30)
    secrets = [(await links.create(SignIn("ada")))[0], await links.cookie(SignIn("ada"))]
    stored = repr(memory.state)
    assert not [secret for secret in secrets if secret in stored]
    for _, key in list(memory.state.values):
        assert await links.use(key) is None
        assert await links.identify(key) is None


@given(st.text() | st.from_regex(r"[A-Za-z0-9_-]{43}", fullmatch=True))
async def test_no_garbage_is_a_cookie(value: str):
    assert await made(FakeClock()).identify(value) is None


def test_addresses_with_failures_are_bounded():
    failures = Failures(FakeClock())
    for _ in range(10):
        assert failures.count("a") is None
    assert failures.count("a") == 60
    for n in range(1024):
        failures.count(f"other {n}")
    assert failures.count("a") is None


@pytest.mark.parametrize("allowed", [0, -1])
def test_none_may_be_allowed_at_all(allowed: int):
    assert Failures(FakeClock(), allowed).count("a") == 60


def entry(**more: object) -> AuditEntry:
    known = Identity("ci", "operate", "cli")
    given = {"identity": known, "method": "POST", "path": "/x", "status": 200, "remote": "::1"}
    return AuditEntry(**(given | more))  # type: ignore[arg-type]


def lines(path: Path) -> list[dict[str, object]]:
    return [json.loads(line) for line in path.read_text().splitlines()]


def test_a_full_record_is_put_aside_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(auditing, "LARGEST", 1000)
    audit = Audit(tmp_path / "x.db", FakeClock())
    for n in range(43):
        audit.note(entry(path=f"/{n}"))
    assert {path.name for path in tmp_path.iterdir()} == {"x.db.audit.jsonl", "x.db.audit.jsonl.1"}
    for path in tmp_path.iterdir():
        assert path.stat().st_mode & 0o777 == 0o600
        assert path.stat().st_size < 1200
    kept = lines(tmp_path / "x.db.audit.jsonl.1") + lines(tmp_path / "x.db.audit.jsonl")
    paths = [line["path"] for line in kept]
    assert paths == [f"/{n}" for n in range(43 - len(paths), 43)]


async def test_strangers_cannot_push_out_what_others_did(tmp_path: Path):
    clock = FakeClock()
    audit = Audit(tmp_path / "x.db", clock)
    for _ in range(500):
        audit.note(entry(identity=None, status=401))
    audit.note(entry())
    found = lines(tmp_path / "x.db.audit.jsonl")
    assert len(found) == 61
    assert found[-1]["who"] == "ci"
    await clock.advance(60)
    audit.note(entry(identity=None, status=401))
    assert len(lines(tmp_path / "x.db.audit.jsonl")) == 62


def test_any_path_is_one_line(tmp_path: Path):
    audit = Audit(tmp_path / "x.db", FakeClock())
    for path in ("/\n{}", "/\udcff", "/" + "x" * 5000, "/\x1b[2J"):
        audit.note(entry(path=path))
    found = lines(tmp_path / "x.db.audit.jsonl")
    assert [len(str(line["path"])) for line in found] == [4, 7, 512, 5]


def test_a_record_that_cannot_be_written_stops_nothing(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
):
    (tmp_path / "x.db.audit.jsonl").mkdir()
    caplog.set_level(logging.ERROR, "callboard.audit")
    Audit(tmp_path / "x.db", FakeClock()).note(entry())
    assert "cannot be written" in caplog.text


async def test_an_admin_cookie_becomes_one_of_operate_after_an_hour():
    clock = FakeClock()
    links = made(clock)
    value = await links.cookie(SignIn("ada", "admin"))
    await clock.advance(3599.999)
    assert await links.identify(value) == SignIn("ada", "admin")
    await clock.advance(0.001)
    assert await links.identify(value) == SignIn("ada", "operate")
