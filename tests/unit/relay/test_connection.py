"""What a relay makes of a server, a proxy or a network that doesn't behave."""

import asyncio
import json
from collections.abc import Mapping
from pathlib import Path

import pytest
from tests.certificates import listening

from callboard.relay.batches import HOOK, unpacked
from callboard.relay.contact import ServerContact, SleepWatch
from callboard.relay.http import HttpConnection, HttpFailed, HttpReply, ServerUrl
from callboard.relay.outbox import HookOrigin, Outbox
from callboard.relay.uplink import RelayRefused, Uplink
from callboard.testing.fake_clock import FakeClock

HEAD = b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"


@pytest.mark.parametrize(
    "sent", [b"", HEAD[:20], HEAD, HEAD + b"5\r\nab", HEAD + b"2\r\nab", HEAD + b"2\r\nab\r\n0\r\n"]
)
async def test_a_server_that_falls_silent_is_given_up(sent: bytes):
    async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readuntil(b"\r\n\r\n")
        writer.write(sent)
        await reader.read()

    async with listening(answer) as port, asyncio.timeout(5):
        connection = HttpConnection(ServerUrl.parse(f"http://127.0.0.1:{port}"), "")
        with pytest.raises(HttpFailed, match="doesn't respond"):
            async for _ in connection.stream("/x", b"{}", silence=0.2):
                pass


async def test_a_large_batch_may_take_longer_than_a_server_may_be_silent():
    async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readuntil(b"\r\n\r\n")
        for _ in range(10):
            await reader.readexactly(1_000_000)
            await asyncio.sleep(0.05)
        await reader.readexactly(14_000_000)  # At once: no system buffers as much as this.
        writer.write(b"HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n")
        await writer.drain()

    async with listening(answer) as port:
        connection = HttpConnection(ServerUrl.parse(f"http://127.0.0.1:{port}"), "")
        began = asyncio.get_running_loop().time()
        replies = [one async for one in connection.stream("/x", bytes(24_000_000), silence=0.4)]
        assert asyncio.get_running_loop().time() - began > 0.4
        connection.close()
    assert [one.status for one in replies if isinstance(one, HttpReply)] == [200]


class Server:
    """Answers batches as it is told, and remembers them."""

    def __init__(self, folder: Path) -> None:
        self.outbox = Outbox(folder / "outbox")
        self.outbox.open()
        self.replies: list[HttpReply | HttpFailed] = []
        self.batches: list[list[tuple[int, bool]]] = []
        self.uplink = Uplink(self.outbox, self.post, ServerContact(FakeClock()), "mac")

    async def post(self, path: str, body: bytes, headers: Mapping[str, str]) -> HttpReply:
        items = unpacked(body)
        self.batches.append([(one.number, one.again) for one in items])
        reply = self.replies.pop(0) if self.replies else acknowledged(items[-1].number)
        if isinstance(reply, HttpFailed):
            raise reply
        return reply

    def add(self, *sizes: int) -> list[int]:
        return [self.outbox.add(HOOK, b"x" * size, HookOrigin("claude")) for size in sizes]


def acknowledged(number: int) -> HttpReply:
    return HttpReply(200, {}, json.dumps({"acknowledged": number}).encode())


def refusal(status: int) -> HttpReply:
    told = {"error": {"code": "X", "message": "Not like this."}}
    return HttpReply(status, {}, json.dumps(told).encode())


@pytest.mark.parametrize("status", [301, 400, 401, 403, 404, 407, 413, 422, 500, 502, 511])
async def test_the_page_of_a_proxy_loses_nothing(tmp_path: Path, status: int):
    server = Server(tmp_path)
    (number,) = server.add(100)
    server.replies = [HttpReply(status, {}, b"<html>Sign in first</html>")]
    assert await server.uplink.send() > 0
    assert len(server.outbox) == 1
    assert await server.uplink.send() == 0
    assert (len(server.outbox), server.batches[-1]) == (0, [(number, True)])


async def test_only_an_unknown_token_ends_a_relay(tmp_path: Path):
    """A 403 of our server may be about the proxy's Host header, which can be corrected."""
    server = Server(tmp_path)
    server.add(100)
    server.replies = [refusal(403), refusal(401)]
    assert await server.uplink.send() > 0
    with pytest.raises(RelayRefused, match="Not like this"):
        await server.uplink.send()


async def test_what_cannot_be_read_is_dropped_alone(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
):
    server = Server(tmp_path)
    first, second = server.add(100, 100)
    server.replies = [refusal(400), refusal(400)]
    for _ in range(3):
        assert await server.uplink.send() == 0
    assert server.uplink.lost == 1
    assert [[one for one, _ in batch] for batch in server.batches] == [
        [first, second],
        [first],
        [second],
    ]
    assert "A report of 100 bytes was dropped: Not like this." in caplog.text


async def test_what_is_too_large_for_a_proxy_is_told(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
):
    server = Server(tmp_path)
    server.add(2_000_000)
    server.replies = [HttpReply(413, {}, b"<html>")]
    await server.uplink.send()
    assert len(server.outbox) == 0
    assert "Raise the proxy's limit for bodies to 32 MB" in caplog.text


async def test_what_was_sent_on_a_closed_connection_is_marked_when_sent_again(tmp_path: Path):
    server = Server(tmp_path)
    (number,) = server.add(10)
    server.replies = [HttpFailed("the connection was closed", is_stale=True)]
    assert await server.uplink.send() == 0
    await server.uplink.send()
    assert server.batches == [[(number, False)], [(number, True)]]


async def test_one_connection_that_works_wakes_the_other():
    contact = ServerContact(FakeClock())
    for one in ("reports", "commands"):
        contact.failed(one, "Connection refused")
    waiting = asyncio.create_task(contact.pause(3600))
    await asyncio.sleep(0)
    contact.worked("commands")
    async with asyncio.timeout(5):
        await waiting


def test_each_reason_is_told_once(caplog: pytest.LogCaptureFixture):
    caplog.set_level("INFO")
    contact = ServerContact(FakeClock())
    for why in ("Connection refused", "its certificate has expired", "Connection refused"):
        contact.failed("reports", why)
        contact.failed("commands", why)
    contact.worked("reports")
    contact.worked("commands")
    assert [one.getMessage().partition(".")[0] for one in caplog.records] == [
        "The server can't be reached: Connection refused",
        "The server can't be reached: its certificate has expired",
        "The server can be reached again",
    ]


async def test_sleep_is_noticed_on_either_clock():
    clock = FakeClock()
    sleep = SleepWatch(clock)
    clock.skip(1)
    assert not sleep.has_slept()
    clock.skip(3600)
    assert sleep.has_slept()
    clock.skip(1)
    assert not sleep.has_slept()
    clock._start_ms += 3_600_000
    assert sleep.has_slept()
