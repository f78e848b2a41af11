"""How a proxy that authenticates people signs them in: the file that `--proxy-auth` names.

Off without that file: then nothing that a proxy says about people is even read.
"""

import re
import tomllib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated, Final, Self
from urllib.parse import urlsplit

from pydantic import BaseModel, ConfigDict, Field, model_validator
from pydantic import ValidationError as Mismatch

from callboard.disk.files import read
from callboard.errors import StoreError, ValidationError
from callboard.events.access import Scope, highest
from callboard.server.access.tokens import read_secret

_LARGEST: Final = 1_048_576
_SHORTEST_SECRET: Final = 32
_LOOPBACK: Final = frozenset({"localhost", "127.0.0.1", "::1"})
_RESERVED: Final = frozenset(
    {"authorization", "cookie", "host", "origin", "forwarded", "sec-fetch-site", "callboard-via"}
)
"""Headers that mean something else here, or that browsers set."""

HeaderName = Annotated[str, Field(pattern=r"^[A-Za-z][A-Za-z0-9-]{0,63}$")]
_Text = Annotated[str, Field(min_length=1, max_length=1000)]
_ALGORITHM: Final = re.compile("(RS|PS|ES)(256|384|512)|EdDSA")
"""Algorithms with a public key. With a shared one, all who can check signatures can forge them."""


class _Part(BaseModel):
    """A part of the file. Misspelled names are errors."""

    model_config = ConfigDict(extra="forbid", frozen=True)


class AssertionSettings(_Part):
    """A header with a signed assertion (JWT) about the person.

    keys: a file with the issuer's public keys (JWKS or PEM), or the address of its JWKS.
    person, groups: the claims with the person's name and groups.
    """

    header: HeaderName
    issuer: _Text
    audience: _Text
    keys: _Text
    algorithms: tuple[str, ...] = ("RS256", "ES256")
    person: _Text = "email"
    groups: _Text = "groups"

    @model_validator(mode="after")
    def _checked(self) -> Self:
        wrong = [one for one in self.algorithms if not _ALGORITHM.fullmatch(one)]
        if wrong or not self.algorithms:
            raise ValueError(
                f"algorithms: {', '.join(wrong) or 'none'}: use algorithms with a public key, such "
                "as RS256, ES256 or EdDSA"
            )
        if "://" in self.keys and not is_trusted_address(self.keys):
            raise ValueError(
                f"keys: {self.keys} must be a file or start with https://; http:// is only for "
                "this machine"
            )
        return self


class HeaderSettings(_Part):
    """Plain headers, believed only next to a header with a secret that the proxy shares with us.

    secret_file: a file that only its owner can read.
    """

    secret_file: _Text
    secret_header: HeaderName = "X-Callboard-Proxy-Secret"
    person: HeaderName = "X-Forwarded-User"
    groups: HeaderName = "X-Forwarded-Groups"


class ScopeSettings(_Part):
    """What people may do: the highest of the scopes that apply. Without one, they are refused."""

    default: Scope | None = None
    groups: Mapping[str, Scope] = Field(default_factory=dict)
    people: Mapping[str, Scope] = Field(default_factory=dict)

    def granted(self, person: str, groups: Iterable[str]) -> Scope | None:
        """The highest scope that applies to someone."""
        found: list[Scope] = [self.groups[group] for group in groups if group in self.groups]
        if person in self.people:
            found.append(self.people[person])
        if self.default is not None:
            found.append(self.default)
        return highest(found)

    @model_validator(mode="after")
    def _checked(self) -> Self:
        if "hook" in (self.default, *self.groups.values(), *self.people.values()):
            raise ValueError("hook is for programs; use read, answer, operate or admin")
        if self.default is None and not self.groups and not self.people:
            raise ValueError("no one could sign in: set default, groups or people")
        return self


class _File(_Part):
    assertion: AssertionSettings | None = None
    headers: HeaderSettings | None = None
    scopes: ScopeSettings
    sign_out: _Text | None = None

    @model_validator(mode="after")
    def _checked(self) -> Self:
        if (self.assertion is None) == (self.headers is None):
            raise ValueError("use either [assertion] or [headers]")
        part = self.assertion or self.headers
        names = [value for key, value in part or () if key in _NAMES[type(part)]]
        lower = [str(name).lower() for name in names]
        if len(set(lower)) < len(lower) or _RESERVED.intersection(lower):
            raise ValueError(f"use different headers, and none of {', '.join(sorted(_RESERVED))}")
        if self.sign_out is not None and not _leads_away(self.sign_out):
            raise ValueError("sign_out: use a path such as /oauth2/sign_out, or an https:// URL")
        return self


_NAMES: Final[Mapping[type, tuple[str, ...]]] = {
    AssertionSettings: ("header",),
    HeaderSettings: ("secret_header", "person", "groups"),
}


@dataclass(frozen=True, slots=True)
class ProxySettings:
    """Who may sign in through a proxy, and what proves that the proxy said so.

    One of `assertion` and `headers` is set. keys: the path or address of the issuer's keys.
    """

    scopes: ScopeSettings
    assertion: AssertionSettings | None = None
    headers: HeaderSettings | None = None
    keys: Path | str = ""
    secret: str = field(default="", repr=False)
    sign_out: str | None = None


def is_trusted_address(address: str) -> bool:
    """Whether no one in between can change what this address returns."""
    try:
        parts = urlsplit(address)
        name = parts.hostname
    except ValueError:
        return False
    return bool(name) and (
        parts.scheme == "https" or (parts.scheme == "http" and name in _LOOPBACK)
    )


def load_proxy_settings(path: Path) -> ProxySettings:
    """Read the file. Paths in it are relative to its folder."""
    try:
        told = _File.model_validate(tomllib.loads(read(path, _LARGEST, follow=True).decode()))
    except OSError as error:
        reason = error.strerror or str(error)
        raise StoreError(f"{path} cannot be read: {reason}.", path=str(path)) from error
    except Mismatch as error:
        first = error.errors()[0]
        where = ".".join(str(part) for part in first["loc"])
        why = first["msg"].removeprefix("Value error, ")
        raise _unusable(path, f"{where}: {why}" if where else why) from error
    except ValueError as error:  # Not UTF-8, or not TOML.
        raise _unusable(path, str(error)) from error
    keys: Path | str = ""
    if told.assertion is not None:
        given = told.assertion.keys
        keys = given if "://" in given else path.parent / given
    secret = "" if told.headers is None else _secret(path.parent / told.headers.secret_file)
    return ProxySettings(told.scopes, told.assertion, told.headers, keys, secret, told.sign_out)


def _secret(path: Path) -> str:
    found = read_secret(path)
    if found is None:
        raise _unusable(path, "there is no such file. Create it: openssl rand -base64 32")
    secret = found.strip()
    if len(secret) < _SHORTEST_SECRET or not secret.isascii() or not secret.isprintable():
        raise _unusable(
            path,
            f"use at least {_SHORTEST_SECRET} random visible ASCII characters, such as those from "
            "openssl rand -base64 32",
        )
    return secret


def _leads_away(address: str) -> bool:
    is_path = address.startswith("/") and not address.startswith(("//", "/\\"))
    return address.isprintable() and (is_path or is_trusted_address(address))


def _unusable(path: Path, why: str) -> ValidationError:
    return ValidationError(f"--proxy-auth: {path}: {why}", field="proxyAuth")
