"""Extracts the decision from a conversation in which none was submitted."""

import re
from collections.abc import Sequence
from dataclasses import replace
from typing import Final

from callboard.events.envelope import Json
from callboard.events.json_values import Object
from callboard.harness.extraction.approval import meaning, verdict
from callboard.harness.extraction.prose import lines_of
from callboard.harness.extraction.structured import last_fitting
from callboard.harness.outcomes import form_of, options_of
from callboard.vendors.claude.extraction import Spoken

_EDGES: Final = " \t*_#>-–—✅✔✓:.!`\"'“”\ufe0f"
_LABEL: Final = re.compile(
    r"(?:(?:the |my |our )?(?:final )?(?:decision|choice|selection|outcome|answer)(?: is)?"
    r"|(?:i|we) (?:choose|select|pick|chose|selected|picked)|selected|chosen)\s*[:–—-]*\s+"
)
LAST: Final = 3
"""How many messages to read, from the end."""

_SPACE: Final = re.compile(r"\s+")


def selected(messages: Sequence[str], options: Sequence[str]) -> str | None:
    """The option chosen in the last message that names one; None if it isn't clear."""
    by_name = {_plain(option): option for option in options}
    for message in reversed(messages):
        lines = lines_of(message)
        named = [line for line in lines if _mentions(line, by_name)]
        if not named:
            if any(meaning(line) == "shaken" for line in lines):
                return None
            continue
        chosen = {_chosen(line, by_name) for line in named}
        after = lines[lines.index(named[-1]) + 1 :]
        doubted = any(meaning(line) == "shaken" for line in after)
        return chosen.pop() if len(chosen) == 1 and not doubted else None
    return None


def _mentions(line: str, by_name: dict[str, str]) -> list[str]:
    text = line.casefold()
    return [name for name in by_name if re.search(rf"(?<!\w){re.escape(name)}(?!\w)", text)]


def _chosen(line: str, by_name: dict[str, str]) -> str | None:
    """The option that the line is, or names as the decision; None for any other line."""
    text = _plain(line)
    found = by_name.get(text)
    if found is None:
        label = _LABEL.match(text)
        found = by_name.get(_plain(text[label.end() :])) if label else None
    # If one option's name is part of another's, both match, and the whole line decides.
    return found


def _plain(text: str) -> str:
    return text.strip(_EDGES).casefold()


def extracted(said: Sequence[Spoken], prompt: str, config: Object) -> Json:
    """The decision that the conversation ends with; None if it isn't clear."""
    messages = _evidence(said, prompt)
    match form_of(config):
        case "approval":
            return verdict([one.text for one in messages])
        case "selection":
            return selected([one.text for one in messages], options_of(config))
        case "structured":
            return last_fitting([one.text for one in messages if one.kind == "agent"], config)
        case "freeform":
            return None  # Any JSON text would do, so no text stands out.


def last_response(said: Sequence[Spoken]) -> str | None:
    """The agent's last message; if the person refused a decision, only one since then."""
    for one in reversed(said):
        if one.kind == "refused":
            return None
        if one.kind == "agent" and one.text.strip():
            return one.text
    return None


def _evidence(said: Sequence[Spoken], prompt: str) -> list[Spoken]:
    """The last messages; if the person refused a decision, only those since then."""
    refusals = [index for index, one in enumerate(said, 1) if one.kind == "refused"]
    since, by = (refusals[-1], ("person",)) if refusals else (0, ("person", "agent"))
    ours = {_unquoted(line) for line in prompt.splitlines()} - {""}
    told = (replace(one, text=_without(one.text, ours)) for one in said[since:] if one.kind in by)
    return [one for one in told if one.text.strip()][-LAST:]


def _without(text: str, ours: set[str]) -> str:
    """The message without lines from our prompt; a gap separates what is left."""
    lines = text.splitlines()
    return "\n".join("" if _unquoted(line) in ours else line for line in lines)


def _unquoted(line: str) -> str:
    return _SPACE.sub(" ", line.strip().lstrip(">#*- ").rstrip("*")).casefold()
