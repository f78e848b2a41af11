"""What is said with an interactive session: which keys its config has, and what each may hold.

The keys are those of the table and the wire. Others are kept for whoever put them there.
"""

from collections.abc import Callable, Mapping
from typing import Any, Final, cast

from callboard.errors import ValidationError
from callboard.interactions.fields import as_json, as_text, as_texts

KIND: Final = "interactive_session"
LONGEST_TIMEOUT_MS: Final = 366 * 86_400_000
"""A year. What should take longer was meant in another unit."""
_LONGEST_TITLE: Final = 50


def checked_config(config: Any) -> dict[str, Any]:
    """The config as it is recorded; ValidationError names the key that is wrong.

    Whether its schema can be used is left to the caller: see `check_of_config`.
    """
    recorded = as_object(config, "config")
    for key, check in _CHECKS.items():
        if recorded.get(key) is not None:
            check(recorded[key], f"config.{key}")
    return recorded


def as_object(value: Any, field: str) -> dict[str, Any]:
    """A JSON object."""
    _mapping(value, field)
    return as_json(value, field)


def _flag(value: Any, field: str) -> None:
    if not isinstance(value, bool):
        raise ValidationError(f"{field} must be true or false.", field=field)


def _millis(value: Any, field: str) -> None:
    if not isinstance(value, int) or isinstance(value, bool) or not 0 < value < 2**53:
        raise ValidationError(f"{field} must be a number of milliseconds, from 1.", field=field)


def _timeout(value: Any, field: str) -> None:
    _millis(value, field)
    if value > LONGEST_TIMEOUT_MS:
        raise ValidationError(f"{field} must be milliseconds, at most a year.", field=field)


def _mapping(value: Any, field: str) -> None:
    if not isinstance(value, Mapping):
        raise ValidationError(f"{field} must be an object.", field=field)


_CHECKS: Final[Mapping[str, Callable[[Any, str], Any]]] = {
    "systemPrompt": as_text,
    "context": _mapping,
    "model": as_text,
    "cwd": as_text,
    "mcpConfig": as_text,
    "timeout": _timeout,
    "captureTranscript": _flag,
    "blockOrchestration": _flag,
    "notify": _mapping,
    "checkpointInterval": _millis,
    "collaborative": _flag,
    "requiredParticipants": as_texts,
    "resumeSession": as_text,
    "haltExecution": _flag,
}


def blocks(type: str, config: Mapping[str, Any] | None) -> bool:
    """Whether a workflow does not complete while this question is open."""
    return type == KIND and (config or {}).get("blockOrchestration") is not False


def halts(type: str, config: Mapping[str, Any] | None) -> bool:
    """Whether a workflow does nothing at all while this question is open."""
    return type == KIND and (config or {}).get("haltExecution") is True


def participants(config: Mapping[str, Any] | None) -> list[str]:
    """The people who all have to answer; none when whoever comes first will do."""
    return list((config or {}).get("requiredParticipants") or [])


def is_shared(config: Mapping[str, Any] | None) -> bool:
    """Whether several people may take part at once."""
    return (config or {}).get("collaborative") is True


def addressees(config: Mapping[str, Any] | None) -> list[str]:
    """Whom to tell that somebody is needed, by the names that were given; none for everybody."""
    told: Any = (config or {}).get("notify")
    named: Any = cast("Mapping[str, Any]", told).get("users") if isinstance(told, Mapping) else None
    users = cast("list[Any]", named) if isinstance(named, list) else []
    return [user for user in users if isinstance(user, str)] or participants(config)


def channel_of(config: Mapping[str, Any] | None) -> str | None:
    """By which channel to tell them, such as `slack`; None for every one there is."""
    told: Any = (config or {}).get("notify")
    named: Any = (
        cast("Mapping[str, Any]", told).get("channel") if isinstance(told, Mapping) else None
    )
    return named.casefold() if isinstance(named, str) and named else None


def title(prompt: str) -> str:
    """What the task of an interactive session is called."""
    return f"Interactive session: {prompt[:_LONGEST_TITLE]}..."
