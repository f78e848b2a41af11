"""Find out who a secret belongs to: the admin token, or a token made for a person or program.

Next to a database `x.db` is `x.db.token`, the plain admin token, which only its owner may read. All
other tokens are rows of the database: see `callboard.board.tokens`.
"""

import hmac
import logging
import os
from functools import cached_property
from pathlib import Path
from typing import Final

from callboard.board.tokens import AccessTokens, hashed, local_person, new_secret
from callboard.disk.files import CLOEXEC, NOFOLLOW, NONBLOCK, OPENS_FOLDERS, replace
from callboard.disk.locks import locked
from callboard.errors import StoreCorrupt, StoreError, ValidationError
from callboard.events.access import Token

_log = logging.getLogger(__name__)

_OTHERS = 0o077

VARIABLE: Final = "CALLBOARD_TOKEN"
"""The environment variable that replaces the admin token."""

ADMIN: Final = "admin"
"""The name recorded for the holder of the admin token."""

_SHORTEST = 16


def read_secret(path: Path) -> str | None:
    """The secret in the file, or None without a file. Makes the file private to its owner."""
    try:
        file = os.open(path, os.O_RDONLY | CLOEXEC | NOFOLLOW | NONBLOCK)
    except FileNotFoundError:
        return None
    except OSError as error:
        raise StoreError(f"{path} cannot be read: {error.strerror}.", path=str(path)) from error
    with os.fdopen(file, encoding="utf-8", errors="replace") as opened:
        _keep_private(opened.fileno(), path)
        return opened.read()


def _keep_private(file: int, path: Path) -> None:
    if not OPENS_FOLDERS or not os.fstat(file).st_mode & _OTHERS:
        return
    try:
        os.fchmod(file, 0o600)
    except OSError as error:
        raise StoreError(
            f"{path} can be read by other users and is not ours to change. "
            f"Make it private: chmod 600 {path}",
            path=str(path),
        ) from error
    _log.warning(
        "%s could be read by other users; it is private now. Anyone who has read it can still "
        "use its contents: delete it and restart to create new secrets.",
        path,
    )


class Tokens:
    """Secrets and their holders: the admin token's file, and the tokens in the database."""

    def __init__(self, database: Path, issued: AccessTokens) -> None:
        self.issued = issued
        self._token_file = database.with_name(f"{database.name}.token")
        self._lock_file = database.with_name(f"{database.name}.tokens.lock")
        self._admin: str | None = None

    def admin(self) -> str:
        """The token that can do everything. Created if it doesn't exist yet."""
        if self._admin is None:
            self._admin = _from_environment() or self._from_file()
        return self._admin

    async def find(self, secret: str) -> Token | None:
        """The token of a secret, even if it is revoked or expired."""
        if hmac.compare_digest(hashed(secret), self._admin_token.sha256):
            return self._admin_token
        return await self.issued.find(secret)

    def _from_file(self) -> str:
        with locked(self._lock_file):
            text = read_secret(self._token_file)
            if text is None:
                text = new_secret()
                replace(self._token_file, f"{text}\n".encode())
        token = text.strip()
        if not _can_be_sent(token):
            raise StoreCorrupt(
                f"{self._token_file} contains no token. Delete it; a new one is created at the "
                "next start.",
                path=str(self._token_file),
            )
        return token

    @cached_property
    def _admin_token(self) -> Token:
        # Cached: it doesn't change while the server runs, and every request needs it.
        return Token(
            id=ADMIN,
            name=ADMIN,
            # Only the person who runs the server can read it, as with sign-in links.
            person=local_person(),
            scope="admin",
            groups=(),
            host=None,
            created_at=0,
            expires_at=None,
            sha256=hashed(self.admin()),
        )


def _from_environment() -> str | None:
    token = os.environ.get(VARIABLE)
    if not token:
        return None
    if not _can_be_sent(token):
        raise ValidationError(
            f"{VARIABLE}: only visible ASCII characters without spaces can be sent as a token.",
            field=VARIABLE,
        )
    if len(token) < _SHORTEST:
        # Wrong tokens are only limited, not stopped, so a short token can be guessed.
        _log.warning("%s is short; give it at least %d characters.", VARIABLE, _SHORTEST)
    return token


def _can_be_sent(token: str) -> bool:
    return token.isascii() and token.isprintable() and token != "" and " " not in token
