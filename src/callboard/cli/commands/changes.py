"""`callboard changes PLATE`."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Final

import click

from callboard.board.plate import Plate
from callboard.board.protocol import Board
from callboard.cli import options
from callboard.cli.format import ago, one_line
from callboard.cli.lookup import find_plate
from callboard.cli.person import REVIEWS, ask_as_person
from callboard.cli.printing import Cell, print_json, print_table
from callboard.cli.screen import Screen
from callboard.cli.targets import Target
from callboard.display.amounts import counted
from callboard.events.moments import from_ms
from callboard.worktree.changes import (
    ChangedFile,
    ComparedTo,
    FileChanges,
    FileStatus,
    LineKind,
    PullRequest,
    WorktreeChanges,
)
from callboard.worktree.colors import colored_diff
from callboard.worktree.summaries import (
    branch_line,
    checks_line,
    compared,
    notes_on,
    pull_request_line,
    unfinished,
    why_no_lines,
)

_STYLES: Final[Mapping[FileStatus, str]] = {
    "added": "done",
    "deleted": "failed",
    "conflicted": "failed",
}
_SIGNS: Final[Mapping[LineKind, tuple[str, str]]] = {
    "same": (" ", ""),
    "added": ("+", "done"),
    "removed": ("-", "failed"),
}


@dataclass(frozen=True, slots=True)
class _Typed:
    """The command line's values."""

    plate: str
    since: str
    file: str | None
    place: Target
    as_json: bool


@click.command("changes")
@click.argument("plate", metavar="ID")
@click.option(
    "--since",
    metavar="START",
    default="session",
    show_default=True,
    help="Compare with the start of the `session`, of its last `turn`, of the turn with an id, or "
    "with the last `commit`.",
)
@click.option("--file", metavar="PATH", help="Show the diff of one file, as the list names it.")
@options.anywhere
@options.collected(_Typed)
def command(typed: _Typed) -> None:
    """Show what a coding agent changed in its working tree.

    ID is that of an agent on the board or of its session, the start of it, or the agent's name.
    The working tree is read with git, on the agent's machine; another machine has to allow `read`,
    and on a server, this needs a token with the scope `operate`.
    """

    async def show(board: Board) -> None:
        plate = await find_plate(board, typed.place, typed.plate)
        if typed.file is None:
            found = await board.changes.list(plate.plate_id, since=typed.since)
            now = from_ms(board.clock.now_ms())
            return print_json([found.to_wire()]) if typed.as_json else _print(found, now)
        file = await _file(board, plate, typed.file, typed.since)
        return print_json([file.to_wire()]) if typed.as_json else _print_diff(file)

    ask_as_person(typed.place, REVIEWS, show)


async def _file(board: Board, plate: Plate, path: str, since: str) -> FileChanges:
    """A file's diff. Where a renamed file was, only the list says."""
    found = await board.changes.file(plate.plate_id, path, since=since)
    if found.file.status != "added":
        return found
    listed = await board.changes.list(plate.plate_id, since=since)
    old_path = next((one.old_path for one in listed.files if one.path == path), None)
    if old_path is None:
        return found
    return await board.changes.file(plate.plate_id, path, since=since, old_path=old_path)


def _print(found: WorktreeChanges, now: datetime) -> None:
    screen = Screen()
    screen.line(*_heading(found))
    screen.line((_compared(found.base, now), "faint"))
    if found.base.note:
        screen.line((one_line(found.base.note), "here"))
    if found.pull_request is not None:
        screen.line(*_chip(found.pull_request))
    if not found.files:
        return screen.line("No files changed.")
    print_table(screen, ("File", "Status", "Lines", ""), [_row(one) for one in found.files])
    if found.more:
        screen.line((f"… and {counted(found.more, 'other file')}.", "faint"))
    for commit in found.commits:
        screen.line((commit.id[:8], "faint"), f"  {one_line(commit.subject)}")
    if found.more_commits:
        screen.line((f"… and {counted(found.more_commits, 'other commit')}.", "faint"))
    return None


def _heading(found: WorktreeChanges) -> Sequence[Cell]:
    told: list[Cell] = [(branch_line(found), "name")]
    if note := unfinished(found):
        told.append((f" {note}", "here"))
    return told


def _compared(base: ComparedTo, now: datetime) -> str:
    return compared(base, None if base.at is None else ago(from_ms(base.at), now))


def _chip(told: PullRequest) -> Sequence[Cell]:
    states = {one.state for one in told.checks}
    style = "failed" if "failed" in states else "here" if "pending" in states else "done"
    return f"{pull_request_line(told)}  ", (checks_line(told), style if told.checks else "")


def _row(file: ChangedFile) -> Sequence[Cell]:
    old = "" if file.old_path is None else f"{one_line(file.old_path)} → "
    lines = "" if file.added is None else f"+{file.added} -{file.removed}"
    status = file.status.replace("_", " ")
    style = _STYLES.get(file.status, "")
    return (old + one_line(file.path), (status, style), lines, (", ".join(notes_on(file)), "faint"))


def _print_diff(found: FileChanges) -> None:
    screen, file = Screen(), found.file
    screen.line((one_line(file.path), "name"), f"  {file.status.replace('_', ' ')}")
    if not found.hunks:
        return screen.line(why_no_lines(file))
    for hunk, colored in zip(found.hunks, colored_diff(found), strict=True):
        at = f"@@ -{hunk.old_start} +{hunk.new_start} @@"
        screen.line((f"{at} {one_line(hunk.heading)}".rstrip(), "command"))
        for line, pieces in zip(hunk.lines, colored, strict=True):
            sign, style = _SIGNS[line.kind]
            told = ((text, style if kind == "plain" else kind) for text, kind in pieces)
            screen.line((sign, style), *told)
            if line.no_newline:
                screen.line(("\\ No line break at the end of the file", "faint"))
    if found.cut:
        screen.line(("… The rest of the diff is left out.", "here"))
    return None
