"""QR codes, as squares; pure. They need `segno`, which comes with the extra `server`."""

from collections.abc import Sequence
from itertools import zip_longest

from callboard.errors import MissingExtra

QUIET = 2
"""Light squares around a code. The standard wants four; cameras need no more than two."""


def qr_code(text: str) -> list[str]:
    """A text as rows of squares, each `1` for dark or `0` for light, without a margin."""
    try:
        import segno  # Imported late: few commands draw a code.
    except ImportError as error:
        raise MissingExtra(
            "QR codes need an optional package. Install it: pip install 'callboard[server]'"
        ) from error
    made = segno.make_qr(text, error="m")
    return ["".join("1" if square else "0" for square in row) for row in made.matrix]


def half_blocks(code: Sequence[str]) -> list[str]:
    """A code as lines for a terminal, two rows in each. Dark squares are spaces.

    The lines belong on a dark background with light text, whatever the terminal's own colors are.
    """
    width = len(code[0]) + 2 * QUIET
    margin = "0" * QUIET
    rows = [
        *["0" * width] * QUIET,
        *(margin + row + margin for row in code),
        *["0" * width] * QUIET,
    ]
    return [
        "".join(_BLOCKS[upper + lower] for upper, lower in zip(above, below, strict=True))
        for above, below in zip_longest(rows[::2], rows[1::2], fillvalue="1" * width)
    ]


_BLOCKS = {"00": "█", "01": "▀", "10": "▄", "11": " "}
