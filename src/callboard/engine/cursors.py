"""A place in a list that goes on, as callers hold it: opaque, and checked when it comes back."""

import base64
import binascii
from typing import Any

from callboard.errors import ValidationError
from callboard.events.codec import dump_json, load_json
from callboard.events.rows import Row


def cursor_of(row: Row) -> str:
    """The place after a row, in a list by when its rows were made."""
    return base64.urlsafe_b64encode(dump_json([row["created_at"], row["id"]])).decode()


def place_of(cursor: str) -> tuple[int, str]:
    """The moment and the id of the row that a cursor was made of."""
    try:
        place: Any = load_json(base64.b64decode(cursor.encode(), altchars=b"-_", validate=True))
    except (binascii.Error, ValueError):
        place = None
    match place:
        case [int(created_at), str(id)] if _is_moment(created_at):
            return created_at, id
        case _:
            raise ValidationError(
                "The cursor is none that a page of this list gave. Begin again without one.",
                field="cursor",
            )


def _is_moment(value: int) -> bool:
    # True and False are numbers too, and SQLite has only 64 bits for one.
    return not isinstance(value, bool) and abs(value) < 2**63
