"""`callboard diff ID A B`."""

from collections.abc import Mapping

import click

from callboard.board.protocol import Board
from callboard.cli import options
from callboard.cli.format import one_line
from callboard.cli.lookup import find_session
from callboard.cli.printing import print_json
from callboard.cli.screen import Screen
from callboard.cli.targets import Target
from callboard.drafts import patch, pointer
from callboard.events.codec import dump_json
from callboard.events.json_values import as_object, as_text, is_list

_PREVIEW = 200
_POSITION = click.IntRange(min=0)


@click.command("diff")
@click.argument("session", metavar="ID")
@click.argument("before", metavar="A", type=_POSITION)
@click.argument("after", metavar="B", type=_POSITION)
@options.anywhere
def command(session: str, before: int, after: int, place: Target, as_json: bool) -> None:
    """Print what changed in the state between two positions."""

    async def look(board: Board) -> tuple[str, object, list[dict[str, object]]]:
        session_id = (await find_session(board, place, session)).session_id
        old = await board.state(session_id, before)
        return session_id, old, await board.diff(session_id, before, after)

    session_id, old, patches = place.look(look)
    if as_json:
        wire = {"sessionId": session_id, "from": before, "to": after, "patches": patches}
        return print_json([wire])
    screen = Screen()
    if not patches:
        screen.line(f"Nothing changed in the state between {before} and {after}.")
    for change in patches:
        _tell(screen, change, _value(old, as_text(change["path"])))
        old = patch.apply(old, [change])
    return None


def _tell(screen: Screen, change: Mapping[str, object], old: object) -> None:
    path = one_line(as_text(change["path"])) or "/"
    if change["op"] == "remove":
        screen.line((f"- {path}: {_json(old)}", "failed"))
        return
    new = _json(change["value"])
    if change["op"] == "add":
        screen.line((f"+ {path}: {new}", "done"))
    else:
        arrow = screen.signs.arrow
        screen.line((f"~ {path}: {_json(old)} {arrow} {new}", "here"))


def _json(value: object) -> str:
    return one_line(dump_json(value).decode(), _PREVIEW)


def _value(document: object, path: str) -> object:
    """The current value at a path; None if there is nothing yet."""
    for key in pointer.split(path):
        if is_list(document):
            document = document[int(key)] if key.isdecimal() and int(key) < len(document) else None
        else:
            document = as_object(document).get(key)
    return document
