"""`callboard plan ID`."""

import json
import re
from collections.abc import Iterator, Mapping
from typing import Final
from xml.sax.saxutils import escape, quoteattr

import click

from callboard.board.protocol import Board
from callboard.cli import options
from callboard.cli.lookup import find_session
from callboard.cli.printing import print_json
from callboard.cli.targets import Target
from callboard.display.lines import visible
from callboard.engine.sessions import SessionInfo
from callboard.events.json_values import is_mapping
from callboard.interactions.configs import KIND
from callboard.interactions.records import Interaction
from callboard.interactions.results import verdict_of


@click.command("plan")
@click.argument("session", metavar="ID")
@options.anywhere
def command(session: str, place: Target, as_json: bool) -> None:
    """Print a session's questions, open and closed, as XML for agents."""

    async def look(board: Board) -> tuple[SessionInfo, list[Interaction]]:
        info = await find_session(board, place, session)
        return info, await board.people.find(session_id=info.session_id)

    info, found = place.look(look)
    if not as_json:
        click.echo(plan_xml(info, found))
        return
    told = [
        {**one.to_wire(), "outcome": None if one.status == "pending" else outcome_of(one)}
        for one in found
    ]
    about = {"sessionId": info.session_id, "workflow": info.workflow, "status": info.status}
    print_json([{**about, "humanInteractions": told}])


MODEL: Final = "sonnet"
"""The model of a session that doesn't name one."""

_WAITING: Final = {
    True: "Waiting for interactive session to complete...",
    False: "Waiting for an answer...",
}
_WORDS: Final[Mapping[bool | None, str]] = {True: "approved", False: "rejected"}
_FORBIDDEN: Final = re.compile(
    "[^\t\n\u0020-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]"  # characters that XML doesn't allow
)


def plan_xml(session: SessionInfo, questions: list[Interaction]) -> str:
    """The plan of a session: its questions, open and closed, oldest first."""
    named = {"session": session.session_id, "workflow": session.workflow, "status": session.status}
    lines = [f"<plan {_attributes(named)}>"]
    for question in questions:
        lines += (f"  {line}" for line in _question(question))
    return "\n".join([*lines, "</plan>"])


def outcome_of(closed: Interaction) -> str:
    """A question's outcome in one word: the decision if it was yes or no, otherwise the status."""
    if closed.status != "completed":
        return closed.status
    verdict = verdict_of(closed) if closed.type == KIND else None
    if verdict is None and is_mapping(closed.response):
        told = closed.response.get("approved")
        verdict = told if isinstance(told, bool) else None
    return _WORDS.get(verdict, closed.status)


def _question(asked: Interaction) -> Iterator[str]:
    named = {"type": asked.type, "status": asked.status}
    yield f"<human-interaction {_attributes(named)}>"
    yield _element("  ", "prompt", asked.prompt)
    for option in asked.options or ():
        yield _element("  ", "option", option)
    if asked.status == "pending":
        yield from _open(asked)
    else:
        yield from _closed(asked)
    yield "</human-interaction>"


def _open(asked: Interaction) -> Iterator[str]:
    if asked.type == KIND:
        yield "  <config>"
        for name, value in _config(asked.config or {}):
            yield _element("    ", name, str(value))
        yield "  </config>"
    if asked.response is not None:
        yield _element("  ", "response", _json(asked.response))
    yield _element("  ", "message", _WAITING[asked.type == KIND])


def _config(config: Mapping[str, object]) -> Iterator[tuple[str, object]]:
    yield "model", config.get("model") or MODEL
    if config.get("timeout") is not None:
        yield "timeout", config["timeout"]
    schema = config.get("outcomeSchema")
    if is_mapping(schema):
        word = schema.get("type")
        simple = word in ("approval", "selection", "freeform", "structured")
        yield "outcome-type", word if simple else "structured"


def _closed(asked: Interaction) -> Iterator[str]:
    yield _element("  ", "outcome", outcome_of(asked))
    if asked.duration_ms is not None:
        yield _element("  ", "duration", str(asked.duration_ms))
    if asked.response is not None:
        yield _element("  ", "response", _json(asked.response))
    if asked.error is not None:
        yield _element("  ", "error", asked.error)


def _json(value: object) -> str:
    """JSON that can be parsed again, without hidden characters."""
    text = json.dumps(value, ensure_ascii=False)
    return "".join(char if shown(char) == char else json.dumps(char)[1:-1] for char in text)


def _element(indent: str, name: str, text: str) -> str:
    return f"{indent}<{name}>{escape(shown(text))}</{name}>"


def _attributes(named: Mapping[str, str]) -> str:
    line = {"\n": "&#10;", "\t": "&#9;"}
    return " ".join(f"{name}={quoteattr(shown(text), line)}" for name, text in named.items())


def shown(text: str) -> str:
    """Text for the plan, without hidden characters or anything that XML forbids."""
    return _FORBIDDEN.sub(lambda found: f"\\u{ord(found[0]):04x}", visible(text))
