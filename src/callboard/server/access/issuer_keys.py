"""The public keys of an issuer of assertions: read from a file or an address, and kept for a while.

They are read in a thread. However many requests name unknown keys, they are read again only twice a
minute.
"""

import asyncio
import json
import logging
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import httpx
import jwt
from cryptography.hazmat.primitives.asymmetric.ec import EllipticCurvePublicKey
from cryptography.hazmat.primitives.asymmetric.ed448 import Ed448PublicKey
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey
from cryptography.hazmat.primitives.asymmetric.rsa import RSAPublicKey
from cryptography.hazmat.primitives.serialization import load_pem_public_key

from callboard.clock import Clock
from callboard.disk.files import read
from callboard.events.json_values import as_list, as_object, is_object

_log = logging.getLogger(__name__)

LARGEST: Final = 1_048_576
"""Bytes of a set of keys."""
MOST: Final = 64
"""How many keys of a set count."""
FRESH_FOR: Final = 600.0
"""Seconds after which they are read again."""
AGAIN_AFTER: Final = 30.0
"""Seconds between two attempts to read them, because of an unknown key or an error."""
KEPT_FOR: Final = 86_400.0
"""Seconds for which they count if they can't be read again."""

_CONNECT_WITHIN: Final = 5.0
_READ_WITHIN: Final = 10.0
_PEM: Final = b"-----BEGIN"
_PRIVATE: Final = "d"
"""The member of a JWK that only private keys have."""


PublicKey = RSAPublicKey | EllipticCurvePublicKey | Ed25519PublicKey | Ed448PublicKey


@dataclass(frozen=True, slots=True)
class IssuerKey:
    """A public key; `id` and `algorithm` if the set says them."""

    id: str | None
    algorithm: str | None
    key: PublicKey


class IssuerKeys:
    """The keys at one path or address."""

    def __init__(self, place: Path | str, clock: Clock) -> None:
        self._place = place
        self._clock = clock
        self._keys: tuple[IssuerKey, ...] | None = None
        self._read_at = 0.0
        self._tried_at: float | None = None
        self._reading = asyncio.Lock()

    async def find(self, id: str | None) -> list[IssuerKey]:
        """The keys with this id; all of them if an assertion names none, or they have none."""
        if self._is_due(id):
            await self._read_again()
        elif self._keys is None:
            async with self._reading:  # They are being read for the first time.
                pass
        if self._clock.monotonic() - self._read_at > KEPT_FOR:
            return []
        return _named(self._keys or (), id)

    def _is_due(self, id: str | None) -> bool:
        now = self._clock.monotonic()
        if self._tried_at is not None and now - self._tried_at < AGAIN_AFTER:
            return False
        is_old = self._keys is None or now - self._read_at >= FRESH_FOR
        return is_old or not _named(self._keys or (), id)

    async def _read_again(self) -> None:
        # Before the first wait: others continue with the keys that there are.
        self._tried_at = self._clock.monotonic()
        async with self._reading:
            try:
                found = await asyncio.to_thread(lambda: _parsed(_fetched(self._place, self._clock)))
            except (OSError, ValueError) as error:
                _log.error("The issuer's keys at %s can't be read: %s", self._place, error)
                return
            self._keys, self._read_at = found, self._clock.monotonic()


def _named(keys: Iterable[IssuerKey], id: str | None) -> list[IssuerKey]:
    return [key for key in keys if id is None or key.id in (None, id)]


def _fetched(place: Path | str, clock: Clock) -> bytes:
    return (
        read(place, LARGEST, follow=True) if isinstance(place, Path) else _downloaded(place, clock)
    )


def _downloaded(address: str, clock: Clock) -> bytes:
    until = clock.monotonic() + _READ_WITHIN
    data = b""
    try:
        with (
            # A proxy in the environment is not between us and our own machine. A redirect could
            # lead to an address that others can change.
            httpx.Client(
                timeout=_CONNECT_WITHIN,
                follow_redirects=False,
                trust_env=address.startswith("https:"),
            ) as http,
            http.stream("GET", address) as response,
        ):
            response.raise_for_status()
            for part in response.iter_bytes(65_536):
                data += part
                if len(data) > LARGEST or clock.monotonic() > until:
                    raise OSError(f"more than {LARGEST} bytes, or slower than {_READ_WITHIN} s")
    except httpx.HTTPError as error:
        raise OSError(str(error) or type(error).__name__) from error
    return data


def _parsed(data: bytes) -> tuple[IssuerKey, ...]:
    """The keys in a JWKS, or the one in a PEM file. Those that can't be used are left out."""
    if data.lstrip().startswith(_PEM):
        key = load_pem_public_key(data)
        if not isinstance(key, PublicKey):
            raise ValueError("this kind of key can't check signatures")
        return (IssuerKey(None, None, key),)
    try:
        told = json.loads(data)
    except RecursionError as error:
        raise ValueError("this is not a set of keys") from error
    listed = as_list(as_object(told).get("keys"))[:MOST]
    found = [_key(one) for one in listed if is_object(one)]
    keys = tuple(one for one in found if one is not None)
    if not keys:
        raise ValueError("there is no public key in it; use a JWKS, or a public key as PEM")
    return keys


def _key(told: Mapping[str, object]) -> IssuerKey | None:
    """A key for signatures. Private and shared keys are refused: no one else may have them."""
    if told.get("use", "sig") != "sig" or told.get("kty") == "oct" or _PRIVATE in told:
        return None
    try:
        key = jwt.PyJWK(dict(told)).key
    except (jwt.PyJWTError, ValueError, TypeError):
        return None
    if not isinstance(key, PublicKey):
        return None
    id, algorithm = told.get("kid"), told.get("alg")
    return IssuerKey(
        id if isinstance(id, str) else None, algorithm if isinstance(algorithm, str) else None, key
    )
