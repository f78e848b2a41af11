"""Whether a server drives the sessions of a database is known by a lock."""

import os
from pathlib import Path

from callboard import Callboard
from callboard.server.presence import is_driven, is_served, present


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
