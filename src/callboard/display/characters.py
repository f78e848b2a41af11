"""Characters that a person cannot see, made visible."""

import unicodedata
from typing import Final

_UNSEEN: Final = ("Cc", "Cf", "Cs", "Zl", "Zp")
# Joiners only shape letters and emoji, and some scripts cannot be written without them.
_SHAPING: Final = "\u200c\u200d"


def visible(text: str, *, keep: str = "\n\t") -> str:
    """Text that may come from anywhere, with control and bidi characters made visible."""
    # What is printable, as nearly all is, hides nothing; to look at each character takes long.
    if text.isprintable():
        return text
    return "".join(char if _is_plain(char, keep) else _escaped(char) for char in text)


def _is_plain(char: str, keep: str) -> bool:
    return char in keep or char in _SHAPING or unicodedata.category(char) not in _UNSEEN


def _escaped(char: str) -> str:
    code = ord(char)
    if code < 0x100:
        return f"\\x{code:02x}"
    return f"\\u{code:04x}" if code < 0x10000 else f"\\U{code:08x}"
