"""What stands between a client and a server: tokens, addresses, and answers of strangers."""

import asyncio
import json
import socket
import subprocess
import sys
from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import asynccontextmanager
from pathlib import Path

import pytest
from tests.listening import listening

from callboard import Callboard, Client, errors
from callboard.board.messages import PlateMessage
from callboard.client import transport
from callboard.client.access import DEFAULT_URL, find_server, find_token, is_loopback
from callboard.client.transport import error_of, from_payload
from callboard.log.presence import present


def free_port() -> int:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        return taken.getsockname()[1]


@asynccontextmanager
async def answering(answer: bytes) -> AsyncGenerator[str]:
    """A server that says one thing to everyone."""

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readuntil(b"\r\n\r\n")
        writer.write(answer)
        await writer.drain()

    async with listening(serve) as port:
        yield f"http://127.0.0.1:{port}"


async def test_nobody_at_home_says_how_to_start_a_server():
    url = f"http://127.0.0.1:{free_port()}"
    async with Client(url) as client:
        calls: list[Callable[[], Awaitable[object]]] = [
            client.sessions,
            lambda: client.start("trip"),
            lambda: anext(aiter(client.tail("s1"))),
        ]
        for call in calls:
            with pytest.raises(errors.ServerUnreachable, match="callboard serve") as told:
                await call()
            assert told.value.context["url"] == url
            assert told.value.code == "SERVER_UNREACHABLE"


@pytest.mark.parametrize(
    ("answer", "kind", "said"),
    [
        (
            b"HTTP/1.1 200 OK\r\nContent-Length: 6\r\n\r\n<html>",
            errors.ServerFailed,
            "200 OK, but does not look like",
        ),
        (
            b"HTTP/1.1 404 Not Found\r\nContent-Length: 2\r\n\r\nno",
            errors.ServerFailed,
            "404 Not Found",
        ),
        (
            b"HTTP/1.1 404 Not Found\r\nContent-Length: 2\r\n\r\n[]",
            errors.ServerFailed,
            "404 Not Found",
        ),
        (
            b"HTTP/1.1 502 Bad Gateway\r\nContent-Length: 0\r\n\r\n",
            errors.ServerUnreachable,
            "502 Bad Gateway",
        ),
        (b"", errors.ServerUnreachable, "was lost"),
        (b"HTTP/1.1 200 OK\r\nContent-Length: 99\r\n\r\n{}", errors.ServerUnreachable, "was lost"),
        (b"SSH-2.0-OpenSSH\r\n", errors.ServerUnreachable, "was lost"),
    ],
)
async def test_answers_of_strangers(answer: bytes, kind: type[Exception], said: str):
    async with answering(answer) as url, Client(url) as client:
        with pytest.raises(kind, match=said):
            await client.session("s1")
        with pytest.raises(kind, match=said):
            await client.cancel("s1")


@pytest.mark.parametrize("url", ["127.0.0.1:2255", "ftp://host", "http://", "", "http://h/?x=1"])
def test_an_address_that_is_none_is_refused(url: str):
    with pytest.raises(errors.ValidationError, match="not a server address") as told:
        Client(url)
    assert told.value.context["field"] == "server"


def test_loopback_is_this_machine_alone():
    here = ["http://localhost", "http://127.9.9.9:1", "http://[::1]:2255", "http://a.localhost:1"]
    there = [
        "http://example.com",
        "http://10.0.0.1",
        "http://localhost.example.com",
        "http://0.0.0.0",
    ]
    assert all(is_loopback(url) for url in here)
    assert not any(is_loopback(url) for url in there)


def test_the_token_beside_the_database_is_for_this_machine_only(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.delenv("CALLBOARD_TOKEN", raising=False)
    monkeypatch.delenv("CALLBOARD_DB", raising=False)
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path))
    (tmp_path / "callboard").mkdir()
    (tmp_path / "callboard" / "callboard.db.token").write_text("cb_default\n")
    (tmp_path / "x.db.token").write_text("cb_x\n")
    assert find_token("http://127.0.0.1:1") == "cb_default"
    assert find_token("http://10.0.0.1:1") is None
    monkeypatch.setenv("CALLBOARD_DB", f"sqlite:///{tmp_path}/x.db")
    assert find_token("http://localhost:1") == "cb_x"
    assert find_token("http://localhost:1", tmp_path / "none.db") is None
    monkeypatch.setenv("CALLBOARD_TOKEN", "cb_env")
    assert find_token("http://10.0.0.1:1") == "cb_env"


