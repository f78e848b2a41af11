"""The secret by which the clients of `callboard mcp` are told apart."""

import os
import secrets
from contextlib import suppress
from pathlib import Path
from typing import Final

from callboard.disk.files import add, read
from callboard.disk.private import make_private_folder

VARIABLE: Final = "CALLBOARD_MCP_KEY"

_BYTES: Final = 32
_LONGEST: Final = 4096


def client_key(folder: Path) -> bytes:
    """The key that the client's configuration gives; else one of this person's, made once."""
    given = os.environ.get(VARIABLE)
    if given:
        return given.encode()
    make_private_folder(folder)
    path = folder / "mcp.key"
    while True:
        with suppress(FileNotFoundError):
            found = read(path, _LONGEST)
            if len(found) == _BYTES:
                return found
            path.unlink()
        with suppress(FileExistsError):  # Whoever is first makes it; the others take that one.
            add(path, secrets.token_bytes(_BYTES))
