"""A session as it runs, line by line; on a terminal, with a line that shows the working agents."""

import asyncio
import time
from datetime import datetime

from rich import live
from rich.text import Text

from callboard.cli.format import duration, one_line
from callboard.cli.narrative import Telling, heading, told
from callboard.cli.screen import Screen
from callboard.display.lines import visible
from callboard.events import names
from callboard.events.envelope import Event
from callboard.events.json_values import as_text

_FRAMES = "⠋⠙⠹⠸⠼⠴⠦⠧⠇⠏"
_ASCII_FRAMES = "|/-\\"
_PER_SECOND = 10
_SPOKEN = (names.TEXT_DELTA, names.THINKING_DELTA)


class Spinner:
    """Spins while agents work. Does nothing without a terminal.

    agents: run → its agent, and since when it has been working.
    """

    def __init__(self, screen: Screen) -> None:
        self.works = screen.is_terminal
        self._screen = screen
        self._frames = _FRAMES if screen.unicode else _ASCII_FRAMES
        self.agents: dict[str, tuple[str, float]] = {}
        self._live: live.Live | None = None

    def show(self) -> None:
        """Spin, if any agent is working."""
        if not self.agents:
            self.hide()
        elif self.works and self._live is None:
            self._live = live.Live(
                get_renderable=self._line,
                console=self._screen.console,
                refresh_per_second=_PER_SECOND,
                transient=True,
            )
            self._live.start()

    def hide(self) -> None:
        """Leave the screen to others."""
        if self._live is not None:
            self._live.stop()
            self._live = None

    def _line(self) -> Text:
        now = time.monotonic()
        frame = self._frames[int(now * _PER_SECOND) % len(self._frames)]
        agents = list(self.agents.values())
        names = ", ".join(name for name, _ in agents)
        longest = max((now - since for _, since in agents), default=0.0)
        lasted = f"  {duration(int(longest))}" if longest >= 1 else ""
        line = self._screen.styled((f"  {frame} {names}", "here"), (lasted, "faint"))
        line.truncate(self._screen.width - 1, overflow="ellipsis")
        return line


class Live:
    """Prints the events that matter to people. Waits while a question is being asked."""

    def __init__(self, screen: Screen, *, asks_here: bool = False) -> None:
        self._screen = screen
        self._asks_here = asks_here
        self._spinner = Spinner(screen)
        self._held: list[Event] | None = None
        self._asked: dict[str, asyncio.Event] = {}
        self._speaking: tuple[str, str] | None = None
        self._in_line = False
        self._begun: datetime | None = None

    def tell(self, event: Event) -> None:
        """Print an event, or keep it until the question on the screen is answered."""
        if self._held is not None:
            self._held.append(event)
            return
        if event.name in _SPOKEN:
            self._say(event)
        else:
            self._tell(event)
        if not self._in_line:
            self._spinner.show()
        if event.name == names.REQUESTED:
            self.expect(as_text(event.payload["id"]))

    def introduce(self, workflow: str, session_id: str, begun: datetime) -> None:
        """Print which session it is, if it didn't start here."""
        self._begun = begun
        self._screen.line(*heading(workflow, session_id))

    async def reached(self, question: str) -> None:
        """Wait until everything before a question has been printed."""
        await self._asked.setdefault(question, asyncio.Event()).wait()

    def expect(self, question: str) -> None:
        """Record that everything before a question has been printed."""
        self._asked.setdefault(question, asyncio.Event()).set()

    def hold(self) -> None:
        """Leave the screen to a question."""
        self.rest()
        self._held = []

    def release(self) -> None:
        """Take the screen back, and print what happened in the meantime."""
        held, self._held = self._held or [], None
        for event in held:
            self.tell(event)
        self._spinner.show()

    def rest(self) -> None:
        """Leave the screen clean: no spinner, no unfinished line."""
        self._spinner.hide()
        self._finish_line()

    def _tell(self, event: Event) -> None:
        if event.name == names.FORKED or self._begun is None:
            self._begun = event.timestamp
        self._count(event)
        signs, spins = self._screen.signs, self._spinner.works
        lines = told(Telling(event, signs, self._asks_here, spins, self._begun))
        if lines:
            self._finish_line()
        for line in lines:
            self._screen.line(*line)

    def _count(self, event: Event) -> None:
        """Track which agents are working."""
        run, agents = as_text(event.payload.get("run")), self._spinner.agents
        if event.name == names.AGENT_STARTED:
            agents[run] = one_line(as_text(event.payload["agent"])), time.monotonic()
        elif event.name in (names.AGENT_COMPLETED, names.AGENT_INTERRUPTED, names.PHASE_FAILED):
            agents.pop(run, None)
        elif event.name in (names.PHASE_EXITED, *names.TERMINAL):
            agents.clear()

    def _say(self, event: Event) -> None:
        """Print an agent's output as it streams; a different agent starts a new line."""
        speaker = (as_text(event.payload.get("run")), event.name)
        if self._speaking != speaker:
            self._finish_line()
            self._speaking = speaker
        margin = (f"    {self._screen.signs.bar} ", "faint")
        style = "faint" if event.name == names.THINKING_DELTA else ""
        said: list[tuple[str, str]] = []
        for line in visible(as_text(event.payload["delta"])).splitlines(keepends=True):
            said += [(line, style)] if self._in_line else [margin, (line, style)]
            self._in_line = not line.endswith("\n")
        if self._in_line:
            # It would be where the line continues.
            self._spinner.hide()
        self._screen.add(*said)

    def _finish_line(self) -> None:
        self._speaking = None
        if self._in_line:
            self._in_line = False
            self._screen.line()
