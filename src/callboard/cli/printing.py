"""What commands print again and again: JSON for programs, tables for people."""

import sys
from collections.abc import Iterable, Sequence
from typing import Any

import orjson

from callboard.cli.canvas import cells
from callboard.cli.screen import Screen


def print_json(values: Iterable[Any]) -> None:
    """Print values as JSON, one a line."""
    for value in values:
        sys.stdout.buffer.write(orjson.dumps(value) + b"\n")
        sys.stdout.buffer.flush()


def pretty_json(value: Any) -> str:
    """A JSON value over several lines, keys in their order."""
    return orjson.dumps(value, option=orjson.OPT_INDENT_2).decode()


Cell = str | tuple[str, str]
"""Text, or text with the name of its style."""


def print_table(screen: Screen, titles: Sequence[str], rows: Sequence[Sequence[Cell]]) -> None:
    """Print rows under titles. Nothing is cut off: what is too wide, the terminal breaks."""
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
