"""A command's output: what the terminal can show, and the signs for statuses."""

import os
import sys
from collections.abc import Sequence
from functools import cached_property
from io import TextIOWrapper
from typing import TYPE_CHECKING, Final, TextIO

from callboard.cli.format import ASCII, Signs
from callboard.display.lines import visible

if TYPE_CHECKING:
    from rich.text import Text

    from callboard.cli.console import TextConsole

# In a file or pipe, the width of a line doesn't matter.
_ENDLESS = 10_000

_TERMINAL_ANYWAY: Final = ("FORCE_COLOR", "TTY_COMPATIBLE")
"""Variables by which a person has a file or pipe treated as a terminal."""

STYLES = {
    "done": "green",
    "failed": "bold red",
    "here": "bold yellow",
    "asks": "bold cyan",
    "name": "bold",
    "command": "cyan",
    "faint": "dim",
    "keyword": "magenta",
    "string": "cyan",
    "comment": "dim italic",
    "literal": "blue",
    "qr": "bright_white on black",
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


class Screen:
    """Prints text without interpreting markup, and with hidden characters made visible.

    In color if the terminal wants it.
    """

    def __init__(self, stream: TextIO | None = None, width: int | None = None) -> None:
        out: TextIO = stream or sys.stdout
        self._out, self._given = out, width
        self._piped = not out.isatty() and not any(map(os.environ.get, _TERMINAL_ANYWAY))
        self._plain = bool(os.environ.get("NO_COLOR"))
        self.unicode = (out.encoding or "").lower().startswith("utf")
        self.signs = Signs() if self.unicode else ASCII
        if not self.unicode and isinstance(out, TextIOWrapper):
            # A character that the terminal lacks is shown as its number; it isn't an error.
            out.reconfigure(errors="backslashreplace")

    @cached_property
    def console(self) -> "TextConsole":
        """The console that draws colors, wrapped text and progress."""
        from callboard.cli.console import TextConsole

        console = TextConsole(self._out, self._given)
        if not console.is_terminal and self._given is None:
            console.width = _ENDLESS
        return console

    @property
    def is_terminal(self) -> bool:
        """Whether a person sees the output as it is printed."""
        return not self._piped and self.console.is_terminal

    @property
    def width(self) -> int:
        """The width of a line in cells."""
        return self.console.width

    def line(self, *parts: str | tuple[str, str]) -> None:
        """Print one line of parts, each plain or with the name of a style.

        It is never wrapped, so that a command in it can be copied as it is.
        """
        self._print(parts, "\n")

    def add(self, *parts: str | tuple[str, str]) -> None:
        """Print parts, and stay on their line."""
        self._print(parts, "")

    def _print(self, parts: Sequence[str | tuple[str, str]], end: str) -> None:
        text = "".join(visible(part if isinstance(part, str) else part[0]) for part in parts)
        if self._piped and "\t" not in text:
            self._out.write(text + end)
            self._out.flush()
        else:
            self.console.print(self.styled(*parts), end=end, soft_wrap=True)

    def paragraph(self, text: str) -> None:
        """Print prose, wrapped to the terminal's width."""
        self.console.print(self.styled(text))

    def status(self, status: str) -> tuple[str, str]:
        """A session's status with its sign, and the style for both."""
        sign, style = STATUS[status]
        return f"{getattr(self.signs, sign)} {status}", style

    def styled(self, *parts: str | tuple[str, str]) -> "Text":
        """Parts of a line as one text; plain if colors are off."""
        from rich.text import Text

        text = Text()
        for part in parts:
            said, style = (part, "") if isinstance(part, str) else part
            text.append(visible(said), "" if self._plain else STYLES.get(style, ""))
        return text
