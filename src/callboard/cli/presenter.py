"""Shows a session that is driven here, and asks its questions: for a person, or a program."""

import asyncio
import sys
from collections.abc import Callable
from contextlib import suppress

from callboard.board.protocol import Board
from callboard.cli.exit import write_no_more
from callboard.cli.live import Live
from callboard.cli.screen import Screen
from callboard.engine.ports import Request
from callboard.engine.sessions import SessionInfo
from callboard.events import names
from callboard.events.codec import dump_json
from callboard.events.envelope import Event
from callboard.handlers.auto import auto_approve
from callboard.handlers.custom import CustomHandler
from callboard.handlers.terminal import cli_prompt


class AtTerminal:
    """Asks the person at this terminal, once everything before the question has been printed."""

    def __init__(self, live: Live) -> None:
        self._live = live
        self.prompt = cli_prompt()
        self._person = CustomHandler(self.prompt)
        self._turn = asyncio.Lock()

    async def answer(self, request: Request) -> object:
        """The person's answer."""
        await self._live.reached(request.id)
        async with self._turn:
            self._live.hold()
            try:
                return await self._person.answer(request)
            finally:
                self._live.release()


class Audience:
    """Gets every event once, in order, and knows where to print everything else."""

    def __init__(self, *, as_json: bool, auto_approve_all: bool) -> None:
        is_attended = sys.stdin.isatty() and sys.stdout.isatty()
        asks_here = is_attended and not as_json and not auto_approve_all
        self.as_json = as_json
        self.notes = Screen(sys.stderr if as_json else sys.stdout)
        self.on_gone: Callable[[], None] = lambda: None
        self.is_gone = False
        self._live = None if as_json else Live(self.notes, asks_here=asks_here)
        # Kept, because a workflow's own output must not come between the lines.
        self._stream = sys.stdout.buffer
        self._terminal = AtTerminal(self._live) if self._live and asks_here else None
        self.people = auto_approve() if auto_approve_all else self._terminal
        """Who answers questions in this process."""
        self._position = 0

    @property
    def left_a_question(self) -> bool:
        """Whether the person here left a question with Ctrl-C."""
        return self._terminal is not None and self._terminal.prompt.interrupted

    def tell(self, event: Event) -> None:
        """Show an event that hasn't been shown yet."""
        if event.position <= self._position or self.is_gone:
            return
        if self.as_json and event.name == names.COMPLETED:
            return  # Written with its final state, which `finish` reads.
        self._position = event.position
        try:
            self._write(event)
        except OSError:
            # The reader is gone, or the terminal was closed.
            self.is_gone = True
            write_no_more()
            self.on_gone()

    def introduce(self, info: SessionInfo) -> None:
        """Print which session it is, and since when, if it didn't start here."""
        if self._live is not None:
            self._live.introduce(info.workflow, info.session_id, info.created_at)

    async def take_up(self, board: Board, session_id: str, position: int) -> None:
        """Start in the middle: show what came after a position, and expect what is open."""
        self._position = position
        for event in await board.events(session_id, after=position):
            self.tell(event)
        if self._live is not None:
            for asked in (await board.view(session_id)).pending():
                self._live.expect(asked.id)

    async def finish(self, board: Board, session_id: str) -> None:
        """Print what is known only at the session's end."""
        self.rest()
        if self.as_json and not self.is_gone:
            for event in await board.events(session_id, after=self._position):
                self._write(event)

    def rest(self) -> None:
        """Leave the screen clean for what comes next."""
        if self._live is not None and not self.is_gone:
            with suppress(OSError):
                self._live.rest()

    def _write(self, event: Event) -> None:
        """Write for people, or as one line of JSON, flushed at once."""
        if self._live is not None:
            return self._live.tell(event)
        self._stream.write(dump_json(event.to_wire()) + b"\n")
        return self._stream.flush()
