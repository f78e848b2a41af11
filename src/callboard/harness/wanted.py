"""What an interactive session is asked to be, read from the question's config."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, cast

from callboard.errors import ValidationError
from callboard.interactions.configs import LONGEST_TIMEOUT_MS
from callboard.interactions.records import Interaction

DEFAULT_MODEL: Final = "sonnet"


@dataclass(frozen=True, slots=True)
class Wanted:
    """One session. timeout, checkpoint_every: seconds; cwd: None is where the harness is."""

    prompt: str
    config: Mapping[str, Any]
    system_prompt: str | None
    context: Any
    model: str
    cwd: Path | None
    mcp_config: Path | None
    timeout: float | None
    captures: bool
    resumes: str | None
    checkpoint_every: float | None = None


def wanted(asked: Interaction) -> Wanted:
    """What was asked for; ValidationError names what cannot be meant."""
    config = _object(asked.config)
    return Wanted(
        prompt=asked.prompt,
        config=config,
        system_prompt=_text(config, "systemPrompt"),
        context=config.get("context"),
        model=_text(config, "model") or DEFAULT_MODEL,
        cwd=_path(_text(config, "cwd")),
        mcp_config=_path(_text(config, "mcpConfig")),
        timeout=_seconds(config, "timeout"),
        captures=config.get("captureTranscript") is True,
        resumes=_text(config, "resumeSession"),
        checkpoint_every=_seconds(config, "checkpointInterval"),
    )


def _object(config: Any) -> Mapping[str, Any]:
    return cast("Mapping[str, Any]", config) if isinstance(config, Mapping) else {}


def _text(config: Mapping[str, Any], field: str) -> str | None:
    given = config.get(field)
    if given is None or given == "":
        return None
    if not isinstance(given, str) or "\0" in given:
        raise ValidationError(f"config.{field} must be a text.", field=field)
    return given


def _path(given: str | None) -> Path | None:
    return None if given is None else Path(given).expanduser()


def _seconds(config: Mapping[str, Any], field: str) -> float | None:
    given = config.get(field)
    if given is None:
        return None
    is_number = isinstance(given, int | float) and not isinstance(given, bool)
    if not is_number or not 0 < given <= LONGEST_TIMEOUT_MS:
        raise ValidationError(
            f"config.{field} must be a number of milliseconds, more than 0 and at most a year.",
            field=field,
        )
    return given / 1000
