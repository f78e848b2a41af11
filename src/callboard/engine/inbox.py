"""The inbox: every question to a person, and what people and programs can do with it.

Questions of workflows show up here by themselves. Others are asked here: on their own, or in a
session, which then waits for a person but does not continue with the answer.
"""

import asyncio
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Final

from callboard.clock import Clock
from callboard.engine.loading import session_row
from callboard.engine.operations import Operations
from callboard.engine.question_search import (
    InteractionPage,
    SoughtQuestions,
    find_questions,
    question_page,
)
from callboard.engine.questions import (
    RAN_OUT,
    OpenQuestion,
    QuestionRows,
    chained,
    closed,
    unmoved,
)
from callboard.engine.tasks import requested
from callboard.errors import (
    ConflictError,
    PositionConflict,
    SessionExists,
    SessionOwned,
    ValidationError,
)
from callboard.events import names
from callboard.events.authors import Author, By, answerer, authored
from callboard.events.envelope import Json
from callboard.events.event_name import Entry
from callboard.events.json_values import is_mapping
from callboard.events.payloads.people import AuthoredQuestion, InputCancelledPayload
from callboard.events.rows import Query
from callboard.ids import keyed_id, short_id
from callboard.interactions.answers import as_verdict
from callboard.interactions.assignment import expected, permitted
from callboard.interactions.configs import KIND
from callboard.interactions.expiry import expired
from callboard.interactions.fields import checked_text
from callboard.interactions.kinds import WHOLE, is_from_board, manner_of
from callboard.interactions.outcomes import (
    VERDICTS,
    Completion,
    check_of_config,
    check_of_event,
    check_outcome,
    completion_event,
)
from callboard.interactions.records import Interaction
from callboard.interactions.requests import check_free, claim_payload, ending, request_payload
from callboard.interactions.schema.checking import verified
from callboard.log.protocol import EventLog, Writing

RECEIPT_WITHIN: Final = 1.0
"""How many seconds an answer waits to find out what became of it."""


_WITHDRAWN: Final = "withdrawn"


_CHECKING: Final = ThreadPoolExecutor(1, thread_name_prefix="callboard-questions")
"""Not the event loop's own threads: agents may be using all of them."""


