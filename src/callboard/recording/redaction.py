r"""Secrets that are replaced before anything is written.

This is a best effort: a secret that looks like nothing in particular is not found. Headers that
authenticate are never stored at all.

A response is searched as it came, which is mostly JSON. So quotes stay where they are, and what is
in them only ends where they do. A quote may be escaped: `{"arguments":"{\"password\":\"…\"}"}`.
"""

import re
from bisect import bisect_right
from collections.abc import Iterable, Sequence
from itertools import islice
from typing import AnyStr, Final

from callboard.events.envelope import Json
from callboard.events.json_values import is_list, is_mapping

REDACTED: Final = "[redacted]"

_KEYS: Final = (
    # Up to its end; without one, up to a quote, because some texts only mention how keys start.
    r"-----BEGIN [A-Z ]{0,20}PRIVATE KEY-----(?:"
    r"(?:(?!-----BEGIN )[\s\S]){0,20000}?-----END [A-Z ]{0,20}PRIVATE KEY-----"
    r'|(?:[^"\\]|\\[^"]){0,20000}+)',
    r"\b(?:AKIA|ASIA)[0-9A-Z]{16}\b",  # AWS
    r"\bAIza[0-9A-Za-z_-]{30,200}",  # Google
    r"\bgh[opsur]_[0-9A-Za-z]{20,500}",
    r"\bgithub_pat_[0-9A-Za-z_]{20,500}",
    r"\bglpat-[0-9A-Za-z_-]{16,500}",
    r"\bxox[a-z]-[0-9A-Za-z-]{10,500}",  # Slack
    r"\b(?:sk|pk|rk)[-_](?:ant-|proj-|live_|test_)?[0-9A-Za-z_-]{16,500}",
    r"\b(?:npm|pypi|hf|dop_v1|cb)[-_][0-9A-Za-z_-]{20,500}",
    # A JSON Web Token
    r"\beyJ[0-9A-Za-z_-]{8,2000}+\.[0-9A-Za-z_-]{8,20000}+\.[0-9A-Za-z_-]{0,2000}",
)
"""What keys look like. Everything here has a bound, so that no text takes long."""
_NAMES: Final = (
    r"(?:password|passwd|passphrase|secret|api[_-]?key|access[_-]?key|auth[_-]?token"
    r"|private[_-]?key|token|pwd(?![\"'\\]{0,2}\s{0,20}[:=]\s{0,20}[\"'\\]{0,2}[/~.]))"
)
"""Names of secrets. What is called `pwd` may also be a folder."""
_IS: Final = r"\s{0,20}(?:=>|=|:)\s{0,20}"
# After a name that ends a JSON string, the quote is its end.
_START: Final = r"(?![\s,:}\]])"
_VALUES: Final = (
    # What a model gives for probabilities is called a token, too.
    rf'"{_START}((?:[^"\\\n]|\\.){{4,20000}}+)"(?!\s{{0,20}},\s{{0,20}}"(?:logprob|tokenid|bytes))'
    rf'|\\"{_START}((?:[^"\\\n]|\\\\\\"|\\[^"]){{4,20000}}+)\\"'
    r"|'([^'\"\\\n]{4,20000})'"
)
_SENT: Final = r"([0-9a-z+/._~=-]{8,4000})"
_NAMED: Final = (
    rf"authorization[\"'\\]{{0,2}}{_IS}[\"'\\]{{0,2}}(?:bearer|basic)\s{{1,20}}{_SENT}",
    # Elsewhere these may be common words, as may be what follows.
    rf"\b(?:bearer|basic)\s{{1,20}}(?=\S{{0,200}}?[0-9]|\S{{1,200}}?(?-i:[A-Z])){_SENT}",
    rf"{_NAMES}{_IS}(?:{_VALUES}|([^\s\"',;\\]{{4,20000}}))",
    # The name of a member: its value isn't a secret if it is a number, or another object.
    rf"{_NAMES}(?:\\?[\"']){_IS}(?:{_VALUES})",
    r'\b[a-z][a-z0-9+.-]{0,30}://[^\s/:@"\\]{1,200}:([^\s/@"\\]{1,500})(?=@)',
)
"""Where a secret is by what is before it. The group is the secret."""
_NAME: Final = re.compile(rf"{_NAMES}\Z", re.IGNORECASE)


class Redaction:
    """Replaces what looks like a secret or matches a pattern, in texts and in JSON.

    by_name: also what follows a name such as `password=`, whatever it is. Code that only passes a
    secret on is changed by that.
    """

    def __init__(self, patterns: Sequence[str] = (), *, by_name: bool = True) -> None:
        self._by_name = by_name
        own = [("|".join(_KEYS), re.ASCII)]
        own += [(one, re.ASCII | re.IGNORECASE) for one in _NAMED if by_name]
        theirs = [(one, 0) for one in patterns]
        self._own = [re.compile(one, flags) for one, flags in own]
        self._own_in_bytes = [re.compile(one.encode(), flags) for one, flags in own]
        self._theirs = [re.compile(one, flags) for one, flags in theirs]
        self._theirs_in_bytes = [re.compile(one.encode(), flags) for one, flags in theirs]

    def text(self, text: str) -> str:
        """A text without secrets."""
        parts, done = list[str](), 0
        for start, end in _spans(text, self._own, self._theirs):
            parts += text[done:start], REDACTED
            done = end
        return "".join((*parts, text[done:]))

    def value(self, value: Json) -> Json:
        """A JSON value without secrets, in keys as well."""
        if isinstance(value, str):
            return self.text(value)
        if is_mapping(value):
            return {self.text(key): self._member(key, one) for key, one in value.items()}
        if is_list(value):
            return [self.value(one) for one in value]
        return value

    def _member(self, name: str, value: Json) -> Json:
        # As `pieces` does with members of responses: what was said comes back with the next call.
        if self._by_name and isinstance(value, str) and value and _NAME.search(name):
            return REDACTED
        return self.value(value)

    def pieces(self, pieces: Sequence[bytes]) -> list[bytes]:
        """The pieces of a response without secrets, also where one is spread over several."""
        redacted, at = list(pieces), 0
        spans = _spans(b"".join(pieces), self._own_in_bytes, self._theirs_in_bytes)
        for index, piece in enumerate(pieces):
            redacted[index] = _cut(piece, at, spans)
            at += len(piece)
        return redacted


def _spans(
    text: AnyStr, own: Iterable[re.Pattern[AnyStr]], theirs: Iterable[re.Pattern[AnyStr]]
) -> list[tuple[int, int]]:
    """Where the secrets are, in order; what overlaps is one."""
    found = [one.span(one.lastindex or 0) for each in own for one in each.finditer(text)]
    found += [one.span() for each in theirs for one in each.finditer(text)]
    spans: list[tuple[int, int]] = []
    for start, end in sorted(found):
        if spans and start < spans[-1][1]:
            spans[-1] = spans[-1][0], max(end, spans[-1][1])
        elif start < end:
            spans.append((start, end))
    return spans


def _cut(piece: bytes, at: int, spans: Sequence[tuple[int, int]]) -> bytes:
    """A piece that starts at a place of the whole; a secret is named where it starts."""
    kept, done = bytearray(), 0
    first_span = bisect_right(spans, at, key=lambda one: one[1])
    for start, end in islice(spans, first_span, None):
        first, last = max(start - at, 0), min(end - at, len(piece))
        if first >= last:
            break
        kept += piece[done:first]
        kept += REDACTED.encode() if start >= at else b""
        done = last
    return bytes(kept + piece[done:])
