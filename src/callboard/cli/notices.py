"""What a wrapper tells the board of the agent that it has started. No answer is no error."""

from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final
from urllib.parse import urlsplit

import orjson

from callboard.board.places import hooks_folder
from callboard.client.access import checked, find_token
from callboard.courier.wire import Connection, Patience, Refused, ask, read_connection
from callboard.log.location import database_path, default_path

_WITHIN: Final = 1.0


@dataclass(frozen=True, slots=True)
class Notices:
    """Where to tell it. Without a server, nobody is told."""

    to: Connection | None
    before: str = ""
    secure: bool = False

    @classmethod
    def by(cls, db: str | None, server: str | None) -> "Notices":
        """To that server; without one, to the server of the database, as hooks know it."""
        database = database_path(db) if db else default_path()
        if server is None:
            return cls(read_connection(str(hooks_folder(database))))
        return cls._to_url(server, database)

    @classmethod
    def _to_url(cls, server: str, database: Path) -> "Notices":
        url = checked(server)
        parts = urlsplit(url)
        secure = parts.scheme == "https"
        port = parts.port or (443 if secure else 80)
        to = Connection(parts.hostname or "", port, find_token(url, database) or "")
        return cls(to, parts.path.rstrip("/"), secure)

    def send(self, path: str, told: dict[str, Any]) -> bool:
        """Tell something, in a second or not at all; gives whether it was heard."""
        if self.to is None:
            return False
        body = orjson.dumps(told)
        try:
            if self.secure:
                return _ask_securely(self.to, self.before + path, body)
            ask(self.to, self.before + path, body, Patience(_WITHIN))
        except (OSError, ValueError, Refused):
            return False
        return True


def _ask_securely(to: Connection, path: str, body: bytes) -> bool:
    from http.client import HTTPException, HTTPSConnection

    connection = HTTPSConnection(to.host, to.port, timeout=_WITHIN)
    headers = {"Authorization": f"Bearer {to.token}", "Content-Type": "application/json"}
    try:
        connection.request("POST", path, body, headers)
        return connection.getresponse().status < 300
    except HTTPException:
        return False
    finally:
        connection.close()
