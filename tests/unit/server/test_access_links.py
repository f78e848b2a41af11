"""The one-time link, the cookie that it becomes, and the record of commands."""

import json
import logging
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from callboard.server.access import audit as auditing
from callboard.server.access.audit import Audit, AuditEntry
from callboard.server.access.credentials import Failures
from callboard.server.access.identity import Identity
from callboard.server.access.login import MOST, Links
from callboard.testing.fake_clock import FakeClock

ADMIN = "cb_the-admin-token"
DAY = 86_400
NOON = 1_769_860_800_000


async def test_a_code_works_once():
    links = Links(FakeClock(), 30)
    code, until = links.create()
    assert until == NOON + 30_000
    assert links.use(code) == "operate"
    assert links.use(code) is None


async def test_a_code_works_for_as_long_as_it_says():
    clock = FakeClock()
    links = Links(clock, 30)
    early, late = links.create("read")[0], links.create()[0]
    await clock.advance(29.999)
    assert links.use(early) == "read"
    await clock.advance(0.001)
    assert links.use(late) is None


@pytest.mark.parametrize("code", ["", "x", "é", "\udcff", "x" * 100_000])
def test_a_wrong_code_opens_nothing(code: str):
    links = Links(FakeClock(), 30)
    links.create()
    assert links.use(code) is None


def test_unused_codes_are_bounded_and_the_oldest_gives_way():
    links = Links(FakeClock(), 30)
    codes = [links.create()[0] for _ in range(MOST + 1)]
    assert links.use(codes[0]) is None
    assert [links.use(code) for code in codes[1:]] == ["operate"] * MOST


def test_a_cookie_counts_for_thirty_days_and_dies_with_the_admin_token():
    clock = FakeClock()
    links = Links(clock, 30)
    value = links.cookie(ADMIN, "operate")
    assert links.identify("cb_another-token", value) is None
    clock.skip(30 * DAY - 0.001)
    found = links.identify(ADMIN, value)
    assert found is not None
    assert found[1] == "operate"
    clock.skip(0.001)
    assert links.identify(ADMIN, value) is None


@pytest.mark.parametrize("scope", ["read", "answer", "admin"])
def test_nobody_can_give_a_cookie_another_scope_or_a_longer_life(scope: str):
    links = Links(FakeClock(), 30)
    version, _, until, signature = links.cookie(ADMIN, "operate").split(".")
    assert links.identify(ADMIN, f"{version}.{scope}.{until}.{signature}") is None
    assert links.identify(ADMIN, f"{version}.operate.{int(until) + 1}.{signature}") is None


@given(st.text() | st.from_regex(r"v1\.(admin|operate)\.[0-9]{1,16}\.[0-9a-f]{64}", fullmatch=True))
def test_no_garbage_is_a_cookie(value: str):
    assert Links(FakeClock(), 30).identify(ADMIN, value) is None


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
    links = Links(clock, 30)
    value = links.cookie(ADMIN, "admin")
    await clock.advance(3599.999)
    assert scope_of(links, value) == "admin"
    await clock.advance(0.001)
    assert scope_of(links, value) == "operate"


def scope_of(links: Links, cookie: str) -> str:
    found = links.identify(ADMIN, cookie)
    assert found is not None
    return found[1]
