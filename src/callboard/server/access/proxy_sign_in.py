"""Sign in people whom a proxy has authenticated.

A header counts only with proof that the proxy sent it: a signature, or a secret that only the proxy
and this server have. Otherwise, anyone who reaches the server directly could claim to be anyone.
"""

import hmac
import re
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Final

from callboard.clock import Clock
from callboard.errors import Forbidden, MissingExtra, Unauthenticated, ValidationError
from callboard.events.envelope import Json
from callboard.events.json_values import is_list
from callboard.interactions.assignment import GROUP, checked_name
from callboard.server.access.head import Head
from callboard.server.access.login import SignIn
from callboard.server.access.proxy_settings import (
    HeaderSettings,
    ProxySettings,
    load_proxy_settings,
)

if TYPE_CHECKING:
    from callboard.server.access.assertions import Assertions

LONGEST: Final = 16_384
"""Characters of a header."""
MOST_GROUPS: Final = 256

_BEARER: Final = re.compile("bearer +", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class ProxyRefusal:
    """Why what a proxy says, or seems to say, doesn't sign anyone in.

    is_guess: the secret is wrong, so it may be one of many attempts.
    """

    error: Unauthenticated | Forbidden
    is_guess: bool = False


@dataclass(frozen=True, slots=True)
class _Said:
    """What the proxy says about a person."""

    person: str
    groups: tuple[str, ...]


class ProxySignIn:
    """Identifies people by what their proxy says.

    sign_out: where they sign out of the proxy, if that is known.
    """

    def __init__(self, settings: ProxySettings, clock: Clock) -> None:
        self._scopes = settings.scopes
        self._settings = settings
        self.sign_out = settings.sign_out
        self._assertions = None if settings.assertion is None else _assertions(settings, clock)

    async def find(self, head: Head) -> SignIn | ProxyRefusal | None:
        """Who signs in; None if the proxy says nothing about a person."""
        try:
            said = await self._said(head)
            if isinstance(said, ProxyRefusal) or said is None:
                return said
            person = _person(said.person)
        except Unauthenticated as error:
            return ProxyRefusal(error)
        except ValidationError as error:
            return ProxyRefusal(Unauthenticated(f"The proxy's name for you: {error.message}"))
        groups = _groups(said.groups)
        scope = self._scopes.granted(person, groups)
        if scope is None:
            return ProxyRefusal(
                Forbidden(
                    f"You are signed in to the proxy as {person}, who has no access here. Ask an "
                    "admin to add you, or one of your groups, to the server's --proxy-auth file."
                )
            )
        return SignIn(person, scope, groups)

    async def _said(self, head: Head) -> _Said | ProxyRefusal | None:
        if self._settings.headers is not None:
            return self._in_headers(head, self._settings.headers)
        settings, assertions = self._settings.assertion, self._assertions
        assert settings is not None
        assert assertions is not None
        given = head.one(settings.header.lower())
        if not given:
            return None
        claims = await assertions.claims(_BEARER.sub("", given, count=1))
        person = claims.get(settings.person)
        if not isinstance(person, str):
            return ProxyRefusal(
                Unauthenticated(f"The proxy's assertion has no name: {settings.person}.")
            )
        return _Said(person, _listed(claims.get(settings.groups)))

    def _in_headers(self, head: Head, names: HeaderSettings) -> _Said | ProxyRefusal | None:
        proof = head.one(names.secret_header.lower())
        person, groups = head.one(names.person.lower()), head.one(names.groups.lower())
        if proof is None and person is None and groups is None:
            return None
        # Bytes, because only those may have characters beyond ASCII here.
        if proof is None or not hmac.compare_digest(
            proof.encode("latin-1"), self._settings.secret.encode()
        ):
            error = Unauthenticated(
                f"{names.person} counts only from the proxy, which adds {names.secret_header} with "
                "the secret that it shares with this server. Use the proxy's address."
            )
            return ProxyRefusal(error, is_guess=proof is not None)
        if not person:
            return None
        if len(person) > LONGEST or len(groups or "") > LONGEST:
            return ProxyRefusal(
                Unauthenticated(f"A header from the proxy is longer than {LONGEST} characters.")
            )
        return _Said(_decoded(person), _listed(_decoded(groups or "")))


def proxy_sign_in(file: Path | None, clock: Clock) -> ProxySignIn | None:
    """Signs people in as this file says; None without one."""
    return None if file is None else ProxySignIn(load_proxy_settings(file), clock)


def _assertions(settings: ProxySettings, clock: Clock) -> "Assertions":
    try:
        from callboard.server.access.assertions import assertions_of
    except ImportError as error:
        raise MissingExtra(
            f"--proxy-auth with [assertion] needs {error.name}: pip install 'callboard[oidc]'"
        ) from error
    return assertions_of(settings, clock)


def _decoded(value: str) -> str:
    """A header's value: proxies send UTF-8, and HTTP takes it for Latin-1."""
    try:
        return value.encode("latin-1").decode()
    except UnicodeError as error:
        raise Unauthenticated("A header from the proxy is not UTF-8.") from error


def _listed(told: Json) -> tuple[str, ...]:
    """Groups, from a list or from a text with commas."""
    if isinstance(told, str):
        return tuple(told.split(","))
    return tuple(one for one in told if isinstance(one, str)) if is_list(told) else ()


def _person(name: str) -> str:
    if name.startswith(GROUP):
        raise ValidationError(f"{name!r} is a group.", field="person")
    return checked_name(name, "person")


def _groups(names: tuple[str, ...]) -> tuple[str, ...]:
    """The groups that questions can be assigned to. Others can't give access to anything."""
    found: dict[str, None] = {}
    for name in names[:MOST_GROUPS]:
        try:
            found[checked_name(f"{GROUP}{name.strip()}", "groups").removeprefix(GROUP)] = None
        except ValidationError:
            continue
    return tuple(found)
