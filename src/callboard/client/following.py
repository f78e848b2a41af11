"""Watching a session that a server drives, until it stops; its questions are asked here."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import suppress
from typing import Any, Final, Protocol

from callboard.engine.people import handler_failed, is_for_handler, request_of, session_request
from callboard.engine.ports import HumanInput, NoAnswer, Request
from callboard.engine.sessions import SessionInfo
from callboard.errors import (
    AlreadyAnswered,
    InteractionClosed,
    ServerUnreachable,
)
from callboard.events.envelope import Event
from callboard.interactions.configs import KIND
from callboard.interactions.records import Interaction
from callboard.state.fold import apply
from callboard.state.session import SessionView
from callboard.state.visits import Asked

_QUIET: Final = 0.1
"""Seconds of silence before a session that seems to have stopped is looked at."""


class Server(Protocol):
    """What is needed of a client."""

    async def session(self, session_id: str) -> SessionInfo:
        """How a session stands."""
        ...

    def tail(self, session_id: str, after: int = 0) -> AsyncIterator[Event]:
        """Its events as they come."""
        ...


Answer = Callable[[Request, Any], Awaitable[Any]]
"""Sends an answer to a question."""
Look = Callable[[str], Awaitable[Interaction]]
"""Looks at the question with this id."""


class Following:
    """Reads a session from its beginning, and returns when it waits, pauses or ends.

    It waits when a question is open that nobody here will answer. Every event is told once.
    """

    def __init__(
        self,
        server: Server,
        session_id: str,
        tell: Callable[[Event], None],
        questions: "Questions",
    ) -> None:
        self._server = server
        self._id = session_id
        self._tell = tell
        self._questions = questions
        self._view = SessionView(session_id=session_id)
        self._news = asyncio.Event()
        questions.done = self._news.set

    async def run(self) -> SessionInfo:
        """Follow it; how it stands then."""
        head = (await self._server.session(self._id)).position
        reading = asyncio.create_task(self._read())
        reading.add_done_callback(lambda _: self._news.set())
        try:
            while not reading.done():
                self._news.clear()
                if self._view.position >= head:
                    self._questions.ask(self._view)
                    stopped = await self._stopped()
                    if stopped is not None:
                        return stopped
                await self._next()
            await reading
            return await self._server.session(self._id)
        finally:
            reading.cancel()
            with suppress(asyncio.CancelledError, Exception):
                await reading
            await self._questions.leave()

    async def _read(self) -> None:
        async for event in self._server.tail(self._id):
            apply(self._view, event)
            self._tell(event)
            self._news.set()

    async def _next(self) -> None:
        """Wait for news; for not very long if it might be that there is none."""
        wait = _QUIET if self._seems_over() else None
        with suppress(TimeoutError):
            await asyncio.wait_for(self._news.wait(), wait)

    async def _stopped(self) -> SessionInfo | None:
        """How the session stands if it has stopped, and nothing of it is still on its way."""
        if self._questions.error is not None:
            raise self._questions.error
        if not self._seems_over():
            return None
        with suppress(TimeoutError):
            await asyncio.wait_for(self._news.wait(), _QUIET)
            return None
        info = await self._server.session(self._id)
        # An agent that waits for a person is kept at hand for a while, and its session with it.
        at_rest = not info.running or bool(self._view.in_flight())
        return info if at_rest and info.position == self._view.position else None

    def _seems_over(self) -> bool:
        view = self._view
        if view.ended or view.paused or view.held is not None:
            return True
        unfinished = view.open
        if unfinished.retries or self._questions.will_answer(view) or unfinished.busy:
            return False
        return bool(unfinished.questions or view.tasks)


class Questions:
    """Puts each open question to whoever is here, once, and sends what they answer."""

    def __init__(self, handler: HumanInput | None, answer: Answer, look: Look) -> None:
        self.done: Callable[[], None] = lambda: None
        self.error: Exception | None = None
        self._handler = handler
        self._answer = answer
        self._look = look
        self._declined: set[str] = set()
        self._sent: set[str] = set()
        self._asking: dict[str, asyncio.Task[None]] = {}

    def will_answer(self, view: SessionView) -> bool:
        """Whether a question may still be answered from here."""
        if self._handler is None:
            return False
        pending = filter(is_for_handler, view.pending())
        return any(asked.id not in self._declined for asked in pending)

    def ask(self, view: SessionView) -> None:
        """Put what is new to the handler, and take back what is no longer asked."""
        if self._handler is None:
            return
        stopping = view.paused or view.pausing is not None
        asked_here = filter(is_for_handler, view.pending())
        pending = {} if stopping else {asked.id: asked for asked in asked_here}
        for question, task in self._asking.items():
            if question not in pending and question not in self._sent:
                task.cancel()
        for question, asked in pending.items():
            if question not in self._asking.keys() | self._declined | self._sent:
                asking = self._ask(self._handler, view.session_id, asked)
                self._asking[question] = asyncio.create_task(asking)

    async def _ask(self, handler: HumanInput, session_id: str, asked: Asked) -> None:
        try:
            request = request_of(session_id, asked)
            if asked.type == KIND:
                request = session_request(request, await self._look(asked.id))
            value = await handler.answer(request)
            self._sent.add(asked.id)
            await self._answer(request, value)
        except NoAnswer:
            self._declined.add(asked.id)
        except (AlreadyAnswered, InteractionClosed):
            pass  # Somebody else was quicker; the first answer counts.
        except ServerUnreachable as error:
            # Not the handler's failure: whether its answer arrived, the events will tell.
            self.error = error
        except Exception as error:
            self.error = handler_failed(asked, error)
        finally:
            self._asking.pop(asked.id, None)
            self.done()

    async def leave(self) -> None:
        """Stop asking."""
        tasks = list(self._asking.values())
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
