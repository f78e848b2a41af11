"""`callboard service install|uninstall|status`."""

import os
import socket
import sys
from dataclasses import dataclass
from http.client import OK, HTTPException
from pathlib import Path
from typing import Final

import click

from callboard.cli import options, relay_service
from callboard.cli.doctor.server import get
from callboard.cli.exit import DONE, FAILED
from callboard.cli.invocation import program
from callboard.cli.printing import print_json
from callboard.cli.screen import Screen
from callboard.cli.service_files import install, tell_removed, uninstall
from callboard.cli.service_units import LABEL, ServiceCommand
from callboard.cli.supervisors import Launchd, Systemd, supervisor
from callboard.cli.targets import Database
from callboard.disk.private import make_private_folder
from callboard.errors import ConflictError, SettingsUnusable
from callboard.vendors.hook_targets import INSTALLABLE
from callboard.vendors.settings.files import read

_USUAL_PORT: Final = 2255


@dataclass(frozen=True, slots=True)
class _Typed:
    """The command line's values."""

    action: str
    files: tuple[str, ...]
    port: int | None
    relay: bool
    force: bool
    database: Database
    as_json: bool


@click.command("service")
@click.argument("action", type=click.Choice(["install", "uninstall", "status"]))
@click.argument("files", metavar="[FILE[:NAME] ...]", nargs=-1)
@click.option(
    "--port",
    type=click.IntRange(1, 65535),
    help=f"install: the port to listen on; {_USUAL_PORT} by default.",
)
@click.option("--relay", is_flag=True, help="The relay of this machine instead of a server.")
@click.option("--force", is_flag=True, help="uninstall: even if installed hooks call it over HTTP.")
@options.of_file
@options.collected(_Typed)
def command(typed: _Typed) -> int:
    """Run the server in the background as a user service, or the relay.

    Uses systemd on Linux and launchd on macOS. The service starts when you log in and restarts
    after a failure. The system owns the server's socket, so clients that connect during a restart
    wait instead of failing. FILE are the workflows to serve; without one, the server has only the
    board and the inbox.
    """
    if typed.files and (typed.relay or typed.action != "install"):
        raise click.UsageError(f"{'--relay' if typed.relay else typed.action} takes no files.")
    if typed.relay:
        if typed.port is not None:
            raise click.UsageError("--port is not for a relay, which needs none.")
        return relay_service.do(typed.action, typed.as_json)
    keeper = supervisor()
    if typed.action == "install":
        port = typed.port or _USUAL_PORT
        _install(keeper, typed.database, typed.as_json, typed.files, port)
        return DONE
    if typed.action == "uninstall":
        _uninstall(keeper, typed.database, typed.as_json, typed.force)
        return DONE
    return _status(keeper, typed.database, typed.as_json)


def installed_port() -> int | None:
    """The installed service's port; None without one."""
    return supervisor().port()


def _install(
    keeper: Systemd | Launchd, database: Database, as_json: bool, files: tuple[str, ...], port: int
) -> None:
    keeper.check()
    served = _served(database, files, port)
    is_moved = keeper.port() != port
    changed = install(keeper, served, lambda: _check_free(port) if is_moved else None)
    url = f"http://127.0.0.1:{port}"
    told = {
        "installed": True,
        "changed": changed,
        "url": url,
        "supervisor": keeper.title,
        "files": [str(path) for path in keeper.paths()],
        "database": str(database.path.absolute()),
    }
    if as_json:
        return print_json([told])
    screen = Screen()
    begun = f"{keeper.title} keeps it running." if changed else "It was already installed."
    screen.line(("Callboard", "name"), " is at ", (url, "command"), f". {begun}")
    hooks = database.command("hooks", "install", "--transport", "http")
    screen.line("Let Claude Code's hooks use it: ", (hooks, "command"))
    screen.line("Remove it: ", (f"{program()} service uninstall", "command"))
    return None


def _served(database: Database, files: tuple[str, ...], port: int) -> ServiceCommand:
    if database.address is not None:
        raise click.UsageError(
            "This would store the address of the PostgreSQL database, with its password, in a "
            "file. Write a service yourself that runs `callboard serve` with CALLBOARD_DB."
        )
    path = database.path.absolute()
    make_private_folder(path.parent)
    places = [_absolute(file) for file in files]
    # `-P`, so that files in the working folder aren't imported.
    words = (sys.executable, "-P", "-m", "callboard", "serve", *places, "--db", str(path))
    log = path.with_name(f"{path.name}.server.log")
    words = (*words, "--port", str(port), "--log-format", "json")
    return ServiceCommand(LABEL, words, log, port)


def _absolute(file: str) -> str:
    """FILE[:NAME] with an absolute path."""
    path, colon, name = file.rpartition(":")
    if not colon or "/" in name:
        path, colon, name = file, "", ""
    whole = os.path.normpath(Path(path).expanduser().absolute())
    if not Path(whole).is_file():
        raise click.UsageError(f"There is no file {path}.")
    return f"{whole}{colon}{name}"


def _check_free(port: int) -> None:
    with socket.socket(socket.AF_INET, socket.SOCK_STREAM) as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind(("127.0.0.1", port))
        except OSError as error:
            raise ConflictError(
                f"Port {port} is in use: {error.strerror}. Stop the server that runs there, or "
                "choose another with --port. To find out which one: callboard doctor",
                port=port,
            ) from error


def _uninstall(keeper: Systemd | Launchd, database: Database, as_json: bool, force: bool) -> None:
    callers = _http_callers()
    if callers and not force:
        spool = database.command("hooks", "install", "--transport", "spool")
        raise ConflictError(
            f"{callers[0]} calls the service over HTTP, and would show an error for every hook "
            f"without it. First: {spool} (or --force)"
        )
    tell_removed(as_json, uninstall(keeper))


def _http_callers() -> list[str]:
    """The agents whose user-level hooks use HTTP."""
    found: list[str] = []
    for one in INSTALLABLE.values():
        try:
            text = read(one.settings.place("user", Path.cwd())).text
            standing = one.settings.standing(text) if text is not None else None
        except SettingsUnusable:
            continue
        if standing is not None and standing.transport == "http":
            found.append(one.title)
    return found


def _status(keeper: Systemd | Launchd, database: Database, as_json: bool) -> int:
    port = keeper.port()
    state = keeper.state() if port is not None else "absent"
    answers = port is not None and _answers(port)
    well = state == "active" and answers
    url = None if port is None else f"http://127.0.0.1:{port}"
    if as_json:
        told = {"installed": port is not None, "supervisor": keeper.title, "state": state}
        print_json([{**told, "url": url, "answers": answers}])
    elif port is None:
        install = database.command("service", "install")
        Screen().line("No service is installed. Install one: ", (install, "command"))
    else:
        _show(keeper, state, str(url), answers)
    return DONE if well or port is None else FAILED


def _show(keeper: Systemd | Launchd, state: str, url: str, answers: bool) -> None:
    screen = Screen()
    style = "done" if state == "active" else "failed"
    screen.line(f"{keeper.title}: ", (state, style), ", at ", (url, "command"))
    if not answers:
        screen.line(("It is not responding.", "failed"), " See why: ", (keeper.log, "command"))


def _answers(port: int) -> bool:
    """Whether a server answers; the socket alone would accept the connection and say nothing."""
    try:
        status, _ = get("127.0.0.1", port, "/health")
    except (OSError, HTTPException, ValueError):
        return False
    return status == OK
