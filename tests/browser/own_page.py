"""A page of somebody's own, with the React package on it, from another origin than the server."""

import asyncio
import functools
import threading
from collections.abc import Generator
from contextlib import contextmanager
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from urllib.parse import urlencode

from tests.servers import TOKEN, Server

ROOT = Path(__file__).parent.parent.parent
EXAMPLES = ROOT / "clients" / "react" / "tests" / "examples"


async def built(folder: Path) -> Path:
    """The examples of the React package, bundled into a folder."""
    vite = ROOT / "node_modules" / ".bin" / "vite"
    options = ("--outDir", folder, "--emptyOutDir", "--base", "./", "--logLevel", "error")
    building = await asyncio.create_subprocess_exec(vite, "build", EXAMPLES, *options)
    assert await building.wait() == 0
    return folder


class _Quiet(SimpleHTTPRequestHandler):
    def log_message(self, format: str, *args: object) -> None:
        """Say nothing."""


@contextmanager
def served(folder: Path) -> Generator[str]:
    """Serve a folder; gives the origin."""
    handler = functools.partial(_Quiet, directory=folder)
    with ThreadingHTTPServer(("127.0.0.1", 0), handler) as http:
        thread = threading.Thread(target=http.serve_forever, args=(0.05,), daemon=True)
        thread.start()
        yield f"http://127.0.0.1:{http.server_port}"
        http.shutdown()
        thread.join()


def address(
    origin: str, example: str, server: Server, *, token: str | None = TOKEN, **more: str
) -> str:
    """Where an example is; the fragment tells it the server, and goes nowhere else."""
    shown = {} if token is None else {"token": token}
    told = urlencode({"example": example, "server": server.url, **shown, **more})
    return f"{origin}/index.html#{told}"
