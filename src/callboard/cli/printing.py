"""Common output of commands: JSON for programs, tables and progress for people."""

import sys
from collections.abc import Callable, Generator, Iterable, Mapping, Sequence
from contextlib import contextmanager

import orjson

from callboard.cli.canvas import cells
from callboard.cli.screen import Screen

Cell = str | tuple[str, str]
"""Text, or text with the name of its style."""
Report = Callable[[int, int], None]
"""Called with the amount done, and the total."""


def print_json(values: Iterable[object]) -> None:
    """Print values as JSON, one per line."""
    for value in values:
        sys.stdout.buffer.write(orjson.dumps(value) + b"\n")
        sys.stdout.buffer.flush()


def pretty_json(value: object) -> str:
    """A JSON value over several lines, with its keys in order."""
    return orjson.dumps(value, option=orjson.OPT_INDENT_2).decode()


def print_result(as_json: bool, document: Mapping[str, object], *said: Cell) -> None:
    """Print the result of a command: a document for programs, or a line for people."""
    if as_json:
        print_json([document])
    else:
        Screen().line(*said)


def print_table(screen: Screen, titles: Sequence[str], rows: Sequence[Sequence[Cell]]) -> None:
    """Print rows under titles. Nothing is cut off; the terminal wraps what is too wide."""
    head: list[Cell] = [(title, "faint") for title in titles]
    columns = list(zip(head, *rows, strict=True))
    widths = [max(cells(_text(cell)) for cell in column) for column in columns]
    for row in (head, *rows):
        parts = [_padded(cell, width + 2) for cell, width in zip(row, widths, strict=True)]
        screen.line(*parts[:-1], row[-1])


def _text(cell: Cell) -> str:
    return cell if isinstance(cell, str) else cell[0]


def _padded(cell: Cell, width: int) -> Cell:
    text = _text(cell) + " " * (width - cells(_text(cell)))
    return text if isinstance(cell, str) else (text, cell[1])


@contextmanager
def bar(screen: Screen, what: str) -> Generator[Report]:
    """Show a progress bar during the work; nothing without a terminal."""
    if not screen.is_terminal:
        yield lambda done, total: None
        return
    # Most commands show no bar, and it takes a while to load.
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn

    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn())
    with Progress(*columns, console=screen.console, transient=True) as progress:
        task = progress.add_task(what, total=None)
        yield lambda done, total: progress.update(task, completed=done, total=total)
