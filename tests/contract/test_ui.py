"""The dashboard's files, over a real server: which are given, as what, and for how long."""

import asyncio
import gzip
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import httpx
import pytest

from callboard import Callboard
from callboard.server.running import Address, bind, serve
from callboard.server.settings import ServerSettings
from callboard.server.wiring import prepare

PERSON = {"Accept": "text/html,application/xhtml+xml,*/*;q=0.8"}
PAGE = b"<!doctype html><title>Callboard</title>"
SCRIPT = b"export const answer = 42;\n"


@asynccontextmanager
async def serving_files(tmp_path: Path, folder: Path) -> AsyncGenerator[httpx.AsyncClient]:
    """A server in this process, which shows one folder, asked by a stranger."""
    settings = ServerSettings(port=0, ui=folder)
    listening = bind(settings)
    ready: asyncio.Queue[Address] = asyncio.Queue()
    stopping = asyncio.Event()
    async with Callboard.open(tmp_path / "x.db") as board:
        app, service = prepare(board, settings, tmp_path / "x.db")
        served = asyncio.create_task(serve(app, service, listening, ready.put_nowait, stopping))
        async with httpx.AsyncClient(base_url=(await ready.get()).url, trust_env=False) as client:
            yield client
        stopping.set()
        await served


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """What a build leaves: a page, and assets named after their content."""
    ui = tmp_path / "ui"
    (ui / "assets").mkdir(parents=True)
    (ui / "index.html").write_bytes(PAGE)
    (ui / "favicon.svg").write_text("<svg xmlns='http://www.w3.org/2000/svg'/>")
    (ui / "assets" / "index-AbC123.js").write_bytes(SCRIPT)
    (ui / "assets" / "index-AbC123.css").write_text("body { margin: 0 }")
    (ui / "assets" / "font-AbC123.woff2").write_bytes(b"wOF2")
    (tmp_path / "secret.txt").write_text("not yours")
    return ui


@pytest.fixture
async def http(tmp_path: Path, folder: Path) -> AsyncGenerator[httpx.AsyncClient]:
    async with serving_files(tmp_path, folder) as client:
        yield client


def error(answer: httpx.Response, status: int, code: str) -> dict[str, Any]:
    assert answer.status_code == status, answer.text
    assert answer.json()["error"]["code"] == code
    return answer.json()["error"]


@pytest.mark.parametrize("path", ["/", "/app"])
async def test_the_way_to_the_dashboard(http: httpx.AsyncClient, path: str):
    answer = await http.get(path)
    assert answer.status_code == 307
    assert answer.headers["location"] == "/app/"


@pytest.mark.parametrize(
    "path",
    ["/app/", "/app/inbox", "/app/sessions/a.b.c", "/app/sessions/x/compare/y?at=3", "/app/?q=1"],
)
async def test_every_address_of_the_page_shows_the_page(http: httpx.AsyncClient, path: str):
    answer = await http.get(path, headers=PERSON)
    assert (answer.status_code, answer.content) == (200, PAGE)
    assert answer.headers["content-type"] == "text/html; charset=utf-8"
    assert answer.headers["cache-control"] == "no-cache"


async def test_a_program_that_asks_for_no_page_gets_none(http: httpx.AsyncClient):
    error(await http.get("/app/inbox"), 404, "NOT_FOUND")
    assert (await http.get("/app/")).content == PAGE


@pytest.mark.parametrize(
    ("name", "kind"),
    [
        ("assets/index-AbC123.js", "text/javascript; charset=utf-8"),
        ("assets/index-AbC123.css", "text/css; charset=utf-8"),
        ("assets/font-AbC123.woff2", "font/woff2"),
    ],
)
async def test_assets_are_kept_for_good(http: httpx.AsyncClient, name: str, kind: str):
    answer = await http.get(f"/app/{name}")
    assert answer.status_code == 200
    assert answer.headers["content-type"] == kind
    assert answer.headers["cache-control"] == "public, max-age=31536000, immutable"
    assert answer.headers["x-content-type-options"] == "nosniff"


async def test_a_compressed_copy_is_sent_to_browsers_that_take_it(
    http: httpx.AsyncClient, folder: Path
):
    path = "/app/assets/index-AbC123.js"
    (folder / "assets" / "index-AbC123.js.gz").write_bytes(gzip.compress(SCRIPT))
    packed = await http.get(path, headers={"Accept-Encoding": "br, gzip"})
    plain = await http.get(path, headers={"Accept-Encoding": "br, gzip;q=0"})
    assert packed.headers["content-encoding"] == "gzip"
    assert "content-encoding" not in plain.headers
    assert packed.content == plain.content == SCRIPT
    assert packed.headers["content-type"] == plain.headers["content-type"]
    assert packed.headers["etag"] != plain.headers["etag"]
    assert "Accept-Encoding" in packed.headers["vary"]
    uncompressed = await http.get("/app/assets/index-AbC123.css")
    assert "content-encoding" not in uncompressed.headers


