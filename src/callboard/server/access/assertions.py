"""Verify what a proxy asserts about a person: a JWT for us, signed by a known key, not expired."""

import re
from typing import Final

import jwt

from callboard.clock import Clock
from callboard.errors import Unauthenticated
from callboard.events.json_values import Object, as_object
from callboard.server.access.issuer_keys import IssuerKey, IssuerKeys
from callboard.server.access.proxy_settings import AssertionSettings, ProxySettings

LONGEST: Final = 16_384
"""Characters of an assertion."""
_LEEWAY: Final = 30
"""Seconds by which the clocks of two machines may differ."""
_FORM: Final = re.compile(r"[A-Za-z0-9_-]+\.[A-Za-z0-9_-]+\.[A-Za-z0-9_-]+")
_MALFORMED: Final = (jwt.PyJWTError, ValueError, TypeError, ArithmeticError, RecursionError)
_WRONG_KEY: Final = (jwt.InvalidSignatureError, jwt.InvalidKeyError)
_WHY: Final[tuple[tuple[type[Exception], str], ...]] = (
    (jwt.ExpiredSignatureError, "has expired. Reload the page to sign in again"),
    (jwt.ImmatureSignatureError, "is not valid yet. Check the clocks of both machines"),
    (jwt.InvalidAudienceError, "is for another audience"),
    (jwt.InvalidIssuerError, "is from another issuer"),
    (jwt.MissingRequiredClaimError, "must have exp, iss and aud"),
)


class Assertions:
    """Verifies the assertions of one issuer."""

    def __init__(self, settings: AssertionSettings, keys: IssuerKeys) -> None:
        self._settings = settings
        self._keys = keys

    async def claims(self, assertion: str) -> Object:
        """What a valid assertion says; Unauthenticated for any other."""
        if len(assertion) > LONGEST:
            raise refused(f"is longer than {LONGEST} characters")
        if not _FORM.fullmatch(assertion):
            raise refused("is not a signed JWT")
        try:
            head = jwt.get_unverified_header(assertion)
        except _MALFORMED as error:
            raise refused("is not a signed JWT") from error
        algorithm, id = head.get("alg"), head.get("kid")
        if not isinstance(algorithm, str) or algorithm not in self._settings.algorithms:
            allowed = ", ".join(self._settings.algorithms)
            raise refused(f"must be signed with {allowed}")
        for key in await self._keys.find(id if isinstance(id, str) else None):
            # A key is for one algorithm, if its set says so.
            if key.algorithm in (None, algorithm):
                found = self._verified(assertion, algorithm, key)
                if found is not None:
                    return found
        raise refused("is not signed with a key that this server knows")

    def _verified(self, assertion: str, algorithm: str, key: IssuerKey) -> Object | None:
        """What it says; None if another key signed it."""
        try:
            claims = jwt.decode(
                assertion,
                key.key,
                algorithms=[algorithm],
                issuer=self._settings.issuer,
                audience=self._settings.audience,
                leeway=_LEEWAY,
                options={"require": ["exp", "iss", "aud"]},
            )
        except _WRONG_KEY:
            return None
        except _MALFORMED as error:
            told = (why for kind, why in _WHY if isinstance(error, kind))
            raise refused(next(told, "is not valid")) from error
        return as_object(claims)


def refused(why: str) -> Unauthenticated:
    """The error for an assertion that doesn't count."""
    return Unauthenticated(f"The sign-in assertion from the proxy {why}.")


def assertions_of(settings: ProxySettings, clock: Clock) -> Assertions:
    """Verifies what the proxy asserts."""
    assert settings.assertion is not None
    return Assertions(settings.assertion, IssuerKeys(settings.keys, clock))
