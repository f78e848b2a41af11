"""A conversation as it is stored if requested: readable, bounded, and without secrets."""

from collections.abc import Sequence
from typing import Final

from callboard.display.lines import visible
from callboard.events.codec import dump_json
from callboard.recording.redaction import Redaction
from callboard.vendors.claude.extraction import Spoken

LARGEST: Final = 512 * 1024
"""Bytes of JSON. A server accepts a megabyte, and the decision has to fit in, too."""

CUT: Final = "[… the start is left out …]\n\n"

_MARGIN: Final = 64 * 1024
"""Extra characters to search but not keep, because half a secret isn't recognized."""
_LONGEST_RESULT: Final = 4_000
_REDACTION: Final = Redaction()
_HEADS: Final = {"person": "## Person", "agent": "## Agent", "error": "## Error"}


def redacted(text: str) -> str:
    """The text without secrets, as far as they can be recognized."""
    return _REDACTION.text(text)


def kept(said: Sequence[Spoken]) -> str:
    """What is kept of it: the end, if it is too long."""
    told = "\n\n".join(_told(one) for one in said if one.kind not in ("accepted", "refused"))
    is_whole = len(told) <= LARGEST + _MARGIN
    text = redacted(visible(told[-LARGEST - _MARGIN :]))
    if is_whole and len(dump_json(text)) <= LARGEST:
        return text
    if not is_whole:
        text = text[_MARGIN:]
    room = LARGEST - len(dump_json(CUT))
    # One character may take several bytes, or an escape.
    text = text[-room:]
    while len(dump_json(text)) > room:
        text = text[max(1, (len(dump_json(text)) - room) // 6) :]
    return CUT + text


def _told(one: Spoken) -> str:
    if one.kind == "call":
        return f"[{one.tool}] {one.text}"
    if one.kind == "result":
        cut = "…" if len(one.text) > _LONGEST_RESULT else ""
        return f"[result] {one.text[:_LONGEST_RESULT]}{cut}"
    return f"{_HEADS[one.kind]}\n{one.text}"
