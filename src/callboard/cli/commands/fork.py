"""`callboard fork ID`."""

import asyncio
import sys
from collections.abc import Awaitable, Mapping, Sequence
from pathlib import Path
from typing import Any, TypedDict

import click
import orjson

from callboard.board.protocol import Board
from callboard.cli import options
from callboard.cli.exit import DONE
from callboard.cli.foreground import Continuation, play
from callboard.cli.presenter import Audience
from callboard.cli.printing import print_json
from callboard.cli.screen import Screen
from callboard.engine.operations import Forked
from callboard.engine.workflow import Workflow
from callboard.errors import CallboardError, ValidationError
from callboard.events.json_values import is_list, objects


class Point(TypedDict, total=False):
    """Where a fork starts, and what to change there, as `Board.fork` takes it."""

    phase: str | None
    occurrence: int | str | None
    position: int | None
    edits: Sequence[Mapping[str, object]] | None


@click.command("fork")
@click.argument("session", metavar="ID")
@click.option("--phase", metavar="NAME", help="Start just before this phase was entered.")
@click.option(
    "--occurrence",
    metavar="N",
    help="Which visit of the phase: a number from 1, first, or last (the default).",
)
@click.option("--at", type=int, metavar="N", help="The position: after the first N events.")
@click.option(
    "--edit",
    "edits",
    multiple=True,
    metavar="JSONPATCH",
    help="Change the state first: a JSON Patch, or @FILE with one. Can be repeated.",
)
@click.option("--no-run", is_flag=True, help="Create the fork without running it.")
@options.workflow_file
@options.by
@options.driving
@options.anywhere
def command(
    phase: str | None,
    occurrence: str | None,
    at: int | None,
    edits: tuple[str, ...],
    no_run: bool,
    **session: Any,
) -> int:
    """Start a new session from any point of another one.

    The fork runs here. Without --phase or --at it starts at the end. The original session is
    not changed.
    """
    patches = [patch for text in edits for patch in read_edits(text)]
    which = int(occurrence) if occurrence is not None and occurrence.isdecimal() else occurrence
    one = Continuation.typed(**session)
    point = Point(phase=phase, occurrence=which, position=at, edits=patches or None)
    code = _only_fork(one, point) if no_run else fork_session(one, point)
    if _has_nothing_to_run(one, point):
        _suggest_an_earlier_point(one)
    return code


def fork_session(one: Continuation, point: Point) -> int:
    """Fork a session, and drive the new one in the foreground."""

    async def begin(board: Board, audience: Audience) -> tuple[str, Awaitable[object]]:
        run = one.stage.place.watched
        forked = await board.fork(one.info.session_id, **point, run=run, by=one.by)
        child = forked.session_id
        await audience.take_up(board, child, forked.events_copied)
        return child, board.drive(child, human_input=audience.people, on_event=audience.tell)

    return play(one.stage, one.workflows(), begin)


def _only_fork(one: Continuation, point: Point) -> int:
    place, workflows = one.stage.place, _workflows_if_any(one)

    async def act() -> Forked:
        async with place.open(workflows) as board:
            return await board.fork(one.info.session_id, **point, run=False, by=one.by)

    forked = asyncio.run(act())
    if one.stage.as_json:
        print_json([forked.to_wire()])
        return DONE
    screen = Screen()
    screen.line(
        f"Session {forked.session_id}, forked from {one.info.session_id} "
        f"at position {forked.events_copied}."
    )
    if not _has_nothing_to_run(one, point):
        resume = place.command("resume", forked.session_id)
        screen.line("Resume it: ", (resume, "command"))
    return DONE


def _has_nothing_to_run(one: Continuation, point: Point) -> bool:
    """Whether the fork starts at the end of a completed session, and so has completed too."""
    is_at_end = not point.get("phase") and point.get("position") in (None, one.info.position)
    return is_at_end and one.info.status == "completed"


def _suggest_an_earlier_point(one: Continuation) -> None:
    info, screen = one.info, Screen(sys.stderr)
    earlier = ("--phase", info.phase) if info.phase else ("--at", "1")
    screen.line(f"Nothing is left to run at position {info.position}: the session had completed.")
    fork = one.stage.place.command("fork", info.session_id, *earlier)
    screen.line("Fork an earlier point: ", (fork, "command"))


def _workflows_if_any(one: Continuation) -> list[Workflow]:
    """The workflow, which checks the edits, if it can be found; required if it was named."""
    try:
        return one.workflows()
    except CallboardError:
        if one.file is not None:
            raise
        return []


def read_edits(given: str) -> list[Mapping[str, object]]:
    """The operations in `--edit`: a JSON Patch, one operation of it, or @FILE."""
    try:
        text = Path(given[1:]).read_text(encoding="utf-8") if given.startswith("@") else given
        parsed: object = orjson.loads(text)
    except OSError as error:
        raise ValidationError(
            f"Cannot read {given[1:]}: {error.strerror}.", field="edit"
        ) from error
    except ValueError as error:
        raise ValidationError(f"--edit is not valid JSON: {error}.", field="edit") from error
    listed = parsed if is_list(parsed) else [parsed]
    edits = objects(listed)
    if len(edits) < len(listed):
        raise ValidationError(
            "--edit must be a JSON Patch, such as "
            '[{"op": "replace", "path": "/city", "value": "Rome"}].',
            field="edit",
        )
    return edits
