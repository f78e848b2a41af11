"""A conversation as it is kept where that was asked for: readable, bounded, without secrets."""

from collections.abc import Sequence
from typing import Final

from callboard.display.characters import visible
from callboard.events.codec import dump_json
from callboard.harness.redaction import redacted
from callboard.vendors.claude.extraction import Spoken

LARGEST: Final = 512 * 1024
"""Bytes of JSON. A server takes a megabyte, and the decision has to fit in beside it."""

CUT: Final = "[… the beginning is left out …]\n\n"

_MARGIN: Final = 64 * 1024
"""Characters that are looked at and not kept: half a secret is not known as one."""
_LONGEST_RESULT: Final = 4_000
_HEADS: Final = {"person": "## Person", "agent": "## Agent", "error": "## Error"}


def kept(said: Sequence[Spoken]) -> str:
    """What is kept of it: the end, when it is too long."""
    told = "\n\n".join(_told(one) for one in said if one.kind not in ("accepted", "refused"))
    is_whole = len(told) <= LARGEST + _MARGIN
    text = redacted(visible(told[-LARGEST - _MARGIN :]))
    if is_whole and len(dump_json(text)) <= LARGEST:
        return text
    if not is_whole:
        text = text[_MARGIN:]
    room = LARGEST - len(dump_json(CUT))
    # One character may take several bytes, or be written as two.
    text = text[-room:]
    while len(dump_json(text)) > room:
        text = text[max(1, (len(dump_json(text)) - room) // 6) :]
    return CUT + text


def _told(one: Spoken) -> str:
    if one.kind == "call":
        return f"[{one.tool}] {one.text}"
    if one.kind == "result":
        return "[result] " + _shortened(one.text)
    return f"{_HEADS[one.kind]}\n{one.text}"


def _shortened(text: str) -> str:
    return text if len(text) <= _LONGEST_RESULT else text[:_LONGEST_RESULT] + "…"
