"""`callboard answer ID VALUE`."""

import sys
from collections.abc import Mapping
from dataclasses import dataclass, replace

import click

from callboard.board.conversations import before_question
from callboard.board.protocol import Board
from callboard.cli import options
from callboard.cli.commands.resume import resume_session, watch_session
from callboard.cli.conversation import print_before
from callboard.cli.edited_input import InputEdit
from callboard.cli.foreground import Continuation, Foreground
from callboard.cli.format import one_line
from callboard.cli.lookup import find_question
from callboard.cli.printing import print_json
from callboard.cli.questions import (
    check_answerer,
    confirm_yes,
    decision,
    exit_code,
    meant,
    print_lines,
    print_receipt,
    ruled,
)
from callboard.cli.screen import Screen
from callboard.cli.targets import Target
from callboard.display.receipts import ending
from callboard.display.tool_calls import edited_parts
from callboard.engine.sessions import SessionInfo
from callboard.errors import ValidationError
from callboard.events import names
from callboard.events.envelope import Json
from callboard.events.json_values import as_object
from callboard.events.status import ENDED
from callboard.interactions.edited_input import EDITED, original_input
from callboard.interactions.kinds import is_from_board, manner_of
from callboard.interactions.outcomes import OUTCOMES, Completion
from callboard.interactions.records import Interaction
from callboard.interactions.rulings import declined, said
from callboard.vendors.conversation import ConversationItem

_SHORT = 200


@dataclass(frozen=True, slots=True)
class _Typed:
    """The command line's values."""

    question: str
    value: str | None
    outcome: str | None
    response: str | None
    resume: bool
    message: str | None
    always: bool
    command: str | None
    input: str | None
    edit: bool
    file: str | None
    by: str | None
    place: Target
    as_json: bool


@click.command("answer")
@click.argument("question", metavar="ID")
@click.argument("value", metavar="[VALUE]", required=False)
@click.option("--outcome", type=click.Choice(OUTCOMES), help="How an interactive session ended.")
@click.option("--response", metavar="JSON", help="The decision, as JSON or text.")
@click.option("--resume", is_flag=True, help="Then resume the session here.")
@click.option("--message", metavar="TEXT", help="The reason; with no, or with --outcome.")
@click.option(
    "--always", is_flag=True, help="Also accept the permission rule that the coding agent proposes."
)
@click.option("--command", metavar="TEXT", help="Let the agent run this command instead; with yes.")
@click.option("--input", metavar="JSON", help="Let the tool run with this input instead; with yes.")
@click.option("--edit", is_flag=True, help="Edit the command or input in $EDITOR; with yes.")
@options.workflow_file
@options.by
@options.anywhere
@options.collected(_Typed)
def command(typed: _Typed) -> int | None:
    """Answer a question.

    ID is the question's id, or its session's id if the session has only one open question.
    VALUE is yes or no for an approval; for a choice, an option or its number. `no --message
    TEXT` declines any question and gives the reason.

    --outcome and --response end an interactive session without an agent.

    Questions from coding agents can only be answered in a terminal. To answer several at once,
    pass a JSON object that maps questions to answers. Before you approve a request that
    `callboard inbox` shortens, the full request is shown and you confirm.

    --command, --input and --edit change what the tool runs with. Claude Code supports that.

    Exit codes: 0 when the agent got the answer, 1 when the answer was overruled in the agent's
    own terminal or lost, 3 while the agent hasn't confirmed it.
    """
    place = typed.place
    stage = Foreground(place, typed.as_json, auto_approve=False)
    seen = _seen(typed)

    async def act(board: Board) -> tuple[Interaction, SessionInfo | None]:
        asked = await _find(board, place, seen.id)
        done = await _answer(board, asked, typed, seen.edited)
        return done, await _session(board, done)

    return _finish(typed, stage, *place.ask(act))


def _finish(
    typed: _Typed, stage: Foreground, done: Interaction, info: SessionInfo | None
) -> int | None:
    place = typed.place
    if typed.resume and info is not None and place.watched:
        return watch_session(Continuation(_as_answered(place, info, done), stage))
    if typed.resume and info is not None and not info.running:
        return resume_session(Continuation(info, stage, typed.by, typed.file))
    if stage.as_json:
        print_json([done.to_wire()])
    else:
        _tell(Screen(), place, done, info)
    return exit_code(done)


def _value(typed: _Typed) -> str | None:
    """The VALUE; None if the end of a session was given instead."""
    ends = typed.outcome is not None or typed.response is not None
    if ends and (typed.value is not None or typed.always):
        raise click.UsageError("Give VALUE, or --outcome and --response: not both.")
    if not ends and typed.value is None:
        raise click.UsageError("Missing argument 'VALUE'; an interactive session takes --outcome.")
    return typed.value


