"""A session's questions as XML: the plan that agents and people read.

Well-formed whatever the questions contain: what XML cannot hold, and what nobody could see, is
written as an escape.
"""

import json
import re
from collections.abc import Iterator, Mapping
from typing import Any, Final, cast
from xml.sax.saxutils import escape, quoteattr

from callboard.display.characters import visible
from callboard.engine.sessions import SessionInfo
from callboard.interactions.configs import KIND
from callboard.interactions.records import Interaction
from callboard.interactions.results import verdict_of

MODEL: Final = "sonnet"
"""Which model holds a session that names none."""

_WAITING: Final = {
    True: "Waiting for interactive session to complete...",
    False: "Waiting for an answer...",
}
_WORDS: Final[Mapping[bool | None, str]] = {True: "approved", False: "rejected"}
_FORBIDDEN: Final = re.compile(
    "[^\t\n\u0020-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]"  # what no XML document can hold
)


def plan_xml(session: SessionInfo, questions: list[Interaction]) -> str:
    """The plan of a session: its questions, open and closed, oldest first."""
    named = {"session": session.session_id, "workflow": session.workflow, "status": session.status}
    lines = [f"<plan {_attributes(named)}>"]
    for question in questions:
        lines += (f"  {line}" for line in _question(question))
    return "\n".join([*lines, "</plan>"])


def outcome_of(closed: Interaction) -> str:
    """What came of a question, in one word: the decision if it was yes or no, else the status."""
    if closed.status != "completed":
        return closed.status
    verdict = verdict_of(closed) if closed.type == KIND else None
    if verdict is None and isinstance(closed.response, Mapping):
        told = cast("Mapping[str, Any]", closed.response).get("approved")
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
        for name, value in _config(cast("Mapping[str, Any]", asked.config or {})):
            yield _element("    ", name, str(value))
        yield "  </config>"
    if asked.response is not None:
        yield _element("  ", "response", _json(asked.response))
    yield _element("  ", "message", _WAITING[asked.type == KIND])


def _config(config: Mapping[str, Any]) -> Iterator[tuple[str, Any]]:
    yield "model", config.get("model") or MODEL
    if config.get("timeout") is not None:
        yield "timeout", config["timeout"]
    schema = config.get("outcomeSchema")
    if isinstance(schema, Mapping):
        word = cast("Mapping[str, Any]", schema).get("type")
        simple = word in ("approval", "selection", "freeform", "structured")
        yield "outcome-type", word if simple else "structured"


def _closed(asked: Interaction) -> Iterator[str]:
    yield _element("  ", "outcome", outcome_of(asked))
    if asked.duration_ms is not None:
        yield _element("  ", "duration", str(asked.duration_ms))
    if asked.response is not None:
        yield _element("  ", "response", _json(asked.response))
    if asked.error is not None:
        error = asked.error if isinstance(asked.error, str) else _json(asked.error)
        yield _element("  ", "error", error)


def _json(value: Any) -> str:
    """JSON that can be read back, with nothing hidden in it."""
    text = json.dumps(value, ensure_ascii=False)
    return "".join(char if shown(char) == char else json.dumps(char)[1:-1] for char in text)


def _element(indent: str, name: str, text: str) -> str:
    return f"{indent}<{name}>{escape(shown(text))}</{name}>"


def _attributes(named: Mapping[str, str]) -> str:
    line = {"\n": "&#10;", "\t": "&#9;"}
    return " ".join(f"{name}={quoteattr(shown(text), line)}" for name, text in named.items())


def shown(text: str) -> str:
    """Text as the plan shows it: nothing hidden, and nothing that XML forbids."""
    return _FORBIDDEN.sub(lambda found: f"\\u{ord(found[0]):04x}", visible(text))
