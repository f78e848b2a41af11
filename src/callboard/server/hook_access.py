"""How hooks find the server and sign in: with a report-only token in its own file.

Several servers may serve one database, and the file names one of them. Any running server makes
sure that it names one that is running.
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
"""The name of the hooks' token in the list of tokens."""
EVERY: Final = 3.0
"""Seconds between checks of the file."""

_CONNECT_WITHIN: Final = 0.5
_HERE: Final = {"0.0.0.0": "127.0.0.1", "::": "::1"}
"""Where to reach a server that listens on all addresses."""


class HookAccess:
    """Maintains the file that tells hooks about this server or another running one.

    A server leaves the file in place when it stops: held hooks wait for the next server.
    """

    def __init__(self, tokens: AccessTokens, database: Path, host: str, port: int) -> None:
        self._folder = hooks_folder(database)
        self._address = _address(host, port)
        self._tokens = tokens
        self._token = ""
        self._next = 0.0

    async def write(self) -> None:
        """Write this server's address, keeping the file's token if it is still valid."""
        known = (*_read(self._folder)[-1:], self._token)
        self._token = await self._valid(known) or (await self._tokens.create(NAME, "hook")).secret
        write_connection(self._folder, self._address, self._token)

    async def secret(self) -> str:
        """The file's token. Writes the file first if it has no valid token."""
        found = await self._valid(_read(self._folder)[-1:])
        if found is None:
            await self.write()
        return found or self._token

    async def check(self, now: float) -> None:
        """Rewrite the file if a check is due and no server listens at its address.

        now: monotonic seconds.
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
    """Give hooks access. The caller has to call `check` every few seconds."""
    access = HookAccess(tokens, database, host, port)
    await access.write()
    return access


def _address(host: str, port: int) -> str:
    """A server's address for programs on this machine, as used in URLs."""
    here = _HERE.get(host, host)
    return f"[{here}]:{port}" if ":" in here else f"{here}:{port}"


async def _is_refused(address: str) -> bool:
    """Whether no server listens there. One that is slow may be busy, and counts as running."""
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
    """The lines of the file; none if it can't be read."""
    try:
        return connection_file(folder).read_text(encoding="ascii").split()
    except (OSError, ValueError):
        return []
