"""Records and plays back what goes through httpx, with and without asyncio.

Give a provider's client `httpx.AsyncClient(transport=callboard.recording.transport())`. Without a
recorder, it passes everything on.
"""

import asyncio
import time
from collections.abc import AsyncIterator, Iterator, Mapping
from typing import Final
from urllib.parse import urlencode

from callboard.errors import MissingExtra
from callboard.recording.lines import LARGEST, Outcome, RecordedCall, ResponsePiece
from callboard.recording.recorder import PendingCall, ReceivedResponse, Recorder, current, pauses
from callboard.recording.request import ModelRequest, body_from

try:
    import httpx
except ImportError as error:
    raise MissingExtra(
        'This needs httpx. Install it: pip install "callboard[client]"', extra="client"
    ) from error

MATTER: Final = ("anthropic-beta", "anthropic-version", "openai-beta")
"""Headers that change what a model is given."""
KEPT: Final = ("content-type", "retry-after", "request-id", "x-request-id")
"""Headers of a response that are stored. Others describe the transfer, or its caller."""
_SECRET: Final = frozenset(
    {"key", "api_key", "api-key", "apikey", "access_token", "token", "sig", "signature"}
)
"""Parameters of an address that authenticate."""
_TYPES_OF_ERROR: Final = (
    httpx.ConnectError, httpx.ConnectTimeout, httpx.ReadError, httpx.ReadTimeout,
    httpx.WriteError, httpx.WriteTimeout, httpx.RemoteProtocolError, httpx.PoolTimeout,
)  # fmt: skip
_ERRORS: Final[Mapping[str, type[httpx.TransportError]]] = {
    one.__name__: one for one in _TYPES_OF_ERROR
}


class RecordingTransport(httpx.AsyncBaseTransport, httpx.BaseTransport):
    """A transport that asks the current recorder about each call."""

    def __init__(
        self,
        live: httpx.AsyncBaseTransport | None = None,
        live_sync: httpx.BaseTransport | None = None,
    ) -> None:
        self._live = live or httpx.AsyncHTTPTransport()
        self._live_sync = live_sync or httpx.HTTPTransport()

    async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
        """Play the response, or get and record it."""
        recorder = current()
        if recorder is None:
            return await self._live.handle_async_request(request)
        await request.aread()
        call = await asyncio.to_thread(recorder.begin, asked(request))
        if call.played is not None:
            return _played(call.played, recorder.speed)
        taking = _Taking(recorder, call)
        try:
            response = await self._live.handle_async_request(request)
        except httpx.TransportError as error:
            await asyncio.to_thread(taking.end, "failed", error)
            raise
        taking.response = response
        return _passed_on(response, taking)

    def handle_request(self, request: httpx.Request) -> httpx.Response:
        """Play the response, or get and record it."""
        recorder = current()
        if recorder is None:
            return self._live_sync.handle_request(request)
        request.read()
        call = recorder.begin(asked(request))
        if call.played is not None:
            return _played(call.played, recorder.speed)
        taking = _Taking(recorder, call)
        try:
            response = self._live_sync.handle_request(request)
        except httpx.TransportError as error:
            taking.end("failed", error)
            raise
        taking.response = response
        return _passed_on(response, taking)

    async def aclose(self) -> None:
        """Close the connections."""
        await self._live.aclose()

    def close(self) -> None:
        """Close the connections."""
        self._live_sync.close()


def transport(
    live: httpx.AsyncBaseTransport | None = None, live_sync: httpx.BaseTransport | None = None
) -> RecordingTransport:
    """A transport for `httpx.AsyncClient` or `httpx.Client` that records and plays back.

    live, live_sync: what makes the calls, if not httpx's own transports.
    """
    return RecordingTransport(live, live_sync)


def asked(request: httpx.Request) -> ModelRequest:
    """What a request of httpx asks a model for. Headers that authenticate are no part of it."""
    more = {name: request.headers[name] for name in MATTER if name in request.headers}
    given = request.url.params.multi_items()
    query = [(name, value) for name, value in given if name.lower() not in _SECRET]
    path = request.url.path + (f"?{urlencode(query)}" if query else "")
    where = f"{request.method} {path}"
    return ModelRequest(request.url.host, where, body_from(request.content), more)


