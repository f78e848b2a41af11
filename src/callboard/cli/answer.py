"""`callboard answer ID VALUE`."""

from dataclasses import dataclass, replace
from typing import Any

import click

from callboard.cli import options
from callboard.cli.foreground import Stage
from callboard.cli.lookup import find_question
from callboard.cli.places import Board, Place
from callboard.cli.printing import print_json
from callboard.cli.questions import exit_code, print_receipt
from callboard.cli.resume import resume_session, watch_session
from callboard.cli.ruling import check_not_agent, check_person, confirm_yes, ruled
from callboard.cli.screen import Screen
from callboard.cli.wording import one_line
from callboard.display.receipts import ending
from callboard.engine.sessions import SessionInfo
from callboard.errors import ValidationError
from callboard.events import names
from callboard.events.status import ENDED
from callboard.interactions.declining import declined
from callboard.interactions.kinds import is_from_board, manner_of
from callboard.interactions.outcomes import Completion
from callboard.interactions.records import Interaction
from callboard.interactions.verdicts import said

_SHORT = 200


@dataclass(frozen=True, slots=True)
class _Typed:
    """What was typed after the question's id."""

    value: str
    message: str | None
    always: bool


@click.command("answer")
@click.argument("question", metavar="ID")
@click.argument("value", metavar="VALUE")
@click.option("--resume", is_flag=True, help="Let the session go on at once, here.")
@click.option("--message", metavar="TEXT", help="Why not; goes with a no to any question.")
@click.option("--always", is_flag=True, help="Make the rule that the coding agent proposes.")
@options.workflow_file
@options.by
@options.anywhere
def command(
    question: str, value: str, resume: bool, by: str | None, place: Place, **given: Any
) -> int | None:
    """Answer a question.

    ID is the question's, or its session's if that asks only one. VALUE is yes or no for an
    approval, and for a choice the option or its number. `no --message TEXT` declines any
    question and says why.

    What a coding agent asks is answered at a terminal only; several questions at once, by a JSON
    object of question and answer. Before a yes to what `callboard inbox` shortens, all of it is
    shown, and you are asked again.

    Exits with 0 when the agent got the answer, 1 when the answer was overruled in the agent's
    own terminal or lost, and 3 while the agent has not confirmed it.
    """
    typed = _Typed(value, given["message"], given["always"])
    stage = Stage(place, given["as_json"], auto_approve=False)
    meant_id = _confirmed(place, question, typed) if said(value) is True else question

    async def act(board: Board) -> tuple[Interaction, SessionInfo | None]:
        asked = await _find(board, place, meant_id)
        done = await _answer(board, asked, typed, by)
        return done, await _session(board, done)

    done, info = place.ask(act)
    if resume and info is not None and place.watched:
        return watch_session(_as_answered(place, info, done), stage)
    if resume and info is not None and not info.running:
        return resume_session(info, stage, by=by, file=given["file"])
    if stage.as_json:
        print_json([done.to_wire()])
    else:
        _tell(Screen(), place, done, info)
    return exit_code(done)


async def _answer(board: Board, asked: Interaction, typed: _Typed, by: str | None) -> Interaction:
    told = _told(asked, typed)
    if isinstance(told, Completion):
        return await board.people.complete(
            asked.id, told.outcome, error=told.error, by=by, via="cli"
        )
    return await board.answer(asked.id, told, by=by, via="cli")


def _told(asked: Interaction, typed: _Typed) -> Any:
    """What is sent for what was typed."""
    declines = said(typed.value) is False and not typed.always
    if declines and (typed.message is not None or manner_of(asked.type) == "outcome"):
        return declined(asked, typed.message)
    if typed.message is not None and manner_of(asked.type) != "ruling":
        raise ValidationError(
            "--message goes only with a no. Leave it out, or answer: no", field="message"
        )
    if is_from_board(asked.type):
        return ruled(asked, typed.value, typed.message, typed.always)
    if typed.always:
        raise ValidationError(
            "--always is for what coding agents ask. Leave it out.", field="always"
        )
    return meant(typed.value, asked.options)


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


def _confirmed(place: Place, given: str, typed: _Typed) -> str:
    """The id of what a yes is for: this question, of which a person has seen everything.

    Nothing is open while they read.
    """
    asked = place.ask(lambda board: _find(board, place, given))
    confirm_yes(place, asked, always=typed.always)
    return asked.id


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
    if done.from_hook:
        print_receipt(screen, place, done)
        return screen.line((f"  {one_line(done.prompt, _SHORT)}", "faint"))
    screen.line((f"{screen.signs.done} {_said(done)}", "done"))
    if info is None or info.status in ENDED:
        return None
    driven = place.drives(info.workflow)
    if info.running and not driven:
        return None
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
    return None


def _said(done: Interaction) -> str:
    if done.status == "cancelled" or done.response == "rejected":
        return "declined"
    return f"answered: {ending(done)}"
