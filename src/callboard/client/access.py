"""Finds the token for a server: from the environment, or in the file next to the database."""

import os
from ipaddress import ip_address
from pathlib import Path
from urllib.parse import urlsplit

from callboard.errors import ValidationError
from callboard.log.location import database_path
from callboard.log.presence import listed_servers, servers_of

DEFAULT_URL = "http://127.0.0.1:2255"


def checked(url: str) -> str:
    """A server's address without trailing slashes; ValidationError if it isn't one."""
    parts = urlsplit(url)
    if parts.scheme not in ("http", "https") or not parts.hostname or parts.query:
        raise ValidationError(
            f"{url!r} is not a server address. Use one like {DEFAULT_URL}.", field="server"
        )
    return url.rstrip("/")


def is_loopback(url: str) -> bool:
    """Whether an address reaches only this machine."""
    host = urlsplit(url).hostname or ""
    if host == "localhost" or host.endswith(".localhost"):
        return True
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return False


def find_server() -> tuple[str, str | None]:
    """The server to use if none is named, and its token.

    That is CALLBOARD_SERVER, else the server that is running on the database of CALLBOARD_DB or on
    the default one, else the only server of this user that is running. Otherwise it is the default
    address without a token: any program may listen on a port.
    """
    if named := os.environ.get("CALLBOARD_SERVER"):
        return checked(named), find_token(named)
    running = servers_of(_database())
    if not running and not os.environ.get("CALLBOARD_DB"):
        listed = listed_servers()
        running = listed if len(listed) == 1 else []
    for one in running:
        if one.url is not None:
            return one.url, find_token(one.url, one.database)
    return DEFAULT_URL, None


def find_token(url: str, database: Path | None = None) -> str | None:
    """CALLBOARD_TOKEN; else, on this machine, the token next to the database.

    The database defaults to CALLBOARD_DB, or to the default one. Its token is the admin's, and is
    never sent anywhere else.
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
    """Where a server stores the admin token of a database."""
    return database.with_name(database.name + ".token")