class _Taking:
    """Collects a response while it is passed on, and keeps it once."""

    def __init__(self, recorder: Recorder, call: PendingCall) -> None:
        self.response: httpx.Response | None = None
        self._recorder = recorder
        self._call = call
        self._began = recorder.clock.monotonic()
        self._pieces: list[ResponsePiece] = []
        self._size = 0
        self._is_kept = False

    def take(self, data: bytes) -> None:
        at_ms = round((self._recorder.clock.monotonic() - self._began) * 1000)
        self._size += len(data)
        # Of a response that is too large, only its size is needed.
        if self._size > LARGEST:
            self._pieces = []
        else:
            self._pieces.append(ResponsePiece(at_ms, data))

    def end(self, outcome: Outcome, error: BaseException | None = None) -> None:
        """Keep what came, as what it was."""
        if self._is_kept:
            return
        self._is_kept = True
        if self._size > LARGEST:
            self._recorder.unseen(f"A response of {self._size:,} bytes")
            return
        response = self.response
        headers = [] if response is None else [*response.headers.multi_items()]
        received = ReceivedResponse(
            None if response is None else response.status_code,
            [(name.lower(), value) for name, value in headers if name.lower() in KEPT],
            self._pieces,
            outcome,
            None if error is None else f"{type(error).__name__}: {error}",
        )
        self._recorder.keep(self._call, received)


def _passed_on(response: httpx.Response, taking: _Taking) -> httpx.Response:
    """The same response, whose body is recorded while it is read, decoded."""
    headers = [
        (name, value)
        for name, value in response.headers.multi_items()
        if name.lower() not in ("content-encoding", "content-length")
    ]
    return httpx.Response(
        response.status_code,
        headers=headers,
        stream=_Passing(response, taking),
        extensions=response.extensions,
    )


class _Passing(httpx.AsyncByteStream, httpx.SyncByteStream):
    """Passes a body on while it is collected."""

    def __init__(self, response: httpx.Response, taking: _Taking) -> None:
        self._response = response
        self._taking = taking

    async def __aiter__(self) -> AsyncIterator[bytes]:
        try:
            async for data in self._response.aiter_bytes():
                self._taking.take(data)
                yield data
        except httpx.HTTPError as error:
            await asyncio.to_thread(self._taking.end, "broken", error)
            raise
        await asyncio.to_thread(self._taking.end, "completed")

    def __iter__(self) -> Iterator[bytes]:
        try:
            for data in self._response.iter_bytes():
                self._taking.take(data)
                yield data
        except httpx.HTTPError as error:
            self._taking.end("broken", error)
            raise
        self._taking.end("completed")

    async def aclose(self) -> None:
        await self._response.aclose()
        await asyncio.to_thread(self._taking.end, "broken")

    def close(self) -> None:
        self._response.close()
        self._taking.end("broken")


def _played(recording: RecordedCall, speed: float | None) -> httpx.Response:
    if recording.status is None:
        raise _error_of(recording)
    return httpx.Response(
        recording.status, headers=[*recording.headers], stream=_Playing(recording, speed)
    )


class _Playing(httpx.AsyncByteStream, httpx.SyncByteStream):
    """Plays a recorded body, and its break if there was one."""

    def __init__(self, recording: RecordedCall, speed: float | None) -> None:
        self._recording = recording
        self._pauses = pauses(recording, speed)

    async def __aiter__(self) -> AsyncIterator[bytes]:
        for pause, piece in zip(self._pauses, self._recording.pieces, strict=True):
            if pause:
                await asyncio.sleep(pause)
            yield piece.data
        if self._recording.outcome != "completed":
            raise _error_of(self._recording)

    def __iter__(self) -> Iterator[bytes]:
        for pause, piece in zip(self._pauses, self._recording.pieces, strict=True):
            if pause:
                time.sleep(pause)
            yield piece.data
        if self._recording.outcome != "completed":
            raise _error_of(self._recording)


def _error_of(recording: RecordedCall) -> httpx.TransportError:
    name, _, told = (recording.error or "RemoteProtocolError: the reader hung up").partition(": ")
    return _ERRORS.get(name, httpx.RemoteProtocolError)(told or name)
