"""Who may answer a question, and who is expected to.

`assignees` restricts who may answer. `assigned_to` says who is expected to: the assignees, until
someone assigns the question. A claim is neither: it is a temporary lock of the program that is
working on the question.
"""

from collections.abc import Sequence
from typing import Final

from callboard.errors import Forbidden, ValidationError
from callboard.events.authors import Author, By
from callboard.events.payloads.people import Answered
from callboard.interactions.excerpts import excerpt
from callboard.interactions.fields import checked_texts
from callboard.interactions.records import Interaction

GROUP: Final = "group:"
_MOST: Final = 50
_LONGEST: Final = 200
_RESERVED: Final = frozenset('",\\')
"""Names are stored in a JSON list, and searched there with their quotation marks."""
UNASSIGNED: Final = "none"
"""In a search: questions without an assignee."""
ME: Final = "me"
"""The caller; in a search on a server, the token's person and their groups."""


def checked_name(value: object, field: str) -> str:
    """The name of a person, or of a group as `group:NAME`."""
    name = value.strip() if isinstance(value, str) else ""
    if not name.removeprefix(GROUP).strip():
        raise ValidationError(
            f"{field} must be a person's name, or group:NAME for a group.", field=field
        )
    if len(name) > _LONGEST:
        raise ValidationError(f"{field} must have at most {_LONGEST} characters.", field=field)
    if not name.isprintable() or _RESERVED.intersection(name):
        raise ValidationError(
            f"{field}: {excerpt(name, _LONGEST)!r} must not contain commas, quotation marks, "
            "backslashes or control characters.",
            field=field,
        )
    if name in (UNASSIGNED, ME):
        raise ValidationError(f"{field}: {name!r} is reserved. Use another name.", field=field)
    return name


def checked_assignees(value: object) -> list[str] | None:
    """The only people and groups who may answer; None if omitted."""
    if value is None:
        return None
    names = [checked_name(one, "assignees") for one in checked_texts(value, "assignees")]
    if len(names) > _MOST:
        raise ValidationError(
            f"assignees: at most {_MOST} names. Put people into a group.", field="assignees"
        )
    return names


def may_answer(asked: Interaction, names: Sequence[str]) -> bool:
    """Whether anyone with these names may answer."""
    return asked.assignees is None or not set(names).isdisjoint(asked.assignees)


def check_assignee(asked: Interaction, by: Author) -> bool:
    """Whether an admin overrides the assignees; Forbidden for others who aren't assignees."""
    if may_answer(asked, by.names):
        return False
    if by.overrides:
        return True
    who = ", ".join(asked.assignees or ())
    raise Forbidden(
        f"Only {who} can answer question {asked.id}. Ask one of them, or an admin.",
        interaction_id=asked.id,
    )


def permitted(asked: Interaction, by: By, who: Answered) -> Answered:
    """Who answers, marked if it overrides the assignees; Forbidden if they may not.

    Where people aren't authenticated, as in this process, anyone could write to the database
    anyway, so a name that isn't an assignee counts as an admin's, and so does no name.
    """
    if isinstance(by, Author):
        steps_in = check_assignee(asked, by)
    else:
        steps_in = not may_answer(asked, [by or ""])
    return {**who, "override": True} if steps_in else who


def expected(asked: Interaction, to: str | None, by: By = None) -> list[str]:
    """Who is expected to answer after an assignment; without a name, everyone who may."""
    if to is None:
        return asked.assignees or []
    name = _own_name(by) if to == ME else checked_name(to, "to")
    allowed = asked.assignees or []
    # Group membership is known only for the caller.
    own = by.names if isinstance(by, Author) else ()
    is_self = name in own
    may = may_answer(asked, own if is_self else [name])
    if not may and (is_self or not any(one.startswith(GROUP) for one in allowed)):
        raise ValidationError(
            f"{name} is not one of the people who can answer question {asked.id}. "
            f"Assign it to: {', '.join(allowed)}.",
            field="to",
        )
    return [name]


def _own_name(by: By) -> str:
    name = by.names[0] if isinstance(by, Author) else by
    if not name:
        raise ValidationError("to: your name isn't known. Pass a name.", field="to")
    return checked_name(name, "to")
