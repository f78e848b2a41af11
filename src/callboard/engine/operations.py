"""Operations on sessions that need only the log: from any process, at any time."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeVar

from callboard.clock import Clock
from callboard.engine.batch import Batch, LiveState
from callboard.engine.checkpoints import write
from callboard.engine.detached import close_detached
from callboard.engine.forking import Edits, Forking, fork_position, forked_payload, start_patches
from callboard.engine.loading import is_driven, load, not_found, session_row
from callboard.engine.outputs import plain
from callboard.engine.questions import (
    RAN_OUT,
    OpenQuestion,
    QuestionRows,
    answer_payload,
    closed,
    received_payload,
)
from callboard.engine.scene import Scene
from callboard.engine.tasks import cancel_questions, close, end_questions
from callboard.engine.titles import checked_title, forget_titles, rename, title_of
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
from callboard.events.authors import By, answerer, authored, reasoned
from callboard.events.event_name import Entry
from callboard.events.payloads.people import Answered
from callboard.events.payloads.workflow import Reasoned
from callboard.events.shapes import Shape
from callboard.ids import short_id
from callboard.interactions.assignment import permitted
from callboard.interactions.expiry import expire, ran_out
from callboard.interactions.records import Interaction
from callboard.log.protocol import Base, EventLog, Writing
from callboard.state.session import SessionView

if TYPE_CHECKING:
    from callboard.events.payloads.workflow import WorkflowStartedPayload

T = TypeVar("T")

_STOPPING = 10.0
"""How many seconds a session's driver has to notice a cancellation."""
_LOOK_AGAIN = 0.02


@dataclass(frozen=True, slots=True)
class Forked(Shape):
    """The result of a fork."""

    session_id: str
    original_session_id: str
    events_copied: int
    position: int


def begin(
    workflow: Workflow,
    given: object,
    source: Mapping[str, str] | None = None,
    by: By = None,
    title: str | None = None,
) -> Callable[[Scene], None]:
    """The first events of a new session; without a title, the workflow may provide one."""
    named = checked_title(title)
    try:
        recorded = plain(given, "The input")
    except AgentOutputInvalid as error:
        cause = error.__cause__
        reason = cause.message if isinstance(cause, CallboardError) else error.message
        raise ValidationError(f"The input cannot be recorded: {reason}", field="input") from error

    def build(scene: Scene) -> None:
        live, initial = workflow.state_type.initial()
        payload: WorkflowStartedPayload = {
            **authored(by),
            "workflow": workflow.name,
            "version": workflow.version,
            "input": recorded,
            "initialState": initial,
        }
        if source:
            payload["source"] = dict(source)
        scene.batch.add(names.STARTED(payload))
        scene.state.start_with(live)
        if workflow.start is not None:
            _start(scene, workflow.name, workflow.start, given)
        # The workflow's title may depend on what `start` did to the state, so it is known only now.
        # Nothing has been written yet.
        text = named or title_of(workflow.name, workflow.title, scene.state.read, given)
        if text is not None:
            payload["title"] = text

    return build


def _start(scene: Scene, workflow: str, start: Callable[..., object], given: object) -> None:
    def change(draft: object) -> None:
        start(draft, given)

    try:
        scene.state.change(scene.batch, change, reason="start")
    except CallboardError:
        raise
    except Exception as error:
        raise PhaseError(
            f"start of workflow {workflow!r} raised {type(error).__name__}: {error}. "
            "No session was started.",
            workflow=workflow,
        ) from error


