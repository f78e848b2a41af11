"""What people and programs do to sessions, by the log alone: from any process, at any time."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar

from callboard.clock import Clock
from callboard.engine.answering import (
    RAN_OUT,
    accepted_payload,
    answer_payload,
    closed,
    received_payload,
)
from callboard.engine.batch import Batch, LiveState
from callboard.engine.checkpoints import is_due, weigh, write
from callboard.engine.forking import Forking, fork_position, forked_payload, start_patches
from callboard.engine.loading import load, not_found
from callboard.engine.outputs import plain
from callboard.engine.perform import Scene, cancel_questions
from callboard.engine.resolving import Questions, Told
from callboard.engine.tasks import close
from callboard.engine.workflow import Workflow
from callboard.errors import (
    AgentOutputInvalid,
    CallboardError,
    ConflictError,
    InteractionClosed,
    InteractionNotFound,
    NotResumable,
    PhaseError,
    PositionConflict,
    SessionNotFound,
    SessionOwned,
    ValidationError,
)
from callboard.events import names
from callboard.events.authors import By, authored
from callboard.events.moments import to_ms
from callboard.events.rows import Query
from callboard.ids import short_id
from callboard.interactions.expiry import expire, ran_out
from callboard.interactions.records import Interaction
from callboard.log.protocol import Base, EventLog, Writing
from callboard.state.session import SessionView

T = TypeVar("T")

_STOPPING = 10.0
"""Seconds in which whoever drives a session must have heard that it was cancelled."""
_LOOK_AGAIN = 0.02


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
    by: By = None,
) -> Callable[[Scene], None]:
    """The first events of a new session."""
    try:
        recorded = plain(given, "The input")
    except AgentOutputInvalid as error:
        cause = error.__cause__
        reason = cause.message if isinstance(cause, CallboardError) else error.message
        raise ValidationError(f"The input cannot be recorded: {reason}", field="input") from error

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
        scene.batch.add(names.STARTED, payload | authored(by))
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
        self._questions = Questions(log, clock)

    async def start(
        self,
        workflow: Workflow,
        input: Any = None,
        *,
        session_id: str | None = None,
        source: Mapping[str, str] | None = None,
        by: By = None,
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
        by: By = None,
        via: str | None = None,
    ) -> str | None:
        """Answer a question; returns its session, if it has one. The first answer counts.

        Only the clock's part needs the session itself; else the question's row is enough.
        """
        who = authored(by) | ({} if via is None else {"via": via})

        def build(asked: Interaction) -> Told | None:
            if asked.deadline is not None and to_ms(asked.deadline) <= self._clock.now_ms():
                return None
            received = received_payload(asked, value, approved, who)
            if asked.from_hook:
                return names.ACCEPTED, accepted_payload(received)
            return names.RECEIVED, received

        answered = await self._questions.write(interaction_id, build)
        if answered is not None:
            return answered.session_id
        session_id = (await self._questions.find(interaction_id)).stream
        await self._answer_late(session_id, interaction_id, value, approved, who)
        return session_id

    async def _answer_late(
        self,
        session_id: str,
        question: str,
        value: Any,
        approved: bool | None,
        who: dict[str, str],
    ) -> None:
        """The deadline has passed, and nobody has driven the session since: close it now."""

        def build(batch: Batch) -> bool:
            payload = answer_payload(batch.view, question, value, approved, who)
            asked = batch.view.questions[question]
            late = ran_out(asked, batch.now) and not batch.view.paused
            if late:
                close(batch, *expire(asked, batch.now))
            else:
                batch.add(names.RECEIVED, payload)
            return late

        try:
            late = await self._write(session_id, build)
        except (InteractionClosed, InteractionNotFound):
            # It was closed and forgotten since we looked: the row knows how.
            await self._questions.find_open(question)
            raise
        if late:
            raise closed(question, RAN_OUT)

    async def pause(
        self,
        session_id: str,
        *,
        interrupt: bool = False,
        by: By = None,
        reason: str | None = None,
    ) -> bool:
        """Ask a session to pause; whether that was new. What runs finishes, or is interrupted."""
        why = authored(by) | ({} if reason is None else {"reason": reason})
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

    async def resume(self, session_id: str, *, by: By = None) -> bool:
        """Let a paused session go on; whether it was paused. Someone still has to drive it."""

        def build(batch: Batch) -> bool:
            view = batch.view
            if view.ended:
                raise NotResumable(
                    f"Session {session_id} has {_ended(view.ended)} and cannot go on. Fork it: "
                    f"callboard fork {session_id} --phase {view.last_phase or 'NAME'}",
                    session_id=session_id,
                )
            if not view.paused and view.pausing is None and not view.untouched:
                return False
            batch.add(names.RESUMED, authored(by))
            return True

        return await self._write(session_id, build)

    async def cancel(self, session_id: str, *, by: By = None, reason: str | None = None) -> bool:
        """End a session for good; whether it had not ended already."""
        why = authored(by) | ({} if reason is None else {"reason": reason})

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
        by: By = None,
    ) -> Forked:
        """Begin a new session that shares this one's events up to a point. Copies nothing.

        With `run=False` no driver takes the new session up by itself.
        """
        position = await fork_position(self._log, session_id, at, workflow)
        loaded = await load(self._log, session_id, position, weighed=True)
        view = loaded.view
        starting = await start_patches(self._log, session_id, position)
        payload = forked_payload(view, workflow, edits, starting) | authored(by)
        view.session_id = child_id or short_id()
        batch = Batch(view, self._clock, loaded.last_id)
        forked = batch.add(names.FORKED, payload)
        if is_due(loaded.checkpoint_size, loaded.size_since + weigh([forked])[1]):
            write(batch)
        writing = Writing(expect=position, base=Base(session_id, position), settle=not run)
        await self._log.append(view.session_id, batch.events, writing)
        return Forked(view.session_id, session_id, position, position + 1)

    async def delete(self, session_id: str, *, by: By = None, trim: bool = True) -> None:
        """Remove a session for good, cancelled first if it has not ended. Its forks stay whole.

        With `trim=False` its events are left for a later `trim` of the log: for who deletes many.
        """
        rows = await self._log.rows(Query("sessions", {"id": session_id}))
        if not rows:
            raise not_found(session_id)
        if rows[0]["ended"] is None:
            await self.cancel(session_id, by=by, reason="deleted")
        await self._hide(session_id)
        while trim and await self._log.trim():
            pass

    async def _hide(self, session_id: str) -> None:
        """Delete as soon as nobody drives: who does hears of the cancellation, and stops."""
        until = self._clock.monotonic() + _STOPPING
        while True:
            try:
                return await self._log.delete(session_id)
            except SessionOwned as error:
                if self._clock.monotonic() >= until:
                    raise ConflictError(
                        f"Session {session_id} has ended, but the process that drives it has not "
                        f"stopped within {_STOPPING:g} s. Try again, or end that process.",
                        session_id=session_id,
                    ) from error
            except SessionNotFound:
                raise not_found(session_id) from None
            await self._clock.sleep(_LOOK_AGAIN)

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
