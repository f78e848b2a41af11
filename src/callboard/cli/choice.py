"""What was chosen before the command's name, or by the environment: a database, a server."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Choice:
    """Which database and which server, and whether the person typed it."""

    db: str | None = None
    server: str | None = None
    db_was_typed: bool = False
    server_was_typed: bool = False
