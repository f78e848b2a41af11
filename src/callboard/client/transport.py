"""Sends requests to a server and returns JSON, a stream, or the error that the server raised."""

import asyncio
import re
from collections.abc import AsyncGenerator, AsyncIterator, Iterator, Mapping
from contextlib import asynccontextmanager
from http import HTTPStatus
from typing import TYPE_CHECKING, Any, Final

from callboard import errors
from callboard.client.access import checked, find_server, find_token, is_loopback
from callboard.errors import CallboardError, MissingExtra, ServerUnreachable, Unauthenticated
from callboard.events.codec import dump_json
from callboard.events.json_values import as_object

_GATEWAY: Final = (HTTPStatus.BAD_GATEWAY, HTTPStatus.GATEWAY_TIMEOUT)


def error_of(status: int, answer: Any, url: str) -> CallboardError:
    """The error in a response; one without our envelope comes from something in between."""
    told = as_object(as_object(answer).get("error"))
    return from_payload(told) if {"code", "message"} <= told.keys() else _foreign(status, url)


def from_payload(told: Mapping[str, Any]) -> CallboardError:
    """The error that a payload describes, of the class with its code."""
    context = {_snake(k): v for k, v in told.items() if k not in ("code", "message")}
    code = str(told["code"])
    error = _CLASSES.get(code, CallboardError)(str(told["message"]), **context)
    if error.code != code:
        vars(error)["code"] = code  # From a newer server; this version knows nothing more about it.
    return error


def _foreign(status: int, url: str) -> CallboardError:
    known = {one.value: f"{one.value} {one.phrase}" for one in HTTPStatus}
    phrase = known.get(status, str(status))
    if status in _GATEWAY or status == HTTPStatus.SERVICE_UNAVAILABLE:
        return errors.ServerUnreachable(
            f"A proxy in front of {url} returned {phrase}: the server behind it is not "
            "responding. Start it: callboard serve",
            url=url,
        )
    return errors.ServerFailed(
        f"{url} returned {phrase}, but does not look like a Callboard server. Check the address.",
        url=url,
    )


def _snake(name: str) -> str:
    return re.sub(r"(?<=[a-z0-9])[A-Z]", lambda found: "_" + found[0].lower(), name)


def _tree(kind: type[CallboardError]) -> Iterator[type[CallboardError]]:
    yield kind
    for derived in kind.__subclasses__():
        yield from _tree(derived)


# If several classes share a code, the base class is used.
_CLASSES: Final = {
    kind.code: kind for kind in reversed(list(_tree(CallboardError))) if "code" in vars(kind)
}


if TYPE_CHECKING:
    import httpx

SILENCE: Final = 45.0
"""A stream counts as dead after this many seconds without a byte; servers send one every 15."""

PAUSES: Final = (0.2, 1.0, 3.0)
"""Seconds before something is sent again that a server does only once."""
_NO_CONTENT: Final = 204
_LAST_EVENT: Final = "Callboard-Last-Event"


