"""A command's output: what the terminal can show, and the signs for statuses."""

import os
import sys
from io import TextIOWrapper
from typing import TextIO

from rich.console import Console
from rich.text import Text

from callboard.cli.format import ASCII, Signs
from callboard.display.lines import visible

# In a file or pipe, the width of a line doesn't matter.
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
"""Meanings, with their styles."""

STATUS = {
    "pending": ("ahead", "faint"),
    "running": ("here", "here"),
    "waiting": ("asks", "asks"),
    "paused": ("paused", "here"),
    "completed": ("done", "done"),
    "failed": ("failed", "failed"),
    "cancelled": ("off", "faint"),
}
"""A session's status → its sign and style."""


class _Console(Console):
    def on_broken_pipe(self) -> None:
        """Raise the error, and let the command handle it."""
        self.quiet = True
        raise


class Screen:
    """Prints text without interpreting markup, and with hidden characters made visible.

    In color if the terminal wants it.
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
            # A character that the terminal lacks is shown as its number; it isn't an error.
            out.reconfigure(errors="backslashreplace")

    @property
    def width(self) -> int:
        """The width of a line in cells."""
        return self.console.width

    def line(self, *parts: str | tuple[str, str]) -> None:
        """Print one line of parts, each plain or with the name of a style.

        It is never wrapped, so that a command in it can be copied as it is.
        """
        self.console.print(self.styled(*parts), soft_wrap=True)

    def add(self, *parts: str | tuple[str, str]) -> None:
        """Print parts, and stay on their line."""
        self.console.print(self.styled(*parts), end="", soft_wrap=True)

    def paragraph(self, text: str) -> None:
        """Print prose, wrapped to the terminal's width."""
        self.console.print(self.styled(text))

    def status(self, status: str) -> tuple[str, str]:
        """A session's status with its sign, and the style for both."""
        sign, style = STATUS[status]
        return f"{getattr(self.signs, sign)} {status}", style

    def styled(self, *parts: str | tuple[str, str]) -> Text:
        """Parts of a line as one text; plain if colors are off."""
        text = Text()
        for part in parts:
            said, style = (part, "") if isinstance(part, str) else part
            text.append(visible(said), "" if self._plain else STYLES.get(style, ""))
        return text
