"""The config of an interactive session: its keys, and what each may contain.

The keys are those of the table and the wire. Unknown keys are kept for the caller that set them.
"""

from collections.abc import Callable, Mapping
from typing import Final

from callboard.errors import ValidationError
from callboard.events.envelope import Json
from callboard.events.json_values import Object, as_list, as_object, as_text, is_object
from callboard.interactions.fields import as_json, checked_text, checked_texts

KIND: Final = "interactive_session"
LONGEST_TIMEOUT_MS: Final = 366 * 86_400_000
"""A year. Anything longer was probably meant in another unit."""
_LONGEST_TITLE: Final = 50


def checked_config(config: object, field: str = "config") -> dict[str, Json]:
    """The config as it is recorded; a ValidationError names the wrong key.

    The caller has to check its schema: see `check_of_config`.
    """
    recorded = checked_object(config, field)
    for key, check in _CHECKS.items():
        if recorded.get(key) is not None:
            check(recorded[key], f"{field}.{key}")
    return recorded


def checked_object(value: object, field: str) -> dict[str, Json]:
    """A JSON object."""
    _mapping(value, field)
    recorded = as_json(value, field)
    assert is_object(recorded)
    return recorded


def _flag(value: object, field: str) -> None:
    if not isinstance(value, bool):
        raise ValidationError(f"{field} must be true or false.", field=field)


def _millis(value: object, field: str) -> int:
    if not isinstance(value, int) or isinstance(value, bool) or not 0 < value < 2**53:
        raise ValidationError(f"{field} must be a number of milliseconds, from 1.", field=field)
    return value


def _timeout(value: object, field: str) -> None:
    if _millis(value, field) > LONGEST_TIMEOUT_MS:
        raise ValidationError(f"{field} must be milliseconds, at most a year.", field=field)


def _mapping(value: object, field: str) -> None:
    if not isinstance(value, Mapping):
        raise ValidationError(f"{field} must be an object.", field=field)


_CHECKS: Final[Mapping[str, Callable[[object, str], object]]] = {
    "systemPrompt": checked_text,
    "context": _mapping,
    "model": checked_text,
    "cwd": checked_text,
    "mcpConfig": checked_text,
    "timeout": _timeout,
    "captureTranscript": _flag,
    "blockOrchestration": _flag,
    "notify": _mapping,
    "checkpointInterval": _millis,
    "collaborative": _flag,
    "requiredParticipants": checked_texts,
    "resumeSession": checked_text,
    "haltExecution": _flag,
}


def complete_config(config: Object | None) -> dict[str, Json]:
    """The config with the defaults that every reader needs; unchanged if it has them."""
    given = dict(config or {})
    if given.get("blockOrchestration") is None:
        given["blockOrchestration"] = True
    return given


def blocks(type: str, config: Object | None) -> bool:
    """Whether a workflow can't complete while this question is open."""
    return type == KIND and (config or {}).get("blockOrchestration") is not False


def halts(type: str, config: Object | None) -> bool:
    """Whether a workflow does nothing while this question is open."""
    return type == KIND and (config or {}).get("haltExecution") is True


def participants(config: Object | None) -> list[str]:
    """The people who all have to answer; empty if the first answer counts."""
    return [str(one) for one in as_list((config or {}).get("requiredParticipants"))]


def is_shared(config: Object | None) -> bool:
    """Whether several people may take part at once."""
    return (config or {}).get("collaborative") is True


def addressees(config: Object | None) -> list[str]:
    """Whom to notify, by the given names; empty for everyone."""
    users = as_list(_notified(config).get("users"))
    return [user for user in users if isinstance(user, str)] or participants(config)


def channel_of(config: Object | None) -> str | None:
    """The channel to notify them on, such as `slack`; None for all channels."""
    return as_text(_notified(config).get("channel")).casefold() or None


def _notified(config: Object | None) -> Object:
    return as_object((config or {}).get("notify"))


def title(prompt: str) -> str:
    """The task name of an interactive session."""
    return f"Interactive session: {prompt[:_LONGEST_TITLE]}..."
