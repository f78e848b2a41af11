"""`callboard hosts [list|check|log|remove]`."""

import click

from callboard.board.protocol import Board
from callboard.board.relay_hosts import HostCheck, HostLog, RelayHost
from callboard.cli import options
from callboard.cli.format import ago, one_line
from callboard.cli.lookup import machines
from callboard.cli.printing import Cell, print_json, print_result, print_table
from callboard.cli.screen import Screen
from callboard.cli.targets import Target
from callboard.display.amounts import counted
from callboard.errors import ConflictError
from callboard.events.moments import from_ms

_A_LITTLE_MS = 1000


@click.command("hosts")
@click.argument("action", type=click.Choice(["list", "check", "log", "remove"]), default="list")
@click.argument("host", metavar="[HOST]", required=False)
@options.anywhere
def command(action: str, host: str | None, place: Target, as_json: bool) -> None:
    """List the machines whose coding agents are on the board, ask one, or remove it.

    Machines that can't be reached are listed with when they were last seen. HOST is a machine's
    name or id. `check` asks it for its version, its clock, what it still has to report, and whose
    hooks report there. `log` shows the last lines of its relay's log, if its owner allows `read`.
    `remove` revokes its tokens and takes its agents off the board, and its relay stops. It can be
    paired again.
    """
    if action == "list":
        if host is not None:
            raise click.UsageError("Give HOST only with `check`, `log` or `remove`.")
        return _list(place, as_json)
    if host is None:
        raise click.UsageError(f"Missing argument 'HOST'. List them: {place.command('hosts')}")
    work = {"check": _check, "log": _log, "remove": _remove}[action]
    with machines(place):
        return work(place, host, as_json)


async def _found(board: Board, named: str) -> tuple[str, str]:
    """The id and name of a machine. One without a relay isn't in the list."""
    found = [one for one in await board.hosts.list() if named in (one.id, one.name)]
    if len(found) > 1:
        ids = ", ".join(one.id for one in found)
        raise ConflictError(f"Several machines are called {named!r}. Give one of their ids: {ids}")
    return (found[0].id, found[0].name) if found else (named, named)


def _check(place: Target, named: str, as_json: bool) -> None:
    async def check(board: Board) -> HostCheck:
        return await board.hosts.check((await _found(board, named))[0])

    told = place.ask(check)
    if as_json:
        return print_json([told.to_wire()])
    screen, name = Screen(), one_line(named)
    screen.line(f"{name} answered after {told.took_ms} ms. Callboard {one_line(told.version)}.")
    screen.line(_clock(told))
    kept = counted(told.waiting, "report"), counted(told.spooled, "hook")
    screen.line(f"Still to come: {kept[0]}, and {kept[1]} in the spool.")
    agents = ", ".join(map(one_line, told.agents))
    return screen.line(f"Hooks: {agents}." if agents else "No agent's hooks report there.")


def _clock(told: HostCheck) -> str:
    off = abs(told.clock_ahead_ms)
    if off <= max(_A_LITTLE_MS, told.took_ms):
        return "Its clock agrees with the server's."
    way = "ahead of" if told.clock_ahead_ms > 0 else "behind"
    return f"Its clock is {off / 1000:.1f} s {way} the server's."


def _log(place: Target, named: str, as_json: bool) -> None:
    async def read(board: Board) -> HostLog:
        return await board.hosts.log((await _found(board, named))[0])

    told, screen = place.ask(read), Screen()
    if as_json:
        return print_json([told.to_wire()])
    for line in told.lines:
        screen.line(one_line(line))
    return None


def _remove(place: Target, named: str, as_json: bool) -> None:
    async def remove(board: Board) -> tuple[str, str]:
        id, name = await _found(board, named)
        await board.hosts.remove(id)
        return id, name

    id, name = place.ask(remove)
    said = f"Removed {one_line(name)}. If it should report again, pair it again."
    print_result(as_json, {"ok": True, "id": id}, said)


def _list(place: Target, as_json: bool) -> None:
    async def look(board: Board) -> tuple[list[RelayHost], int]:
        return await board.hosts.list(), board.clock.now_ms()

    found, now_ms = place.look(look)
    if as_json:
        return print_json(one.to_wire() for one in found)
    screen = Screen()
    if not found:
        return screen.line(
            "No other machine is paired. Make a code: ", ("callboard pair", "command")
        )
    heads = ["machine", "status", "last seen", "allows", "version", "id"]
    print_table(screen, heads, [_row(screen, one, now_ms) for one in found])
    for one in found:
        if one.contested_at is not None:
            when = ago(from_ms(one.contested_at), from_ms(now_ms))
            screen.line(
                f"{when}, someone used the token of {one_line(one.name)} without its relay's "
                "secret. If you don't know why, revoke it and pair the machine again: ",
                (place.command("token", "list"), "command"),
            )
    return None


def _row(screen: Screen, one: RelayHost, now_ms: int) -> list[Cell]:
    status: Cell = (f"{screen.signs.done} connected", "done")
    seen = "now"
    if not one.connected:
        status = (f"{screen.signs.failed} unreachable", "failed")
        seen = ago(from_ms(one.seen_at), from_ms(now_ms))
    powers = one_line(", ".join(one.powers)) or "deciding only"
    return [one_line(one.name), status, seen, powers, one_line(one.version), (one.id, "faint")]
