"""The inbox: every question to a person, and what people and programs do with one.

Questions of workflows come here by themselves. Others are asked here: in a session, which then
waits for a person but does not go on with the answer, or standing alone.
"""

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final, cast

from callboard.clock import Clock
from callboard.engine.answering import RAN_OUT, closed
from callboard.engine.asking import Asking
from callboard.engine.cursors import cursor_of, place_of
from callboard.engine.operations import Operations
from callboard.engine.resolving import Questions, Told
from callboard.errors import ConflictError, ValidationError
from callboard.events import names
from callboard.events.authors import Author, By, authored
from callboard.events.moments import to_ms
from callboard.events.rows import Cell, Query, weight
from callboard.interactions.claims import check_free, claim_payload
from callboard.interactions.configs import KIND
from callboard.interactions.fields import as_text
from callboard.interactions.kinds import WHOLE, is_from_board, manner_of
from callboard.interactions.outcomes import (
    VERDICTS,
    Completion,
    check_of_config,
    check_of_event,
    check_outcome,
    completion_event,
)
from callboard.interactions.participation import ending
from callboard.interactions.records import Interaction, interaction
from callboard.interactions.requests import request_payload
from callboard.interactions.schema_checking import verified
from callboard.log.protocol import EventLog

_LARGEST_PAGE: Final = 2 * 1_048_576
"""Characters after which a page of questions ends; one question may have more."""

RECEIPT_WITHIN: Final = 1.0
"""Seconds that an answer waits to learn what became of it."""


@dataclass(frozen=True, slots=True)
class InteractionPage:
    """Some questions, and where the next page begins, if there is one."""

    interactions: list[Interaction]
    next_cursor: str | None


