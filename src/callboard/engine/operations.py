"""What people and programs do to sessions, by the log alone: from any process, at any time."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar

from callboard.clock import Clock
from callboard.engine.answering import (
    already,
    answer_payload,
    closed,
    received_payload,
    unknown,
)
from callboard.engine.batch import Batch, LiveState
from callboard.engine.forking import Forking, fork_position, forked_payload, start_patches
from callboard.engine.loading import load
from callboard.engine.outputs import plain
from callboard.engine.perform import Scene, cancel_questions
from callboard.engine.workflow import Workflow
from callboard.errors import (
    CallboardError,
    InteractionClosed,
    InteractionNotFound,
    NotResumable,
    PhaseError,
    PositionConflict,
    SessionOwned,
)
from callboard.events import names
from callboard.events.envelope import NewEvent
from callboard.events.moments import to_ms
from callboard.events.rows import Query
from callboard.ids import event_id, short_id
from callboard.interactions.expiry import expire, ran_out
from callboard.interactions.records import Interaction, interaction
from callboard.log.protocol import Base, EventLog, Writing
from callboard.state.session import SessionView

T = TypeVar("T")

_ROW_CLOSED = {"timeout": "ran out before it was answered", "cancelled": "was cancelled"}


@dataclass(frozen=True, slots=True)
class Forked:
    """What a fork made."""

    session_id: str
    original_session_id: str
    events_copied: int
    position: int


def begin(
    workflow: Workflow,
    given: Any,
    source: Mapping[str, str] | None = None,
    by: str | None = None,
) -> Callable[[Scene], None]:
    """The first events of a new session."""
    recorded = plain(given, "The input")

    def build(scene: Scene) -> None:
        initial = workflow.state_type.dump(workflow.state_type.initial())
        payload: dict[str, Any] = {
            "workflow": workflow.name,
            "version": workflow.version,
            "input": recorded,
            "initialState": initial,
        }
        if source:
            payload["source"] = dict(source)
        if by:
            payload["by"] = by
        scene.batch.add(names.STARTED, payload)
        if workflow.start is not None:
            start = workflow.start
            _start(scene, workflow.name, lambda draft: start(draft, given))

    return build


def _start(scene: Scene, workflow: str, start: Callable[[Any], Any]) -> None:
    try:
        scene.state.change(scene.batch, start, reason="start")
    except CallboardError:
        raise
    except Exception as error:
        raise PhaseError(
            f"start of workflow {workflow!r} raised {type(error).__name__}: {error}. "
            "No session was begun.",
            workflow=workflow,
        ) from error


class Operations:
    """Answer, pause, resume, cancel, fork: each appends its event, or says why not."""

    def __init__(self, log: EventLog, clock: Clock) -> None:
        self._log = log
        self._clock = clock

    async def start(
        self,
        workflow: Workflow,
        input: Any = None,
        *,
        session_id: str | None = None,
        source: Mapping[str, str] | None = None,
        by: str | None = None,
    ) -> str:
        """Begin a session and leave it to whoever drives; returns its id."""
        prelude = begin(workflow, input, source, by)
        view = SessionView(session_id=session_id or short_id())
        batch = Batch(view, self._clock)
        prelude(Scene(workflow, batch, LiveState(workflow.state_type, view)))
        await self._log.append(view.session_id, batch.events, Writing(expect=0))
        return view.session_id

    async def answer(
        self,
        interaction_id: str,
        value: Any = None,
        *,
        approved: bool | None = None,
        by: str | None = None,
        via: str | None = None,
    ) -> str:
        """Answer a question; returns its session. The first answer counts.

        The question's row tells all that has to be known, so that an answer costs the same
        whatever the session's state weighs. Only the clock's part needs the session itself.
        """
        who = {"by": by, "via": via}
        session_id = (await self._open_question(interaction_id)).session_id or ""
        while True:
            # In this order: what closes the question after the row was read, moves the head.
            head = await self._log.head(session_id)
            asked = await self._open_question(interaction_id)
            if asked.deadline is not None and to_ms(asked.deadline) <= self._clock.now_ms():
                await self._answer_late(session_id, interaction_id, value, approved, who)
                return session_id
            payload = received_payload(asked, value, approved, **who)
            [last] = await self._log.read(session_id, head - 1, limit=1)
            event = NewEvent(
                event_id(), names.RECEIVED, payload, self._clock.now_ms(), caused_by=last.id
            )
            try:
                await self._log.append(session_id, [event], Writing(expect=head))
            except PositionConflict:
                continue
            return session_id

    async def _answer_late(
        self,
        session_id: str,
        question: str,
        value: Any,
        approved: bool | None,
        who: dict[str, str | None],
    ) -> None:
        """The deadline has passed, and nobody has driven the session since: close it now."""

        def build(batch: Batch) -> bool:
            payload = answer_payload(batch.view, question, value, approved, **who)
            asked = batch.view.questions[question]
            late = ran_out(asked, batch.now) and not batch.view.paused
            if late:
                batch.add(*expire(asked, batch.now))
            else:
                batch.add(names.RECEIVED, payload)
            return late

        try:
            late = await self._write(session_id, build)
        except (InteractionClosed, InteractionNotFound):
            # It was closed and forgotten since we looked: the row knows how.
            await self._open_question(question)
            raise
        if late:
            raise closed(question, _ROW_CLOSED["timeout"])

    async def _open_question(self, interaction_id: str) -> Interaction:
        """The row of an open question; else the error that says what became of it."""
        rows = await self._log.rows(Query("human_interactions", {"id": interaction_id}))
        if not rows:
            raise unknown(interaction_id)
        found = interaction(rows[0])
        if found.status == "completed":
            raise already(interaction_id, found.response["value"])
        if found.status != "pending":
            raise closed(interaction_id, _ROW_CLOSED.get(found.status, "is closed"))
        return found

    async def pause(
        self,
        session_id: str,
        *,
        interrupt: bool = False,
        by: str | None = None,
        reason: str | None = None,
    ) -> bool:
        """Ask a session to pause; whether that was new. What runs finishes, or is interrupted."""
        why = {k: v for k, v in {"by": by, "reason": reason}.items() if v is not None}
        driven = await self._driven(session_id)

        def build(batch: Batch) -> bool:
            view = batch.view
            if view.ended or view.paused or view.pausing is not None:
                return False
            batch.add(names.PAUSING, {**why, **({"interrupt": True} if interrupt else {})})
            if not (driven and view.in_flight()):
                batch.add(names.PAUSED, why)
            return True

        return await self._write(session_id, build, settle=True)

    async def resume(self, session_id: str, *, by: str | None = None) -> bool:
        """Let a paused session go on; whether it was paused. Someone still has to drive it."""

        def build(batch: Batch) -> bool:
            view = batch.view
            if view.ended:
                raise NotResumable(
                    f"Session {session_id} has {_ended(view.ended)} and cannot go on. Fork it: "
                    f"callboard fork {session_id} --phase {view.last_phase or 'NAME'}",
                    session_id=session_id,
                )
            if not view.paused and view.pausing is None:
                return False
            batch.add(names.RESUMED, {"by": by} if by else {})
            return True

        return await self._write(session_id, build)

    async def cancel(
        self, session_id: str, *, by: str | None = None, reason: str | None = None
    ) -> bool:
        """End a session for good; whether it had not ended already."""
        why = {k: v for k, v in {"by": by, "reason": reason}.items() if v is not None}

        def build(batch: Batch) -> bool:
            if batch.view.ended:
                return False
            cancel_questions(batch, "the session was cancelled")
            batch.add(names.CANCELLED, why)
            return True

        return await self._write(session_id, build, settle=True)

    async def fork(  # noqa: PLR0913 - all by keyword
        self,
        session_id: str,
        at: Forking,
        *,
        workflow: Workflow | None = None,
        edits: Sequence[Mapping[str, Any]] | Callable[[Any], Any] | None = None,
        child_id: str | None = None,
        run: bool = True,
        by: str | None = None,
    ) -> Forked:
        """Begin a new session that shares this one's events up to a point. Copies nothing.

        With `run=False` no driver takes the new session up by itself.
        """
        position = await fork_position(self._log, session_id, at, workflow)
        loaded = await load(self._log, session_id, position)
        view = loaded.view
        starting = await start_patches(self._log, session_id, position)
        payload = forked_payload(view, workflow, edits, starting)
        if by:
            payload["by"] = by
        view.session_id = child_id or short_id()
        batch = Batch(view, self._clock, loaded.last_id)
        batch.add(names.FORKED, payload)
        writing = Writing(expect=position, base=Base(session_id, position), settle=not run)
        await self._log.append(view.session_id, batch.events, writing)
        return Forked(view.session_id, session_id, position, position + 1)

    async def _write(
        self, session_id: str, build: Callable[[Batch], T], *, settle: bool = False
    ) -> T:
        """Fold, build, append; again when somebody else wrote meanwhile."""
        while True:
            loaded = await load(self._log, session_id)
            batch = Batch(loaded.view, self._clock, loaded.last_id)
            before = loaded.view.position
            result = build(batch)
            if not batch.events:
                return result
            try:
                await self._append(session_id, batch, before, settle)
            except PositionConflict:
                continue
            return result

    async def _append(self, session_id: str, batch: Batch, before: int, settle: bool) -> None:
        """With `settle`, leave nothing to do behind, unless someone drives the session."""
        # A pause that is not complete leaves something to do, should its driver die just now.
        complete = batch.view.paused or batch.view.ended is not None
        if settle and complete and not await self._driven(session_id):
            try:
                writing = Writing(expect=before, settle=True)
                await self._log.append(session_id, batch.events, writing)
            except SessionOwned:
                pass  # Claimed just now: its driver will see to the rest.
            else:
                return
        await self._log.append(session_id, batch.events, Writing(expect=before))

    async def _driven(self, session_id: str) -> bool:
        lease = await self._log.lease(session_id)
        return lease is not None and lease.owner is not None and lease.alive


def _ended(status: str) -> str:
    return "been cancelled" if status == "cancelled" else status
