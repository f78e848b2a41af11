"""A bar that shows how far a long work has come."""

from collections.abc import Callable, Generator
from contextlib import contextmanager

from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn

from callboard.cli.screen import Screen

Report = Callable[[int, int], None]
"""Called with how much is done, and of how much."""


@contextmanager
def bar(screen: Screen, what: str) -> Generator[Report]:
    """Show a bar while the work goes on; without a terminal nothing is shown."""
    if not screen.is_terminal:
        yield lambda done, total: None
        return
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn())
    with Progress(*columns, console=screen.console, transient=True) as progress:
        task = progress.add_task(what, total=None)
        yield lambda done, total: progress.update(task, completed=done, total=total)