async def _answer(
    board: Board, asked: Interaction, typed: _Typed, edited: Mapping[str, Json] | None
) -> Interaction:
    value = typed.value
    told = _ended(asked, typed) if value is None else _told(asked, typed, value)
    if edited is not None:
        told = {**as_object(told), EDITED: edited}
    if isinstance(told, Completion):
        return await board.people.complete(
            asked.id,
            told.outcome,
            response=told.response,
            error=told.error,
            by=typed.by,
            via="cli",
        )
    return await board.answer(asked.id, told, by=typed.by, via="cli")


def _ended(asked: Interaction, typed: _Typed) -> Completion:
    """The end of an interactive session, reported by a person who held it without an agent."""
    if manner_of(asked.type) != "outcome":
        raise ValidationError(
            f"--outcome is for interactive sessions, and {asked.id} is a question of type "
            f"{asked.type}. Give its answer as VALUE.",
            field="outcome",
        )
    outcome = typed.outcome or "completed"
    schema = as_object(asked.config).get("outcomeSchema")
    response = None if typed.response is None else decision(typed.response, schema)
    return Completion(outcome, response, error=typed.message)


def _told(asked: Interaction, typed: _Typed, value: str) -> object:
    """The value to send for what was typed."""
    declines = said(value) is False and not typed.always
    if declines and (typed.message is not None or manner_of(asked.type) == "outcome"):
        return declined(asked, typed.message)
    if typed.message is not None and manner_of(asked.type) != "ruling":
        raise ValidationError("--message needs a no. Remove it, or answer: no", field="message")
    if is_from_board(asked.type):
        return ruled(asked, value, typed.message, typed.always)
    if typed.always:
        raise ValidationError(
            "--always is only for requests of coding agents. Remove it.", field="always"
        )
    return meant(value, asked.options)


async def _session(board: Board, done: Interaction) -> SessionInfo | None:
    """The session that asked; None for coding agents' questions."""
    if done.session_id is None or (is_from_board(done.type) and not done.awaited):
        return None
    return await board.session(done.session_id)


async def _find(board: Board, place: Target, given: str) -> Interaction:
    asked = await find_question(board, place, given)
    await check_answerer(board, asked)
    return asked


@dataclass(frozen=True, slots=True)
class _Seen:
    """The question, which a person who approves it has seen in full; and its edited input."""

    id: str
    edited: Mapping[str, Json] | None = None


def _seen(typed: _Typed) -> _Seen:
    value = _value(typed)
    edit = InputEdit(typed.command, typed.input, typed.edit)
    edit.check()
    if said(value or "") is True:
        return _confirmed(typed, edit)
    if edit.is_wanted:
        raise click.UsageError("--command, --input and --edit need a yes.")
    return _Seen(typed.question)


def _confirmed(typed: _Typed, edit: InputEdit) -> _Seen:
    """Exactly this question is approved. Nothing stays open while they read or edit."""
    place = typed.place

    async def look(board: Board) -> tuple[Interaction, list[ConversationItem]]:
        found = await _find(board, place, typed.question)
        return found, await before_question(board.conversations, found)

    asked, before = place.ask(look)
    # Standard output may be for a program.
    print_before(Screen(sys.stderr), before)
    if not edit.is_wanted:
        confirm_yes(place, asked, always=typed.always)
        return _Seen(asked.id)
    edited = edit.of(asked)
    lines = [
        line for part in edited_parts(original_input(asked.config), edited) for line in part.lines
    ]
    print_lines(Screen(sys.stderr), lines)
    return _Seen(asked.id, edited)


def _as_answered(place: Target, info: SessionInfo, done: Interaction) -> SessionInfo:
    """The session right after the answer; it may have continued since."""

    async def look(board: Board) -> int:
        events = await board.events(info.session_id)
        ends = [one for one in events if one.name in names.CLOSES_QUESTION]
        # A question that outlived its session ended in another stream.
        found = (one.position for one in ends if one.payload["id"] == done.id)
        return next(found, info.position)

    return replace(info, position=place.ask(look))


def _tell(screen: Screen, place: Target, done: Interaction, info: SessionInfo | None) -> None:
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
            "The session is still waiting for an answer: " + place.command("why", info.session_id)
        )
    elif driven and info.status != "paused":
        watch = place.command("resume" if place.watched else "show", info.session_id)
        screen.line("The server resumes the session. Follow it: ", (watch, "command"))
    else:
        screen.line("Resume the session: ", (place.command("resume", info.session_id), "command"))
    return None


def _said(done: Interaction) -> str:
    if done.status in ("timeout", "failed"):
        return ending(done)
    if done.status == "cancelled" or done.response == "rejected":
        return "declined"
    return f"answered: {ending(done)}"
