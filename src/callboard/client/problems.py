"""What a server answered when it refused, as the error that it raised."""

import re
from collections.abc import Iterator, Mapping
from http import HTTPStatus
from typing import Any, Final, cast

from callboard import errors
from callboard.errors import CallboardError

_GATEWAY: Final = (HTTPStatus.BAD_GATEWAY, HTTPStatus.GATEWAY_TIMEOUT)


def error_of(status: int, answer: Any, url: str) -> CallboardError:
    """The error in an answer; one without our envelope comes from something in between."""
    told: Any = cast("dict[str, Any]", answer).get("error") if isinstance(answer, dict) else None
    if not isinstance(told, dict) or not {"code", "message"} <= cast("dict[str, Any]", told).keys():
        return _foreign(status, url)
    return from_payload(cast("Mapping[str, Any]", told))


def from_payload(told: Mapping[str, Any]) -> CallboardError:
    """The error that a payload tells, of the class with its code."""
    context = {_snake(k): v for k, v in told.items() if k not in ("code", "message")}
    code = str(told["code"])
    error = _CLASSES.get(code, CallboardError)(str(told["message"]), **context)
    if error.code != code:
        vars(error)["code"] = code  # A newer server's; nobody here knows more of it.
    return error


def _foreign(status: int, url: str) -> CallboardError:
    known = {one.value: f"{one.value} {one.phrase}" for one in HTTPStatus}
    phrase = known.get(status, str(status))
    if status in _GATEWAY or status == HTTPStatus.SERVICE_UNAVAILABLE:
        return errors.ServerUnreachable(
            f"Something in front of {url} answered {phrase}: the server behind it does not. "
            "Start it: callboard serve",
            url=url,
        )
    return errors.ServerFailed(
        f"{url} answered {phrase}, but not as Callboard's server does. Check the address.", url=url
    )


def _snake(name: str) -> str:
    return re.sub(r"(?<=[a-z0-9])[A-Z]", lambda found: "_" + found[0].lower(), name)


def _tree(kind: type[CallboardError]) -> Iterator[type[CallboardError]]:
    yield kind
    for derived in kind.__subclasses__():
        yield from _tree(derived)


# Where several share a code, it is the one that the others derive from.
_CLASSES: Final = {
    kind.code: kind for kind in reversed(list(_tree(CallboardError))) if "code" in vars(kind)
}
