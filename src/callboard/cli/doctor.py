"""`callboard doctor`."""

from collections.abc import Iterator
from pathlib import Path

import click

from callboard.cli import database_findings, findings, hook_findings, options, server_findings
from callboard.cli.database import Database
from callboard.cli.exits import DONE, FAILED
from callboard.cli.findings import Finding
from callboard.cli.printing import print_json
from callboard.cli.screen import Screen
from callboard.cli.wording import plural
from callboard.clock import SystemClock

_STYLES = {"ok": "done", "warn": "here", "fail": "failed"}


@click.command("doctor")
@click.option("--host", default="127.0.0.1", show_default=True, help="Where a server would be.")
@click.option("--port", default=2255, show_default=True, help="At which port.")
@options.common
def command(database: Database, as_json: bool, host: str, port: int) -> int:
    """Check the installation, the database and the port, and say what to do.

    Nothing is changed. The exit code is 1 when something fails, 0 for warnings.
    """
    found: list[Finding] = []
    screen = Screen()
    for finding in _examine(database, host, port):
        found.append(finding)
        if as_json:
            print_json([finding.to_wire()])
        else:
            _show(screen, finding)
    failed = [one for one in found if one.level == "fail"]
    if not as_json:
        _sum_up(screen, found)
    return FAILED if failed else DONE


def _examine(database: Database, host: str, port: int) -> Iterator[Finding]:
    yield from findings.installation()
    yield from database_findings.database(database.path, SystemClock())
    yield findings.disk(database.path.parent)
    yield from server_findings.server(host, port, database.path)
    yield from hook_findings.finding(database.path, Path.cwd())


def _show(screen: Screen, finding: Finding) -> None:
    level = (f"{finding.level:<5}", _STYLES[finding.level])
    screen.line(level, f"{finding.check:<18}", finding.said)
    if finding.todo and finding.level != "ok":
        screen.line(" " * 5, (f"{screen.signs.arrow} {finding.todo}", "command"))


def _sum_up(screen: Screen, found: list[Finding]) -> None:
    failed = sum(one.level == "fail" for one in found)
    warned = sum(one.level == "warn" for one in found)
    if not failed and not warned:
        screen.line(("All is well.", "done"))
        return
    parts = [plural(failed, "failure")] if failed else []
    parts += [plural(warned, "warning")] if warned else []
    screen.line((", ".join(parts) + ".", "failed" if failed else "here"))
