"""How hooks find the server and are let in: a token that can only report, in a file of its own.

Several servers may serve one database, and the file names one. Whichever lives handles it that the
one it names does.
"""

import asyncio
import contextlib
import logging
from collections.abc import Iterable
from pathlib import Path
from typing import Final

from callboard.board.hook_folders import connection_file, hooks_folder, write_connection
from callboard.board.tokens import AccessTokens
from callboard.errors import StoreError

_log = logging.getLogger(__name__)

NAME: Final = "hooks"
"""The name under which the token of hooks is listed."""
EVERY: Final = 3.0
"""Seconds between two looks at the file."""

_CONNECT_WITHIN: Final = 0.5
_HERE: Final = {"0.0.0.0": "127.0.0.1", "::": "::1"}
"""Who listens everywhere is reached here."""


class HookAccess:
    """Keeps the file that hooks read about this server, or about another that lives.

    When a server stops it leaves the file as it is: hooks that are held wait for the next one.
    """

    def __init__(self, tokens: AccessTokens, database: Path, host: str, port: int) -> None:
        self._folder = hooks_folder(database)
        self._address = _address(host, port)
        self._tokens = tokens
        self._token = ""
        self._next = 0.0

    async def write(self) -> None:
        """Write down where this server is, with the token that was there, if it still is one."""
        known = (*_read(self._folder)[-1:], self._token)
        self._token = await self._valid(known) or (await self._tokens.create(NAME, "hook")).secret
        write_connection(self._folder, self._address, self._token)

    async def secret(self) -> str:
        """The token that the file has, written first if there is none that opens."""
        found = await self._valid(_read(self._folder)[-1:])
        if found is None:
            await self.write()
        return found or self._token

    async def check(self, now: float) -> None:
        """Write it again, if it is time and no one listens where the file says.

        now: seconds that never go back.
        """
        if now < self._next:
            return
        self._next = now + EVERY
        told = _read(self._folder)
        if told and (told[0] == self._address or not await _is_refused(told[0])):
            return
        try:
            await self.write()
        except StoreError as error:
            _log.warning("%s", error.message)

    async def _valid(self, secrets: Iterable[str]) -> str | None:
        for secret in secrets:
            token = await self._tokens.find(secret)
            if token and token.scope == "hook" and self._tokens.is_valid(token):
                return secret
        return None


async def keep_hooks_in(tokens: AccessTokens, database: Path, host: str, port: int) -> HookAccess:
    """Let hooks in now; anyone who gets this checks every few seconds that they still are."""
    access = HookAccess(tokens, database, host, port)
    await access.write()
    return access


def _address(host: str, port: int) -> str:
    """Where a program on this machine reaches a server, as it stands in addresses."""
    here = _HERE.get(host, host)
    return f"[{here}]:{port}" if ":" in here else f"{here}:{port}"


async def _is_refused(address: str) -> bool:
    """Whether no one listens there. Who only takes long may be busy, and lives."""
    host, _, port = address.rpartition(":")
    if not host or not port.isdecimal():
        return True
    try:
        async with asyncio.timeout(_CONNECT_WITHIN):
            _, writer = await asyncio.open_connection(host.strip("[]"), int(port))
    except TimeoutError:
        return False
    except (OSError, OverflowError):
        return True
    writer.close()
    with contextlib.suppress(OSError):
        await writer.wait_closed()
    return False


def _read(folder: Path) -> list[str]:
    """The lines of the file; none when it cannot be read."""
    try:
        return connection_file(folder).read_text(encoding="ascii").split()
    except (OSError, ValueError):
        return []
