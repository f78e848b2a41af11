"""`callboard service install|uninstall|status`."""

import os
import socket
import sys
from http.client import OK, HTTPException
from pathlib import Path

import click

from callboard.cli import options
from callboard.cli.doctor.server import get
from callboard.cli.exit import DONE, FAILED
from callboard.cli.invocation import program
from callboard.cli.printing import print_json, print_result
from callboard.cli.screen import Screen
from callboard.cli.supervisors import Launchd, ServiceCommand, Systemd, supervisor
from callboard.cli.targets import Database
from callboard.disk.files import replace
from callboard.disk.private import make_private_folder
from callboard.errors import ConflictError, SettingsUnusable
from callboard.vendors.hook_targets import INSTALLABLE
from callboard.vendors.settings.files import read


@click.command("service")
@click.argument("action", type=click.Choice(["install", "uninstall", "status"]))
@click.argument("files", metavar="[FILE[:NAME] ...]", nargs=-1)
@click.option(
    "--port",
    type=click.IntRange(1, 65535),
    default=2255,
    show_default=True,
    help="install: the port to listen on.",
)
@click.option("--force", is_flag=True, help="uninstall: even if installed hooks call it over HTTP.")
@options.of_file
def command(
    action: str,
    files: tuple[str, ...],
    port: int,
    force: bool,
    database: Database,
    as_json: bool,
) -> int:
    """Run the server in the background as a user service.

    Uses systemd on Linux and launchd on macOS. The service starts when you log in and restarts
    after a failure. The system owns the socket, so clients that connect during a restart wait
    instead of failing. FILE are the workflows to serve; without one, the server has only the
    board and the inbox.
    """
    keeper = supervisor()
    if action == "install":
        _install(keeper, database, as_json, files, port)
        return DONE
    if files:
        raise click.UsageError(f"{action} takes no files.")
    if action == "uninstall":
        _uninstall(keeper, database, as_json, force)
        return DONE
    return _status(keeper, database, as_json)


def installed_port() -> int | None:
    """The installed service's port; None without one."""
    return supervisor().port()


def _install(
    keeper: Systemd | Launchd, database: Database, as_json: bool, files: tuple[str, ...], port: int
) -> None:
    keeper.check()
    served = _served(database, files, port)
    wanted = keeper.files(served)
    unchanged = all(_bytes(path) == content for path, content in wanted.items())
    if not unchanged and keeper.port() != port:
        _check_free(port)
    for path, content in wanted.items():
        _write(path, content)
    if not unchanged or keeper.state() != "active":
        keeper.start()
    url = f"http://127.0.0.1:{port}"
    told = {
        "installed": True,
        "changed": not unchanged,
        "url": url,
        "supervisor": keeper.title,
        "files": [str(path) for path in wanted],
        "database": str(database.path.absolute()),
    }
    if as_json:
        return print_json([told])
    screen = Screen()
    begun = "It was already installed." if unchanged else f"{keeper.title} keeps it running."
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
    return ServiceCommand((*words, "--port", str(port), "--log-format", "json"), port, log)


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


def _write(path: Path, content: bytes) -> None:
    if _bytes(path) == content:
        return
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        replace(path, content, mode=0o644)
    except OSError as error:
        raise SettingsUnusable(
            f"{path} cannot be written: {error.strerror}.", path=str(path)
        ) from error


def _bytes(path: Path) -> bytes | None:
    try:
        return path.read_bytes()
    except OSError:
        return None


def _uninstall(keeper: Systemd | Launchd, database: Database, as_json: bool, force: bool) -> None:
    callers = _http_callers()
    if callers and not force:
        spool = database.command("hooks", "install", "--transport", "spool")
        raise ConflictError(
            f"{callers[0]} calls the service over HTTP, and would show an error for every hook "
            f"without it. First: {spool} (or --force)"
        )
    files = [path for path in keeper.files(_served(database, (), 2255)) if path.exists()]
    if files:
        keeper.stop()
        for path in files:
            path.unlink(missing_ok=True)
        keeper.forget()
    print_result(
        as_json,
        {"installed": False, "changed": bool(files)},
        "The service was removed." if files else "No service was installed.",
    )


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
        todo = "journalctl --user -u callboard" if keeper.title == "systemd" else "callboard doctor"
        screen.line(("It is not responding.", "failed"), " See why: ", (todo, "command"))


def _answers(port: int) -> bool:
    """Whether a server answers; the socket alone would accept the connection and say nothing."""
    try:
        status, _ = get("127.0.0.1", port, "/health")
    except (OSError, HTTPException, ValueError):
        return False
    return status == OK
