"""Answers to questions: checked, and turned into events."""

import asyncio
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import NamedTuple
from weakref import WeakValueDictionary

from callboard.clock import Clock
from callboard.engine.tasks import described
from callboard.errors import (
    AlreadyAnswered,
    InteractionClosed,
    InteractionNotFound,
    PositionConflict,
    SessionExists,
    SessionOwned,
)
from callboard.events import names
from callboard.events.envelope import NewEvent, place
from callboard.events.event_name import Entry
from callboard.events.payloads.people import Answered, InputReceivedPayload
from callboard.events.payloads.workflow import TaskStartedPayload
from callboard.events.rows import Change, Query, Row
from callboard.ids import event_id
from callboard.interactions.answer_text import answer_text
from callboard.interactions.answers import check
from callboard.interactions.configs import blocks, halts
from callboard.interactions.excerpts import excerpt
from callboard.interactions.kinds import WHOLE, manner_of
from callboard.interactions.records import (
    LARGE,
    Interaction,
    in_bytes,
    interaction,
    length_of,
)
from callboard.log.protocol import EventLog, Writing
from callboard.state.rows import project
from callboard.state.session import SessionView
from callboard.state.visits import Asked

_LONGEST = 500
"""How many characters of an answer an error repeats."""

RAN_OUT = "timed out before it was answered"

_UNANSWERED = {"expired": RAN_OUT, "failed": RAN_OUT, "cancelled": "was cancelled"}
ANSWERED = ("completed", "approved", "rejected")

_CLOSED = {"timeout": RAN_OUT, "cancelled": "was cancelled", "failed": "has failed"}
_QUIET = (names.CLAIMED, names.RELEASED, names.ASSIGNED, names.CONTRIBUTED)


def answer_payload(
    view: SessionView, question: str, value: object, approved: bool | None, who: Answered
) -> InputReceivedPayload:
    """The payload of `input:received`; raises if the question cannot take this answer."""
    asked = view.questions.get(question)
    if asked is None:
        if view.ended:
            raise closed(question, f"belongs to session {view.session_id}, which has ended")
        raise unknown(question)
    if asked.status == "answered":
        raise already(question, asked.value)
    if asked.status != "pending":
        raise closed(question, _UNANSWERED[asked.status])
    return received_payload(asked, value, approved, who)


def received_payload(
    asked: Asked | Interaction, value: object, approved: bool | None, who: Answered
) -> InputReceivedPayload:
    """The payload of `input:received` for an open question; AnswerInvalid if it is not valid."""
    answer = check(asked, value, approved, asked.config)
    payload: InputReceivedPayload = {**who, "id": asked.id, "value": answer.value}
    if answer.whole:
        payload["outcome"] = "completed"
    if answer.approved is not None:
        payload["approved"] = answer.approved
    if answer.status is not None:
        payload["status"] = answer.status
    if answer.message is not None:
        payload["message"] = answer.message
    return payload


def unknown(question: str) -> InteractionNotFound:
    """The error for an unknown question id."""
    return InteractionNotFound(
        f"There is no question {question!r}. List open ones: callboard inbox",
        interaction_id=question,
    )


def already(question: str, value: object, *, awaited: bool = True) -> AlreadyAnswered:
    """The error for a second answer. If a workflow awaited it, a fork can answer differently."""
    again = "fork the session" if awaited else "ask again"
    told = excerpt(" ".join(answer_text(value).split()), _LONGEST)
    return AlreadyAnswered(
        f"Question {question} has already been answered: {told}. The first answer counts; "
        f"to decide again, {again}.",
        interaction_id=question,
    )


def closed(question: str, how: str) -> InteractionClosed:
    """The error for a question that was closed without an answer."""
    return InteractionClosed(f"Question {question} {how}.", interaction_id=question)


class OpenQuestion(NamedTuple):
    """An open question and its row, which also has the position of its stream."""

    asked: Interaction
    row: Row


