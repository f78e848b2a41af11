"""What the guard adds to every response: security headers and the audit entry."""

from collections.abc import Callable, MutableSequence
from typing import Final

from fastapi import Response
from starlette.types import Message, Send

from callboard.server.access.head import Head
from callboard.server.access.origins import RequestOrigin

Headers = MutableSequence[tuple[bytes, bytes]]

_ALWAYS: Final = (
    (
        b"content-security-policy",
        b"default-src 'self'; img-src 'self' data:; object-src 'none'; base-uri 'none'; "
        b"form-action 'self'; frame-ancestors 'none'",
    ),
    (b"x-content-type-options", b"nosniff"),
    (b"referrer-policy", b"no-referrer"),
    (b"cross-origin-resource-policy", b"same-origin"),
    (b"cross-origin-opener-policy", b"same-origin"),
)
_EXPOSED = b"Location, Retry-After, Callboard-Last-Event"
_PREFLIGHT: Final = {
    "Access-Control-Allow-Methods": "GET, POST, PATCH, PUT, DELETE",
    "Access-Control-Allow-Headers": "Authorization, Content-Type, Last-Event-ID, Callboard-Via",
    "Access-Control-Max-Age": "600",
}


def preflight(head: Head, sender: RequestOrigin) -> Response | None:
    """The response to a CORS preflight from an allowed site. Never allows cookies."""
    asks = head.method == "OPTIONS" and head.one("access-control-request-method") is not None
    return Response(status_code=204, headers=_PREFLIGHT) if asks and sender.named else None


def completed(
    send: Send, sender: RequestOrigin | None, vary: bool, noted: Callable[[int], None]
) -> Send:
    """Wrap `send` to add our headers and to record the status before it is sent."""

    async def complete(message: Message) -> None:
        if message["type"] == "http.response.start":
            headers: Headers = list(message.get("headers", ()))
            _bind(headers)
            if vary:
                headers.append((b"vary", b"Origin"))
            if sender is not None and sender.named is not None:
                headers.append((b"access-control-allow-origin", sender.named.encode("latin-1")))
                headers.append((b"access-control-expose-headers", _EXPOSED))
            noted(message["status"])
            message = {**message, "headers": headers}
        await send(message)

    return complete


def _bind(headers: Headers) -> None:
    """Add missing headers. A route's own values take precedence."""
    present = {name.lower(): value for name, value in headers}
    headers.extend((name, value) for name, value in _ALWAYS if name not in present)
    kind = present.get(b"content-type", b"")
    if kind.startswith(b"application/json") and b"cache-control" not in present:
        headers.append((b"cache-control", b"no-store"))
