"""Tokens: the one that can do everything, and those that people make for programs.

Beside a database `x.db` lie `x.db.token`, the admin token as it is, and `x.db.tokens`, the
others by their hash: whoever reads that file cannot use them. Only their owner may read these
files, and they are never half-written.
"""

import hmac
import logging
import os
import secrets
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from datetime import timedelta
from functools import cached_property
from hashlib import sha256
from pathlib import Path
from typing import Final

import orjson

from callboard.clock import Clock
from callboard.disk.files import replace
from callboard.disk.locks import locked
from callboard.errors import NotFound, StoreCorrupt, StoreError, ValidationError
from callboard.events.shapes import Millis, Shape, Unsent, camel
from callboard.ids import short_id
from callboard.server.access.scopes import SCOPES, Scope

_log = logging.getLogger(__name__)

_OTHERS = 0o077

VARIABLE: Final = "CALLBOARD_TOKEN"
"""The environment variable that replaces the admin token."""

ADMIN: Final = "admin"
"""The name under which the holder of the admin token is recorded."""

_SHORTEST = 16
_LONGEST_NAME = 64


def read_secret(path: Path) -> str | None:
    """What is in the file; None when there is none. A mode that lets others read is repaired."""
    try:
        file = os.open(path, os.O_RDONLY | os.O_CLOEXEC | os.O_NOFOLLOW | os.O_NONBLOCK)
    except FileNotFoundError:
        return None
    except OSError as error:
        raise StoreError(f"{path} cannot be read: {error.strerror}.", path=str(path)) from error
    with os.fdopen(file, encoding="utf-8", errors="replace") as opened:
        _keep_private(opened.fileno(), path)
        return opened.read()


def _keep_private(file: int, path: Path) -> None:
    if not os.fstat(file).st_mode & _OTHERS:
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
        "%s could be read by other users; it is private now. Whoever read it before can still "
        "use what is in it: delete it and start again to make new secrets.",
        path,
    )


@dataclass(frozen=True, slots=True)
class Token(Shape):
    """What is kept of a token: everything but itself."""

    id: str
    name: str
    scope: Scope
    sha256: Unsent[str]
    created_at: Millis
    expires_at: Millis | None = None


