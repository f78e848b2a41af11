"""`callboard doctor`."""

from collections.abc import Iterator
from pathlib import Path
from urllib.parse import urlsplit

import click

from callboard.cli import options
from callboard.cli.doctor import database as database_findings
from callboard.cli.doctor import findings
from callboard.cli.doctor import hooks as hook_findings
from callboard.cli.doctor import server as server_findings
from callboard.cli.doctor import workers as worker_findings
from callboard.cli.doctor.findings import Finding
from callboard.cli.exit import DONE, FAILED
from callboard.cli.printing import print_json
from callboard.cli.screen import Screen
from callboard.cli.targets import Database
from callboard.client.access import DEFAULT_URL
from callboard.clock import SystemClock
from callboard.display.amounts import counted
from callboard.log.presence import servers_of

_STYLES = {"ok": "done", "warn": "here", "fail": "failed"}
_WIDTH = len("extra procrastinate")


@click.command("doctor")
@click.option(
    "--host", help="The server's address. Default: that of a running server, else 127.0.0.1."
)
@click.option(
    "--port", type=int, help="The server's port. Default: that of a running server, else 2255."
)
@options.found
def command(database: Database, as_json: bool, host: str | None, port: int | None) -> int:
    """Check the installation, the database and the port, and suggest fixes.

    Changes nothing. The exit code is 1 if a check fails, and 0 if there are only warnings.
    """
    found: list[Finding] = []
    screen = Screen()
    for finding in _examine(database, *_address(database, host, port)):
        found.append(finding)
        if as_json:
            print_json([finding.to_wire()])
        else:
            _show(screen, finding)
    if not as_json:
        _sum_up(screen, found)
    return FAILED if any(one.level == "fail" for one in found) else DONE


def _address(database: Database, host: str | None, port: int | None) -> tuple[str, int]:
    """Where to look for a server: as given, where one is running, or at the default address."""
    is_said = host is not None or port is not None
    running = [] if is_said else [one.url for one in servers_of(database.path) if one.url]
    parts = urlsplit(running[0] if running else DEFAULT_URL)
    return host or parts.hostname or "", port if port is not None else parts.port or 80


def _examine(database: Database, host: str, port: int) -> Iterator[Finding]:
    yield from findings.installation()
    if database.address is None:
        yield from database_findings.database(database.path, SystemClock())
    else:
        yield from database_findings.postgres(database)
    yield from worker_findings.workers(database)
    yield from findings.host()
    yield findings.disk(database.path.parent)
    yield from server_findings.server(host, port, database.path)
    yield from hook_findings.finding(database.path, Path.cwd())


def _show(screen: Screen, finding: Finding) -> None:
    level = (f"{finding.level:<5}", _STYLES[finding.level])
    screen.line(level, f"{finding.check:<{_WIDTH}} ", finding.said)
    if finding.todo and finding.level != "ok":
        screen.line(" " * 5, (f"{screen.signs.arrow} {finding.todo}", "command"))


def _sum_up(screen: Screen, found: list[Finding]) -> None:
    failed = sum(one.level == "fail" for one in found)
    warned = sum(one.level == "warn" for one in found)
    if not failed and not warned:
        screen.line(("No problems found.", "done"))
        return
    parts = [counted(failed, "failure")] if failed else []
    parts += [counted(warned, "warning")] if warned else []
    screen.line((", ".join(parts) + ".", "failed" if failed else "here"))
