"""Where databases are: what an address means, and the default."""

import re
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path
from urllib.parse import urlsplit

from callboard.errors import MissingExtra, ValidationError
from callboard.ids import keyed_id

_POSTGRES = ("postgresql://", "postgres://")
_SQLITE = "sqlite:///"
_SCHEME = re.compile("(postgres|postgresql|sqlite):", re.IGNORECASE)
"""How a file's name never starts: slashes are missing, or a path was made of an address."""
_PORT = re.compile(r"^[^:]*(:\d*)?$|\](:\d*)?$")
"""How the address of a host ends; one of IPv6 is in brackets."""
_SECRET = ("password", "sslpassword")
"""Parameters of an address that no one else may see."""


def postgres_address(db: str | Path | None) -> str | None:
    """The address, if the database is in PostgreSQL."""
    return db if isinstance(db, str) and db.startswith(_POSTGRES) else None


@contextmanager
def postgres_installed() -> Generator[None]:
    """Name the optional package if what is imported in this context is missing."""
    try:
        yield
    except ImportError as error:
        raise MissingExtra(
            "PostgreSQL needs an optional package. Install it: pip install 'callboard[postgres]'",
            extra="postgres",
        ) from error


def without_password(address: str) -> str:
    """An address that can be shown."""
    parts = urlsplit(address)
    user, at, host = parts.netloc.rpartition("@")
    if not all(_PORT.search(one) for one in host.split(",")):
        # A password that isn't percent-encoded may look like this: ann:pass/word@host.
        return f"{parts.scheme}://…"
    shown = [one for one in parts.query.split("&") if one.split("=")[0] not in _SECRET]
    query = f"?{'&'.join(shown)}" if any(shown) else ""
    return f"{parts.scheme}://{user.split(':')[0]}{at}{host}{parts.path}{query}"


def database_path(db: str | Path | None) -> Path:
    """The file of a database address; without one, the default database.

    If the database is in PostgreSQL, there is no such file. What this machine keeps next to it
    (hook reports, the admin's token, which servers are running) is then in the user's data
    directory.
    """
    if db is None:
        return default_path()
    if (address := postgres_address(db)) is not None:
        parts = urlsplit(without_password(address))
        name = Path(parts.path).name or "postgres"
        named = f"{name}-{keyed_id(parts.netloc, parts.path, parts.query)}"
        return default_path().with_name("postgresql") / named
    text = str(db)
    if text.startswith(_SQLITE):
        return Path(text.removeprefix(_SQLITE)).expanduser()
    if "://" in text:
        raise _unsupported(without_password(text))
    if (scheme := _SCHEME.match(text)) is not None:
        # Not the rest: without slashes, it isn't clear where a password would be.
        raise _unsupported(f"{scheme[0]}…")
    return Path(text).expanduser()


def _unsupported(shown: str) -> ValidationError:
    return ValidationError(
        f"{shown!r} is not a supported database. Use sqlite:///path, or "
        "postgresql://user@host/database.",
        field="db",
    )


def default_path() -> Path:
    """The database in the user's own data directory."""
    from platformdirs import user_data_path  # Most programs name their database.

    return user_data_path("callboard", appauthor=False) / "callboard.db"
