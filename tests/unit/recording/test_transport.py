"""Calls through httpx: recorded from a real server, and played back once it is gone."""

import gzip
import socket
import threading
import time
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import httpx
import pytest

from callboard.errors import NotRecorded
from callboard.recording import recording, transport
from callboard.recording.folder import RecordingFolder

KEY = "sk-" + "s3cr3t00" * 4
STREAMED = [b"data: one\n\n", "data: zwei ü\n\n".encode(), b"data: [DONE]\n\n"]
TRIES = {"count": 0}


class Model(BaseHTTPRequestHandler):
    """A provider, as far as the transport sees one: what it does is chosen by the path."""

    protocol_version = "HTTP/1.1"

    def log_message(self, format: str, *args: object) -> None:
        pass

    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers.get("content-length", 0)))
        getattr(self, f"do_{self.path.strip('/').partition('?')[0]}")(body)

    def _reply(self, status: int, body: bytes, **headers: str) -> None:
        self.send_response(status)
        for name, value in {"content-length": str(len(body)), **headers}.items():
            self.send_header(name.replace("_", "-"), value)
        self.end_headers()
        self.wfile.write(body)

    def do_echo(self, body: bytes) -> None:
        self._reply(200, b'{"echo":' + body + b"}", content_type="application/json")

    def do_zipped(self, body: bytes) -> None:
        self._reply(200, gzip.compress(b"plain " + body), content_encoding="gzip")

    def do_busy(self, body: bytes) -> None:
        TRIES["count"] += 1
        if TRIES["count"] == 1:
            self._reply(429, b"later", retry_after="1")
        else:
            self._reply(200, b"now")

    def do_stream(self, body: bytes) -> None:
        self._stream(STREAMED)
        self.wfile.write(b"0\r\n\r\n")

    def do_broken(self, body: bytes) -> None:
        self._stream(STREAMED[:2])
        self.close_connection = True
        self.connection.shutdown(socket.SHUT_RDWR)

    def do_hangup(self, body: bytes) -> None:
        self.close_connection = True
        self.connection.shutdown(socket.SHUT_RDWR)

    def do_large(self, body: bytes) -> None:
        self._reply(200, b"x" * 50_000_000)

    def _stream(self, pieces: list[bytes]) -> None:
        self.send_response(200)
        self.send_header("content-type", "text/event-stream")
        self.send_header("transfer-encoding", "chunked")
        self.end_headers()
        for piece in pieces:
            self.wfile.write(b"%x\r\n%s\r\n" % (len(piece), piece))
            self.wfile.flush()
            time.sleep(0.03)


@pytest.fixture
def model() -> Iterator[ThreadingHTTPServer]:
    TRIES["count"] = 0
    server = ThreadingHTTPServer(("127.0.0.1", 0), Model)
    thread = threading.Thread(target=server.serve_forever, args=(0.02,))
    thread.start()
    yield server
    stop(server)
    thread.join()


def stop(server: ThreadingHTTPServer) -> None:
    server.shutdown()
    server.server_close()


def client(server: ThreadingHTTPServer) -> httpx.AsyncClient:
    return httpx.AsyncClient(
        transport=transport(),
        base_url=f"http://127.0.0.1:{server.server_port}",
        headers={"authorization": f"Bearer {KEY}", "x-api-key": KEY},
    )


async def parts(http: httpx.AsyncClient, path: str, **given: Any) -> list[bytes]:
    async with http.stream("POST", path, **given) as response:
        return [one async for one in response.aiter_bytes()]


async def test_without_a_recorder_everything_is_passed_on(model: ThreadingHTTPServer):
    async with client(model) as http:
        assert (await http.post("/echo", json=1)).json() == {"echo": 1}


async def test_what_was_recorded_is_played_once_the_server_is_gone(
    model: ThreadingHTTPServer, tmp_path: Path
):
    async with client(model) as http:
        with recording(tmp_path):
            live = await http.post("/echo", json={"a": 1, "b": 2})
            zipped = await http.post("/zipped", content=b"text")
        stop(model)
        with recording(tmp_path, "playback"):
            played = await http.post("/echo", content=b'{"b": 2,  "a": 1}')
            assert played.json() == live.json() == {"echo": {"a": 1, "b": 2}}
            assert played.headers["content-type"] == "application/json"
            assert (await http.post("/zipped", content=b"text")).text == zipped.text == "plain text"
            with pytest.raises(NotRecorded, match=r"body\.a"):
                await http.post("/echo", json={"a": 7, "b": 2})


async def test_a_stream_comes_in_the_pieces_in_which_it_came(
    model: ThreadingHTTPServer, tmp_path: Path
):
    async with client(model) as http:
        with recording(tmp_path):
            assert await parts(http, "/stream") == STREAMED
        with recording(tmp_path, "playback"):
            assert await parts(http, "/stream") == STREAMED
    (found,) = RecordingFolder(tmp_path).all()
    times = [one.at_ms for one in found.pieces]
    assert times == sorted(times)
    assert times[-1] - times[0] >= 50


