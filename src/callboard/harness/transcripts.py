"""A conversation as it is stored if requested: readable, bounded, and without secrets."""

import re
from collections.abc import Sequence
from typing import Final

from callboard.display.lines import visible
from callboard.events.codec import dump_json
from callboard.vendors.claude.extraction import Spoken

GONE: Final = "[redacted]"

_WHOLE: Final = re.compile(
    r"-----BEGIN [A-Z ]*PRIVATE KEY-----.*?(?:-----END [A-Z ]*PRIVATE KEY-----|\Z)"
    r"|\b(?:AKIA|ASIA)[0-9A-Z]{16}\b"  # AWS
    r"|\bAIza[0-9A-Za-z_-]{30,}"  # Google
    r"|\b(?:gh[opsur]_[0-9A-Za-z]{20,}|github_pat_[0-9A-Za-z_]{20,}|glpat-[0-9A-Za-z_-]{16,})"
    r"|\bxox[a-z]-[0-9A-Za-z-]{10,}"  # Slack
    r"|\b(?:sk|pk|rk)[-_](?:ant-|proj-|live_|test_)?[0-9A-Za-z_-]{16,}"
    r"|\b(?:npm|pypi|hf|dop_v1|cb)[-_][0-9A-Za-z_-]{20,}"
    r"|\beyJ[0-9A-Za-z_-]{8,}\.[0-9A-Za-z_-]{8,}\.[0-9A-Za-z_-]*",  # a JSON Web Token
    re.DOTALL,
)
_AFTER: Final = re.compile(
    r"(?P<name>\b(?:authorization\s*[:=]\s*)?(?:bearer|basic)\s+)(?P<value>[0-9A-Za-z+/._~=-]{8,})"
    r"|(?P<word>(?:password|passwd|passphrase|secret|api[_-]?key|access[_-]?key|auth[_-]?token"
    r"|private[_-]?key|token|pwd)[\"']?\s*(?:=|:|=>)\s*)"
    r"(?P<text>\"(?:[^\"\\\n]|\\.){4,}\"|'[^'\n]{4,}'|[^\s\"',;]{4,})"
    r"|(?P<site>\b[a-z][a-z0-9+.-]{0,30}://[^\s/:@]{1,200}:)(?P<user>[^\s/@]{1,500})(?=@)",
    re.IGNORECASE,
)
LARGEST: Final = 512 * 1024
"""Bytes of JSON. A server accepts a megabyte, and the decision has to fit in, too."""

CUT: Final = "[… the start is left out …]\n\n"

_MARGIN: Final = 64 * 1024
"""Extra characters to search but not keep, because half a secret isn't recognized."""
_LONGEST_RESULT: Final = 4_000
_HEADS: Final = {"person": "## Person", "agent": "## Agent", "error": "## Error"}


def redacted(text: str) -> str:
    """The text without secrets, as far as they can be recognized."""
    named = _WHOLE.sub(GONE, text)
    return _AFTER.sub(lambda one: (one["name"] or one["word"] or one["site"]) + GONE, named)


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