async def test_no_token_is_sent_to_a_port_that_anyone_may_hold(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    for name in ("CALLBOARD_SERVER", "CALLBOARD_DB"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("CALLBOARD_TOKEN", "cb_env")
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path))
    database = tmp_path / "callboard" / "callboard.db"
    database.parent.mkdir()
    (tmp_path / "callboard" / "callboard.db.token").write_text("cb_default\n")
    assert find_server() == (DEFAULT_URL, None)
    monkeypatch.delenv("CALLBOARD_TOKEN")
    assert find_server() == (DEFAULT_URL, None)

    async with Callboard.open(database):
        with present(database, [], "http://127.0.0.1:2301"):
            assert find_server() == ("http://127.0.0.1:2301", "cb_default")

    other = tmp_path / "other.db"
    (tmp_path / "other.db.token").write_text("cb_other\n")
    async with Callboard.open(other):
        with present(other, [], "http://127.0.0.1:2303"):
            assert find_server() == ("http://127.0.0.1:2303", "cb_other")
            with present(other, [], "http://127.0.0.1:2304"):
                assert find_server() == (DEFAULT_URL, None)
    assert find_server() == (DEFAULT_URL, None)

    monkeypatch.setenv("CALLBOARD_SERVER", "http://127.0.0.1:2302/")
    assert find_server() == ("http://127.0.0.1:2302", "cb_default")


def test_an_error_comes_back_as_the_class_that_was_raised():
    kinds: list[type[errors.CallboardError]] = [errors.CallboardError]
    for kind in kinds:
        kinds += kind.__subclasses__()
    for kind in (one for one in kinds if one.__module__ == errors.__name__):
        raised = kind("It is so.", session_id="s1", last_position=3)
        back = from_payload(raised.as_payload())
        assert isinstance(raised, type(back))
        assert back.as_payload() == raised.as_payload()
        assert (back.code, dict(back.context)) == (raised.code, dict(raised.context))
    assert type(from_payload(errors.AlreadyAnswered().as_payload())) is errors.AlreadyAnswered
    assert type(from_payload(errors.AnswerInvalid().as_payload())) is errors.ValidationError


def test_an_error_that_is_not_known_here_keeps_its_code():
    newer = error_of(
        418, {"error": {"code": "TEAPOT", "message": "Short.", "potSize": 2}}, "http://h"
    )
    assert type(newer) is errors.CallboardError
    assert newer.as_payload() == {"code": "TEAPOT", "message": "Short.", "potSize": 2}
    assert errors.CallboardError.code == "ERROR"


def test_without_httpx_the_extra_is_named():
    script = (
        "import sys; sys.modules['httpx'] = None\n"
        "import callboard, callboard.client\n"
        "try: callboard.Client()\n"
        "except callboard.errors.MissingExtra as error: print(error)\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", "import callboard.errors\n" + script], capture_output=True, text=True
    )
    assert "pip install 'callboard[client]'" in done.stdout, done


def test_importing_the_client_does_not_import_httpx():
    script = "import sys, callboard.client.client; print('httpx' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True)
    assert done.stdout == "False\n", done


@pytest.mark.parametrize("replies", [[b""], [b"", b"HTTP/1.1 502 Bad Gateway\r\n\r\n"]])
async def test_a_message_whose_reply_was_lost_is_sent_again(
    replies: list[bytes], monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(transport, "PAUSES", (0.0, 0.0, 0.0))
    bodies: list[bytes] = []
    left = [*replies]
    written = PlateMessage("m1", "p1", "Hello.", "now", "queued", 0)
    body = json.dumps(written.to_wire()).encode()
    done = b"HTTP/1.1 201 Created\r\nContent-Length: %d\r\n\r\n%s" % (len(body), body)

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        head = (await reader.readuntil(b"\r\n\r\n")).lower()
        length = int(head.split(b"content-length: ")[1].split(b"\r\n")[0])
        bodies.append(await reader.readexactly(length))
        writer.write(left.pop(0) if left else done)
        await writer.drain()

    async with listening(serve) as port, Client(f"http://127.0.0.1:{port}") as client:
        assert (await client.messages.say("p1", "Hello.")).id == "m1"
        assert len(bodies) == len(replies) + 1
        assert len({json.loads(one)["key"] for one in bodies}) == 1
        await client.messages.say("p1", "Hello.")
    assert len({json.loads(one)["key"] for one in bodies}) == 2


async def test_a_message_that_no_server_got_is_not_sent_again(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(transport, "PAUSES", (3600.0,))
    async with Client(f"http://127.0.0.1:{free_port()}") as client:
        with pytest.raises(errors.ServerUnreachable, match="callboard serve"):
            await client.messages.say("p1", "Hello.")
