"""`callboard open`."""

import asyncio
import html
import os
import socket
import subprocess
import sys
import tempfile
import webbrowser
from contextlib import suppress
from pathlib import Path
from typing import Any, Final
from urllib.parse import quote, urlsplit

import click
from platformdirs import user_cache_path, user_runtime_path

from callboard.cli import options
from callboard.cli.database import Database
from callboard.cli.printing import print_json
from callboard.cli.screen import Screen
from callboard.client.access import DEFAULT_URL, checked, find_token, is_loopback
from callboard.client.transport import Transport
from callboard.clock import SystemClock
from callboard.disk.files import add
from callboard.disk.private import make_private_folder
from callboard.ids import short_id

_LIVES: Final = 30
"""Seconds after which the file is removed; the server takes its code no longer either."""
_OWN_NAME: Final = "callboard.localhost"

_PAGE: Final = """\
<!doctype html>
<meta charset="utf-8">
<meta name="referrer" content="no-referrer">
<meta http-equiv="refresh" content="0; url={address}">
<title>Callboard</title>
<p><a href="{address}">Open Callboard</a></p>
"""

# Nobody wants to wait half a minute for the command to end, so another process removes the file.
_REMOVE: Final = (
    "import os, sys, time; time.sleep(float(sys.argv[2])); "
    "os.path.exists(sys.argv[1]) and os.unlink(sys.argv[1])"
)


@click.command("open")
@click.option(
    "--server",
    "server",
    metavar="URL",
    envvar="CALLBOARD_SERVER",
    default=DEFAULT_URL,
    show_default=True,
    help="The server. Also CALLBOARD_SERVER.",
)
@click.option("--print", "only_print", is_flag=True, help="Print the file's path; open nothing.")
@options.common
def command(server: str, only_print: bool, database: Database, as_json: bool) -> None:
    """Open the dashboard in your browser, logged in.

    The server gives a code that works once, within 30 seconds. The browser gets it through a
    file that only you can read: a command line can be read by everyone on the machine.
    """
    url = checked(server)
    link = asyncio.run(_ask_for_link(url, find_token(url, database.path)))
    address = f"{page_address(url)}/login?code={quote(link['code'], safe='')}"
    file = _write(address)
    opened = not only_print and not as_json and webbrowser.open(file.as_uri())
    if as_json:
        return print_json([{"file": str(file), "expiresAt": link["expiresAt"]}])
    if opened:
        Screen().line(f"Opened {page_address(url)}/app/ in your browser.")
        return None
    click.echo(str(file))
    click.echo(f"Open this file in a browser on this machine within {_LIVES} s.", err=True)
    return None


async def _ask_for_link(url: str, token: str | None) -> dict[str, Any]:
    transport = Transport(url, token, via="cli", timeout=10)
    try:
        return await transport.post("/login", {})
    finally:
        await transport.close()


def page_address(url: str) -> str:
    """The server's address for a browser: on this machine under a name that only it uses.

    Cookies know no ports. Under `localhost` every other server here would be sent ours.
    """
    parts = urlsplit(url)
    if not is_loopback(url) or parts.scheme != "http":
        return url
    port = parts.port or 80
    try:
        socket.getaddrinfo(_OWN_NAME, port)
    except OSError:
        return f"http://127.0.0.1:{port}"
    return f"http://{_OWN_NAME}:{port}"


def _write(address: str) -> Path:
    """A page that leads on to the address, for its owner's eyes only, and not for long."""
    folder = _folder()
    _remove_old(folder)
    file = folder / f"open-{short_id()}.html"
    add(file, _PAGE.format(address=html.escape(address)).encode())
    subprocess.Popen(
        [sys.executable, "-I", "-S", "-c", _REMOVE, str(file), str(_LIVES)],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
    )
    return file


def _remove_old(folder: Path) -> None:
    """Remove what a process left behind that did not live to do it."""
    oldest = SystemClock().now_ms() / 1000 - _LIVES
    for file in folder.glob("open-*.html"):
        with suppress(FileNotFoundError):
            if file.stat().st_mtime < oldest:
                file.unlink()


def _folder() -> Path:
    """The person's runtime folder; where the system has none, the cache."""
    places = [user_cache_path("callboard", False)]
    # Without it, the folder would be one in /tmp whose name anybody can take.
    if os.environ.get("XDG_RUNTIME_DIR"):
        places.insert(0, user_runtime_path("callboard", False))
    for folder in places:
        try:
            make_private_folder(folder)
        except OSError:
            continue
        return folder
    return Path(tempfile.gettempdir())
