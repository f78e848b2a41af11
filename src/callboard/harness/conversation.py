"""What was said in an agent's session, and whether the person confirmed a decision in it."""

from collections.abc import Mapping, Sequence
from typing import Any

import orjson

from callboard.vendors.claude import launching
from callboard.vendors.claude.extraction import Spoken, spoken
from callboard.vendors.fields import as_object


def said_in(session: str, after: int = 0) -> list[Spoken]:
    """The conversation of a client's session. after: so much of it was said before ours."""
    path = launching.transcript_of(session)
    return [] if path is None else spoken(path, launching.TOOL)[after:]


def is_confirmed(decision: Mapping[str, Any], said: Sequence[Spoken]) -> bool:
    """Whether it is what the person let through last in the agent's dialog.

    A file alone proves nothing: whatever runs as the person can write one.
    """
    accepted = [one.text for one in said if one.kind == "accepted"]
    if not accepted:
        return False
    return as_object(orjson.loads(accepted[-1])).get("decision", ...) == decision["decision"]
