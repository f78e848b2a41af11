"""The head of a request as the guard reads it. Duplicate headers are errors."""

from collections.abc import Iterable
from typing import Final

from starlette.types import Scope

from callboard.errors import Forbidden, ValidationError

SAFE = frozenset({"GET", "HEAD", "OPTIONS"})
"""Methods that change nothing."""

LONGEST_QUERY: Final = 16_384
"""Maximum bytes of a query. Nothing needs that many, and many parameters are slow to parse."""


def check_query(scope: Scope) -> None:
    """Refuse a query that would be slow to parse."""
    if len(scope.get("query_string", b"")) > LONGEST_QUERY:
        raise ValidationError(
            f"The query is too long; this server takes {LONGEST_QUERY} bytes after the question "
            "mark.",
            field="query",
        )


class Head:
    """Method, path and headers of one request."""

    def __init__(self, scope: Scope) -> None:
        self.method: str = scope["method"]
        self.commands = self.method not in SAFE
        """Whether it changes something."""
        self.path: str = scope["path"]
        self.scheme: str = scope.get("scheme", "http")
        client = scope.get("client")
        self.remote: str = client[0] if client else "unknown"
        raw: Iterable[tuple[bytes, bytes]] = scope["headers"]
        self._headers: dict[str, list[str]] = {}
        for name, value in raw:
            self._headers.setdefault(name.decode("latin-1").lower(), []).append(
                value.decode("latin-1").strip()
            )

    def all(self, name: str) -> list[str]:
        """Every value of a header."""
        return self._headers.get(name, [])

    def one(self, name: str) -> str | None:
        """The value of a header that may be sent only once. Refuses duplicates."""
        values = self.all(name)
        if len(values) > 1:
            # Two readers of the same request could otherwise see different values.
            raise Forbidden(f"{name}: send this header once, not {len(values)} times.", field=name)
        return values[0] if values else None
