"""Ask for an interactive session: a person and an agent decide together."""

import os
from collections.abc import Callable, Sequence
from dataclasses import KW_ONLY, dataclass, fields
from pathlib import Path
from typing import ClassVar, Final, TypedDict, TypeGuard, cast

from callboard.errors import AnswerInvalid, DefinitionError, ValidationError
from callboard.events.envelope import Json
from callboard.events.json_values import Object, is_mapping
from callboard.events.shapes import camel
from callboard.interactions.assignment import checked_assignees
from callboard.interactions.configs import KIND, checked_config, complete_config
from callboard.interactions.outcomes import check_of_config
from callboard.interactions.questions import (
    Assignees,
    Duration,
    Prompt,
    Rendered,
    check_defined,
    millis,
    render_assignees,
    seconds,
)
from callboard.interactions.schema.schemas import check, check_sizes

Place = str | os.PathLike[str]


class InteractiveOptions(TypedDict, total=False):
    """Options for the session. Durations are in seconds, or a timedelta.

    system_prompt: instructions for the agent in addition to the prompt.
    context: background for the agent, as JSON.
    model: the model; by default `sonnet`.
    cwd: the working folder; by default that of the asking agent, or of the asking process.
    mcp_config: a file with additional tools.
    timeout: how long the session may take once it has started.
    outcome_schema: the kind of decision: `{"type": "approval"}`, `{"type": "selection",
        "options": [...]}`, `{"type": "freeform"}`, `{"type": "structured", "json_schema":
        {...}}`, or a JSON Schema.
    result_type: the type to convert the response to, such as a pydantic model. It isn't sent;
        without an `outcome_schema`, its JSON Schema is.
    capture_transcript: store the conversation. Off by default.
    block_orchestration: the workflow can't complete before the session has ended. On by default.
    halt_execution: the workflow does nothing before the session has ended.
    required_participants: all of these people have to decide, each for themselves.
    collaborative: several people may attend at once, and the first decision counts.
    resume_session: continue this earlier session of the agent.
    notify: whom to notify, `{"users": [...]}`, and on which `channel`.
    checkpoint_interval: how often to save the session's progress, in case its harness dies.
    """

    system_prompt: str | None
    context: Object | None
    model: str | None
    cwd: Place | None
    mcp_config: Place | None
    timeout: Duration | None
    outcome_schema: Object | None
    result_type: object
    capture_transcript: bool | None
    block_orchestration: bool | None
    halt_execution: bool | None
    required_participants: Sequence[str] | None
    collaborative: bool | None
    resume_session: str | None
    notify: Object | None
    checkpoint_interval: Duration | None


_DURATIONS: Final = ("timeout", "checkpoint_interval")
_PATHS: Final = ("cwd", "mcp_config")
_NOT_SENT: Final = ("result_type",)
_NOT_OPTIONS: Final = ("prompt", "within", "assignees")


def config_of(options: Object) -> dict[str, Json]:
    """The config for these options, checked, as it is in the table and on the wire."""
    if unknown := [key for key in options if key not in InteractiveOptions.__annotations__]:
        raise ValidationError(
            f"{unknown[0]!r} is not an option of an interactive session. "
            f"Options: {', '.join(InteractiveOptions.__annotations__)}.",
            field=unknown[0],
        )
    given = {key: value for key, value in options.items() if value is not None}
    if "result_type" in given and "outcome_schema" not in given:
        given["outcome_schema"] = {
            "type": "structured",
            "json_schema": _schema_of(given["result_type"]),
        }
    sent = {key: value for key, value in given.items() if key not in _NOT_SENT}
    config = checked_config({camel(key): _sendable(key, value) for key, value in sent.items()})
    # Not in a separate process: the author of these options runs this process.
    if (schema := check_of_config(config)) is not None:
        check_sizes(schema)
        check(schema)
    return config


