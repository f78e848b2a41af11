"""Whether a server drives the sessions of a database is known by a lock."""

import json
import os
from pathlib import Path

import pytest

from callboard import Callboard
from callboard.disk.locks import hold
from callboard.log.presence import (
    RunningServer,
    is_driven,
    is_served,
    listed_servers,
    present,
    servers_of,
)


async def test_a_server_is_seen_for_as_long_as_it_is_there(tmp_path: Path):
    db = tmp_path / "x.db"
    assert not is_served(db)
    async with Callboard.open(db):
        assert not is_served(db)
        with present(db, []):
            assert is_served(db)
            with present(db, []):
                assert is_served(db)
            assert is_served(db)
        assert not is_served(db)


async def test_it_drives_the_workflows_that_it_knows(tmp_path: Path):
    db = tmp_path / "x.db"
    async with Callboard.open(db):
        with present(db, ["trip"]), present(db, ["novel"]):
            assert is_driven(db, "trip")
            assert is_driven(db, "novel")
            assert not is_driven(db, "delegate")
        assert not is_driven(db, "trip")


async def test_what_a_killed_server_left_counts_for_nothing_and_is_swept_away(tmp_path: Path):
    db = tmp_path / "x.db"
    async with Callboard.open(db):
        child = os.fork()
        if child == 0:
            with present(db, ["trip"]):
                os._exit(0)
        os.waitpid(child, 0)
        signs = tmp_path / "x.db-live"
        assert list(signs.glob("*.server"))

        assert not is_driven(db, "trip")

        assert not list(signs.glob("*.server"))


async def test_a_link_to_the_database_is_the_database(tmp_path: Path):
    db, link = tmp_path / "x.db", tmp_path / "elsewhere.db"
    link.symlink_to(db)
    async with Callboard.open(link):
        with present(link, ["trip"]):
            assert is_driven(db, "trip")
            assert is_driven(link, "trip")


async def test_it_records_its_address_beside_the_database_and_in_the_users_list(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "share"))
    db = tmp_path / "x.db"
    async with Callboard.open(db):
        with present(db, ["trip"], "http://127.0.0.1:2300"):
            expected = RunningServer(db, "http://127.0.0.1:2300", ("trip",))
            assert servers_of(db) == [expected]
            assert listed_servers() == [expected]
            folder = tmp_path / "share" / "callboard" / "servers"
            assert folder.stat().st_mode & 0o777 == 0o700
            (file,) = folder.iterdir()
            assert file.stat().st_mode & 0o777 == 0o600
        assert servers_of(db) == listed_servers() == []


async def test_one_that_is_not_listed_is_found_beside_its_database_only(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "share"))
    db = tmp_path / "x.db"
    async with Callboard.open(db):
        with present(db, [], "http://127.0.0.1:2300", listed=False):
            assert [one.url for one in servers_of(db)] == ["http://127.0.0.1:2300"]
            assert listed_servers() == []


async def test_a_dead_servers_entry_in_the_list_does_not_count(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "share"))
    folder = tmp_path / "share" / "callboard" / "servers"
    folder.mkdir(parents=True, mode=0o700)
    said = {"url": "http://127.0.0.1:2300", "database": "/x.db", "workflows": []}
    (folder / "1-a.server").write_text(json.dumps(said))
    assert listed_servers() == []
    assert list(folder.iterdir()) == []


async def test_entries_of_another_machine_are_neither_used_nor_removed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "share"))
    folder = tmp_path / "share" / "callboard" / "servers"
    folder.mkdir(parents=True, mode=0o700)
    said = {"url": "http://127.0.0.1:1", "database": "/x.db", "host": "elsewhere"}
    (folder / "1-a.server").write_text(json.dumps(said))
    assert listed_servers() == []
    assert len(list(folder.iterdir())) == 1


async def test_a_list_behind_a_link_is_not_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "share"))
    (tmp_path / "share" / "callboard").mkdir(parents=True)
    planted = tmp_path / "planted"
    planted.mkdir()
    said = {"url": "http://127.0.0.1:1", "database": "/x.db"}
    lock = hold(planted / "1-a.server", json.dumps(said).encode())
    (tmp_path / "share" / "callboard" / "servers").symlink_to(planted)
    try:
        assert listed_servers() == []
    finally:
        os.close(lock)


async def test_servers_in_a_folder_that_another_user_made_are_not_found(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    db = tmp_path / "x.db"
    (tmp_path / "x.db-live").mkdir()
    said = {"url": "http://127.0.0.1:1", "workflows": ["trip"]}
    lock = hold(tmp_path / "x.db-live" / "1-a.server", json.dumps(said).encode())
    try:
        assert is_driven(db, "trip")
        monkeypatch.setattr(os, "geteuid", lambda: os.getuid() + 1)
        assert servers_of(db) == []
    finally:
        os.close(lock)


async def test_a_server_of_a_version_that_recorded_workflows_only(tmp_path: Path):
    db = tmp_path / "x.db"
    async with Callboard.open(db):
        lock = hold(tmp_path / "x.db-live" / "1-a.server", b'["trip"]')
        try:
            assert servers_of(db) == [RunningServer(db, None, ("trip",))]
            assert is_driven(db, "trip")
        finally:
            os.close(lock)