class Tokens:
    """The tokens of one database, as its files say at this moment."""

    def __init__(self, database: Path, clock: Clock) -> None:
        self._token_file = database.with_name(f"{database.name}.token")
        self._tokens_file = database.with_name(f"{database.name}.tokens")
        self._lock_file = database.with_name(f"{database.name}.tokens.lock")
        self._clock = clock
        self._admin: str | None = None
        self._seen: tuple[int, ...] | None = None
        self._known: tuple[Token, ...] = ()

    def admin(self) -> str:
        """The token that can do everything, made when there is none yet."""
        if self._admin is None:
            self._admin = _from_environment() or self._from_file()
        return self._admin

    def identify(self, secret: str) -> tuple[str, Scope] | None:
        """Whose token this is and what it allows; None for a wrong or an expired one."""
        given = _hash(secret)
        # Every comparison takes the same time, and all are made, whichever fits.
        found: tuple[str, Scope] | None = None
        if hmac.compare_digest(given, self._admin_hash):
            found = (ADMIN, "admin")
        for token in self._current():
            if hmac.compare_digest(given, token.sha256) and not self._is_over(token):
                found = found or (token.name, token.scope)
        return found

    def create(
        self, name: str, scope: Scope, expires: timedelta | None = None
    ) -> tuple[Token, str]:
        """Make a token; gives what is kept of it, and the secret, which is not."""
        _check(name, scope, expires)
        secret = _new_secret()
        now = self._clock.now_ms()
        until = None if expires is None else now + round(expires.total_seconds() * 1000)
        token = Token(short_id(), name, scope, _hash(secret), now, until)
        with locked(self._lock_file):
            self._write([*_read(self._tokens_file), token])
        return token, secret

    def list(self) -> tuple[Token, ...]:
        """The tokens that people made, oldest first, expired ones too."""
        return tuple(_read(self._tokens_file))

    def revoke(self, id: str) -> Token:
        """Forget a token: from now on it is wrong, on a running server too."""
        with locked(self._lock_file):
            tokens = _read(self._tokens_file)
            found = next((token for token in tokens if token.id == id), None)
            if found is None:
                raise NotFound(
                    f"There is no token {id}. `callboard token list` names those there are.", id=id
                )
            self._write([token for token in tokens if token.id != id])
        return found

    def _from_file(self) -> str:
        with locked(self._lock_file):
            text = read_secret(self._token_file)
            if text is None:
                text = _new_secret()
                replace(self._token_file, f"{text}\n".encode())
        token = text.strip()
        if not _can_be_sent(token):
            raise StoreCorrupt(
                f"{self._token_file} holds no token. Delete it, and a new one is made at the "
                "next start.",
                path=str(self._token_file),
            )
        return token

    @cached_property
    def _admin_hash(self) -> str:
        # It stays what it is for as long as the server runs, and every request asks.
        return _hash(self.admin())

    def _current(self) -> tuple[Token, ...]:
        """The tokens, read again only when their file has changed."""
        seen = _signature(self._tokens_file)
        if seen != self._seen:
            try:
                self._known = self.list()
            except StoreError as error:
                # No one is let in on the word of a file that is damaged or not ours. The admin
                # token still works.
                _log.error("%s", error.message)
                self._known = ()
            self._seen = seen
        return self._known

    def _is_over(self, token: Token) -> bool:
        return token.expires_at is not None and self._clock.now_ms() >= token.expires_at

    def _write(self, tokens: Sequence[Token]) -> None:
        kept = [{camel(name): value for name, value in asdict(token).items()} for token in tokens]
        data = orjson.dumps(kept, option=orjson.OPT_INDENT_2 | orjson.OPT_APPEND_NEWLINE)
        replace(self._tokens_file, data)


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
        # Wrong tokens are counted and told, not stopped: a short one can be guessed.
        _log.warning("%s is short; give it at least %d characters.", VARIABLE, _SHORTEST)
    return token


def _can_be_sent(token: str) -> bool:
    return token.isascii() and token.isprintable() and token != "" and " " not in token


def _check(name: str, scope: str, expires: timedelta | None) -> None:
    if not 0 < len(name) <= _LONGEST_NAME or not name.isprintable() or name != name.strip():
        raise ValidationError(
            f"name: 1 to {_LONGEST_NAME} visible characters; it is recorded with what the "
            "token's holder does.",
            field="name",
        )
    if scope not in SCOPES:
        raise ValidationError(f"scope: one of {', '.join(SCOPES)}, not {scope!r}.", field="scope")
    if expires is not None and expires <= timedelta(0):
        raise ValidationError("expires: must lie in the future, like 90d.", field="expires")


def _new_secret() -> str:
    return f"cb_{secrets.token_urlsafe(32)}"


def _hash(secret: str) -> str:
    return sha256(secret.encode()).hexdigest()


def _signature(path: Path) -> tuple[int, ...] | None:
    try:
        found = os.stat(path)  # noqa: PTH116 - half the time of `path.stat()`, at every request
    except OSError:
        return None
    return (found.st_ino, found.st_mtime_ns, found.st_size)


def _read(path: Path) -> list[Token]:
    text = read_secret(path)
    if text is None:
        return []
    try:
        return [_token(one) for one in orjson.loads(text)]
    except (ValueError, KeyError, TypeError) as error:
        raise StoreCorrupt(
            f"{path} is damaged. Restore it, or delete it and make its tokens again.",
            path=str(path),
        ) from error


def _token(kept: dict[str, object]) -> Token:
    scope = kept["scope"]
    if scope not in SCOPES:
        raise ValueError(scope)
    until = kept["expiresAt"]
    return Token(
        id=str(kept["id"]),
        name=str(kept["name"]),
        scope=scope,
        sha256=str(kept["sha256"]),
        created_at=_number(kept["createdAt"]),
        expires_at=None if until is None else _number(until),
    )


def _number(value: object) -> int:
    if not isinstance(value, int):
        raise TypeError(value)
    return value
