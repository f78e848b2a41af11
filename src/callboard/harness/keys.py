"""The secret by which the clients of `callboard mcp` are told apart."""

import os
import secrets
from pathlib import Path
from typing import Final

from callboard.log.private import make_private_folder, open_private

VARIABLE: Final = "CALLBOARD_MCP_KEY"

_BYTES: Final = 32


def client_key(folder: Path) -> bytes:
    """The key that the client's configuration gives; else one of this person's, made once."""
    given = os.environ.get(VARIABLE)
    if given:
        return given.encode()
    make_private_folder(folder)
    path = folder / "mcp.key"
    while True:
        found = _read(path)
        if found is not None:
            return found
        draft = folder / f".mcp.key.{secrets.token_hex(8)}"
        with os.fdopen(open_private(draft, os.O_EXCL | os.O_NOFOLLOW), "wb") as opened:
            opened.write(secrets.token_bytes(_BYTES))
        try:
            path.hardlink_to(draft)  # Whoever is first makes it; the others take that one.
        except FileExistsError:
            continue
        finally:
            draft.unlink()


def _read(path: Path) -> bytes | None:
    try:
        found = path.read_bytes()
    except FileNotFoundError:
        return None
    return found if len(found) == _BYTES else None
