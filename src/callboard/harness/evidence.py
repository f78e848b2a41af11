"""What a conversation says was decided, where nobody submitted a decision.

It is the way out when the tool was not used, so it is told here what counts, and all else counts
for nothing: never an approval by a guess. The last messages are read. What only repeats our own
prompt is no evidence, nor is code, nor what somebody quotes. Once the person has refused a
decision, only what they say themselves counts.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, Literal

from callboard.harness.approval import verdict
from callboard.harness.outcomes import form_of, options_of
from callboard.harness.selection import selected
from callboard.harness.structured import last_fitting

LAST: Final = 3
"""So many messages are read, from the end."""

_SPACE: Final = re.compile(r"\s+")


@dataclass(frozen=True, slots=True)
class Said:
    """A message of the conversation; `refused` instead is the person's no to a decision."""

    by: Literal["person", "agent", "refused"]
    text: str


def extracted(said: Sequence[Said], prompt: str, config: Mapping[str, Any]) -> Any:
    """The decision that the conversation ends with; None when it is not clear."""
    messages = _evidence(said, prompt)
    match form_of(config):
        case "approval":
            return verdict([one.text for one in messages])
        case "selection":
            return selected([one.text for one in messages], options_of(config))
        case "structured":
            return last_fitting([one.text for one in messages if one.by == "agent"], config)
        case "freeform":
            return None  # Any text would do, so no text can be told from the rest.


def _evidence(said: Sequence[Said], prompt: str) -> list[Said]:
    after = [index for index, one in enumerate(said) if one.by == "refused"]
    if after:
        said = [one for one in said[after[-1] + 1 :] if one.by == "person"]
    ours = {_plain(line) for line in prompt.splitlines()} - {""}
    told = (Said(one.by, _without(one.text, ours)) for one in said)
    return [one for one in told if one.text.strip()][-LAST:]


def _without(text: str, ours: set[str]) -> str:
    """The message without the lines that our prompt has too; a gap keeps what is left apart."""
    lines = text.splitlines()
    return "\n".join("" if _plain(line) in ours else line for line in lines)


def _plain(line: str) -> str:
    return _SPACE.sub(" ", line.strip().lstrip(">#*- ").rstrip("*")).casefold()
