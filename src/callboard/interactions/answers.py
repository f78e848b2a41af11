"""Which answers fit which question: the one check that every way of answering goes through."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from callboard.errors import AnswerInvalid

_YES = frozenset({"yes", "y", "true", "approve", "approved"})
_NO = frozenset({"no", "n", "false", "reject", "rejected"})


class Answerable(Protocol):
    """What the check has to know of a question."""

    @property
    def type(self) -> str:
        """`approval` or `choice`."""
        ...

    @property
    def options(self) -> Sequence[str] | None:
        """What can be chosen."""
        ...

    @property
    def other(self) -> bool:
        """Whether any text will do."""
        ...


@dataclass(frozen=True, slots=True)
class Answer:
    """An answer in the form in which it is recorded."""

    value: Any
    approved: bool | None = None


def check(question: Answerable, value: Any = None, approved: bool | None = None) -> Answer:
    """The answer as it will be recorded, or AnswerInvalid saying what would fit."""
    if approved is not None and not isinstance(approved, bool):  # pyright: ignore[reportUnnecessaryIsInstance]
        raise AnswerInvalid("approved must be true or false.", field="approved")
    if question.type == "choice":
        return _choice(question, value)
    return _approval(value, approved)


def _approval(value: Any, approved: bool | None) -> Answer:
    meant = _verdict(value)
    if approved is None and meant is None:
        raise AnswerInvalid("An approval needs an answer: yes or no.", field="value")
    if approved is not None and meant is not None and meant != approved:
        raise AnswerInvalid(
            f"value {value!r} contradicts approved={str(approved).lower()}. Send one of them.",
            field="value",
        )
    verdict = bool(meant if approved is None else approved)
    return Answer("yes" if verdict else "no", verdict)


def _verdict(value: Any) -> bool | None:
    if value is None or isinstance(value, bool):
        return value
    word = value.strip().lower() if isinstance(value, str) else ""
    if word in _YES:
        return True
    if word in _NO:
        return False
    raise AnswerInvalid(f"{value!r} is neither yes nor no. Answer yes or no.", field="value")


def _choice(question: Answerable, value: Any) -> Answer:
    options = list(question.options or [])
    if isinstance(value, str) and value in options:
        return Answer(value)
    if question.other and isinstance(value, str) and value.strip():
        return Answer(value)
    offered = ", ".join(repr(option) for option in options)
    more = ", or any text" if question.other else ""
    raise AnswerInvalid(
        f"{value!r} was not offered. Choose one of {offered}{more}.", field="value", offered=offered
    )
