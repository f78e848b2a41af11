"""rich's console, as commands use it. It takes a while to import; most output does not need it."""

from typing import TextIO

from rich.console import Console


class TextConsole(Console):
    """A console that prints text as it is."""

    def __init__(self, out: TextIO, width: int | None) -> None:
        super().__init__(file=out, highlight=False, markup=False, emoji=False, width=width)

    def on_broken_pipe(self) -> None:
        """Raise the error, and let the command handle it."""
        self.quiet = True
        raise
