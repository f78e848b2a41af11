"""Which token opens a server: what the environment says, or the file beside the database."""

import os
from ipaddress import ip_address
from pathlib import Path
from urllib.parse import urlsplit

from callboard.errors import ValidationError
from callboard.log.location import database_path
from callboard.log.presence import servers_of

DEFAULT_URL = "http://127.0.0.1:2255"


def checked(url: str) -> str:
    """A server's address without what is too much at its end; an error if it is not one."""
    parts = urlsplit(url)
    if parts.scheme not in ("http", "https") or not parts.hostname or parts.query:
        raise ValidationError(
            f"{url!r} is not a server address. Use one like {DEFAULT_URL}.", field="server"
        )
    return url.rstrip("/")


def is_loopback(url: str) -> bool:
    """Whether only this machine is reached by that address."""
    host = urlsplit(url).hostname or ""
    if host == "localhost" or host.endswith(".localhost"):
        return True
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return False


def find_server() -> tuple[str, str | None]:
    """The server to use when none is given, and its token: CALLBOARD_SERVER, else the server on
    the database of CALLBOARD_DB or the default one.

    With neither it is the default address, and no token: anyone may listen at a port.
    """
    if named := os.environ.get("CALLBOARD_SERVER"):
        return checked(named), find_token(named)
    database = _database()
    for one in servers_of(database):
        if one.url is not None:
            return one.url, find_token(one.url, database)
    return DEFAULT_URL, None


def find_token(url: str, database: Path | None = None) -> str | None:
    """CALLBOARD_TOKEN; else, on this machine, the token that lies beside the database.

    Without a database it is the one of CALLBOARD_DB, or the default one. Its token is the
    administrator's: it is never sent anywhere else.
    """
    given = os.environ.get("CALLBOARD_TOKEN")
    if given:
        return given
    if not is_loopback(url):
        return None
    try:
        return token_file(database or _database()).read_text(encoding="utf-8").strip() or None
    except OSError:
        return None


def _database() -> Path:
    return database_path(os.environ.get("CALLBOARD_DB") or None)


def token_file(database: Path) -> Path:
    """Where a server keeps the token of a database's administrator."""
    return database.with_name(database.name + ".token")