async def test_what_has_no_hash_in_its_name_is_asked_for_again(http: httpx.AsyncClient):
    first = await http.get("/app/favicon.svg")
    assert first.headers["content-type"] == "image/svg+xml"
    assert first.headers["cache-control"] == "no-cache"
    again = await http.get("/app/favicon.svg", headers={"If-None-Match": first.headers["etag"]})
    assert (again.status_code, again.content) == (304, b"")


async def test_a_new_build_is_shown_at_once(http: httpx.AsyncClient, folder: Path):
    first = await http.get("/app/")
    (folder / "index.html").write_bytes(PAGE + b"new")
    again = await http.get("/app/", headers={"If-None-Match": first.headers["etag"]})
    assert (again.status_code, again.content) == (200, PAGE + b"new")


async def test_an_unknown_asset_is_no_page(http: httpx.AsyncClient):
    for headers in ({}, PERSON):
        answer = await http.get("/app/assets/index-Old.js", headers=headers)
        assert "/app/assets/index-Old.js" in error(answer, 404, "NOT_FOUND")["message"]


async def test_head_says_the_same_without_the_content(http: httpx.AsyncClient):
    for path in ("/app/", "/app/assets/index-AbC123.js"):
        whole, head = await http.get(path), await http.head(path)
        assert head.status_code == 200
        assert head.content == b""
        assert head.headers["content-length"] == str(len(whole.content))


async def test_nothing_is_changed_there(http: httpx.AsyncClient):
    error(await http.post("/app/"), 401, "UNAUTHENTICATED")
    error(await http.put("/app/assets/index-AbC123.js"), 401, "UNAUTHENTICATED")


@pytest.mark.parametrize(
    "path",
    [
        "/app/../secret.txt",
        "/app/%2e%2e/secret.txt",
        "/app/..%2fsecret.txt",
        "/app/assets/../../secret.txt",
        "/app/assets/%2e%2e%2f%2e%2e%2fsecret.txt",
        "/app//etc/passwd",
        "/app/%2fetc/passwd",
        "/app/..\\secret.txt",
        "/app/..%5csecret.txt",
        "/app/link.txt",
        "/app/.hidden",
        "/app/index.html%00",
        "/app/assets",
        "/app/%ff%fe",
    ],
)
async def test_no_address_leads_out_of_the_folder(
    http: httpx.AsyncClient, folder: Path, tmp_path: Path, path: str
):
    (folder / "link.txt").symlink_to(tmp_path / "secret.txt")
    (folder / ".hidden").write_text("not yours")
    assert await status_of_raw(http, path) == 404


async def status_of_raw(http: httpx.AsyncClient, path: str) -> int:
    """Ask for a path just as it is written: clients tidy it up before they send it."""
    host, port = http.base_url.host, http.base_url.port
    reader, writer = await asyncio.open_connection(host, port)
    writer.write(
        f"GET {path} HTTP/1.1\r\nHost: {host}:{port}\r\nConnection: close\r\n\r\n".encode()
    )
    answer = (await reader.read()).decode()
    writer.close()
    await writer.wait_closed()
    assert "not yours" not in answer
    return int(answer.split(" ")[1])


async def test_without_a_build_a_page_says_what_to_do(tmp_path: Path):
    async with serving_files(tmp_path, tmp_path / "none") as http:
        for path in ("/app/", "/app/inbox"):
            answer = await http.get(path, headers=PERSON)
            assert answer.status_code == 503
            assert answer.headers["content-type"] == "text/html; charset=utf-8"
            assert "make setup" in answer.text
        error(await http.get("/app/assets/index.js"), 404, "NOT_FOUND")
        assert (await http.get("/health")).json() == {"status": "ok"}


async def test_the_policy_lets_a_build_run_and_nothing_else(http: httpx.AsyncClient):
    policy = (await http.get("/app/")).headers["content-security-policy"]
    told = dict(part.strip().split(" ", 1) for part in policy.split(";"))
    assert told["default-src"] == "'self'"
    assert told["frame-ancestors"] == "'none'"
    # Prompts show images that are attached to them, and nothing from elsewhere.
    assert told["img-src"] == "'self' data:"
    assert "unsafe" not in policy
