"""`callboard open`."""

import asyncio
import html
import os
import socket
import subprocess
import sys
import tempfile
import webbrowser
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import Final
from urllib.parse import quote, urlsplit

import click
from platformdirs import user_cache_path, user_runtime_path

from callboard.cli import options
from callboard.cli.printing import print_json
from callboard.cli.screen import Screen
from callboard.cli.targets import Target
from callboard.client.access import is_loopback
from callboard.client.transport import Transport
from callboard.clock import SystemClock
from callboard.disk.files import add
from callboard.disk.private import make_private_folder
from callboard.events.json_values import Object, as_text
from callboard.ids import short_id

_LIVES: Final = 30
"""Seconds after which the file is removed. The server's code expires then too."""
_OWN_NAME: Final = "callboard.localhost"
_NO_BROWSER: Final = "CALLBOARD_NO_BROWSER"
_WINDOWS: Final = ("DISPLAY", "WAYLAND_DISPLAY", "BROWSER")

_PAGE: Final = """\
<!doctype html>
<meta charset="utf-8">
<meta name="referrer" content="no-referrer">
<meta http-equiv="refresh" content="0; url={address}">
<title>Callboard</title>
<p><a href="{address}">Open Callboard</a></p>
"""

# Another process removes the file, so that the command doesn't take half a minute to end.
_REMOVE: Final = (
    "import os, sys, time; time.sleep(float(sys.argv[2])); "
    "os.path.exists(sys.argv[1]) and os.unlink(sys.argv[1])"
)


@click.command("open")
@click.option(
    "--print",
    "only_print",
    is_flag=True,
    help="Print the path of the login file instead of opening it.",
)
@click.option(
    "--admin", "as_admin", is_flag=True, help="Sign in as an admin for an hour, to change settings."
)
@options.anywhere
def command(only_print: bool, as_admin: bool, place: Target, as_json: bool) -> None:
    """Open the dashboard in your browser, signed in.

    The server issues a login code that works once, within 30 seconds. The browser reads it from
    a file that only you can read, because other users of this machine can see command lines.
    """
    url, token = place.server()
    link = asyncio.run(_ask_for_link(url, token, as_admin))
    file = write_page(url, as_text(link["code"]))
    opened = not only_print and not as_json and webbrowser.open(file.as_uri())
    if as_json:
        return print_json([{"file": str(file), "expiresAt": link["expiresAt"]}])
    if opened:
        return Screen().line(f"Opened {page_address(url)}/app/ in your browser.")
    click.echo(str(file))
    return click.echo(f"Open this file in a browser on this machine within {_LIVES} s.", err=True)


async def _ask_for_link(url: str, token: str | None, as_admin: bool) -> Object:
    transport = Transport(url, token, via="cli", timeout=10)
    try:
        return await transport.post("/login", {"scope": "admin"} if as_admin else {})
    finally:
        await transport.close()


def page_address(url: str) -> str:
    """The server's address for a browser: on this machine, under a name that only it uses.

    Cookies ignore ports. Under `localhost`, every other server here would get ours.
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


def has_browser(environment: Mapping[str, str], platform: str = sys.platform) -> bool:
    """Whether a browser opens in its own window; one in the terminal would take it over."""
    if environment.get(_NO_BROWSER, "0") not in ("", "0"):
        return False
    return platform in ("darwin", "win32") or any(map(environment.get, _WINDOWS))


def open_dashboard(url: str, code: str) -> bool:
    """Open the dashboard, signed in with a code; returns whether a browser opened."""
    try:
        return webbrowser.open(write_page(url, code).as_uri())
    except (OSError, webbrowser.Error):
        return False


def write_page(url: str, code: str) -> Path:
    """A private, short-lived page that signs a browser in with a code."""
    address = f"{page_address(url)}/login?code={quote(code, safe='')}"
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
    """Remove files left by processes that died early."""
    oldest = SystemClock().now_ms() / 1000 - _LIVES
    for file in folder.glob("open-*.html"):
        with suppress(FileNotFoundError):
            if file.stat().st_mtime < oldest:
                file.unlink()


def _folder() -> Path:
    """The person's runtime folder, or the cache folder if the system has none."""
    places = [user_cache_path("callboard", False)]
    # Otherwise it would be a folder in /tmp whose name anyone can take.
    if os.environ.get("XDG_RUNTIME_DIR"):
        places.insert(0, user_runtime_path("callboard", False))
    for folder in places:
        try:
            make_private_folder(folder)
        except OSError:
            continue
        return folder
    return Path(tempfile.gettempdir())
