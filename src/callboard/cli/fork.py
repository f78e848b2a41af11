"""`callboard fork ID`."""

import asyncio
from collections.abc import Awaitable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, cast

import click
import orjson

from callboard.cli import options
from callboard.cli.audience import Audience
from callboard.cli.exits import DONE
from callboard.cli.foreground import Stage, play
from callboard.cli.lookup import find_session
from callboard.cli.places import Board
from callboard.cli.printing import print_json
from callboard.cli.screen import Screen
from callboard.engine.operations import Forked
from callboard.engine.sessions import SessionInfo
from callboard.engine.workflow import Workflow
from callboard.errors import CallboardError, ValidationError


@dataclass(frozen=True, slots=True)
class Point:
    """Where a fork begins, and what is changed there."""

    phase: str | None = None
    occurrence: int | str | None = None
    position: int | None = None
    edits: Sequence[dict[str, Any]] = ()


@click.command("fork")
@click.argument("session", metavar="ID")
@click.option("--phase", metavar="NAME", help="Just before this phase was entered.")
@click.option(
    "--occurrence", metavar="N", help="Which time: a number from 1, first, or last (the default)."
)
@click.option("--at", type=int, metavar="N", help="After the first N events.")
@click.option(
    "--edit",
    "edits",
    multiple=True,
    metavar="JSONPATCH",
    help="Change the state first: a JSON Patch, or @FILE that holds one. Can be repeated.",
)
@click.option("--no-run", is_flag=True, help="Only make it.")
@options.workflow_file
@options.by
@options.driving
@options.anywhere
def command(session: str, no_run: bool, **given: Any) -> int:
    """Begin a new session from a point of an old one.

    It is run here. Without --phase or --at it begins at the end. The old session stays as it is.
    """
    edits = [patch for text in given["edits"] for patch in read_edits(text)]
    point = Point(given["phase"], _occurrence(given["occurrence"]), given["at"], edits)
    stage = Stage(given["place"], given["as_json"], given["auto_approve"])
    info = stage.place.ask(lambda board: find_session(board, stage.place, session))
    act = _only_fork if no_run else fork_session
    return act(info, stage, point, by=given["by"], file=given["file"])


def fork_session(
    info: SessionInfo, stage: Stage, point: Point, *, by: str | None, file: str | None
) -> int:
    """Fork a session, and drive the new one in the foreground."""

    async def begin(board: Board, audience: Audience) -> tuple[str, Awaitable[Any]]:
        forked = await _fork(board, info, point, by, run=stage.place.watched)
        child = forked.session_id
        await audience.take_up(board, child, forked.events_copied)
        return child, board.drive(child, human_input=audience.people, on_event=audience.tell)

    return play(stage, stage.place.needed(info, file), begin)


def _only_fork(
    info: SessionInfo, stage: Stage, point: Point, *, by: str | None, file: str | None
) -> int:
    workflows = _workflow_if_any(info, stage, file)

    async def act() -> Forked:
        async with stage.place.open(workflows) as board:
            return await _fork(board, info, point, by, run=False)

    forked = asyncio.run(act())
    if stage.as_json:
        print_json([_wire(forked)])
        return DONE
    screen = Screen()
    screen.line(
        f"Session {forked.session_id}, forked from {info.session_id} "
        f"at position {forked.events_copied}."
    )
    resume = stage.place.command("resume", forked.session_id)
    screen.line("Let it go on: ", (resume, "command"))
    return DONE


def _workflow_if_any(info: SessionInfo, stage: Stage, file: str | None) -> list[Workflow]:
    """The workflow, which checks the edits, if it can be found; one that was named has to be."""
    try:
        return stage.place.needed(info, file)
    except CallboardError:
        if file is not None:
            raise
        return []


async def _fork(
    board: Board, info: SessionInfo, point: Point, by: str | None, *, run: bool
) -> Forked:
    return await board.fork(
        info.session_id,
        phase=point.phase,
        occurrence=point.occurrence,
        position=point.position,
        edits=point.edits or None,
        run=run,
        by=by,
    )


def _wire(forked: Forked) -> dict[str, Any]:
    return {
        "sessionId": forked.session_id,
        "originalSessionId": forked.original_session_id,
        "eventsCopied": forked.events_copied,
        "position": forked.position,
    }


def _occurrence(given: str | None) -> int | str | None:
    return int(given) if given is not None and given.isdecimal() else given


def read_edits(given: str) -> list[dict[str, Any]]:
    """The operations that `--edit` gives: a JSON Patch, one operation of it, or @FILE."""
    try:
        text = Path(given[1:]).read_text(encoding="utf-8") if given.startswith("@") else given
        parsed: Any = orjson.loads(text)
    except OSError as error:
        raise ValidationError(
            f"Cannot read {given[1:]}: {error.strerror}.", field="edit"
        ) from error
    except ValueError as error:
        raise ValidationError(f"--edit is no JSON: {error}.", field="edit") from error
    listed = cast("list[Any]", parsed if isinstance(parsed, list) else [parsed])
    if not all(isinstance(one, dict) for one in listed):
        raise ValidationError(
            '--edit takes a JSON Patch, as [{"op": "replace", "path": "/city", "value": "Rome"}].',
            field="edit",
        )
    return listed
