"""The cookie that a browser keeps after the one-time link: signed, and kept nowhere else.

Its key comes from the admin token: the cookie outlives a restart, and dies with that token.
"""

import hmac
import re
from datetime import timedelta
from functools import cache
from getpass import getuser
from hashlib import sha256
from typing import Final

from callboard.server.access.scopes import SCOPES, Scope

LIVES: Final = timedelta(days=30)

_FORM = re.compile(r"v1\.([a-z]+)\.([0-9]{1,16})\.([0-9a-f]{64})")


def seal(admin: str, scope: Scope, now_ms: int) -> str:
    """The value of a cookie that allows this, from now on."""
    until = now_ms + round(LIVES.total_seconds() * 1000)
    text = f"v1.{scope}.{until}"
    return f"{text}.{_signature(admin, text)}"


def open_sealed(admin: str, value: str, now_ms: int) -> tuple[str, Scope] | None:
    """Who sends this cookie and what it allows; None unless we made it and it still counts."""
    form = _FORM.fullmatch(value)
    if form is None:
        return None
    scope, until, signature = form.groups()
    if not hmac.compare_digest(signature, _signature(admin, f"v1.{scope}.{until}")):
        return None
    if scope not in SCOPES or now_ms >= int(until):
        return None
    return person(), scope


@cache
def person() -> str:
    """Whose browser it is: only who runs the server can have read the link."""
    try:
        return getuser()
    except (KeyError, OSError):
        return "admin"


def _signature(admin: str, text: str) -> str:
    key = hmac.digest(admin.encode(), b"callboard cookie", sha256)
    return hmac.new(key, text.encode(), sha256).hexdigest()
