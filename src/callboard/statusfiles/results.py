"""What an agent brought back, from whatever the tool's result looks like."""

import json
import re
from collections.abc import Mapping
from typing import Any, Final, NamedTuple, cast

from callboard.disk.files import read_end

LONGEST: Final = 4_000
"""Characters of an agent's words that are kept for the next one."""

_NOTES = "<tools-used-before-summary>"
_LABELS = re.compile(
    r"^[ \t*_#-]*(deliverables|context for next)[ \t*_]*:[ \t*_]*(.*)$",
    re.IGNORECASE | re.MULTILINE,
)
_FAILED = re.compile(r"^[ \t*_]*PHASE FAILED[ \t*_]*:(.*)$", re.MULTILINE)
_TAIL = 65_536
_DONE = re.compile(r"^DONE\|(\S.*)$", re.MULTILINE)


class Result(NamedTuple):
    """What an agent made, what the next one should know, and why it failed, if it says so."""

    deliverables: list[str]
    context: str
    failure: str | None


def result_of(words: str) -> Result:
    """What an agent's last words tell: its labelled lines, or else all of it as context."""
    made = [one.strip() for one in _DONE.findall(words)]
    context = ""
    for label, rest in _LABELS.findall(words):
        if label.lower() == "deliverables":
            made += [one.strip(" `") for one in rest.split(",") if one.strip(" `")]
        else:
            context = rest.strip()
    failed = _FAILED.search(words)
    return Result(made, _cut(context or words.strip()), _cut(failed[1].strip()) if failed else None)


def words_of(response: Any) -> str:
    """The text in a tool's result: a text, blocks of it, or an object with such a thing inside."""
    if isinstance(response, str):
        return response
    if isinstance(response, list):
        texts = [words_of(one) for one in cast("list[Any]", response)]
        return "\n".join(text for text in texts if text and not text.startswith(_NOTES))
    if isinstance(response, dict):
        found = cast("dict[str, Any]", response)
        inside = (found.get(key) for key in ("text", "content", "result"))
        return next((words_of(one) for one in inside if one), "")
    return ""


def failure_of(response: Any) -> str | None:
    """Why an agent failed, when its result says that it did."""
    if not isinstance(response, Mapping):
        return None
    found = cast("Mapping[str, Any]", response)
    told = found.get("status") in ("failed", "error", "killed", "cancelled")
    if told or found.get("is_error") is True or found.get("isError") is True:
        return _cut(words_of(found.get("error") or found)) or f"it is {found.get('status')}"
    return None


def failure_in(transcript: str) -> str | None:
    """Why an agent broke off, when the last line of its transcript is an error of the model."""
    try:
        last = json.loads(read_end(transcript, _TAIL).rstrip().rpartition(b"\n")[2])
    except (OSError, ValueError, RecursionError):
        return None
    if (
        not isinstance(last, dict)
        or cast("dict[str, Any]", last).get("isApiErrorMessage") is not True
    ):
        return None
    return _cut(words_of(cast("dict[str, Any]", last).get("message"))) or "the model failed"


def agent_of(response: Any) -> str:
    """The id of the agent that a call started."""
    found: Mapping[str, Any] = (
        cast("Mapping[str, Any]", response) if isinstance(response, Mapping) else {}
    )
    return str(found.get("agentId") or "")


def is_launch(response: Any) -> bool:
    """Whether an agent was only started, and works in the background."""
    return isinstance(response, Mapping) and str(
        cast("Mapping[str, Any]", response).get("status")
    ).startswith(("async_launched", "remote_launched"))


def _cut(text: str) -> str:
    return text if len(text) <= LONGEST else text[: LONGEST - 1] + "…"
