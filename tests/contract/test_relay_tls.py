"""A relay talks only to a server whose certificate it can verify, and says what to do otherwise."""

import asyncio
import datetime as dt
import os
import sys
from pathlib import Path

import pytest
from tests.certificates import DAY, Authority, listening, tls_endpoint
from tests.held_hooks import PATIENCE, answered, bash, behavior, living_agent, question
from tests.proxies import nginx
from tests.relays import RelayProcess, pairing_code, printed, relaying_through
from tests.servers import serving

from callboard.errors import ValidationError
from callboard.relay.http import HttpConnection, HttpFailed, ServerUrl


async def problem(url: str, ca_file: Path | None = None) -> str:
    """Why a request fails; empty if it doesn't."""
    connection = HttpConnection(ServerUrl.parse(url), "cb_secret", ca_file)
    try:
        await connection.post("/relay/pair", b"{}")
    except HttpFailed as error:
        return str(error)
    finally:
        connection.close()
    return ""


@pytest.fixture
def authority(tmp_path: Path) -> Authority:
    return Authority(tmp_path)


async def test_an_own_authority_is_trusted_when_it_is_given(authority: Authority):
    async with tls_endpoint(authority.sign("localhost")) as port:
        assert await problem(f"https://localhost:{port}", authority.file) == ""
        told = await problem(f"https://localhost:{port}")
        assert "signed by an authority that is not trusted here" in told
        assert "--ca-file FILE" in told


async def test_an_address_can_have_a_certificate(authority: Authority):
    async with tls_endpoint(authority.sign("127.0.0.1")) as port:
        assert await problem(f"https://127.0.0.1:{port}", authority.file) == ""


async def test_another_authority_is_not_trusted(authority: Authority, tmp_path: Path):
    other = Authority(tmp_path, "other")
    async with tls_endpoint(authority.sign("localhost")) as port:
        told = await problem(f"https://localhost:{port}", other.file)
        assert "signed by an authority that is not trusted here" in told


async def test_another_name_is_refused(authority: Authority):
    async with tls_endpoint(authority.sign("board.example.com")) as port:
        for host in ("localhost", "127.0.0.1"):
            told = await problem(f"https://{host}:{port}", authority.file)
            assert f"its certificate is not for {host}" in told
            assert "--server https://NAME" in told


@pytest.mark.parametrize(
    ("start", "end", "said"),
    [
        (-3 * DAY, -DAY, "its certificate has expired. Renew it"),
        (DAY, 2 * DAY, "its certificate is not valid yet. Correct the clock"),
    ],
)
async def test_the_time_of_a_certificate(
    authority: Authority, start: dt.timedelta, end: dt.timedelta, said: str
):
    async with tls_endpoint(authority.sign("localhost", start, end)) as port:
        assert said in await problem(f"https://localhost:{port}", authority.file)


async def test_a_self_signed_certificate_has_to_be_given(authority: Authority):
    pair = authority.sign("localhost", itself=True)
    async with tls_endpoint(pair) as port:
        told = await problem(f"https://localhost:{port}")
        assert "its certificate is self-signed" in told
        assert "--ca-file FILE" in told
        assert await problem(f"https://localhost:{port}", pair.certificate) == ""


async def test_a_server_without_tls(tmp_path: Path):
    async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.read(1)
        writer.write(b"HTTP/1.1 400 Bad Request\r\nContent-Length: 0\r\n\r\n")

    async with listening(answer) as port:
        told = await problem(f"https://localhost:{port}")
    assert f"it doesn't use TLS at port {port}. Use the port of the proxy" in told


@pytest.mark.parametrize("content", [None, "not a certificate"])
def test_a_file_without_certificates(tmp_path: Path, content: str | None):
    file = tmp_path / "ca.pem"
    if content is not None:
        file.write_text(content)
    with pytest.raises(ValidationError, match="--ca-file FILE"):
        HttpConnection(ServerUrl.parse("https://localhost"), "", file)


