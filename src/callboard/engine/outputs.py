"""What an agent returns: checked against what it declares, and the same after a crash.

The engine hands on what a reload from the log would give, so that an update or a route cannot
tell whether the process died in between.
"""

from dataclasses import dataclass
from typing import Any

from pydantic import TypeAdapter
from pydantic import ValidationError as PydanticError

from callboard.errors import AgentOutputInvalid, StateNotSerializable
from callboard.events.codec import load_json
from callboard.state.plain import written

UNDECLARED: Any = object()


@dataclass(frozen=True, slots=True)
class ItemFailed:
    """What `update` gets for an item that failed for good, with `on_item_error="tell"`."""

    item: Any
    error: dict[str, Any]
    """A `code`, a `message`, and what was involved."""


class OutputType:
    """An agent's declared output; undeclared means: plain JSON."""

    def __init__(self, agent: str, annotation: Any = UNDECLARED) -> None:
        self._agent = agent
        self._place = f"The output of agent {agent!r}"
        self._adapter: TypeAdapter[Any] | None = None
        self._is_text = annotation is str
        if annotation is not UNDECLARED and annotation is not Any:
            self._adapter = TypeAdapter(annotation)

    def dump(self, value: Any) -> Any:
        """The output as JSON; AgentOutputInvalid when it is not what was declared."""
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

    def load(self, data: Any) -> Any:
        """The output in Python, from its JSON."""
        # A person may vouch for work whose output nobody has: then it is None, whatever
        # the agent declares.
        if self._adapter is None or data is None or self._is_text:
            return data
        return self._adapter.validate_python(data)


def plain(value: Any, what: str) -> Any:
    """The value as JSON gives it back; AgentOutputInvalid tells where JSON cannot hold it."""
    if value is None or (type(value) is str and value.isascii()):
        return value
    try:
        return load_json(written(value, ""))
    except StateNotSerializable as error:
        kind = type(value).__name__
        raise AgentOutputInvalid(
            f"{what} cannot be recorded: {error.message} An agent may also declare what it "
            f"returns, as in -> {kind}.",
        ) from error
