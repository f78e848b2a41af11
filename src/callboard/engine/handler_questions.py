"""Asks this process's handler and records its answers."""

import asyncio
from collections.abc import Awaitable, Callable, KeysView
from dataclasses import replace
from functools import partial

from callboard.engine.live import LiveSession
from callboard.engine.ports import HumanInput, NoAnswer, Request
from callboard.engine.questions import answer_payload
from callboard.engine.scene import Scene
from callboard.engine.tasks import close
from callboard.errors import CallboardError, HandlerFailed, OwnershipLost, StoreError
from callboard.events import names
from callboard.events.payloads.people import Answered
from callboard.interactions.configs import KIND, participants
from callboard.interactions.kinds import is_from_board
from callboard.interactions.outcomes import check_of_event, completion_event
from callboard.interactions.records import Interaction
from callboard.interactions.results import completion_of
from callboard.interactions.schema.checking import verified
from callboard.state.session import SessionView
from callboard.state.visits import Asked

_HANDLER: Answered = {"via": "handler"}

Look = Callable[[str], Awaitable[Interaction]]
"""Reads the question with this id."""
Record = Callable[[Request, object], Awaitable[object]]
"""Records the answer to a question, or sends it to the server that does."""


class HandlerQuestions:
    """The pending questions of one session, each passed to the handler once.

    Args:
        handler: answers the questions; None if no one can be asked here.
        look: reads a question.
        record: records an answer.
        done: called when a question is done: answered, declined or failed.
        outages: errors of `look` and `record` that aren't the handler's fault: it may have
            answered, but the answer could not be recorded.
    """

    def __init__(
        self,
        handler: HumanInput | None,
        look: Look,
        record: Record,
        done: Callable[[], None],
        *outages: type[CallboardError],
    ) -> None:
        self.declined: set[str] = set()
        self.error: CallboardError | None = None
        self._handler = handler
        self._look = look
        self._record = record
        self._done = done
        self._outages = outages
        self._asking: dict[str, asyncio.Task[None]] = {}
        self._answered: set[str] = set()

    @property
    def asked(self) -> KeysView[str]:
        """The questions that the handler is working on right now."""
        return self._asking.keys()

    @property
    def can_ask(self) -> bool:
        """Whether there is a handler to ask."""
        return self._handler is not None

    def will_answer(self, view: SessionView) -> bool:
        """Whether a pending question may still be answered here."""
        pending = view.pending() if self._handler else ()
        return any(asked.id not in self.declined and _is_for_handler(asked) for asked in pending)

    def ask(self, view: SessionView) -> None:
        """Pass new questions to the handler, and withdraw those that are closed."""
        if self._handler is None or (not view.questions and not self._asking):
            return
        paused = view.paused or view.pausing is not None
        pending = {} if paused else {asked.id: asked for asked in view.pending()}
        for question, task in self._asking.items():
            if question not in pending and question not in self._answered:
                task.cancel()
        known = self._asking.keys() | self.declined | self._answered
        for question, asked in pending.items():
            if question not in known and _is_for_handler(asked):
                asking = asyncio.create_task(self._ask(self._handler, view.session_id, asked))
                self._asking[question] = asking
                # Not in the task itself, which may be cancelled before it has started.
                asking.add_done_callback(partial(self._end, question))

    async def _ask(self, handler: HumanInput, session_id: str, asked: Asked) -> None:
        try:
            request = _request_of(session_id, asked)
            if asked.type == KIND:
                request = _session_request(request, await self._look(asked.id))
            value = await handler.answer(request)
            self._answered.add(asked.id)
            await self._record(request, value)
        except NoAnswer:
            self.declined.add(asked.id)
        except asyncio.CancelledError:
            pass
        except Exception as error:
            is_outage = isinstance(error, self._outages)
            self.error = error if is_outage else _handler_failed(asked, error)

    def _end(self, question: str, task: asyncio.Task[None]) -> None:
        del self._asking[question]
        self._done()

    def leave(self) -> list[asyncio.Task[None]]:
        """Stop asking; returns the tasks to wait for."""
        tasks = list(self._asking.values())
        for task in tasks:
            task.cancel()
        return tasks


def questions_of(
    live: LiveSession, handler: HumanInput | None, done: Callable[[], None]
) -> HandlerQuestions:
    """The questions of a session that is driven here; answers go into its log."""

    async def record(request: Request, value: object) -> None:
        if request.type == KIND:
            given = completion_of(request.config, value)
            ended = completion_event(request, given, _HANDLER)
            await verified(check_of_event(request.config, ended))
        await live.commit(lambda scene: _answer(scene, request, value))

    return HandlerQuestions(handler, live.question, record, done, OwnershipLost, StoreError)


def _is_for_handler(asked: Asked) -> bool:
    """Whether a handler can answer this; other types come from outside and are answered there."""
    return asked.type in ("approval", "choice", KIND) or is_from_board(asked.type)


def _session_request(request: Request, asked: Interaction) -> Request:
    """The request with the session's config; NoAnswer if several people have to decide."""
    if participants(asked.config):
        raise NoAnswer
    return replace(request, config=asked.config)


def _answer(scene: Scene, request: Request, value: object) -> None:
    view = scene.batch.view
    asked = view.questions.get(request.id)
    if view.ended or asked is None or asked.status != "pending":
        return  # Someone else answered first, and the first answer counts.
    # No one has checked who is asked here, so it isn't known to be one of those who may answer.
    who: Answered = _HANDLER if asked.assignees is None else {**_HANDLER, "override": True}
    if request.type == KIND:
        close(scene.batch, completion_event(request, completion_of(request.config, value), who))
        return
    scene.batch.add(names.RECEIVED(answer_payload(view, asked.id, value, None, who)))


def _handler_failed(asked: Asked, error: Exception) -> HandlerFailed:
    """The error for a handler that raised or gave an invalid answer."""
    failed = HandlerFailed(
        f"human_input failed on {asked.prompt!r}: {str(error).rstrip('.')}. "
        "The question is still pending.",
        interaction_id=asked.id,
    )
    failed.__cause__ = error
    return failed


def _request_of(session_id: str, asked: Asked) -> Request:
    """A question as handlers get it."""
    return Request(
        id=asked.id,
        session_id=session_id,
        type=asked.type,
        prompt=asked.prompt,
        options=asked.options,
        other=asked.other,
        phase=asked.phase,
        run=asked.run,
        deadline=asked.deadline,
        config=asked.config,
        key=asked.key,
        assignees=asked.assignees,
    )
