"""Secrets that are replaced before anything is written.

This is a best effort: a secret that looks like nothing in particular is not found. Headers that
authenticate are never stored at all.
"""

import re
from collections.abc import Sequence
from typing import Final

from callboard.events.envelope import Json
from callboard.events.json_values import is_list, is_mapping

REDACTED: Final = "[redacted]"
KEYS: Final = (
    r"\bsk-[A-Za-z0-9_-]{16,200}",
    r"\bAIza[A-Za-z0-9_-]{30,60}",
    r"\bgh[pousr]_[A-Za-z0-9]{20,255}",
    r"\bgithub_pat_[A-Za-z0-9_]{20,255}",
    r"\bxox[abprs]-[A-Za-z0-9-]{10,200}",
    r"\bAKIA[A-Z0-9]{16}\b",
    r"\beyJ[A-Za-z0-9_-]{10,2000}\.eyJ[A-Za-z0-9_-]{10,4000}\.[A-Za-z0-9_-]{10,1000}",
    r"-----BEGIN [A-Z ]{0,20}PRIVATE KEY-----",
)
"""What keys of well-known services look like. Each has a bound, so that no text takes long."""


class Redaction:
    """Replaces what matches a pattern, in texts and in JSON."""

    def __init__(self, patterns: Sequence[str] = ()) -> None:
        pattern = "|".join(f"(?:{one})" for one in (*KEYS, *patterns))
        self._pattern = re.compile(pattern)
        self._in_bytes = re.compile(pattern.encode())

    def text(self, text: str) -> str:
        """A text without secrets."""
        return self._pattern.sub(REDACTED, text)

    def value(self, value: Json) -> Json:
        """A JSON value without secrets, in keys as well."""
        if isinstance(value, str):
            return self.text(value)
        if is_mapping(value):
            return {self.text(key): self.value(one) for key, one in value.items()}
        if is_list(value):
            return [self.value(one) for one in value]
        return value

    def pieces(self, pieces: Sequence[bytes]) -> list[bytes]:
        """The pieces of a response without secrets, also where one is spread over several."""
        redacted, at = list(pieces), 0
        spans = [one.span() for one in self._in_bytes.finditer(b"".join(pieces))]
        for index, piece in enumerate(pieces):
            redacted[index] = _cut(piece, at, spans)
            at += len(piece)
        return redacted


def _cut(piece: bytes, at: int, spans: Sequence[tuple[int, int]]) -> bytes:
    """A piece that starts at a place of the whole; a secret is named where it starts."""
    kept, done = bytearray(), 0
    for start, end in spans:
        first, last = max(start - at, 0), min(end - at, len(piece))
        if first >= last:
            continue
        kept += piece[done:first]
        kept += REDACTED.encode() if start >= at else b""
        done = last
    return bytes(kept + piece[done:])