@pytest.mark.parametrize("host", ["board.example.com", "192.0.2.1", "[2001:db8::1]", "127.0.0.1.x"])
def test_plain_http_is_for_this_machine_only(host: str):
    with pytest.raises(ValidationError, match="would send the token unencrypted"):
        ServerUrl.parse(f"http://{host}:2255")


async def test_a_name_that_means_another_machine(monkeypatch: pytest.MonkeyPatch):
    """Some systems ask the network for names in `.localhost`."""
    sent: list[bytes] = []

    async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        sent.append(await reader.read(1000))

    connect = asyncio.open_connection

    async def elsewhere(host: str, port: int, **more: object) -> object:
        reader, writer = await connect("127.0.0.1", port)
        monkeypatch.setitem(writer.transport._extra, "peername", ("192.0.2.7", 80))  # type: ignore[attr-defined]
        return reader, writer

    monkeypatch.setattr(asyncio, "open_connection", elsewhere)
    async with listening(answer) as port:
        told = await problem(f"http://board.localhost:{port}")
    assert "board.localhost is 192.0.2.7, another machine" in told
    assert b"cb_secret" not in b"".join(sent)


# ---------------------------------------------------------------------- the command, behind nginx


def with_tls(authority: Authority, name: str = "localhost") -> str:
    pair = authority.sign(name)
    return f"ssl_certificate {pair.certificate}; ssl_certificate_key {pair.key};"


async def refused(home: Path, *options: str) -> tuple[int | None, str]:
    """What `callboard relay` says when it doesn't start."""
    process = await asyncio.create_subprocess_exec(
        sys.executable, "-m", "callboard", "relay", *options,
        env={**os.environ, "XDG_DATA_HOME": str(home)}, stderr=asyncio.subprocess.PIPE,
    )  # fmt: skip
    async with asyncio.timeout(PATIENCE):
        _, told = await process.communicate()
    return process.returncode, told.decode()


async def test_a_permission_is_answered_over_tls(
    tmp_path: Path, authority: Authority, monkeypatch: pytest.MonkeyPatch
):
    async with (
        living_agent(monkeypatch),
        serving(tmp_path / "t.db", options=["--allowed-host", "localhost"]) as server,
        nginx(tmp_path / "nginx", server.url, tls=with_tls(authority)) as proxy,
    ):
        url = proxy.replace("http://127.0.0.1", "https://localhost")
        code = await pairing_code(server)
        status, told = await refused(tmp_path / "mac", "--server", url, "--pair", code)
        assert status != 0
        assert "--ca-file FILE" in told
        assert "Traceback" not in told
        trust = ["--ca-file", str(authority.file)]
        async with relaying_through(tmp_path / "mac", "ada-mac", server, url, *trust) as relay:
            held = await relay.hook(bash("PermissionRequest"), "--hold")
            await answered(server, (await question(server))["id"])
            assert behavior(await printed(held)) == "allow"


async def test_a_relay_says_that_it_lost_trust_in_the_server(tmp_path: Path, authority: Authority):
    """It has nothing to report, so only its connection for commands notices."""
    async with (
        serving(tmp_path / "t.db", options=["--allowed-host", "localhost"]) as server,
        nginx(tmp_path / "nginx", server.url, tls=with_tls(authority)) as proxy,
    ):
        url = proxy.replace("http://127.0.0.1", "https://localhost")
        trust = ["--ca-file", str(authority.file)]
        async with relaying_through(tmp_path / "mac", "ada-mac", server, url, *trust) as relay:
            await relay.stop()
            other = Authority(tmp_path, "other")
            await relay.start("--ca-file", str(other.file))
            await said(relay, "signed by an authority that is not trusted here")


async def said(relay: RelayProcess, words: str) -> None:
    async with asyncio.timeout(PATIENCE):
        while not any(words in line for line in relay.log):
            await asyncio.sleep(0.02)
