"""What `callboard hooks status` shows."""

from pathlib import Path
from typing import Any, Final

from callboard.cli import hook_findings, server_findings
from callboard.cli.database import Database
from callboard.cli.exits import DONE, FAILED
from callboard.cli.findings import Finding
from callboard.cli.hook_findings import AgentFindings, Installation, SpoolFindings, number_of
from callboard.cli.printing import print_json
from callboard.cli.screen import Screen
from callboard.cli.wording import ago, one_line, plural
from callboard.clock import SystemClock
from callboard.events.moments import from_ms

_WIDTH: Final = 16
_STYLES: Final = {"current": "done", "outdated": "here", "elsewhere": "here", "unusable": "failed"}
_TODO: Final = {
    "outdated": "made by another version; bring them up to date: ",
    "elsewhere": "report to another database; to have them here: ",
}


def show(database: Database, project: Path, as_json: bool) -> int:
    """Print how the hooks are; the exit code is 1 when something keeps them from working."""
    agents = hook_findings.agents(database.path, project)
    spool = hook_findings.spool(database.path)
    server = _server(database, spool.address)
    if as_json:
        told = {
            "agents": [one.to_wire() for one in agents],
            "server": [one.to_wire() for one in server],
            **spool.to_wire(),
        }
        print_json([told])
    else:
        _print(Screen(), database, agents, server, spool)
    broken = [each for one in agents for each in one.installed if each.state == "unusable"]
    return FAILED if broken or spool.full else DONE


def _server(database: Database, address: str | None) -> list[Finding]:
    host, _, port = (address or "127.0.0.1:2255").rpartition(":")
    number = int(port) if port.isdecimal() else 2255
    return list(server_findings.server(host.strip("[]"), number, database.path))


def _print(
    screen: Screen,
    database: Database,
    agents: list[AgentFindings],
    server: list[Finding],
    spool: SpoolFindings,
) -> None:
    for one in agents:
        version = one_line(one.version or ("found" if one.found else "not found here"), 60)
        screen.line((f"{one.title:<{_WIDTH}}", "name"), version)
        if not one.installed and one.found:
            install = database.command("hooks", "install", "--agent", one.agent)
            screen.line("  no hooks; install them: ", (install, "command"))
        for each in one.installed:
            _print_installation(screen, database, one, each)
    for found in server:
        screen.line((f"{found.check.capitalize():<{_WIDTH}}", "name"), found.said)
    _print_spool(screen, spool)


def _print_installation(
    screen: Screen, database: Database, one: AgentFindings, each: Installation
) -> None:
    how = (
        f" by {each.transport}, answers {'on' if each.answers else 'off'}" if each.transport else ""
    )
    screen.line("  ", (each.state, _STYLES[each.state]), f"{how}  ({each.scope})  {each.path}")
    if each.state in _TODO:
        again = database.command("hooks", "install", "--agent", one.agent, "--scope", each.scope)
        screen.line("  ", _TODO[each.state], (again, "command"))
    for problem in each.problems:
        screen.line("  ", (one_line(problem), "here"))


def _print_spool(screen: Screen, spool: SpoolFindings) -> None:
    waiting = f"{plural(spool.waiting, 'payload')} waiting"
    full = ("; full: hooks write nothing until a server empties it", "failed")
    rejected = f", {spool.rejected} put aside" if spool.rejected else ""
    screen.line((f"{'Spool':<{_WIDTH}}", "name"), waiting, rejected, full if spool.full else "")
    for found in hook_findings.unrecorded(spool):
        screen.line(" " * _WIDTH, (found.said, "failed"))
    screen.line((f"{'Heard':<{_WIDTH}}", "name"), _received(spool.received))


def _received(received: dict[str, Any]) -> str:
    if not received:
        return "nothing yet"
    parts = [f"{plural(number_of(received, 'heard'), 'hook')}"]
    for key, said in (("garbage", "were no payloads"), ("failed", "could not be recorded")):
        if number_of(received, key):
            parts.append(f"{number_of(received, key)} {said}")
    last = number_of(received, "last_at")
    if last:
        now = from_ms(SystemClock().now_ms())
        parts.append(f"the last {ago(from_ms(last), now)}, from {received.get('last_agent')}")
    return one_line(", ".join(parts))
