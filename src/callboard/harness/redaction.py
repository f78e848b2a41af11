"""Secrets in a transcript: those that look like what they are."""

import re
from typing import Final

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


def redacted(text: str) -> str:
    """The text without them. It is no promise: what looks like nothing special stays."""
    return _AFTER.sub(_named, _WHOLE.sub(GONE, text))


def _named(found: re.Match[str]) -> str:
    return (found["name"] or found["word"] or found["site"]) + GONE
