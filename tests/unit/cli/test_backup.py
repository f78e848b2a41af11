"""What a copy of a database is called."""

from pathlib import Path

import pytest

from callboard.cli.commands.backup import dated
from callboard.events.moments import from_ms


@pytest.mark.usefixtures("utc")
def test_the_name_of_a_copy_tells_when_it_was_made():
    at = from_ms(1_769_860_800_123)
    assert dated(Path("/x/cb.db"), at) == Path("/x/cb-2026-01-31-120000.db")
    assert dated(Path("/x/cb"), at) == Path("/x/cb-2026-01-31-120000")
