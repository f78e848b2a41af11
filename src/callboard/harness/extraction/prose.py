"""The sentences of a message, without code and quotations, which aren't the speaker's own words."""

import re
from typing import Final

_FENCED: Final = re.compile(
    r"^ {0,3}(`{3,}|~{3,}).*?(?:^ {0,3}\1[`~]*\s*$|\Z)", re.MULTILINE | re.DOTALL
)
_INLINE: Final = re.compile(r"`+[^`\n]*`+")
_QUOTED: Final = re.compile(
    r"\"[^\"\n]*\"|“[^”\n]*”|«[^»\n]*»|„[^“”\n]*[“”]|‘[^’\n]*’|「[^」\n]*」"
)
# An apostrophe within a word doesn't count.
_SINGLE: Final = re.compile(r"(?<!\w)'[^'\n]*'(?!\w)")
_CITED: Final = re.compile(r"^\s*>.*$", re.MULTILINE)
_ITEM: Final = re.compile(r"^\s*(?:[-*+•]|\d+[.)]|#{1,6}|\|)\s+")
_ENDS: Final = (".", "!", "?")

HOLE: Final = "\ufffc"
"""Marks where something was left out. A line with a hole in it says nothing for certain."""


def lines_of(message: str) -> list[str]:
    """The message's lines, with continuations joined. What was left out leaves a hole."""
    text = _FENCED.sub("\n\n", message)
    for pattern in (_INLINE, _QUOTED, _SINGLE):
        text = pattern.sub(HOLE, text)
    text = _CITED.sub("", text)
    joined: list[str] = []
    goes_on = False
    for line in text.splitlines():
        stripped = line.strip()
        begins = bool(_ITEM.match(line))
        if not stripped:
            goes_on = False
            continue
        if goes_on and not begins:
            joined[-1] = f"{joined[-1]} {stripped}"
        else:
            joined.append(stripped)
        goes_on = not stripped.rstrip("*_ ").endswith(_ENDS)
    return joined


def words_of(line: str) -> list[str]:
    """The words of a line in lowercase; an apostrophe belongs to its word."""
    return re.findall(r"[^\W_]+(?:'[^\W_]+)*", line.replace("’", "'").casefold())
