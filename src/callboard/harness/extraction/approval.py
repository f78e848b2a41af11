"""Whether a conversation ends with an approval or a refusal."""

import re
from collections.abc import Sequence
from typing import Final, Literal

from callboard.harness.extraction.prose import HOLE, lines_of, words_of

_FOR = "approve approved approves approving approval proceed proceeding proceeds"
_AGAINST = """
    reject rejected rejects rejecting rejection refuse refused refuses decline declined
    disapprove disapproved unapproved veto vetoed deny denied denies
"""
_NOT = """
    not no never cannot cant none nobody nothing neither nor without hardly barely nope nah stop
    dont doesnt didnt isnt arent wasnt werent wont wouldnt shouldnt couldnt hasnt havent aint
    nicht kein keine nein nie niemals non pas ne jamais não nunca ikke inte niet nooit ei nem нет не
"""
_UNSURE = """
    if unless until when whenever once whether would could should might may maybe perhaps
    probably possibly pending provided assuming conditional conditionally conditions partially
    partly almost nearly tentatively before after later tomorrow soon will shall can going i'll
    we'll want wants ask asked asks said says say told think thinks guess supposed expected
    wait hold actually however but instead though although except only still yet either or
    revert undo cancel cancelled mistake sorry oops scratch reconsider mind wrong former formerly
    previously earlier initially was were had been example eg ie
"""

FOR: Final = frozenset(_FOR.split())
"""Words of approval."""
AGAINST: Final = frozenset(_AGAINST.split())
"""Words of refusal."""
NOT: Final = frozenset(_NOT.split())
"""Words that negate a sentence."""
UNSURE: Final = frozenset(_UNSURE.split())
"""Words that leave it open, or take back what was said before."""
_THING: Final = r"(?:it|this|that|them|(?:the|this|these|all|both)(?: [a-z0-9-]+){0,6})"
_YES: Final = [
    re.compile(pattern)
    for pattern in (
        r"(?:(?:the |my |our )?(?:final )?(?:decision|verdict|outcome|result)(?: is)?"
        r"\s*[:–—-]*\s*)?approved",
        rf"(?:yes,? )?(?:i|we)(?: hereby| fully)? approve(?: {_THING})?",
        rf"{_THING} (?:is|are)(?: hereby| now| fully)? approved",
        r"(?:yes,? )?(?:let's |let us |please )?proceed",
        r"(?:yes,? )?proceeding",
    )
]
_EDGES: Final = " \t*_#>-–—✅✔✓🎉👍:.!\ufe0f"
_ITEM: Final = re.compile(r"^(?:[-*+•]|\d+[.)]|#{1,6})\s+")

Meaning = Literal["approved", "rejected", "unclear", "shaken", "silent"]
"""What a line means. Shaken: it decides nothing, but takes back an earlier yes."""


def verdict(messages: Sequence[str]) -> str | None:
    """The decision that the last messages (oldest first) end with; None if it isn't clear."""
    shaken = False
    for message in reversed(messages):
        meanings: list[Meaning] = [meaning(line) for line in lines_of(message)]
        decided = {one for one in meanings if one in ("approved", "rejected", "unclear")}
        if not decided:
            shaken = shaken or "shaken" in meanings
            continue
        if decided == {"rejected"}:
            return "rejected"
        if decided == {"approved"} and not shaken and _stands(meanings):
            return "approved"
        return None
    return None


def meaning(line: str) -> Meaning:
    """What one line says about the decision."""
    words = set(words_of(line))
    is_for, is_against = bool(words & FOR), bool(words & AGAINST)
    denies = bool({word.replace("'", "") for word in words} & NOT)
    denies = denies or any(word.endswith("n't") for word in words)
    doubts = bool(words & UNSURE) or "?" in line or HOLE in line or "…" in line or "..." in line
    if not is_for and not is_against:
        return "shaken" if denies or doubts else "silent"
    if doubts or (is_for and is_against):
        return "unclear"
    if is_against:
        return "unclear" if denies else "rejected"
    if denies:
        return "rejected"
    return "approved" if _is_yes(line) else "unclear"


def _stands(meanings: Sequence[Meaning]) -> bool:
    """Whether nothing after the yes in the message takes it back."""
    last = len(meanings) - 1 - list(reversed(meanings)).index("approved")
    return "shaken" not in meanings[last:]


def _is_yes(line: str) -> bool:
    """Whether every sentence of the line that mentions approval is a clear yes."""
    text = _ITEM.sub("", line.replace("’", "'").casefold())
    sentences = [one.strip(_EDGES) for one in re.split(r"(?<=[.!])\s+", text)]
    spoken = [re.sub(r"[*_]", "", one) for one in sentences if one]
    told = [one for one in spoken if set(words_of(one)) & FOR]
    return bool(told) and all(any(form.fullmatch(one) for form in _YES) for one in told)