class Inbox:
    """Find, ask, assign, claim, release, complete and cancel; `Operations.answer` answers."""

    def __init__(self, log: EventLog, clock: Clock) -> None:
        self._log = log
        self._clock = clock
        self._questions = QuestionRows(log, clock)
        self._operations = Operations(log, clock)

    async def find(  # noqa: PLR0913 - all by keyword
        self,
        *,
        status: str | None = None,
        session_id: str = "*",
        type: str | None = None,
        workflow: str | None = None,
        assigned_to: Sequence[str] | None = None,
        q: str | None = None,
        limit: int | None = None,
    ) -> list[Interaction]:
        """Questions, oldest first; by default with any status and from all sessions."""
        sought = SoughtQuestions(status, session_id, type, workflow, assigned_to, q)
        return await find_questions(self._log, sought, limit, self._clock.now_ms())

    async def page(
        self, sought: SoughtQuestions, *, limit: int = 1000, cursor: str | None = None
    ) -> InteractionPage:
        """One page of questions, oldest first; `cursor` is `next_cursor` of the previous page."""
        return await question_page(self._log, sought, limit, cursor, self._clock.now_ms())

    async def get(self, interaction_id: str) -> Interaction:
        """One question, open or closed."""
        return await self._questions.find(interaction_id)

    async def ask(  # noqa: PLR0913 - all by keyword
        self,
        *,
        type: str,
        prompt: str,
        options: Sequence[str] | None = None,
        config: Mapping[str, Json] | None = None,
        session_id: str | None = None,
        key: str | None = None,
        assignees: Sequence[str] | None = None,
        by: By = None,
    ) -> Interaction:
        """Ask people a question, on its own or in a session that has not ended.

        With a `key`, it is asked only once: asking again with the same key returns the existing
        question, answered or not.
        """
        # In a thread: copying a large question would block the event loop for too long.
        loop = asyncio.get_running_loop()
        asked = await loop.run_in_executor(
            _CHECKING, request_payload, type, prompt, options, config, assignees
        )
        payload: AuthoredQuestion = {**authored(by), **asked}
        if type == KIND:
            await verified(check_of_config(payload.get("config")))
        if session_id is None:
            return await self.get(await self._ask_alone(payload, key))
        return await self.get(await self._ask_within(session_id, payload, key))

    async def _ask_alone(self, asked: AuthoredQuestion, key: str | None) -> str:
        """Ask a question that belongs to no session; returns its id.

        Its stream has the same id, which no session can have: a stream can be started only once.
        """
        while True:
            id = short_id() if key is None else keyed_id("standalone", key)
            new = names.REQUESTED({**asked, "id": id, "standalone": True})
            events = chained([new], self._clock.now_ms())
            try:
                await self._log.append(id, events, Writing(expect=0, settle=True))
            except SessionExists:
                if key is None:
                    continue
            return id

    async def _ask_within(self, session_id: str, asked: AuthoredQuestion, key: str | None) -> str:
        """Ask a question in a session that has not ended, and open its task; returns its id."""
        id = short_id() if key is None else keyed_id(session_id, key)
        told = requested({**asked, "id": id})
        while True:
            # In this order: if the session ends after the row was read, the head moves.
            head = await self._log.head(session_id)
            if key is not None and await self._log.rows(Query("human_interactions", {"id": id})):
                return id
            if (ended := (await session_row(self._log, session_id))["ended"]) is not None:
                raise ConflictError(
                    f"Session {session_id} has ended ({ended}), so nothing can be asked in it. "
                    "Ask without a session.",
                    session_id=session_id,
                )
            try:
                writing = await unmoved(self._log, session_id, head)
                await self._log.append(session_id, chained(told, self._clock.now_ms()), writing)
            except (PositionConflict, SessionOwned):
                continue
            return id

    async def ended(self, interaction_id: str) -> Interaction:
        """Wait until a question is closed, by any process."""
        asked = await self.get(interaction_id)
        return await self._after_waiting(asked, lambda found: found.status == "pending")

    async def receipt(
        self, answered: Interaction, *, within: float = RECEIPT_WITHIN
    ) -> Interaction:
        """An answered question, once it is known what became of the answer.

        For a coding agent's question, that takes a moment. After `within` seconds, the receipt
        stays `pending` and is recorded later.
        """
        if answered.receipt != "pending":
            return answered
        try:
            async with asyncio.timeout(within):
                return await self._after_waiting(answered, lambda one: one.receipt == "pending")
        except TimeoutError:
            return await self.get(answered.id)

    async def _after_waiting(
        self, asked: Interaction, waits: Callable[[Interaction], bool]
    ) -> Interaction:
        """The question, as soon as `waits` is no longer true for it."""
        changed = asyncio.Event()
        undo = self._log.on_change(asked.stream, lambda head: changed.set())
        try:
            while waits(found := await self.get(asked.id)):
                if found.stream != asked.stream:
                    break  # Detached: from here on, it is reported in another stream.
                await changed.wait()
                changed.clear()
            else:
                return found
        finally:
            undo()
        return await self._after_waiting(found, waits)

    async def claim(self, interaction_id: str, *, by: str, ttl_ms: int = 60_000) -> Interaction:
        """Claim a question, so that no one else can for a while. The same `by` renews the claim."""

        def build(asked: Interaction) -> Entry:
            now = self._clock.now_ms()
            return names.CLAIMED(claim_payload(asked, by, ttl_ms, now))

        return await self._write(await self._questions.find_open(interaction_id), build)

    async def release(self, interaction_id: str, *, by: str) -> Interaction:
        """Release a claim before it expires; does nothing if there is no claim."""

        def build(asked: Interaction) -> Entry | None:
            check_free(asked, by)
            return None if asked.claimed_by is None else names.RELEASED({"id": asked.id})

        return await self._write(await self._questions.find_open(interaction_id), build)

    async def assign(self, interaction_id: str, to: str | None, *, by: By = None) -> Interaction:
        """Set who is expected to answer: a person, `group:NAME`, or None for anyone who may."""

        def build(asked: Interaction) -> Entry | None:
            now_expected = expected(asked, to, by)
            if now_expected == (asked.assigned_to or []):
                return None
            return names.ASSIGNED({**authored(by), "id": asked.id, "to": now_expected})

        return await self._write(await self._questions.find_open(interaction_id), build)

    async def _write(
        self, found: OpenQuestion, build: Callable[[Interaction], Entry | None]
    ) -> Interaction:
        """Append the event that `build` returns, if any; returns the question afterwards."""
        return await self._questions.write(found, build) or await self.get(found.asked.id)

    async def complete(  # noqa: PLR0913 - all by keyword
        self,
        interaction_id: str,
        outcome: str,
        *,
        response: object = None,
        transcript: str | None = None,
        duration_ms: int | None = None,
        error: str | None = None,
        by: By = None,
        via: str | None = None,
    ) -> Interaction:
        """End an interactive session with its outcome; for a simpler question, it is the answer."""
        check_outcome(outcome)
        found = await self._questions.find_open(interaction_id)
        asked = found.asked
        who = permitted(asked, by, answerer(by, via))
        given = Completion(outcome, response, transcript, duration_ms, error)
        if manner_of(asked.type) != "outcome":
            return await self._complete_simply(found, given, by, via)
        await verified(check_of_event(asked.config, completion_event(asked, given, who)))
        paused = await self._is_paused(asked.session_id)
        late: list[str] = []

        def build(asked: Interaction) -> Entry:
            late.clear()
            told = permitted(asked, by, who)
            ended = ending(asked, given, _participant(by), told)
            if asked.is_due(self._clock.now_ms()) and not paused:
                late.append(asked.id)
                return expired(asked.id)
            return ended

        ended = await self._write(found, build)
        if late:
            raise closed(interaction_id, RAN_OUT)
        return ended

    async def _is_paused(self, session_id: str | None) -> bool:
        """Whether the deadlines of a session's questions are suspended."""
        rows = await self._log.rows(Query("sessions", {"id": session_id}))
        return bool(rows and rows[0]["paused"])

    async def _complete_simply(
        self, found: OpenQuestion, given: Completion, by: By, via: str | None
    ) -> Interaction:
        asked, outcome, response = found.asked, given.outcome, given.response
        if outcome == "cancelled":
            return await self.cancel(asked.id, by=by, via=via, error=given.error)
        verdict = VERDICTS.get(outcome)
        if outcome != "completed" and (verdict is None or manner_of(asked.type) != "verdict"):
            raise ValidationError(
                f"A question of type {asked.type} cannot end {outcome!r}. Answer it, or cancel it.",
                field="outcome",
            )
        value, approved = response, verdict
        if is_mapping(response) and manner_of(asked.type) not in WHOLE:
            value, approved = response.get("value"), as_verdict(response.get("approved", verdict))
        return await self._operations.answer(found, value, approved=approved, by=by, via=via)

    async def cancel(
        self,
        interaction_id: str,
        *,
        by: By = None,
        via: str | None = None,
        error: str | None = None,
    ) -> Interaction:
        """Withdraw a question, unless its workflow cannot continue without an answer.

        A workflow can continue without an interactive session, whose outcome is then `cancelled`.
        error: why it was declined.
        """

        def build(asked: Interaction) -> Entry:
            who = permitted(asked, by, answerer(by, via))
            if is_from_board(asked.type) and not asked.awaited:
                raise ConflictError(
                    f"Question {asked.id} is from a coding agent whose own dialog is also open. "
                    "Answer it here or there.",
                    interaction_id=asked.id,
                )
            if manner_of(asked.type) == "outcome":
                given = Completion("cancelled", error=error, reason=_WITHDRAWN)
                return ending(asked, given, _participant(by), who)
            if asked.awaited:
                raise ConflictError(
                    f"Session {asked.session_id} needs an answer to question "
                    f"{asked.id}. Answer it, or end the session: "
                    f"callboard cancel {asked.session_id}",
                    interaction_id=asked.id,
                    session_id=asked.session_id,
                )
            payload: InputCancelledPayload = {
                **who,
                "id": asked.id,
                "reason": _WITHDRAWN,
            }
            if error is not None:
                payload["error"] = checked_text(error, "error")
            return names.INPUT_CANCELLED(payload)

        return await self._write(await self._questions.find_open(interaction_id), build)


def _participant(by: By) -> str | None:
    """The name of a participant when several people decide with one token."""
    return by.given or by.name if isinstance(by, Author) else by
