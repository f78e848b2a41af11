"""Agent outputs: checked against the declared type, and the same after a crash.

The engine passes on what a reload from the log would give, so that `update` and routing cannot tell
whether the process died in between.
"""

from dataclasses import dataclass
from typing import Any, Final, cast

from pydantic import TypeAdapter
from pydantic import ValidationError as PydanticError

from callboard.drafts.plain import with_fields, written
from callboard.errors import AgentOutputInvalid, StateNotSerializable
from callboard.events.codec import load_json
from callboard.events.failures import ErrorDescription

UNDECLARED: Final = object()
"""Stands for a missing annotation."""


@dataclass(frozen=True, slots=True)
class ItemFailed:
    """What `update` gets for an item that failed permanently, with `on_item_error="tell"`."""

    item: Any
    error: ErrorDescription
    """A `code`, a `message`, and details."""


def is_open(annotation: object) -> bool:
    """Whether an annotation accepts any value."""
    return annotation is UNDECLARED or annotation is Any


def adapter(annotation: object) -> TypeAdapter[object]:
    """A validator for an annotation that was read at run time."""
    return TypeAdapter[object](cast("type[object]", annotation))


class OutputType:
    """An agent's declared output. Undeclared output is JSON, read by key or by attribute."""

    def __init__(self, agent: str, annotation: object = UNDECLARED) -> None:
        self._agent = agent
        self._place = f"The output of agent {agent!r}"
        self._adapter = None if is_open(annotation) else adapter(annotation)
        self._is_text = annotation is str

    def dump(self, value: object) -> object:
        """The output as JSON; AgentOutputInvalid if it doesn't match the declared type."""
        if self._adapter is None or (self._is_text and type(value) is str):
            return plain(value, self._place)
        try:
            checked = self._adapter.validate_python(value)
            return plain(self._adapter.dump_python(checked, mode="json"), self._place)
        except PydanticError as error:
            first = error.errors()[0]
            at = "".join(f"[{part!r}]" for part in first["loc"])
            raise AgentOutputInvalid(
                f"Agent {self._agent!r} returned {type(value).__name__}{at}: {first['msg']}. "
                "Return what the function declares, or change its return annotation.",
                agent=self._agent,
            ) from error

    def load(self, data: object) -> object:
        """The output in Python, from its JSON."""
        # A person may confirm work whose output is lost: it is then None, whatever the agent
        # declares.
        if self._adapter is None:
            return with_fields(data)
        if data is None or self._is_text:
            return data
        return self._adapter.validate_python(data)


def plain(value: object, what: str) -> object:
    """The value as it is read back from JSON; for models, their fields.

    Raises AgentOutputInvalid, with the location, if JSON cannot represent it.
    """
    if value is None or (type(value) is str and value.isascii()):
        return value
    try:
        return load_json(written(value, "", models=True))
    except StateNotSerializable as error:
        kind = type(value).__name__
        raise AgentOutputInvalid(
            f"{what} cannot be recorded: {error.message} You can also declare the agent's return "
            f"type: -> {kind}.",
        ) from error