def _sendable(key: str, value: object) -> object:
    if key in _DURATIONS:
        return _duration(key, value)
    if key in _PATHS:
        # The harness that holds the session doesn't run in the caller's folder.
        return str(Path(cast("Place", value)).expanduser().absolute())
    if key == "outcome_schema" and is_mapping(value):
        return {("jsonSchema" if name == "json_schema" else name): value[name] for name in value}
    return value


def _duration(key: str, value: object) -> int:
    try:
        return millis(cast("Duration", value))
    except (TypeError, ValueError, OverflowError):
        raise ValidationError(
            f"{key} must be a number of seconds, or a timedelta.", field=key
        ) from None


def _schema_of(result_type: object) -> dict[str, Json]:
    from pydantic import TypeAdapter
    from pydantic.errors import PydanticInvalidForJsonSchema, PydanticSchemaGenerationError

    try:
        return TypeAdapter[object](cast("type[object]", result_type)).json_schema()
    except (PydanticInvalidForJsonSchema, PydanticSchemaGenerationError) as error:
        raise ValidationError(
            f"result_type {result_type!r} has no JSON Schema: {error}. Give outcome_schema too.",
            field="result_type",
        ) from error


@dataclass(frozen=True, slots=True)
class Interactive:
    """Ask a person to decide together with an agent, in a session of their own.

    `callboard attend` opens the agent in a terminal; other programs can conduct it in their own
    way. The options are those of `InteractiveOptions`; `context` and `cwd` may be functions of the
    state. `within` is how long to wait for the session's end; after that, its outcome is `timeout`.
    """

    prompt: Prompt
    _: KW_ONLY
    system_prompt: str | None = None
    context: Object | Callable[..., Object | None] | None = None
    model: str | None = None
    cwd: Place | Callable[..., Place | None] | None = None
    mcp_config: Place | None = None
    timeout: Duration | None = None
    outcome_schema: Object | None = None
    result_type: object = None
    capture_transcript: bool | None = None
    block_orchestration: bool | None = None
    halt_execution: bool | None = None
    required_participants: Sequence[str] | None = None
    collaborative: bool | None = None
    resume_session: str | None = None
    notify: Object | None = None
    checkpoint_interval: Duration | None = None
    within: Duration | None = None
    assignees: Assignees = None

    type: ClassVar[str] = KIND

    def __post_init__(self) -> None:
        if isinstance(self.prompt, str) and not self.prompt.strip():
            raise DefinitionError("Interactive needs a prompt: what should be decided?")
        if self.within is not None and seconds(self.within) <= 0:
            raise DefinitionError("Interactive: within must be more than 0 seconds.")
        check_defined("Interactive", self.assignees)
        settled = {key: value for key, value in self._options().items() if not _is_asked(value)}
        try:
            config_of(settled)
        except ValidationError as error:
            raise DefinitionError(f"Interactive: {error.message}") from error

    def _options(self) -> dict[str, Json]:
        names = (field.name for field in fields(self))
        return {name: getattr(self, name) for name in names if name not in _NOT_OPTIONS}

    def render(self, state: object) -> Rendered:
        """The question with everything evaluated."""
        options = self._options()
        for key in ("context", "cwd"):
            if _is_asked(asked := options[key]):
                options[key] = asked(state)
        prompt = self.prompt(state) if callable(self.prompt) else self.prompt
        may = render_assignees(self.assignees, state)
        return rendered(prompt, options, self.within, may)


def rendered(
    prompt: object,
    options: Object,
    within: Duration | None = None,
    assignees: Sequence[str] | None = None,
) -> Rendered:
    """An interactive session as `input:requested` records it."""
    if not isinstance(prompt, str) or not prompt.strip():
        raise AnswerInvalid("The prompt of a question must be non-empty text.")
    limit = None if within is None else millis(within)
    return Rendered(
        KIND,
        prompt,
        timeout_ms=limit,
        on_timeout=None if limit is None else {"action": "end"},
        config=complete_config(config_of(options)),
        assignees=checked_assignees(assignees),
    )


def _is_asked(value: object) -> TypeGuard[Callable[..., object]]:
    return callable(value) and not isinstance(value, type)
