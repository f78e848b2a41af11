"""A hook's payload as the log keeps it: whole while it is small, its beginning when it is not."""

from typing import Any, Final, cast

from callboard.errors import StateNotSerializable
from callboard.events.codec import dump_json

LARGEST: Final = 32 * 1024
KEPT: Final = 8 * 1024


def kept(raw: Any) -> Any:
    """The payload, or `{truncated, text}` for one that is huge or that JSON cannot hold."""
    if raw is None:
        return None
    try:
        data = dump_json(raw)
    except StateNotSerializable:
        return _beginning(ascii(raw))
    if len(data) <= LARGEST:
        return raw
    text = raw if isinstance(raw, str) else data[: 4 * KEPT].decode(errors="ignore")
    return _beginning(text) | {"bytes": len(data)}


def call_of(raw: Any) -> tuple[Any, Any] | None:
    """The tool and its input that a payload is about; None when it does not say."""
    told = cast("dict[str, Any]", raw) if isinstance(raw, dict) else {}
    return (told.get("tool_name"), told["tool_input"]) if "tool_input" in told else None


def _beginning(text: str) -> dict[str, Any]:
    # What is cut may be half of a surrogate pair; ASCII has none.
    return {"truncated": True, "text": ascii(text[:KEPT])[1:-1]}
