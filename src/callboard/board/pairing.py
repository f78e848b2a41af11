"""Pairing: a machine exchanges a code that a person types for a token that names the machine.

A code is short enough to type, so guesses are limited: each code allows a few attempts, and all of
them together only so many a minute, counted for all servers of the log. A guess can't be matched
with a code, so it counts against every code that can be used.
"""

import hmac
import json
from dataclasses import dataclass
from hashlib import sha256
from shlex import quote
from typing import Final

from callboard.board.tokens import AccessTokens
from callboard.clock import Clock
from callboard.errors import ConflictError, Forbidden, TooManyFailures
from callboard.events.json_values import as_object, as_text, as_whole
from callboard.events.shapes import Millis, Shape
from callboard.ids import short_id
from callboard.log.protocol import ServerState

LIVES: Final = 300.0
"""Seconds for which a code can be used."""
ATTEMPTS: Final = 5
LENGTH: Final = 10
"""Characters of a code, each with five random bits."""

_KIND: Final = "pairing"
_KEY: Final = "code"
_TRIES: Final = "pairing-tries"
_A_MINUTE: Final = 20
_WINDOW_MS: Final = 60_000
_CONFUSED: Final = str.maketrans({"i": "1", "l": "1", "o": "0", "u": "v"})


@dataclass(frozen=True, slots=True)
class PairingCode(Shape):
    """A code that one machine can use once."""

    code: str
    expires_at: Millis


@dataclass(frozen=True, slots=True)
class Paired(Shape):
    """What a machine gets for a code. token: the secret, which is shown only here."""

    token: str
    host: str


class Pairing:
    """The one code that can be used, if there is one. A new one replaces the one before."""

    def __init__(self, state: ServerState, tokens: AccessTokens, clock: Clock) -> None:
        self._state = state
        self._tokens = tokens
        self._clock = clock

    async def create(self) -> PairingCode:
        """A code for one machine, written in groups."""
        code = short_id(LENGTH)
        until = self._clock.now_ms() + round(LIVES * 1000)
        told = {"sha256": _hashed(code), "until": until, "left": ATTEMPTS}
        await self._replace(told, LIVES)
        return PairingCode("-".join((code[:5], code[5:])).upper(), until)

    async def exchange(self, code: str, host: str, name: str, own_host: str) -> Paired:
        """The token for a machine; Forbidden if the code is wrong, used or expired.

        host: the machine's own id. own_host: the server's.
        """
        await self._count()
        found = await self._state.take(_KIND, _KEY)
        told = as_object(None if found is None else json.loads(found))
        left, until = as_whole(told.get("left")) - 1, as_whole(told.get("until"))
        # Compared even without a code, so that the time says nothing.
        is_right = hmac.compare_digest(_hashed(plain(code)), as_text(told.get("sha256")))
        if not is_right:
            seconds = (until - self._clock.now_ms()) / 1000
            if left > 0 and seconds > 0:
                await self._replace({**told, "left": left}, seconds)
            raise Forbidden(
                "This code is wrong, was used, or has expired. Make another one on the server: "
                "callboard pair"
            )
        await self._check_host(host, own_host)
        made = await self._tokens.create(name or host, "hook", host=host)
        return Paired(made.secret, host)

    async def _check_host(self, host: str, own_host: str) -> None:
        """One machine must not report in the name of another."""
        taken = [one for one in await self._tokens.list() if one.host == host]
        now = self._clock.now_ms()
        living = [one for one in taken if not one.is_expired(now)]
        if host == own_host or living:
            what = f"callboard token revoke {living[0].id}" if living else "use this one's server"
            raise ConflictError(
                "A machine with this id is already paired. If it is the same one, first revoke its "
                f"token, then make another code: {what}"
            )

    async def _replace(self, told: object, seconds: float) -> None:
        await self._state.take(_KIND, _KEY)
        await self._state.add(_KIND, _KEY, json.dumps(told), seconds)

    async def _count(self) -> None:
        """Count an attempt, for all servers and all clients."""
        window = self._clock.now_ms() // _WINDOW_MS
        for number in range(_A_MINUTE):
            # Each attempt takes a number of its own: the one that stores a value first has it.
            if await self._state.add(_TRIES, f"{window}:{number}", short_id(), 120.0):
                return
        raise TooManyFailures(
            "Too many attempts to pair. Wait a minute, and make another code: callboard pair",
            retry_after=60,
        )


def pair_command(server: str, code: str) -> str:
    """What to run on the machine to pair. server: its address for that machine."""
    return f"callboard relay --server {quote(server)} --pair {code}"


def plain(code: str) -> str:
    """A code as it was made, however it was typed."""
    letters = "".join(one for one in code.lower() if one.isalnum())
    return letters.translate(_CONFUSED)


def _hashed(code: str) -> str:
    return sha256(code.encode()).hexdigest()
