"""What an agent returns: checked against what it declares, and the same after a crash.

The engine hands on what a reload from the log would give, so that an update or a route cannot
tell whether the process died in between.
"""

import math
from typing import Any, cast

from pydantic import TypeAdapter
from pydantic import ValidationError as PydanticError

from callboard.errors import AgentOutputInvalid

UNDECLARED: Any = object()
_ATOMS = (str, int, bool, type(None))


class OutputType:
    """An agent's declared output; undeclared means: plain JSON."""

    def __init__(self, agent: str, annotation: Any = UNDECLARED) -> None:
        self._agent = agent
        self._place = f"The output of agent {agent!r}"
        self._adapter: TypeAdapter[Any] | None = None
        if annotation is not UNDECLARED and annotation is not Any:
            self._adapter = TypeAdapter(annotation)

    def dump(self, value: Any) -> Any:
        """The output as JSON; AgentOutputInvalid when it is not what was declared."""
        if self._adapter is None:
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
        if self._adapter is None or data is None:
            return data
        return self._adapter.validate_python(data)


def plain(value: Any, path: str) -> Any:
    """The value as plain JSON; AgentOutputInvalid names the place that JSON cannot hold."""
    if type(value) in _ATOMS or (type(value) is float and math.isfinite(value)):
        return value
    if isinstance(value, list | tuple):
        items = cast("list[Any]", value)
        return [plain(item, f"{path}[{i}]") for i, item in enumerate(items)]
    if isinstance(value, dict):
        pairs = cast("dict[Any, Any]", value)
        if all(isinstance(key, str) for key in pairs):
            return {key: plain(item, f"{path}[{key!r}]") for key, item in pairs.items()}
    kind = type(value).__name__
    raise AgentOutputInvalid(
        f"{path} is a {kind}, which JSON cannot hold. "
        f"Declare the type (for an agent: -> {kind}), or give plain data.",
        path=path,
    )
