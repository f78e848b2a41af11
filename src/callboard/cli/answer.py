"""`callboard answer ID VALUE`."""

from dataclasses import replace
from typing import Any

import click

from callboard.cli import options
from callboard.cli.foreground import Stage
from callboard.cli.lookup import find_question
from callboard.cli.places import Board, Place
from callboard.cli.printing import print_json
from callboard.cli.resume import resume_session, watch_session
from callboard.cli.ruling import check_not_agent, check_person, confirm_rules, ruled, tell
from callboard.cli.screen import Screen
from callboard.cli.wording import preview
from callboard.engine.sessions import SessionInfo
from callboard.errors import ValidationError
from callboard.events import names
from callboard.events.status import ENDED
from callboard.interactions.kinds import is_from_board
from callboard.interactions.records import Interaction


@click.command("answer")
@click.argument("question", metavar="ID")
@click.argument("value", metavar="VALUE")
@click.option("--resume", is_flag=True, help="Let the session go on at once, here.")
@click.option("--message", metavar="TEXT", help="A word to the coding agent that asks.")
@click.option("--always", is_flag=True, help="Make the rule that the coding agent proposes.")
@options.workflow_file
@options.by
@options.anywhere
def command(
    question: str, value: str, resume: bool, by: str | None, place: Place, **given: Any
) -> int | None:
    """Answer a question.

    ID is the question's, or its session's if that asks only one. VALUE is yes or no for an
    approval, and for a choice the option or its number. What a coding agent asks is answered at
    a terminal only; several questions at once, by a JSON object of question and answer.
    """

    async def act(board: Board) -> tuple[Interaction, SessionInfo | None]:
        asked = await _find(board, place, meant_id)
        if is_from_board(asked.type):
            told = ruled(asked, value, given["message"], given["always"])
        else:
            _check_plain(given)
            told = meant(value, asked.options)
        done = await board.answer(asked.id, told, by=by, via="cli")
        return done, await _session(board, done)

    stage = Stage(place, given["as_json"], auto_approve=False)
    meant_id = _confirmed(place, question, value) if given["always"] else question
    done, info = place.ask(act)
    if resume and info is not None and place.watched:
        return watch_session(_as_answered(place, info, done), stage)
    if resume and info is not None and not info.running:
        return resume_session(info, stage, by=by, file=given["file"])
    if stage.as_json:
        return print_json([done.to_wire()])
    _tell(Screen(), place, done, info)
    return None


async def _session(board: Board, done: Interaction) -> SessionInfo | None:
    """The session that asked; what hooks of coding agents ask is no session's."""
    if done.session_id is None or (is_from_board(done.type) and not done.awaited):
        return None
    return await board.session(done.session_id)


async def _find(board: Board, place: Place, given: str) -> Interaction:
    asked = await find_question(board, place, given)
    check_not_agent(asked)
    if is_from_board(asked.type):
        await check_person(board, asked)
    return asked


def _confirmed(place: Place, given: str, value: str) -> str:
    """The id of what is answered always: of this question, whose rules a person has seen.

    Nothing is open while they read.
    """
    asked = place.ask(lambda board: _find(board, place, given))
    confirm_rules(asked, value)
    return asked.id


def _check_plain(given: dict[str, Any]) -> None:
    if given["message"] is not None or given["always"]:
        raise ValidationError(
            "--message and --always are for what coding agents ask. Leave them out.", field="value"
        )


def _as_answered(place: Place, info: SessionInfo, done: Interaction) -> SessionInfo:
    """The session as it stood just after the answer; it may have gone on since."""

    async def look(board: Board) -> int:
        events = await board.events(info.session_id)
        answers = [one for one in events if one.name == names.RECEIVED]
        return next(one.position for one in answers if one.payload["id"] == done.id)

    return replace(info, position=place.ask(look))


def meant(value: str, options: list[str] | None) -> str:
    """The option that a value means: itself, or the one with this number."""
    if not options or value in options or not value.isdecimal():
        return value
    number = int(value)
    return options[number - 1] if 1 <= number <= len(options) else value


def _tell(screen: Screen, place: Place, done: Interaction, info: SessionInfo | None) -> None:
    if is_from_board(done.type):
        tell(screen, done)
    else:
        screen.line((f"{screen.signs.done} answered: {preview(done.response['value'])}", "done"))
    if info is None or info.status in ENDED:
        return
    driven = place.drives(info.workflow)
    if info.running and not driven:
        return
    if info.status == "waiting":
        screen.line(
            "The session still waits for a person: " + place.command("why", info.session_id)
        )
    elif driven and info.status != "paused":
        watch = place.command("resume" if place.watched else "show", info.session_id)
        screen.line("The session goes on there. Watch it: ", (watch, "command"))
    else:
        screen.line(
            "Let the session go on: ", (place.command("resume", info.session_id), "command")
        )
