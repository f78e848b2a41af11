"""Which columns a width has room for, and how wide each is. Pure."""

from dataclasses import dataclass
from typing import Final


@dataclass(frozen=True, slots=True)
class Column:
    """A column, and how many cells it has."""

    name: str
    width: int


_FIXED: Final = {"mark": 2, "status": 10, "todo": 5, "age": 4}
_GAP: Final = 1
_NARROWEST_ASKS: Final = 24
# In the order in which they are given up, last first, with the width from which there is room.
_FROM: Final = {"agent": 84, "branch": 96, "tool": 112}
_ORDER: Final = ("mark", "status", "title", "asks", "tool", "todo", "branch", "agent", "age")


def columns(width: int) -> list[Column]:
    """The columns of a list of this width; they fill it exactly."""
    widths = dict(_FIXED)
    if width >= _FROM["agent"]:
        widths["agent"] = 8
    if width >= _FROM["tool"]:
        widths["tool"] = 10
    if width >= _FROM["branch"]:
        widths["branch"] = min(24, 12 + (width - _FROM["branch"]) // 6)
    gaps = _GAP * (len(widths) + 2)
    left = max(0, width - sum(widths.values()) - gaps)
    title = min(max(12, left // 3), 30, left)
    if left - title < _NARROWEST_ASKS:
        title = max(0, min(title, left * 2 // 5))
    widths |= {"title": title, "asks": left - title}
    return [Column(name, widths[name]) for name in _ORDER if widths.get(name)]
