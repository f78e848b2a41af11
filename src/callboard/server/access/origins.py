"""Which hosts and origins a request may name.

Any web page can make a browser send requests to this machine. The browser says on whose behalf:
`Host` is the name it looked up, `Origin` and `Sec-Fetch-Site` identify the page.
"""

import re
from dataclasses import dataclass
from typing import Final

from callboard.errors import Forbidden
from callboard.server.access.head import Head
from callboard.server.settings import ServerSettings

LOOPBACK: Final = frozenset({"callboard.localhost", "localhost", "127.0.0.1", "[::1]"})

_HOST = re.compile(r"(\[[0-9a-fA-F:.]{2,45}\]|[A-Za-z0-9._-]{1,253})(?::([0-9]{1,5}))?")
ORIGIN = re.compile(rf"(https?)://({_HOST.pattern})")
_EVERYWHERE = frozenset({"", "0.0.0.0", "::", "[::]"})
_PORTS = {"http": "80", "https": "443"}
_PAGES = ("/", "/app", "/login")


@dataclass(frozen=True, slots=True)
class RequestOrigin:
    """What is known about the page that sends a request."""

    scheme: str
    """The scheme the browser used: https if a proxy says so."""
    same_origin: bool
    """Whether the browser says that the page is ours."""
    named: str | None = None
    """The origin of another site, if it is on the list."""


class Places:
    """The allowed hosts and origins."""

    def __init__(self, settings: ServerSettings) -> None:
        allowed = frozenset(name.lower() for name in settings.allowed_hosts)
        self._proxied = allowed
        own = settings.host.lower()
        bound: frozenset[str] = frozenset() if own in _EVERYWHERE else frozenset({bracketed(own)})
        self._hosts = LOOPBACK | bound | allowed
        self._named = frozenset(one.lower().rstrip("/") for one in settings.cors_origins)
        self.names_others = bool(self._named)
        """Whether any other site may call."""

    def check(self, head: Head) -> RequestOrigin:
        """Refuse an unknown host or page; returns what is known about the sender."""
        host = self._checked_host(head)
        scheme = self._scheme(head, host)
        origin = head.one("origin")
        site = head.one("sec-fetch-site")
        if origin is not None:
            named = self._checked_origin(origin, scheme, host)
            if named is not None:
                return RequestOrigin(scheme, same_origin=False, named=named)
        if site not in (None, "same-origin", "none") and not _is_visit(head):
            raise Forbidden(
                "Pages of other sites may not call this server. If this one may, start the "
                "server with --cors-origin.",
                field="sec-fetch-site",
            )
        return RequestOrigin(scheme, same_origin=origin is not None or site == "same-origin")

    def _checked_host(self, head: Head) -> str:
        host = head.one("host")
        form = None if host is None else _HOST.fullmatch(host)
        if host is None or form is None or not self._is_ours(form):
            raise Forbidden(
                f"Host: {host or 'none'!r} is not this server. Use one of "
                f"{', '.join(sorted(self._hosts))}, or start it with --allowed-host.",
                field="host",
            )
        if not head.path.startswith("/") and head.path != "*":
            raise Forbidden("The address must start with a slash.", field="path")
        return host.lower()

    def _is_ours(self, form: re.Match[str]) -> bool:
        name, whole = form[1].lower(), form[0].lower()
        return name in self._hosts or whole in self._hosts

    def _scheme(self, head: Head, host: str) -> str:
        """The scheme. A proxy may report https, but only for allowed host names."""
        form = _HOST.fullmatch(host)
        proxied = form is not None and (form[1] in self._proxied or host in self._proxied)
        if proxied and head.one("x-forwarded-proto") == "https":
            return "https"
        return head.scheme

    def _checked_origin(self, origin: str, scheme: str, host: str) -> str | None:
        """The origin if it is another, allowed site; None if it is our own."""
        form = ORIGIN.fullmatch(origin)
        if form is not None:
            if origin.lower() in self._named:
                return origin
            if form[1] == scheme and _with_port(form[2], scheme) == _with_port(host, scheme):
                return None
        raise Forbidden(
            f"Origin: pages of {origin!r} may not call this server. If they may, start it with "
            f"--cors-origin.",
            field="origin",
        )


def names_this_machine(head: Head) -> bool:
    """Whether the browser used a loopback name, not a proxy's."""
    form = _HOST.fullmatch(head.one("host") or "")
    return form is not None and form[1].lower() in LOOPBACK


def bracketed(host: str) -> str:
    """A host as it is written in URLs."""
    return f"[{host}]" if ":" in host and not host.startswith("[") else host


def _with_port(host: str, scheme: str) -> str:
    host = host.lower()
    return host if re.search(r":[0-9]+$", host) else f"{host}:{_PORTS.get(scheme, '')}"


def _is_visit(head: Head) -> bool:
    """Whether a person follows a link to one of our pages, which changes and reveals nothing."""
    page = head.path in _PAGES or head.path.startswith("/app/")
    return (
        page
        and head.method == "GET"
        and head.one("sec-fetch-mode") == "navigate"
        # A frame in another page isn't a visit.
        and head.one("sec-fetch-dest") in (None, "document")
    )
