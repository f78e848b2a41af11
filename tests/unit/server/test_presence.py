"""Whether a server drives the sessions of a database is known by a lock."""

from pathlib import Path

from callboard import Callboard
from callboard.server.presence import is_served, present


async def test_a_server_is_seen_for_as_long_as_it_is_there(tmp_path: Path):
    db = tmp_path / "x.db"
    assert not is_served(db)
    async with Callboard.open(db):
        assert not is_served(db)
        with present(db):
            assert is_served(db)
            with present(db):
                assert is_served(db)
            assert is_served(db)
        assert not is_served(db)