class Operations:
    """Answer, pause, resume, cancel, fork: each appends its event or raises the reason why not."""

    def __init__(self, log: EventLog, clock: Clock) -> None:
        self._log = log
        self._clock = clock
        self._questions = QuestionRows(log, clock)

    async def start(
        self,
        workflow: Workflow,
        input: object = None,
        *,
        session_id: str | None = None,
        source: Mapping[str, str] | None = None,
        by: By = None,
        title: str | None = None,
    ) -> str:
        """Start a session, leave it to a driver, and return its id."""
        prelude = begin(workflow, input, source, by, title)
        view = SessionView(session_id=session_id or short_id())
        batch = Batch(view, self._clock)
        prelude(Scene(workflow, batch, LiveState(workflow.state_type, view), {}))
        await self._log.append(view.session_id, batch.events, Writing(expect=0))
        return view.session_id

    async def answer(
        self,
        question: str | OpenQuestion,
        value: object = None,
        *,
        approved: bool | None = None,
        by: By = None,
        via: str | None = None,
    ) -> Interaction:
        """Answer a question, by its id or as it was just read. The first answer counts.

        The question's row is enough, unless its deadline has passed: then the session is needed.
        """
        is_found = isinstance(question, OpenQuestion)
        found = question if is_found else await self._questions.find_open(question)

        def build(asked: Interaction) -> Entry | None:
            who = permitted(asked, by, answerer(by, via))
            received = received_payload(asked, value, approved, who)
            if asked.is_due(self._clock.now_ms()):
                return None
            if asked.from_hook:
                # The answer, before the agent's own dialog confirms it.
                return names.ACCEPTED({**who, "id": asked.id, "response": received["value"]})
            return names.RECEIVED(received)

        answered = await self._questions.write(found, build)
        if answered is not None:
            return answered
        who = permitted(found.asked, by, answerer(by, via))
        await self._answer_late(found.asked.stream, found.asked.id, value, approved, who)
        return await self._questions.find(found.asked.id)

    async def _answer_late(
        self,
        session_id: str,
        question: str,
        value: object,
        approved: bool | None,
        who: Answered,
    ) -> None:
        """The deadline has passed while no one was driving the session: close the question now."""

        def build(batch: Batch) -> bool:
            payload = answer_payload(batch.view, question, value, approved, who)
            asked = batch.view.questions[question]
            late = ran_out(asked, batch.now) and not batch.view.paused
            if late:
                close(batch, expire(asked, batch.now))
            else:
                batch.add(names.RECEIVED(payload))
            return late

        try:
            late = await self._write(session_id, build)
        except (InteractionClosed, InteractionNotFound):
            # It has been closed and dropped from the view in the meantime; the row knows how.
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
        """Request a pause: what runs finishes or is interrupted. False if paused or ended."""
        why = reasoned(by, reason)
        driven = await is_driven(self._log, session_id)

        def build(batch: Batch) -> bool:
            view = batch.view
            if view.ended or view.paused or view.pausing is not None:
                return False
            batch.add(names.PAUSING({**why, "interrupt": True} if interrupt else {**why}))
            if not (driven and view.in_flight()):
                batch.add(names.PAUSED(why))
            return True

        return await self._write(session_id, build, settle=True)

    async def resume(self, session_id: str, *, by: By = None) -> bool:
        """Resume a paused session; False if it was not paused. It still has to be driven."""

        def build(batch: Batch) -> bool:
            view = batch.view
            if view.ended:
                has = "been cancelled" if view.ended == "cancelled" else view.ended
                raise NotResumable(
                    f"Session {session_id} has {has} and cannot be resumed. Fork it: "
                    f"callboard fork {session_id} --phase {view.last_phase or 'NAME'}",
                    session_id=session_id,
                )
            if not view.paused and view.pausing is None and not view.untouched:
                return False
            batch.add(names.RESUMED(authored(by)))
            return True

        return await self._write(session_id, build)

    async def cancel(self, session_id: str, *, by: By = None, reason: str | None = None) -> bool:
        """Cancel a session; False if it had already ended."""
        return await self._cancel(session_id, reasoned(by, reason), end_questions)

    async def _cancel(
        self, session_id: str, why: Reasoned, end: Callable[[Batch, str], None]
    ) -> bool:
        def build(batch: Batch) -> bool:
            if batch.view.ended:
                return False
            end(batch, "the session was cancelled")
            batch.add(names.CANCELLED(why))
            return True

        return await self._write(session_id, build, settle=True)

    async def rename(self, session_id: str, title: str | None, *, by: By = None) -> None:
        """Change a session's title, even after it ended; None removes it."""
        await rename(self._log, self._clock, session_id, title, by)

    async def fork(  # noqa: PLR0913 - all by keyword
        self,
        session_id: str,
        at: Forking,
        *,
        workflow: Workflow | None = None,
        edits: Edits | None = None,
        child_id: str | None = None,
        run: bool = True,
        by: By = None,
    ) -> Forked:
        """Start a new session that shares this one's events up to a point. Nothing is copied.

        With `run=False`, drivers don't start the new session by themselves.
        """
        position = await fork_position(self._log, session_id, at, workflow)
        loaded = await load(self._log, session_id, position, weighed=True)
        view = loaded.view
        starting = await start_patches(self._log, session_id, position)
        payload = forked_payload(view, workflow, edits, starting)
        if (title := (await session_row(self._log, session_id))["title"]) is not None:
            payload["title"] = title
        view.session_id = child_id or short_id()
        batch = Batch(view, self._clock, loaded.last_id)
        forked = batch.add(names.FORKED({**payload, **authored(by)}))
        await loaded.since.count([forked])
        if loaded.since.is_due(view.state):
            write(batch)
        writing = Writing(expect=position, base=Base(session_id, position), settle=not run)
        await self._log.append(view.session_id, batch.events, writing)
        return Forked(view.session_id, session_id, position, position + 1)

    async def delete(self, session_id: str, *, by: By = None, trim: bool = True) -> None:
        """Permanently delete a session, cancelling it first if it is still open. Forks are kept.

        With `trim=False`, its events stay until the log is trimmed later: for deleting many
        sessions.
        """
        if (await session_row(self._log, session_id))["ended"] is None:
            await self._cancel(session_id, reasoned(by, "deleted"), cancel_questions)
        # Close these first: if this process dies now, nothing stays open without a session.
        left = await close_detached(self._log, self._clock, session_id)
        await self._hide(session_id)
        for stream in left:
            await self._log.delete(stream)
        await forget_titles(self._log, session_id)
        while trim and await self._log.trim():
            pass

    async def _hide(self, session_id: str) -> None:
        """Delete the session once no one drives it: its driver notices the cancellation."""
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
        """Fold, build, append; start over if another process wrote in between."""
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
        """With `settle`, leave nothing to do, unless someone drives the session."""
        # An incomplete pause leaves something to do, in case its driver dies now.
        complete = batch.view.paused or batch.view.ended is not None
        if settle and complete and not await is_driven(self._log, session_id):
            try:
                writing = Writing(expect=before, settle=True)
                await self._log.append(session_id, batch.events, writing)
            except SessionOwned:
                pass  # It was just claimed: its driver handles the rest.
            else:
                return
        await self._log.append(session_id, batch.events, Writing(expect=before))