class Transport:
    """One server, and the token for it."""

    def __init__(self, url: str | None, token: str | None, *, via: str, timeout: float) -> None:
        httpx = _httpx()
        self.url, found = find_server() if url is None else (checked(url), find_token(url))
        self._token = token or found
        headers = {"Callboard-Via": via, "Content-Type": "application/json"}
        if self._token:
            headers["Authorization"] = f"Bearer {self._token}"
        self._timeout = timeout
        self._http = httpx.AsyncClient(
            base_url=self.url,
            headers=headers,
            timeout=timeout,
            # A proxy for other machines can't reach this one.
            trust_env=not is_loopback(self.url),
            # Loading certificates takes 40 ms, and plain HTTP doesn't need them.
            verify=not self.url.startswith("http:"),
            limits=httpx.Limits(max_connections=None),
        )

    async def close(self) -> None:
        """Close the connections."""
        await self._http.aclose()

    async def get(self, path: str, /, **query: Any) -> Any:
        """Read something. Retried once on a new connection if the old one had gone stale."""
        params = {key: value for key, value in query.items() if value is not None}
        try:
            return await self._request("GET", path, params=params)
        except ServerUnreachable as error:
            if not error.context.get("stale"):
                raise
            return await self._request("GET", path, params=params)

    async def post(self, path: str, body: Mapping[str, Any], via: str | None = None) -> Any:
        """Do something. Sent only once: if the response is lost, the caller has to check."""
        headers = {"Callboard-Via": via} if via else {}
        return await self._request("POST", path, content=dump_json(body), headers=headers)

    async def post_once(self, path: str, body: Mapping[str, Any]) -> Any:
        """Do something that the server does once for its key, and send it until there is a reply.

        If the first attempt finds no server, it is not repeated.
        """
        for pause in PAUSES:
            try:
                return await self.post(path, body)
            except ServerUnreachable as error:
                if pause == PAUSES[0] and not error.context.get("was_sent", True):
                    raise
            await asyncio.sleep(pause)
        return await self.post(path, body)

    async def put(self, path: str, body: Mapping[str, Any]) -> Any:
        """Set something."""
        return await self._request("PUT", path, content=dump_json(body))

    async def patch(self, path: str, body: Mapping[str, Any]) -> Any:
        """Change something."""
        return await self._request("PATCH", path, content=dump_json(body))

    async def delete(self, path: str) -> Any:
        """Remove something."""
        return await self._request("DELETE", path)

    async def _request(self, method: str, path: str, **more: Any) -> Any:
        httpx = _httpx()
        try:
            response = await self._http.request(method, path, **more)
        except httpx.TransportError as error:
            raise self._unreachable(error, asks=method == "GET") from error
        return self._content(response)

    def _content(self, response: "httpx.Response") -> Any:
        try:
            answer = response.json() if response.content else None
        except ValueError:
            answer = None
            if response.is_success:
                raise error_of(response.status_code, None, self.url) from None
        if not response.is_success:
            raise self._refused(response.status_code, answer)
        return answer

    def _refused(self, status: int, answer: Any) -> CallboardError:
        error = error_of(status, answer, self.url)
        if not isinstance(error, Unauthenticated):
            return error
        problem = "does not accept this token" if self._token else "requires a token"
        return Unauthenticated(
            f"The server at {self.url} {problem}. Set CALLBOARD_TOKEN to a token that "
            "`callboard token create` printed for its database.",
            url=self.url,
        )

    @asynccontextmanager
    async def stream(
        self, path: str, query: Mapping[str, Any], last_id: int | None
    ) -> AsyncGenerator[tuple[AsyncIterator[bytes] | None, str | None]]:
        """The bytes of a stream as they arrive, and the id of the event before its first one.

        There are no bytes if there is nothing more to come.
        """
        httpx = _httpx()
        headers = {"Accept": "text/event-stream", "Cache-Control": "no-store"}
        if last_id is not None:
            headers["Last-Event-ID"] = str(last_id)
        timeout = httpx.Timeout(self._timeout, read=SILENCE)
        given = {key: value for key, value in query.items() if value is not None}
        try:
            async with self._http.stream(
                "GET", path, params=given, headers=headers, timeout=timeout
            ) as response:
                last = response.headers.get(_LAST_EVENT)
                if response.status_code == _NO_CONTENT:
                    yield None, last
                    return
                if not response.is_success:
                    await response.aread()
                    self._content(response)
                yield response.aiter_raw(), last
        except httpx.TransportError as error:
            raise self._unreachable(error, asks=True) from error

    @asynccontextmanager
    async def download(
        self, path: str, query: Mapping[str, Any]
    ) -> AsyncGenerator[AsyncIterator[bytes]]:
        """The bytes of a document as they arrive."""
        httpx = _httpx()
        try:
            async with self._http.stream("GET", path, params=dict(query)) as response:
                if not response.is_success:
                    await response.aread()
                    self._content(response)
                yield response.aiter_bytes()
        except httpx.TransportError as error:
            raise self._unreachable(error, asks=True) from error

    def _unreachable(self, error: "httpx.TransportError", *, asks: bool) -> ServerUnreachable:
        httpx = _httpx()
        if isinstance(error, httpx.ConnectError | httpx.ConnectTimeout):
            return ServerUnreachable(
                f"No server is running at {self.url}. Start one: callboard serve FILE",
                url=self.url,
                was_sent=False,
            )
        what = str(error) or type(error).__name__
        then = "Try again." if asks else "Check whether it went through before you try again."
        return ServerUnreachable(
            f"The connection to {self.url} was lost: {what}. {then}",
            url=self.url,
            stale=isinstance(error, httpx.RemoteProtocolError | httpx.ReadError),
        )


def _httpx() -> Any:
    """httpx, which is an optional dependency."""
    try:
        import httpx
    except ImportError as error:
        raise MissingExtra(
            "The client needs httpx. Install it: pip install 'callboard[client]'",
            extra="client",
        ) from error
    return httpx
