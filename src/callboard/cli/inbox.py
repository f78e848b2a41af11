"""`callboard inbox`."""

import click

from callboard.cli import options
from callboard.cli.lookup import find_session
from callboard.cli.places import Board, Place
from callboard.cli.printing import print_json
from callboard.cli.reasons import ways_to_answer
from callboard.cli.screen import Screen
from callboard.cli.wording import ago, moment, one_line
from callboard.display.characters import visible
from callboard.events.moments import from_ms
from callboard.interactions.records import Interaction


@click.command("inbox")
@click.option("--session", "session", metavar="ID", help="Only those of one session.")
@options.anywhere
def command(session: str | None, place: Place, as_json: bool) -> None:
    """List the questions that wait for a person."""

    async def look(board: Board) -> tuple[list[Interaction], int]:
        which = "*" if session is None else (await find_session(board, place, session)).session_id
        return await board.inbox(which), board.clock.now_ms()

    found, now_ms = place.ask(look)
    if as_json:
        return print_json(one.to_wire() for one in found)
    screen = Screen()
    if not found:
        screen.line("Nobody is being asked anything.")
    for one in found:
        _tell(screen, place, one, now_ms)
    return None


def _tell(screen: Screen, place: Place, one: Interaction, now_ms: int) -> None:
    now = from_ms(now_ms)
    where = f"phase {one_line(one.phase)}, " if one.phase else ""
    where += f"session {one.session_id}, " if one.session_id else ""
    until = f", until {moment(one.deadline, now)}" if one.deadline else ""
    about = f"  {where}asked {ago(one.created_at, now)}{until}"
    first, *others = visible(one.prompt).split("\n")
    screen.line((f"{screen.signs.asks} {first}", "asks"))
    for line in others:
        screen.line(f"  {line}")
    screen.line((about, "faint"))
    for way in ways_to_answer(one, place.command):
        screen.line("    ", (way, "command"))
