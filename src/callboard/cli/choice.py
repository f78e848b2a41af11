"""What was chosen before the command's name, or by the environment: a database, a server."""

from typing import NamedTuple


class Choice(NamedTuple):
    """Which database and which server, and whether the person typed it."""

    db: str | None = None
    server: str | None = None
    db_was_typed: bool = False
    server_was_typed: bool = False
