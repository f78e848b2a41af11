"""Answering a coding agent from the command line: only a person at a terminal does."""

import json
import os
import sys
from typing import Any

from callboard.agents.claude_code.leftovers import MARK, works_for_a_run
from callboard.board.processes import ancestors, is_alive
from callboard.cli.places import Board, Place
from callboard.cli.plates import wire
from callboard.cli.questions import confirm, confirm_whole
from callboard.cli.screen import Screen
from callboard.display.characters import visible
from callboard.errors import Forbidden, PlateNotFound, ValidationError
from callboard.interactions.kinds import KINDS, manner_of
from callboard.interactions.records import Interaction
from callboard.interactions.verdicts import agreed
from callboard.tui.rows import plate_of
from callboard.vendors.rules import rules_of


async def check_person(board: Board, asked: Interaction) -> None:
    """Refuse to answer for a program: an agent could else allow itself what it asks for."""
    if not (sys.stdin.isatty() and sys.stderr.isatty()):
        raise Forbidden(
            f"{asked.type} {asked.id} is for a person to decide, and this is no terminal. Answer "
            "it in the dashboard, in `callboard board`, or in a terminal of your own.",
            interaction_id=asked.id,
        )

    if await _is_from_agent(board, asked):
        raise _by_itself(asked)


def check_not_agent(asked: Interaction) -> None:
    """Refuse to answer for an agent that works in a session: its questions are for a person."""
    if MARK in os.environ or works_for_a_run(os.getpid()):
        raise _by_itself(asked)


def _by_itself(asked: Interaction) -> Forbidden:
    return Forbidden(
        "This answer comes from an agent that asks. A person has to give it: in the dashboard, in "
        "`callboard board`, or in another terminal.",
        interaction_id=asked.id,
    )


async def _is_from_agent(board: Board, asked: Interaction) -> bool:
    """Whether the agent that asks has started us: it can make itself a terminal."""
    plate_id = plate_of(asked)
    if plate_id is None:
        return False
    try:
        plate = wire(await board.plates.get(plate_id))
    except PlateNotFound:
        return False
    pid = plate["pid"]
    # On a server of another machine the same number means another, and its start tells that.
    return pid in ancestors(os.getpid()) and is_alive(pid, plate["procStart"])


def confirm_yes(place: Place, asked: Interaction, *, always: bool) -> None:
    """Show all that a yes would allow, where `inbox` shows only part of it, and ask again.

    So nobody allows what they have not seen to its end. What makes no sense is left to be refused
    with the answer.
    """
    if manner_of(asked.type) != "ruling":
        return
    was_shortened = confirm_whole(place, asked)
    if always:
        confirm_rules(asked)
    elif was_shortened:
        confirm("Allow all of this?" if asked.type == "permission" else "Approve all of this?")


def confirm_rules(asked: Interaction) -> None:
    """Show the rules that `--always` would make, and ask whether they are meant."""
    rules = rules_of(asked.config) if asked.type == "permission" else []
    if not rules:
        raise ValidationError(
            "The agent proposes no rule with this. Leave out --always.", field="always"
        )
    # Standard output may be for a program.
    screen = Screen(sys.stderr)
    screen.line("This changes the agent's settings, and it then does not ask any more:")
    for rule in rules:
        screen.line(f"  {visible(f'{rule.does} {rule.where}'.strip(), keep='')}")
        for one in rule.exactly:
            screen.line((f"    {visible(one, keep='')}", "here"))
    confirm("Always?")


def ruled(asked: Interaction, value: str, message: str | None, always: bool) -> Any:
    """The value that the answer sends, from what was typed."""
    if manner_of(asked.type) == "answers":
        if always:
            raise ValidationError("--always goes only with a yes.", field="always")
        return _answers(asked, value)
    verdict: dict[str, Any] = {"approved": agreed(value, None)}
    if message is not None:
        verdict[KINDS[asked.type].remark] = message
    return verdict | ({"always": True} if always else {})


def _answers(asked: Interaction, value: str) -> Any:
    if value.lstrip().startswith("{"):
        try:
            return json.loads(value)
        except ValueError as error:
            raise ValidationError(f"The answers are no JSON: {error}.", field="value") from error
    options = asked.options or []
    if value not in options and value.isdecimal() and 1 <= int(value) <= len(options):
        return options[int(value) - 1]
    return value
