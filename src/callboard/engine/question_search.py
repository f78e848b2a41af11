"""Questions in a list: oldest first, page by page, those that fit what is sought."""

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Final

from callboard.engine.cursors import cursor_of, place_of
from callboard.errors import ValidationError
from callboard.events.codec import dump_json
from callboard.events.rows import Query, weight, where_given
from callboard.events.shapes import Shape
from callboard.interactions.assignment import UNASSIGNED
from callboard.interactions.records import LARGE, Interaction, interaction, length_of
from callboard.log.protocol import EventLog

_LARGEST_PAGE: Final = 2 * 1_048_576
"""Characters after which a page of questions ends; one question may have more."""


@dataclass(frozen=True, slots=True)
class InteractionPage(Shape):
    """Some questions, and where the next page starts, if there is one."""

    interactions: list[Interaction]
    next_cursor: str | None


@dataclass(frozen=True, slots=True)
class SoughtQuestions:
    """Which questions are meant: those that fit everything that is given.

    `assigned_to` are names: questions that are assigned to one of them, or with `none` to no one.
    `text` is something that the prompt contains.
    """

    status: str | None = None
    session_id: str = "*"
    type: str | None = None
    workflow: str | None = None
    assigned_to: Sequence[str] | None = None
    text: str | None = None

    def query(self) -> Query:
        """The question to the view, oldest first."""
        session = None if self.session_id == "*" else self.session_id
        where = where_given(
            status=self.status, execution_id=session, type=self.type, workflow=self.workflow
        )
        names = self.assigned_to
        # As they stand in the column, which is a list in JSON: a name in its quotation marks.
        told = names and [None if n == UNASSIGNED else dump_json(n).decode() for n in names]
        return Query(
            "human_interactions",
            where,
            order="created_at",
            text=(("prompt",), self.text) if self.text else None,
            holds=("assigned_to", told) if told else None,
        )


async def find_questions(
    log: EventLog, sought: SoughtQuestions, limit: int | None, now_ms: int
) -> list[Interaction]:
    """The oldest questions that fit, or all of them."""
    if limit is not None and limit < 0:
        raise ValidationError("limit must be 0 or more.", field="limit")
    rows = await log.rows(replace(sought.query(), limit=limit))
    return [interaction(row, now_ms) for row in rows]


async def question_page(
    log: EventLog, sought: SoughtQuestions, limit: int, cursor: str | None, now_ms: int
) -> InteractionPage:
    """As many questions as told, from the oldest or from where a page before ended.

    Fewer when they are large: some megabytes make a page.
    """
    place = None if cursor is None else place_of(cursor)
    # One more than is shown tells whether there is another page.
    query = replace(sought.query(), limit=limit + 1, beyond=place, size=_LARGEST_PAGE)
    rows = await log.rows(query)
    is_cut = len(rows) > limit or sum(map(weight, rows)) >= _LARGEST_PAGE
    shown = rows[:limit]
    following = cursor_of(shown[-1]) if is_cut else None
    found: list[Interaction] = []
    for row in shown:
        found.append(interaction(row, now_ms))
        if length_of(row) > LARGE:
            await asyncio.sleep(0)
    return InteractionPage(found, following)
