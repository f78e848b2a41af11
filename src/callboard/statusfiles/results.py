"""Read an agent's result, whatever format the tool returns."""

import json
import re
from typing import Final, NamedTuple

from callboard.disk.files import read_end
from callboard.events.json_values import as_object, is_list

LONGEST: Final = 4_000
"""Characters of an agent's last message that are kept for the next agent."""

_NOTES = "<tools-used-before-summary>"
_LABELS = re.compile(
    r"^[ \t*_#-]*(deliverables|context for next)[ \t*_]*:[ \t*_]*(.*)$",
    re.IGNORECASE | re.MULTILINE,
)
_FAILED = re.compile(r"^[ \t*_]*PHASE FAILED[ \t*_]*:(.*)$", re.MULTILINE)
_TAIL = 65_536
_DONE = re.compile(r"^DONE\|(\S.*)$", re.MULTILINE)


class AgentResult(NamedTuple):
    """What an agent made, what the next one should know, and why it failed, if it says so."""

    deliverables: list[str]
    context: str
    failure: str | None


def result_of(words: str) -> AgentResult:
    """The result in an agent's last message: its labelled lines, otherwise all of it as context."""
    made = [one.strip() for one in _DONE.findall(words)]
    context = ""
    for label, rest in _LABELS.findall(words):
        if label.lower() == "deliverables":
            made += [one.strip(" `") for one in rest.split(",") if one.strip(" `")]
        else:
            context = rest.strip()
    failed = _FAILED.search(words)
    return AgentResult(
        made, _cut(context or words.strip()), _cut(failed[1].strip()) if failed else None
    )


def words_of(response: object) -> str:
    """The text in a tool's result: a string, content blocks, or an object with one of these."""
    if isinstance(response, str):
        return response
    if is_list(response):
        texts = [words_of(one) for one in response]
        return "\n".join(text for text in texts if text and not text.startswith(_NOTES))
    inside = (as_object(response).get(key) for key in ("text", "content", "result"))
    return next((words_of(one) for one in inside if one), "")


def failure_of(response: object) -> str | None:
    """Why an agent failed, if its result says so."""
    found = as_object(response)
    told = found.get("status") in ("failed", "error", "killed", "cancelled")
    if told or found.get("is_error") is True or found.get("isError") is True:
        return _cut(words_of(found.get("error") or found)) or f"it is {found.get('status')}"
    return None


def failure_in(transcript: str) -> str | None:
    """Why an agent stopped, if the last line of its transcript is a model error."""
    try:
        last = as_object(json.loads(read_end(transcript, _TAIL).rstrip().rpartition(b"\n")[2]))
    except (OSError, ValueError, RecursionError):
        return None
    if last.get("isApiErrorMessage") is not True:
        return None
    return _cut(words_of(last.get("message"))) or "the model failed"


def agent_of(response: object) -> str:
    """The id of the agent that a call started."""
    return str(as_object(response).get("agentId") or "")


def is_launch(response: object) -> bool:
    """Whether an agent was only started and works in the background."""
    status = str(as_object(response).get("status"))
    return status.startswith(("async_launched", "remote_launched"))


def _cut(text: str) -> str:
    return text if len(text) <= LONGEST else text[: LONGEST - 1] + "…"
