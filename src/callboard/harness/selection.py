"""Which option a conversation ends with: one alone in its line, or named as the decision."""

import re
from collections.abc import Sequence
from typing import Final

from callboard.harness.approval import meaning
from callboard.harness.prose import lines_of

_EDGES: Final = " \t*_#>-–—✅✔✓:.!`\"'“”\ufe0f"
_LABEL: Final = re.compile(
    r"(?:(?:the |my |our )?(?:final )?(?:decision|choice|selection|outcome|answer)(?: is)?"
    r"|(?:i|we) (?:choose|select|pick|chose|selected|picked)|selected|chosen)\s*[:–—-]*\s+"
)


def selected(messages: Sequence[str], options: Sequence[str]) -> str | None:
    """The option that the last message that names one decides for; None when it is not clear."""
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
    """The option that the line is, or that it names as the decision; None for any other line."""
    text = _plain(line)
    found = by_name.get(text)
    if found is None:
        label = _LABEL.match(text)
        found = by_name.get(_plain(text[label.end() :])) if label else None
    # Where one option's name is part of another's, both are mentioned, and the whole line tells.
    return found


def _plain(text: str) -> str:
    return text.strip(_EDGES).casefold()
