"""What commands print again and again: JSON for programs, tables for people."""

import sys
from collections.abc import Iterable, Sequence
from typing import Any

import orjson
from rich.table import Table

from callboard.cli.screen import Screen, styled


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


def print_table(
    screen: Screen, titles: Sequence[str], rows: Sequence[Sequence[Cell]], *, indent: int = 0
) -> None:
    """Print rows under titles; on a terminal the last column gives way."""
    table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0), header_style="dim")
    table.add_column("" if indent == 0 else " " * (indent - 2), width=None) if indent else None
    for title in titles[:-1]:
        table.add_column(title, no_wrap=True)
    table.add_column(titles[-1], overflow="fold", ratio=1 if screen.is_terminal else None)
    for row in rows:
        margin = [""] if indent else []
        table.add_row(*margin, *(styled(cell) for cell in row))
    screen.print(table)
