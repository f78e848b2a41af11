"""How hooks find the server and are let in: a token that can only report, in a file of its own."""

from pathlib import Path
from typing import Final

from callboard.board.places import connection_file, hooks_folder, write_connection
from callboard.server.access.tokens import Tokens

NAME: Final = "hooks"
"""The name under which the token of hooks is listed."""


def let_hooks_in(tokens: Tokens, database: Path, host: str, port: int) -> None:
    """Write down where this server is, with the token that was there, if it still is one."""
    folder = hooks_folder(database)
    token = _known(tokens, folder) or tokens.create(NAME, "hook")[1]
    write_connection(folder, f"{host}:{port}", token)


def _known(tokens: Tokens, folder: Path) -> str | None:
    try:
        told = connection_file(folder).read_text(encoding="ascii").split()
    except (OSError, ValueError):
        return None
    token = told[-1] if told else ""
    found = tokens.identify(token)
    return token if found is not None and found[1] == "hook" else None
