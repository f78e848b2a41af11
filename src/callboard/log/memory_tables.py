"""What belongs to no stream, in memory: tokens, what servers share, and the open handles."""

import os
from collections.abc import Callable, Collection, Container, Sequence
from dataclasses import dataclass, field, replace

from callboard.errors import NotFound
from callboard.events.access import Token
from callboard.log.registry import Description, OwnerInfo


class MemoryTokens:
    """Tokens in a dictionary, by the hash of their secret."""

    def __init__(self) -> None:
        self._known: dict[str, Token] = {}

    async def find(self, sha256: str) -> Token | None:
        """The token with this hash, even if it is revoked or expired."""
        return self._known.get(sha256)

    async def list(self) -> list[Token]:
        """The tokens that are not revoked, oldest first."""
        return [token for token in self._known.values() if token.revoked_at is None]

    async def add(self, token: Token) -> None:
        """Store a token."""
        self._known[token.sha256] = token

    async def revoke(self, id: str, at_ms: int) -> Token:
        """Revoke a token; NotFound if it doesn't exist."""
        for token in await self.list():
            if token.id == id:
                self._known[token.sha256] = replace(token, revoked_at=at_ms)
                return token
        raise NotFound(f"There is no token {id}. List the tokens: callboard token list", id=id)


@dataclass(slots=True)
class StoredState:
    """What several handles on one memory share."""

    values: dict[tuple[str, str], tuple[str, float]] = field(
        default_factory=dict[tuple[str, str], tuple[str, float]]
    )
    """By kind and key: the value, and when it expires in milliseconds."""
    holds: set[tuple[str, str, str]] = field(default_factory=set[tuple[str, str, str]])
    """Kind, key and owner."""


class MemoryServerState:
    """Values and holds of one handle.

    living: the owners of all handles that are open.
    """

    def __init__(
        self,
        stored: StoredState,
        owner: str,
        living: Container[str],
        now_ms: Callable[[], int],
    ) -> None:
        self._stored = stored
        self._owner = owner
        self._living = living
        self._now_ms = now_ms

    async def add(self, kind: str, key: str, value: str, seconds: float) -> bool:
        """Store a value for so long; returns whether it is the one that is stored now."""
        now, values = self._now_ms(), self._stored.values
        for known in [one for one, (_, until) in values.items() if until <= now]:
            del values[known]
        if values.get((kind, key), (value, 0))[0] != value:
            return False
        values[kind, key] = (value, now + seconds * 1000)
        return True

    async def find(self, kind: str, key: str) -> str | None:
        """The value, unless it has expired."""
        value, until = self._stored.values.get((kind, key), (None, 0.0))
        return value if self._now_ms() < until else None

    async def take(self, kind: str, key: str) -> str | None:
        """Remove a value and return it, unless it has expired; of several callers, one gets it."""
        found = await self.find(kind, key)
        self._stored.values.pop((kind, key), None)
        return found

    async def values(self, kind: str) -> list[str]:
        """Every value of a kind that has not expired, in no particular order."""
        now, values = self._now_ms(), self._stored.values
        return [value for (of, _), (value, until) in values.items() if of == kind and now < until]

    async def clear(self, kind: str) -> None:
        """Remove every value of a kind."""
        for known in [one for one in self._stored.values if one[0] == kind]:
            del self._stored.values[known]

    async def hold(self, kind: str, key: str) -> None:
        """Show other handles that this one holds a key, until it releases it or dies."""
        self._stored.holds.add((kind, key, self._owner))

    async def release(self, kind: str, key: str) -> None:
        """Hold a key no longer."""
        self._stored.holds.discard((kind, key, self._owner))

    async def held_elsewhere(self, kind: str, keys: Collection[str]) -> set[str]:
        """Those of the keys that another living handle holds."""
        return {
            key
            for held_kind, key, owner in self._stored.holds
            if held_kind == kind and key in keys and owner != self._owner and owner in self._living
        }

    async def adopt(self, kind: str, start: str) -> set[str]:
        """Hold the keys with this start that dead handles held; one of several callers gets it."""
        left = {
            held
            for held in self._stored.holds
            if held[0] == kind and held[1].startswith(start) and held[2] not in self._living
        }
        self._stored.holds -= left
        self._stored.holds |= {(kind, key, self._owner) for _, key, _ in left}
        return {key for _, key, _ in left}


class MemoryOwners:
    """The handles that share a memory."""

    def __init__(
        self, owner: str, living: Collection[str], described: dict[str, Description]
    ) -> None:
        self._owner = owner
        self._living = living
        self._described = described

    def alive(self, owner: str) -> bool:
        """Whether an owner is alive."""
        return owner in self._living

    async def has_died(self, owner: str) -> bool:
        """Whether an owner is dead."""
        return not self.alive(owner)

    def elected(self) -> bool:
        """Every handle is: what the elected one does can be done twice."""
        return True

    async def describe(self, described: Description) -> None:
        """Let others know what this handle can drive."""
        self._described[self._owner] = described

    async def list(self) -> Sequence[OwnerInfo]:
        """Every open handle."""
        return [
            OwnerInfo(owner, "", os.getpid(), None, True, self._described.get(owner, Description()))
            for owner in self._living
        ]