class QuestionRows:
    """Reads and writes single questions of a log."""

    def __init__(self, log: EventLog, clock: Clock) -> None:
        self._log = log
        self._clock = clock
        self._turns: WeakValueDictionary[str, asyncio.Lock] = WeakValueDictionary()

    async def find(self, interaction_id: str) -> Interaction:
        """A question, open or closed."""
        return (await self._read(Query("human_interactions", {"id": interaction_id}))).asked

    async def find_open(self, interaction_id: str) -> OpenQuestion:
        """An open question; otherwise raises an error that says what became of it."""
        query = Query("human_interactions", {"id": interaction_id}, with_stream=True)
        found, row = await self._read(query)
        if found.status in ANSWERED:
            whole = manner_of(found.type) in WHOLE
            decided = found.response if whole else found.response["value"]
            raise already(interaction_id, decided, awaited=found.awaited)
        if found.status != "pending":
            raise closed(interaction_id, _CLOSED.get(found.status, "is closed"))
        if found.accepted is not None:
            raise already(interaction_id, found.accepted, awaited=False)
        return OpenQuestion(found, row)

    async def _read(self, query: Query) -> OpenQuestion:
        rows = await self._log.rows(query)
        if not rows:
            raise unknown(str(query.where["id"]))
        if query.with_stream and rows[0]["stream_head"] is None:
            # A detached session in which nothing has happened yet.
            rows[0] |= {"stream_head": 0, "stream_settled": 0}
        read = rows[0]
        is_large = length_of(read) > LARGE
        # Parsing a large question takes long; let other tasks run in between.
        if is_large:
            await asyncio.sleep(0)
            read = in_bytes(read)
            await asyncio.sleep(0)
        found = interaction(read, self._clock.now_ms())
        if is_large:
            await asyncio.sleep(0)
        return OpenQuestion(found, rows[0])

    async def write(
        self, found: OpenQuestion, build: Callable[[Interaction], Entry | None]
    ) -> Interaction | None:
        """Append what `build` makes of the question while it is open; start over after a conflict.

        Returns the question afterwards, or None if there was nothing to write.
        """
        # One at a time: concurrent writers would make each other start over.
        turn = self._turns.setdefault(found.asked.stream, asyncio.Lock())
        is_current = not turn.locked()
        async with turn:
            while True:
                if not is_current:
                    found = await self.find_open(found.asked.id)
                told = build(found.asked)
                if told is None:
                    return None
                try:
                    return await self._append(found, told)
                except (PositionConflict, SessionOwned, SessionExists):
                    is_current = False

    async def _append(self, found: OpenQuestion, told: Entry) -> Interaction:
        """Append what happened to a question, and close its task if that closes the question."""
        asked, row = found
        task = await self._task(asked) if told[0] in names.CLOSES_QUESTION else None
        ending = [] if task is None else [names.TASK_COMPLETED(task)]
        now = self._clock.now_ms()
        events = chained([told, *ending], now, row["stream_last"])
        # The session's driver has to continue with it.
        halted = halts(asked.type, asked.config) and not asked.is_detached
        moves = asked.awaited or task is not None or halted
        settles = not moves or told[0] in _QUIET
        writing = Writing(expect=row["stream_head"], settle=settles and _is_settled(row))
        await self._log.append(asked.stream, events, writing)
        return _after(found, events, now)

    async def _task(self, asked: Interaction) -> TaskStartedPayload | None:
        """The task that ends with a question, if it has one."""
        if asked.session_id is None or not blocks(asked.type, asked.config) or asked.is_detached:
            return None
        rows = await self._log.rows(Query("tasks", {"id": asked.id, "status": "running"}))
        return described(asked.id, rows[0]["title"]) if rows else None


def chained(told: Sequence[Entry], now_ms: int, cause: str | None = None) -> list[NewEvent]:
    """Events of one append, each caused by the previous one."""
    events: list[NewEvent] = []
    for name, payload in told:
        events.append(NewEvent(event_id(), name, payload, now_ms, caused_by=cause))
        cause = events[-1].id
    return events


def _is_settled(row: Row) -> bool:
    """Whether there is nothing to do in the stream; without new events, it stays that way."""
    return row["stream_owner"] is None and row["stream_settled"] == row["stream_head"]


def _after(found: OpenQuestion, events: Sequence[NewEvent], now_ms: int) -> Interaction:
    """The question after these events, as its row is now, without reading it again."""
    asked, row = found
    # The config never changes, and may take long to read.
    columns = {**row, "session_config": None}
    for position, event in enumerate(events, row["stream_head"] + 1):
        for change in project(place(event, asked.stream, position)):
            if isinstance(change, Change) and change.table == "human_interactions":
                columns |= change.set
    return replace(interaction(columns, now_ms), config=asked.config)


async def unmoved(log: EventLog, stream: str, head: int) -> Writing:
    """How to append what gives drivers nothing to do: a settled stream stays settled."""
    lease = await log.lease(stream)
    settled = lease is not None and lease.owner is None and lease.settled == head
    return Writing(expect=head, settle=settled)
