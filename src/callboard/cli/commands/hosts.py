"""`callboard hosts [list|remove]`."""

import click

from callboard.board.protocol import Board
from callboard.board.relay_hosts import RelayHost
from callboard.cli import options
from callboard.cli.format import ago, one_line
from callboard.cli.printing import Cell, print_json, print_result, print_table
from callboard.cli.screen import Screen
from callboard.cli.targets import Target
from callboard.errors import ConflictError
from callboard.events.moments import from_ms


@click.command("hosts")
@click.argument("action", type=click.Choice(["list", "remove"]), default="list")
@click.argument("host", metavar="[HOST]", required=False)
@options.anywhere
def command(action: str, host: str | None, place: Target, as_json: bool) -> None:
    """List the machines whose coding agents are on the board, or remove one.

    Machines that can't be reached are listed with when they were last seen. `remove` takes a
    machine's name or id: its tokens are revoked, its agents leave the board, and its relay stops.
    It can be paired again.
    """
    if action == "list":
        if host is not None:
            raise click.UsageError("Give HOST only with `remove`.")
        return _list(place, as_json)
    if host is None:
        raise click.UsageError(f"Missing argument 'HOST'. List them: {place.command('hosts')}")
    return _remove(place, host, as_json)


def _remove(place: Target, named: str, as_json: bool) -> None:
    async def remove(board: Board) -> tuple[str, str]:
        found = [one for one in await board.hosts.list() if named in (one.id, one.name)]
        if len(found) > 1:
            ids = ", ".join(one.id for one in found)
            raise ConflictError(
                f"Several machines are called {named!r}. Give one of their ids: {ids}"
            )
        # One that only has a token is not in the list.
        id, name = (found[0].id, found[0].name) if found else (named, named)
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
    rows = [_row(screen, one, now_ms) for one in found]
    return print_table(screen, ["machine", "status", "last seen", "version", "id"], rows)


def _row(screen: Screen, one: RelayHost, now_ms: int) -> list[Cell]:
    status: Cell = (f"{screen.signs.done} connected", "done")
    seen = "now"
    if not one.connected:
        status = (f"{screen.signs.failed} unreachable", "failed")
        seen = ago(from_ms(one.seen_at), from_ms(now_ms))
    return [one_line(one.name), status, seen, one_line(one.version), (one.id, "faint")]
