"""Text as the board shows it: nothing hidden in it, and no wider than its place."""

from pathlib import Path
from typing import Final

from rich.cells import cell_len, set_cell_size

from callboard.display.characters import visible
from callboard.display.lines import collapsed, text_lines

_UNITS: Final = ((86_400, "d"), (3600, "h"), (60, "m"))


def one_line(text: str) -> str:
    """Any text on one line."""
    return " ".join(visible(text).split())


def lines(text: str) -> list[str]:
    """Any text, line by line; what a terminal would obey is made visible."""
    return [line.text for line in collapsed(text_lines(text))]


def fitted(text: str, width: int, *, right: bool = False) -> str:
    """A line of exactly so many cells: filled up, or cut off with …."""
    if width <= 0:
        return ""
    length = cell_len(text)
    if length > width:
        return set_cell_size(text, width - 1) + "…"
    filling = " " * (width - length)
    return filling + text if right else text + filling


def age(at_ms: int, now_ms: int) -> str:
    """How long ago, in one unit and at most four cells."""
    seconds = max(0, now_ms - at_ms) // 1000
    for size, unit in _UNITS:
        if seconds >= size:
            return f"{seconds // size}{unit}"
    return f"{seconds}s"


def home_path(path: str) -> str:
    """A path, with ~ for the person's own folder."""
    home = str(Path.home())
    inside = path == home or path.startswith(home + "/")
    return one_line("~" + path[len(home) :] if inside else path)


def clipped(text: str, limit: int) -> list[str]:
    """At most so many lines; how many more there are stands in the last."""
    all_lines = lines(text)
    if len(all_lines) <= limit:
        return all_lines
    left = len(all_lines) - limit + 1
    return [*all_lines[: limit - 1], f"… {left} more lines"]
