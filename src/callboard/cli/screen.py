"""Where a command prints: what the terminal can show, and the signs that say it shortly."""

import os
import sys
from io import TextIOWrapper
from typing import TextIO

from rich.console import Console
from rich.text import Text

from callboard.cli.format import ASCII, Signs
from callboard.display.lines import visible

# No one sees where a line ends that goes into a file or a pipe.
_ENDLESS = 10_000


STYLES = {
    "done": "green",
    "failed": "bold red",
    "here": "bold yellow",
    "asks": "bold cyan",
    "name": "bold",
    "command": "cyan",
    "faint": "dim",
}
"""What is meant → how it looks."""

STATUS = {
    "pending": ("ahead", "faint"),
    "running": ("here", "here"),
    "waiting": ("asks", "asks"),
    "paused": ("paused", "here"),
    "completed": ("done", "done"),
    "failed": ("failed", "failed"),
    "cancelled": ("off", "faint"),
}
"""A session's status → its sign and its style."""


class _Console(Console):
    def on_broken_pipe(self) -> None:
        """Let the error through: what it means is for the command to say."""
        self.quiet = True
        raise


class Screen:
    """Prints text: nothing in it is taken for markup, nothing stays hidden.

    In colour where that is welcome.
    """

    def __init__(self, stream: TextIO | None = None, width: int | None = None) -> None:
        out: TextIO = stream or sys.stdout
        self.console = _Console(file=out, highlight=False, markup=False, emoji=False, width=width)
        self.is_terminal = self.console.is_terminal
        self._plain = bool(os.environ.get("NO_COLOR"))
        if not self.is_terminal and width is None:
            self.console.width = _ENDLESS
        self.unicode = (out.encoding or "").lower().startswith("utf")
        self.signs = Signs() if self.unicode else ASCII
        if not self.unicode and isinstance(out, TextIOWrapper):
            # A character that the terminal lacks is shown as its number; it is not an error.
            out.reconfigure(errors="backslashreplace")

    @property
    def width(self) -> int:
        """How many cells a line has."""
        return self.console.width

    def line(self, *parts: str | tuple[str, str]) -> None:
        """Print one line of parts, each plain or with the name of a style.

        It is never broken by us: a command in it can be copied as it stands.
        """
        self.console.print(self.styled(*parts), soft_wrap=True)

    def add(self, *parts: str | tuple[str, str]) -> None:
        """Print parts and stay on their line."""
        self.console.print(self.styled(*parts), end="", soft_wrap=True)

    def paragraph(self, text: str) -> None:
        """Print prose, broken to the terminal's width."""
        self.console.print(self.styled(text))

    def status(self, status: str) -> tuple[str, str]:
        """A session's status with its sign, and the style for both."""
        sign, style = STATUS[status]
        return f"{getattr(self.signs, sign)} {status}", style

    def styled(self, *parts: str | tuple[str, str]) -> Text:
        """Parts of a line as one text; plain where no colours are wanted."""
        text = Text()
        for part in parts:
            said, style = (part, "") if isinstance(part, str) else part
            text.append(visible(said), "" if self._plain else STYLES.get(style, ""))
        return text
