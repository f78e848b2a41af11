"""Cursors: opaque positions in a list for callers, validated when they come back."""

import base64
import binascii

from callboard.errors import ValidationError
from callboard.events.codec import dump_json, load_json
from callboard.events.rows import Row


def cursor_of(row: Row) -> str:
    """The cursor after a row, in a list ordered by creation time."""
    return base64.urlsafe_b64encode(dump_json([row["created_at"], row["id"]])).decode()


def place_of(cursor: str) -> tuple[int, str]:
    """The time and id of the row that a cursor was made from."""
    try:
        place: object = load_json(base64.b64decode(cursor.encode(), altchars=b"-_", validate=True))
    except (binascii.Error, ValueError):
        place = None
    match place:
        # Booleans are ints in Python, and SQLite integers have 64 bits.
        case [int(at), str(id)] if not isinstance(at, bool) and abs(at) < 2**63:
            return at, id
        case _:
            raise ValidationError(
                "The cursor is not valid for this list. Start again without one.",
                field="cursor",
            )
