"""Lists of questions: oldest first, page by page, filtered."""

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
"""A page of questions ends after this many characters; a single question may have more."""


@dataclass(frozen=True, slots=True)
class InteractionPage(Shape):
    """One page of questions, and where the next one starts, if there is one."""

    interactions: list[Interaction]
    next_cursor: str | None


@dataclass(frozen=True, slots=True)
class SoughtQuestions:
    """Which questions to find: those that match everything given.

    `assigned_to` has names: finds questions assigned to one of them, or with `none`, unassigned
    ones. `text` is text in the prompt.
    """

    status: str | None = None
    session_id: str = "*"
    type: str | None = None
    workflow: str | None = None
    assigned_to: Sequence[str] | None = None
    text: str | None = None

    def query(self) -> Query:
        """The query for the view, oldest first."""
        session = None if self.session_id == "*" else self.session_id
        where = where_given(
            status=self.status, execution_id=session, type=self.type, workflow=self.workflow
        )
        names = self.assigned_to
        # As they appear in the column, which is a JSON list: a name in quotation marks.
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
    """The oldest matching questions, or all of them."""
    if limit is not None and limit < 0:
        raise ValidationError("limit must be 0 or more.", field="limit")
    rows = await log.rows(replace(sought.query(), limit=limit))
    return [interaction(row, now_ms) for row in rows]


async def question_page(
    log: EventLog, sought: SoughtQuestions, limit: int, cursor: str | None, now_ms: int
) -> InteractionPage:
    """One page of questions, from the oldest or from where the previous page ended.

    A page has fewer than `limit` if they are large: it ends after some megabytes.
    """
    place = None if cursor is None else place_of(cursor)
    # One more than the page shows whether there is another page.
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
