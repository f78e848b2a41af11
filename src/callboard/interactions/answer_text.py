"""Answers as people write them: yes, no, the option they chose, the text they typed."""

from callboard.events.codec import dump_json
from callboard.events.json_values import as_object, is_list, is_object
from callboard.interactions.edited_input import EDITED


def answer_text(answer: object) -> str:
    """The answer as text, for any type of question; never in Python's notation.

    An object that isn't one of our answers, such as the outcome of a structured session, is JSON.
    """
    if isinstance(answer, str):
        return answer
    if isinstance(answer, bool):
        return "yes" if answer else "no"
    if is_list(answer):
        return ", ".join(answer_text(one) for one in answer)
    if not is_object(answer):
        return dump_json(answer).decode()
    if is_object(answer.get("answers")):
        return "; ".join(answer_text(one) for one in as_object(answer["answers"]).values())
    return _with_remark(answer) or dump_json(answer).decode()


def _with_remark(answer: dict[str, object]) -> str | None:
    """A decision with its message; None if it isn't one."""
    said = answer.get("value", answer.get("approved"))
    if said is None or answer.keys() - _DECIDES:
        return None
    why = answer.get("message") or answer.get("feedback")
    also = ", edited" if EDITED in answer else ""
    more = f": {why}" if why else ", always" if answer.get("always") is True else also
    return f"{answer_text(said)}{more}"


_DECIDES = frozenset({"value", "approved", "message", "feedback", "always", "timedOut", EDITED})
