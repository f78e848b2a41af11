"""Asks whoever can be asked in this process, and writes down what they answer."""

import asyncio
from collections.abc import Callable, KeysView
from dataclasses import replace

from callboard.engine.answering import answer_payload
from callboard.engine.live import LiveSession
from callboard.engine.perform import Scene
from callboard.engine.ports import HumanInput, NoAnswer, Request
from callboard.engine.tasks import close
from callboard.errors import CallboardError, HandlerFailed, OwnershipLost, StoreError
from callboard.events import names
from callboard.interactions.configs import KIND, participants
from callboard.interactions.kinds import is_from_board
from callboard.interactions.outcomes import check_of_event, completion_event
from callboard.interactions.records import Interaction
from callboard.interactions.results import completion_of
from callboard.interactions.schema_checking import verified
from callboard.state.visits import Asked


class People:
    """The pending questions of one session, each put once to the handler that was given.

    `done` is called when one has come to an end: answered, declined or failed.
    """

    def __init__(
        self, live: LiveSession, handler: HumanInput | None, done: Callable[[], None]
    ) -> None:
        self.declined: set[str] = set()
        self.error: CallboardError | None = None
        self._live = live
        self._handler = handler
        self._done = done
        self._asking: dict[str, asyncio.Task[None]] = {}
        self._answering: set[str] = set()

    @property
    def asked(self) -> KeysView[str]:
        """The questions that somebody is thinking about just now."""
        return self._asking.keys()

    @property
    def can_ask(self) -> bool:
        """Whether there is anybody here who can be asked."""
        return self._handler is not None

    def will_answer(self) -> bool:
        """Whether a pending question may still be answered from here."""
        pending = self._live.view.pending() if self._handler else ()
        return any(asked.id not in self.declined and is_for_handler(asked) for asked in pending)

    def ask(self) -> None:
        """Put what is new to the handler, and take back what is no longer asked."""
        view = self._live.view
        if self._handler is None or (not view.questions and not self._asking):
            return
        paused = view.paused or view.pausing is not None
        pending = {} if paused else {asked.id: asked for asked in view.pending()}
        for question, task in self._asking.items():
            if question not in pending and question not in self._answering:
                task.cancel()
        for question, asked in pending.items():
            known = question in self._asking or question in self.declined
            if not known and is_for_handler(asked):
                self._asking[question] = asyncio.create_task(self._ask(self._handler, asked))

    async def _ask(self, handler: HumanInput, asked: Asked) -> None:
        try:
            request = request_of(self._live.session_id, asked)
            if asked.type == KIND:
                request = session_request(request, await self._live.question(asked.id))
            value = await handler.answer(request)
            self._answering.add(asked.id)
            if request.type == KIND:
                ended = completion_event(request, completion_of(request.config, value))
                await verified(check_of_event(request.config, ended))
            await self._live.commit(lambda scene: _answer(scene, request, value))
        except NoAnswer:
            self.declined.add(asked.id)
        except asyncio.CancelledError:
            pass
        except (OwnershipLost, StoreError) as error:
            # Not the handler's failure: it has answered, and that could not be written down.
            self.error = error
        except Exception as error:
            self.error = handler_failed(asked, error)
        finally:
            self._asking.pop(asked.id, None)
            self._answering.discard(asked.id)
            self._done()

    def leave(self) -> list[asyncio.Task[None]]:
        """Stop asking; returns what to wait for."""
        tasks = list(self._asking.values())
        for task in tasks:
            task.cancel()
        return tasks


def is_for_handler(asked: Asked) -> bool:
    """Whether a handler can be asked this; other types come from outside, and go back there."""
    return asked.type in ("approval", "choice", KIND) or is_from_board(asked.type)


def session_request(request: Request, asked: Interaction) -> Request:
    """The same with how the session is to be held; NoAnswer when several have to decide it."""
    if participants(asked.config):
        raise NoAnswer
    return replace(request, config=asked.config)


def _answer(scene: Scene, request: Request, value: object) -> None:
    view = scene.batch.view
    asked = view.questions.get(request.id)
    if view.ended or asked is None or asked.status != "pending":
        return  # Somebody else was quicker; the first answer counts.
    if request.type == KIND:
        name, ended = completion_event(request, completion_of(request.config, value))
        close(scene.batch, name, ended | {"via": "handler"})
        return
    scene.batch.add(names.RECEIVED, answer_payload(view, asked.id, value, None, {"via": "handler"}))


def handler_failed(asked: Asked, error: Exception) -> HandlerFailed:
    """The error for a handler that raised, or whose answer does not fit."""
    failed = HandlerFailed(
        f"human_input failed on {asked.prompt!r}: {str(error).rstrip('.')}. "
        "The question is still pending.",
        interaction_id=asked.id,
    )
    failed.__cause__ = error
    return failed


def request_of(session_id: str, asked: Asked) -> Request:
    """A question as handlers are given it."""
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
    )
