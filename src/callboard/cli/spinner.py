"""The line at the bottom of a terminal that shows which agents are at work, and how long."""

import time

from rich.live import Live
from rich.text import Text

from callboard.cli.screen import Screen
from callboard.cli.wording import duration

_FRAMES = "⠋⠙⠹⠸⠼⠴⠦⠧⠇⠏"
_ASCII_FRAMES = "|/-\\"
_PER_SECOND = 10


class Spinner:
    """Turns while agents work. Without a terminal it does nothing."""

    def __init__(self, screen: Screen) -> None:
        self.works = screen.is_terminal
        self._screen = screen
        self._frames = _FRAMES if screen.unicode else _ASCII_FRAMES
        self._agents: dict[str, tuple[str, float]] = {}
        self._live: Live | None = None

    def begin(self, run: str, agent: str) -> None:
        """An agent has begun its work."""
        self._agents[run] = (agent, time.monotonic())

    def finish(self, run: str) -> None:
        """An agent's work has come to some end."""
        self._agents.pop(run, None)

    def clear(self) -> None:
        """Nobody works any more."""
        self._agents.clear()

    def show(self) -> None:
        """Turn, if there is anyone at work."""
        if not self._agents:
            self.hide()
        elif self.works and self._live is None:
            self._live = Live(
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
        agents = list(self._agents.values())
        names = ", ".join(name for name, _ in agents)
        longest = max((now - since for _, since in agents), default=0.0)
        lasted = f"  {duration(int(longest))}" if longest >= 1 else ""
        line = self._screen.styled((f"  {frame} {names}", "here"), (lasted, "faint"))
        line.truncate(self._screen.width - 1, overflow="ellipsis")
        return line
