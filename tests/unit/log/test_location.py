"""What the address of a database means."""

from pathlib import Path

import pytest

from callboard.errors import ValidationError
from callboard.log.location import database_path


@pytest.mark.parametrize(
    "given",
    [
        "postgresql:/ada:secret@host/db",
        "postgres:/host/db",
        "postgresql:db",
        "postgres:",
        "PostgreSQL:db",
        "sqlite:notes.db",
        "sqlite:/notes.db",
        "sqlite://notes.db",
        Path("postgresql://ada:secret@host/db"),
    ],
)
def test_an_address_without_its_slashes_is_not_a_file(given: str | Path):
    with pytest.raises(ValidationError, match="postgresql://user@host/database") as refused:
        database_path(given)
    assert "secret" not in refused.value.message


def test_names_of_files_may_contain_colons():
    for name in ("notes:1.db", "postgres.db", "my-postgres:1.db", "./sqlite:x"):
        assert database_path(name) == Path(name)
    assert database_path("sqlite:///sqlite:x") == Path("sqlite:x")
