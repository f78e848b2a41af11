"""Where databases are: what an address means, and the default."""

from pathlib import Path

from callboard.errors import ValidationError


def database_path(db: str | Path | None) -> Path:
    """The file of a database address; without one, the default database."""
    if db is None:
        return default_path()
    text = str(db)
    if text.startswith("sqlite:///"):
        text = text.removeprefix("sqlite:///")
    elif "://" in text:
        raise ValidationError(
            f"{text!r} is not a supported database. Use sqlite:///path.", field="db"
        )
    return Path(text).expanduser()


def default_path() -> Path:
    """The database in the user's own data directory."""
    from platformdirs import user_data_path  # Most programs name their database.

    return user_data_path("callboard", appauthor=False) / "callboard.db"