async def test_recorded_speed_waits_between_the_pieces(
    model: ThreadingHTTPServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    waited: list[float] = []

    async def sleep(seconds: float) -> None:
        waited.append(seconds)

    async with client(model) as http:
        with recording(tmp_path):
            await parts(http, "/stream")
        (found,) = RecordingFolder(tmp_path).all()
        monkeypatch.setattr("callboard.recording.httpx_transport.asyncio.sleep", sleep)
        with recording(tmp_path, "playback", speed=2):
            await parts(http, "/stream")
    assert sum(waited) == pytest.approx(found.pieces[-1].at_ms / 2000)


async def test_a_refusal_for_now_is_played_as_one(model: ThreadingHTTPServer, tmp_path: Path):
    async with client(model) as http:
        with recording(tmp_path):
            live = [await http.post("/busy") for _ in range(2)]
        with recording(tmp_path, "playback"):
            played = [await http.post("/busy") for _ in range(2)]
    assert [one.status_code for one in live] == [one.status_code for one in played] == [429, 200]
    assert played[0].headers["retry-after"] == "1"


async def test_a_stream_that_breaks_is_played_as_one(model: ThreadingHTTPServer, tmp_path: Path):
    async def broken(http: httpx.AsyncClient) -> tuple[list[bytes], type[Exception]]:
        got: list[bytes] = []
        try:
            async with http.stream("POST", "/broken") as response:
                async for one in response.aiter_bytes():
                    got += [one]
        except httpx.HTTPError as error:
            return got, type(error)
        raise AssertionError("It did not break.")

    async with client(model) as http:
        with recording(tmp_path):
            live = await broken(http)
        with recording(tmp_path, "playback"):
            assert await broken(http) == live == (STREAMED[:2], httpx.RemoteProtocolError)


async def test_a_call_that_fails_is_played_as_one(model: ThreadingHTTPServer, tmp_path: Path):
    async with client(model) as http:
        for mode in ("missing", "playback"):
            with recording(tmp_path, mode), pytest.raises(httpx.RemoteProtocolError):
                await http.post("/hangup")


async def test_a_reader_that_leaves_early_is_no_success(model: ThreadingHTTPServer, tmp_path: Path):
    async with client(model) as http:
        with recording(tmp_path):
            async with http.stream("POST", "/stream") as response:
                async for _ in response.aiter_bytes():
                    break
    (found,) = RecordingFolder(tmp_path).all()
    assert (found.outcome, [one.data for one in found.pieces]) == ("broken", STREAMED[:1])


async def test_a_response_of_50_mb(model: ThreadingHTTPServer, tmp_path: Path):
    async with client(model) as http:
        with recording(tmp_path):
            live = (await http.post("/large")).content
        with recording(tmp_path, "playback"):
            assert (await http.post("/large")).content == live


async def test_keys_are_in_no_file(model: ThreadingHTTPServer, tmp_path: Path):
    async with client(model) as http:
        with recording(tmp_path):
            await http.post(f"/echo?key={KEY}&alt=sse", json={"key": KEY})
        with recording(tmp_path, "playback"):
            await http.post("/echo?key=another&alt=sse", json={"key": KEY})
            with pytest.raises(NotRecorded):
                await http.post("/echo?key=another&alt=json", json={"key": KEY})
    assert KEY not in "".join(one.read_text() for one in tmp_path.glob("*.jsonl"))


@pytest.mark.parametrize(
    "name",
    ["api_key", "api-key", "ApiKey", "access_token", "token", "sig", "signature"],
)
async def test_keys_in_addresses_are_in_no_file(
    model: ThreadingHTTPServer, tmp_path: Path, name: str
):
    async with client(model) as http:
        with recording(tmp_path):
            await http.post(f"/echo?{name}=plain-word&alt=sse", json=1)
        with recording(tmp_path, "playback"):
            await http.post(f"/echo?{name}=another&alt=sse", json=1)
    assert "plain-word" not in "".join(one.read_text() for one in tmp_path.glob("*.jsonl"))


def test_without_asyncio_too(model: ThreadingHTTPServer, tmp_path: Path):
    base = f"http://127.0.0.1:{model.server_port}"
    with httpx.Client(transport=transport(), base_url=base) as http:
        with recording(tmp_path):
            assert http.post("/echo", json=1).json() == {"echo": 1}
            with http.stream("POST", "/stream") as response:
                assert [*response.iter_bytes()] == STREAMED
        stop(model)
        with recording(tmp_path, "playback"):
            assert http.post("/echo", json=1).json() == {"echo": 1}
            with http.stream("POST", "/stream") as response:
                assert [*response.iter_bytes()] == STREAMED
            with pytest.raises(NotRecorded):
                http.post("/echo", json=2)