class Inbox:
    """Find, ask, claim, release, complete, cancel; `Operations.answer` answers."""

    def __init__(self, log: EventLog, clock: Clock) -> None:
        self._log = log
        self._clock = clock
        self._questions = Questions(log, clock)
        self._operations = Operations(log, clock)
        self._asking = Asking(log, clock)

    async def find(
        self,
        *,
        status: str | None = None,
        session_id: str = "*",
        type: str | None = None,
        limit: int | None = None,
    ) -> list[Interaction]:
        """Questions, oldest first: in any status unless told, of all sessions or of one."""
        if limit is not None and limit < 0:
            raise ValidationError("limit must be a number from 0.", field="limit")
        query = replace(_sought(status, session_id, type), limit=limit)
        now = self._clock.now_ms()
        return [interaction(row, now) for row in await self._log.rows(query)]

    async def page(
        self,
        *,
        status: str | None = None,
        session_id: str = "*",
        type: str | None = None,
        limit: int = 1000,
        cursor: str | None = None,
    ) -> InteractionPage:
        """As many questions as told, from the oldest or from where a page before ended.

        Fewer when they are large: some megabytes make a page.
        """
        place = None if cursor is None else place_of(cursor)
        # One more than is shown tells whether there is another page.
        sought = replace(_sought(status, session_id, type), limit=limit + 1, beyond=place)
        rows = await self._log.rows(replace(sought, size=_LARGEST_PAGE))
        now = self._clock.now_ms()
        is_cut = len(rows) > limit or sum(map(weight, rows)) >= _LARGEST_PAGE
        shown = rows[:limit]
        following = cursor_of(shown[-1]) if is_cut else None
        return InteractionPage([interaction(row, now) for row in shown], following)

    async def get(self, interaction_id: str) -> Interaction:
        """One question, open or closed."""
        return await self._questions.find(interaction_id)

    async def ask(  # noqa: PLR0913 - all by keyword
        self,
        *,
        type: str,
        prompt: str,
        options: Sequence[str] | None = None,
        config: Mapping[str, Any] | None = None,
        session_id: str | None = None,
        key: str | None = None,
        by: By = None,
    ) -> Interaction:
        """Put a question to people: in a session that has not ended, or standing alone.

        With a `key` it is put once: asked again under it, the question is found, answered or not.
        """
        payload = request_payload(type, prompt, options, config) | authored(by)
        if type == KIND:
            await verified(check_of_config(cast("Any", payload.get("config"))))
        if session_id is None:
            return await self.get(await self._asking.alone(payload, key))
        return await self.get(await self._asking.within(session_id, payload, key))

    async def ended(self, interaction_id: str) -> Interaction:
        """Wait until a question is closed, by whatever process."""
        stream = (await self.get(interaction_id)).stream
        changed = asyncio.Event()
        undo = self._log.on_change(stream, lambda head: changed.set())
        try:
            while True:
                changed.clear()
                found = await self.get(interaction_id)
                if found.status != "pending":
                    return found
                await changed.wait()
        finally:
            undo()

    async def receipt(self, interaction_id: str, *, within: float = RECEIPT_WITHIN) -> Interaction:
        """An answered question, once it is known what became of the answer.

        What a coding agent asked is known moments later, or stays `pending` after `within`
        seconds: the record follows.
        """
        changed = asyncio.Event()
        found = await self.get(interaction_id)
        undo = self._log.on_change(found.stream, lambda head: changed.set())
        try:
            async with asyncio.timeout(within):
                while (found := await self.get(interaction_id)).receipt == "pending":
                    await changed.wait()
                    changed.clear()
        except TimeoutError:
            found = await self.get(interaction_id)
        finally:
            undo()
        return found

    async def claim(self, interaction_id: str, *, by: str, ttl_ms: int = 60_000) -> Interaction:
        """See to a question: for a while nobody else can claim it. The same `by` renews."""

        def build(asked: Interaction) -> Told:
            now = self._clock.now_ms()
            return names.CLAIMED, claim_payload(asked, by, ttl_ms, now)

        await self._questions.write(interaction_id, build)
        return await self.get(interaction_id)

    async def release(self, interaction_id: str, *, by: str) -> Interaction:
        """Give a claim back before it runs out; where there is none, do nothing."""

        def build(asked: Interaction) -> Told | None:
            check_free(asked, by)
            return None if asked.claimed_by is None else (names.RELEASED, {"id": asked.id})

        await self._questions.write(interaction_id, build)
        return await self.get(interaction_id)

    async def complete(  # noqa: PLR0913 - all by keyword
        self,
        interaction_id: str,
        outcome: str,
        *,
        response: Any = None,
        transcript: str | None = None,
        duration_ms: int | None = None,
        error: str | None = None,
        by: By = None,
        via: str | None = None,
    ) -> Interaction:
        """End an interactive session with its outcome; a simpler question is answered by it."""
        check_outcome(outcome)
        who = _who(by, via)
        asked = await self._questions.find_open(interaction_id)
        given = Completion(outcome, response, transcript, duration_ms, error)
        if manner_of(asked.type) != "outcome":
            return await self._complete_simply(asked, given, by, via)
        await verified(check_of_event(asked.config, completion_event(asked, given)))
        paused = await self._is_paused(asked.session_id)
        late: list[str] = []

        def build(asked: Interaction) -> Told:
            late.clear()
            name, payload = ending(asked, given, _participant(by))
            if _ran_out(asked, self._clock.now_ms()) and not paused:
                late.append(asked.id)
                return names.EXPIRED, {"id": asked.id, "timedOut": True, "outcome": "timeout"}
            return name, payload | who

        await self._questions.write(interaction_id, build)
        if late:
            raise closed(interaction_id, RAN_OUT)
        return await self.get(interaction_id)

    async def _is_paused(self, session_id: str | None) -> bool:
        """Whether the clock stands still for a session's questions."""
        rows = await self._log.rows(Query("sessions", {"id": session_id}))
        return bool(rows and rows[0]["paused"])

    async def _complete_simply(
        self, asked: Interaction, given: Completion, by: By, via: str | None
    ) -> Interaction:
        outcome, response = given.outcome, given.response
        if outcome == "cancelled":
            return await self.cancel(asked.id, by=by, via=via, error=given.error)
        verdict = VERDICTS.get(outcome)
        if outcome != "completed" and (verdict is None or manner_of(asked.type) != "verdict"):
            raise ValidationError(
                f"A question of type {asked.type} cannot end {outcome!r}. Answer it, or cancel it.",
                field="outcome",
            )
        value, approved = response, verdict
        if isinstance(response, Mapping) and manner_of(asked.type) not in WHOLE:
            told = cast("Mapping[str, Any]", response)
            value, approved = told.get("value"), told.get("approved", verdict)
        await self._operations.answer(asked.id, value, approved=approved, by=by, via=via)
        return await self.get(asked.id)

    async def cancel(
        self,
        interaction_id: str,
        *,
        by: By = None,
        via: str | None = None,
        error: str | None = None,
    ) -> Interaction:
        """Take a question back, unless a workflow cannot go on without its answer.

        It can go on without an interactive session, whose outcome is then `cancelled`.
        error: why it was declined.
        """

        def build(asked: Interaction) -> Told:
            if is_from_board(asked.type) and not asked.awaited:
                raise ConflictError(
                    f"A coding agent asks question {asked.id}, and its own dialog is open too. "
                    "Answer it here or there.",
                    interaction_id=asked.id,
                )
            why = {} if error is None else {"error": as_text(error, "error")}
            payload = {"id": asked.id, "reason": "it was taken back", **why, **_who(by, via)}
            if manner_of(asked.type) == "outcome":
                name, ended = ending(asked, Completion("cancelled"), _participant(by))
                return name, ended | payload
            if asked.awaited:
                raise ConflictError(
                    f"Session {asked.session_id} goes on only with an answer to question "
                    f"{asked.id}. Answer it, or end the session: "
                    f"callboard cancel {asked.session_id}",
                    interaction_id=asked.id,
                    session_id=asked.session_id,
                )
            return names.INPUT_CANCELLED, payload

        await self._questions.write(interaction_id, build)
        return await self.get(interaction_id)


def _ran_out(asked: Interaction, now_ms: int) -> bool:
    return asked.deadline is not None and to_ms(asked.deadline) <= now_ms


def _who(by: By, via: str | None) -> dict[str, str]:
    return authored(by) | ({} if via is None else {"via": via})


def _participant(by: By) -> str | None:
    return by.participant if isinstance(by, Author) else by


def _sought(status: str | None, session_id: str, type: str | None) -> Query:
    given: Mapping[str, Cell] = {
        "status": status,
        "execution_id": None if session_id == "*" else session_id,
        "type": type,
    }
    where = {column: value for column, value in given.items() if value is not None}
    return Query("human_interactions", where, order="created_at")
