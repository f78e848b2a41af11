"""Who sees to a question just now. A claim holds others off for a while and binds nobody."""

from typing import Any

from callboard.errors import Claimed, ValidationError
from callboard.events.moments import iso
from callboard.interactions.fields import as_text
from callboard.interactions.records import LONGEST_MS, Interaction


def claim_payload(asked: Interaction, by: str, ttl_ms: int, now_ms: int) -> dict[str, Any]:
    """The payload of `input:claimed`; Claimed while somebody else holds the question."""
    check_free(asked, by)
    if not isinstance(ttl_ms, int) or isinstance(ttl_ms, bool) or not 1 <= ttl_ms <= LONGEST_MS:  # pyright: ignore[reportUnnecessaryIsInstance]
        raise ValidationError(
            f"ttlMs must be a number from 1 to {LONGEST_MS} (a day).", field="ttlMs"
        )
    return {"id": asked.id, "by": as_text(by, "by"), "until": now_ms + ttl_ms}


def check_free(asked: Interaction, by: str) -> None:
    """Raise Claimed while somebody else holds the question."""
    if asked.claimed_by is None or asked.claimed_by == by or asked.claimed_until is None:
        return
    until = iso(asked.claimed_until)
    raise Claimed(
        f"{asked.claimed_by} sees to question {asked.id} until {until}. Wait until then, or "
        "answer it all the same: the first answer counts.",
        interaction_id=asked.id,
        claimed_by=asked.claimed_by,
        claimed_until=until,
    )
