"""Answering a coding agent from the command line: only a person at a terminal does."""

import json
import sys
from typing import Any

from callboard.cli.screen import Screen
from callboard.cli.wording import one_line
from callboard.errors import Forbidden, ValidationError
from callboard.handlers.terminal import visible
from callboard.interactions.kinds import KINDS, manner_of
from callboard.interactions.records import Interaction
from callboard.interactions.verdicts import agreed


def check_person(asked: Interaction) -> None:
    """Refuse to answer for a program: an agent could else allow itself what it asks for."""
    if not (sys.stdin.isatty() and sys.stderr.isatty()):
        raise Forbidden(
            f"{asked.type} {asked.id} is for a person to decide, and this is no terminal. Answer "
            "it in the dashboard, in `callboard board`, or in a terminal of your own.",
            interaction_id=asked.id,
        )


def ruled(asked: Interaction, value: str, message: str | None, always: bool) -> Any:
    """The value that the answer sends, from what was typed."""
    if manner_of(asked.type) == "answers":
        if message is not None or always:
            raise ValidationError("--message and --always go with a yes or no.", field="value")
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


def tell(screen: Screen, done: Interaction) -> None:
    """Say what was decided, and about what."""
    response: dict[str, Any] = done.response or {}
    if "answers" in response:
        told = ", ".join(one_line(str(one)) for one in response["answers"].values())
    else:
        told = "yes" if response.get("approved") else "no"
    screen.line((f"{screen.signs.done} answered: {told}", "done"))
    screen.line((f"  {one_line(visible(done.prompt))}", "faint"))
