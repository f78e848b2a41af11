"""Bars of text."""

from typing import Final

from callboard.cli.screen import Screen

_EIGHTHS: Final = " ▏▎▍▌▋▊▉█"


def text_bar(screen: Screen, share: float, width: int) -> str:
    """A bar that fills this share of a width, in eighths of a cell if the terminal can."""
    share = min(max(share, 0.0), 1.0)
    if not screen.unicode:
        return "#" * round(share * width)
    whole, part = divmod(round(share * width * 8), 8)
    if not whole and not part and share:
        part = 1
    return _EIGHTHS[-1] * whole + _EIGHTHS[part].strip()
