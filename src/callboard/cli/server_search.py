"""The server of a database: its address, and which token may be sent there.

An address is trusted if a server holds a lock that says so (`log.presence`). A program listening on
a port proves nothing.
"""

from contextlib import closing, suppress
from pathlib import Path
from typing import Final
from urllib.parse import urlsplit

from callboard.board.hook_folders import connection_file, hooks_folder
from callboard.client.access import DEFAULT_URL, checked, find_token
from callboard.errors import ValidationError
from callboard.log.presence import listed_servers, servers_of

_WAKES_WITHIN: Final = 10.0


def address_of(database: Path, *, is_default: bool) -> str | None:
    """The address of the server running on a database; None without one.

    A server that systemd or launchd starts on demand is started.
    """
    told = _hook_address(database)
    known = [] if told is None else [told]
    known += [DEFAULT_URL] if is_default and told != DEFAULT_URL else []
    if (url := _running_at(database, known)) is not None:
        return url
    for one in known:
        _wake(one)
        if (url := _running_at(database, known)) is not None:
            return url
    return None


def token_for(url: str) -> str | None:
    """The token for an address that the person gave."""
    for one in listed_servers():
        if one.url == url:
            return find_token(url, one.database)
    return find_token(url)


def _running_at(database: Path, known: list[str]) -> str | None:
    """The address that the database's server reports; an old version reports it only to hooks."""
    servers = servers_of(database)
    addresses = [one.url for one in servers if one.url is not None]
    return next(iter(addresses or known), None) if servers else None


def _hook_address(database: Path) -> str | None:
    """Where hooks last found a server of this database."""
    try:
        told = connection_file(hooks_folder(database)).read_text(encoding="utf-8")
        return checked(f"http://{told.splitlines()[0]}")
    except (OSError, IndexError, ValueError, ValidationError):
        return None


def _wake(url: str) -> None:
    """Connect without a token: a socket that the system listens on starts its server."""
    import http.client  # Only to start a server that the system would start.

    parts = urlsplit(url)
    port = parts.port or 80
    connection = http.client.HTTPConnection(parts.hostname or "", port, timeout=_WAKES_WITHIN)
    with closing(connection), suppress(OSError, http.client.HTTPException):
        connection.request("GET", "/health")
        connection.getresponse().read(1000)
