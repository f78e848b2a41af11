"""Follows a session that a server drives until it stops; its questions are asked here."""

import asyncio
from collections.abc import Callable
from contextlib import suppress
from typing import Final

from callboard.board.session_protocols import SessionReading
from callboard.engine.handler_questions import HandlerQuestions
from callboard.engine.sessions import SessionInfo
from callboard.events.envelope import Event
from callboard.state.fold import apply
from callboard.state.session import SessionView

_QUIET: Final = 0.1
"""Seconds of silence before checking whether a session has really stopped."""


class Following:
    """Reads a session from its start, and returns when it waits, pauses or ends.

    The session counts as waiting when it has an open question that no one here will answer. Every
    event is reported once.
    """

    def __init__(
        self,
        server: SessionReading,
        session_id: str,
        tell: Callable[[Event], None],
        questions: HandlerQuestions,
        news: asyncio.Event,
    ) -> None:
        """Follow a session; `news` is set by new events and by the questions."""
        self._server = server
        self._id = session_id
        self._tell = tell
        self._questions = questions
        self._news = news
        self._view = SessionView(session_id=session_id)

    async def run(self) -> SessionInfo:
        """Follow the session until it stops; returns it as it is then."""
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
            await asyncio.gather(*self._questions.leave(), return_exceptions=True)

    async def _read(self) -> None:
        async for event in self._server.tail(self._id):
            apply(self._view, event)
            self._tell(event)
            self._news.set()

    async def _next(self) -> None:
        """Wait for news, but only briefly if the session seems to have stopped."""
        wait = _QUIET if self._seems_over() else None
        with suppress(TimeoutError):
            await asyncio.wait_for(self._news.wait(), wait)

    async def _stopped(self) -> SessionInfo | None:
        """The session if it has stopped and all of its events have arrived; otherwise None."""
        if self._questions.error is not None:
            raise self._questions.error
        if not self._seems_over():
            return None
        with suppress(TimeoutError):
            await asyncio.wait_for(self._news.wait(), _QUIET)
            return None
        info = await self._server.session(self._id)
        # An agent that waits for a person stays in memory for a while, and so does its session.
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
