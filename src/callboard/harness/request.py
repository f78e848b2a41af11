"""Read the requirements of an interactive session from the question's config."""

from dataclasses import dataclass
from pathlib import Path
from typing import Final

from callboard.errors import ValidationError
from callboard.events.envelope import Json
from callboard.events.json_values import Object, as_object
from callboard.interactions.configs import LONGEST_TIMEOUT_MS
from callboard.interactions.records import Interaction

DEFAULT_MODEL: Final = "sonnet"


@dataclass(frozen=True, slots=True)
class Wanted:
    """One session. timeout, checkpoint_every: in seconds; cwd: None is the harness's folder."""

    prompt: str
    config: Object
    system_prompt: str | None
    context: Json
    model: str
    cwd: Path | None
    mcp_config: Path | None
    timeout: float | None
    captures: bool
    resumes: str | None
    checkpoint_every: float | None = None


def wanted(asked: Interaction) -> Wanted:
    """What was asked for; a ValidationError names what is invalid."""
    config = as_object(asked.config)
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


def _text(config: Object, field: str) -> str | None:
    given = config.get(field)
    if given is None or given == "":
        return None
    if not isinstance(given, str) or "\0" in given:
        raise ValidationError(f"config.{field} must be text.", field=field)
    return given


def _path(given: str | None) -> Path | None:
    return None if given is None else Path(given).expanduser()


def _seconds(config: Object, field: str) -> float | None:
    given = config.get(field)
    if given is None:
        return None
    if isinstance(given, int | float) and given is not True and 0 < given <= LONGEST_TIMEOUT_MS:
        return given / 1000
    raise ValidationError(
        f"config.{field} must be a number of milliseconds, more than 0 and at most a year.",
        field=field,
    )
