"""The words that mean yes and no."""

from reprlib import repr as shortened
from typing import Any

from callboard.errors import AnswerInvalid

_YES = frozenset({"yes", "y", "true", "approve", "approved"})
_NO = frozenset({"no", "n", "false", "reject", "rejected"})


def said(value: Any) -> bool | None:
    """Whether the value says yes or no; None when it says neither."""
    if value is None or isinstance(value, bool):
        return value
    word = value.strip().lower() if isinstance(value, str) else ""
    if word in _YES:
        return True
    return False if word in _NO else None


def agreed(value: Any, approved: bool | None) -> bool:
    """The verdict, from what the value says and from what was said beside it."""
    meant = said(value)
    if meant is None and value is not None:
        raise AnswerInvalid(
            f"{shortened(value)} is neither yes nor no. Answer yes or no.", field="value"
        )
    if approved is None and meant is None:
        raise AnswerInvalid("An approval needs an answer: yes or no.", field="value")
    if approved is not None and meant is not None and meant != approved:
        raise AnswerInvalid(
            f"value {value!r} contradicts approved={str(approved).lower()}. Send one of them.",
            field="value",
        )
    return bool(meant if approved is None else approved)
