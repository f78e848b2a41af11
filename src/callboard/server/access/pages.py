"""What a page in development may do without a token, on a server with `--dev`.

This covers only pages of allowed origins, and only what is listed here: sessions and questions of
workflows. Everything else stays closed, including anything added to the server later.
"""

import re
from collections.abc import Collection
from typing import Final

from callboard.errors import Forbidden, ValidationError
from callboard.server.access.head import Head
from callboard.server.access.identity import Identity
from callboard.server.access.origins import ORIGIN

DEFAULT_ORIGIN: Final = "http://localhost:5173"
"""Where Vite serves a page during development."""

_NAME: Final = "dev"
_READS: Final = re.compile(
    r"/(health|workflows|stream|sessions(/[^/]+(/events|/state)?)?|interactions(/[^/]+)?)"
)
_WRITES: Final = re.compile(
    r"/(sessions/[^/]+/input|interactions/[^/]+/(claim|release|answer|complete|cancel))"
)


def page_identity(head: Head, via: str) -> Identity:
    """The identity of an allowed page; Forbidden where pages may do nothing."""
    allowed = {"GET": _READS, "HEAD": _READS, "POST": _WRITES}.get(head.method)
    if allowed is None or allowed.fullmatch(head.path) is None:
        raise Forbidden(
            f"{head.method} {head.path} needs a token, also with --dev. Without one, pages may "
            "read workflows' sessions and questions, and answer the questions.",
            field="authorization",
        )
    return Identity(_NAME, "answer", via, is_page=True)


def check_development(origins: Collection[str], allowed_hosts: Collection[str]) -> None:
    """Refuse wildcard origins, and host names under which others can reach the server."""
    if allowed_hosts:
        raise ValidationError(
            "--dev lets pages in without a token, so the server must not be reachable under "
            "another name. Remove --allowed-host or --dev.",
            field="allowedHosts",
        )
    for origin in origins:
        if ORIGIN.fullmatch(origin) is None:
            raise ValidationError(
                f"--cors-origin {origin}: with --dev, name each origin exactly, like "
                f"{DEFAULT_ORIGIN}.",
                field="corsOrigins",
            )
