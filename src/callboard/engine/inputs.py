"""A workflow's input: what `start` declares, as JSON Schema and as a check."""

import functools
import inspect
import typing
from collections.abc import Callable

from pydantic import TypeAdapter
from pydantic import ValidationError as PydanticError
from pydantic.errors import PydanticUserError

from callboard.engine.outputs import UNDECLARED, adapter, is_open
from callboard.errors import ValidationError
from callboard.events.envelope import Json


class InputType:
    """The annotation of `start`'s second parameter; without one, anything is accepted."""

    def __init__(self, workflow: str, start: Callable[..., object] | None) -> None:
        self._workflow = workflow
        self._start = start

    @functools.cached_property
    def _adapter(self) -> TypeAdapter[object] | None:
        """Created late, when annotations can be resolved; None if pydantic can't describe it."""
        declared = UNDECLARED if self._start is None else _second_annotation(self._start)
        if is_open(declared) or declared is object:
            return None
        try:
            return adapter(declared)
        except PydanticUserError:
            return None

    @property
    def name(self) -> str | None:
        """The name of the parameter; None if `start` takes only the state."""
        try:
            names = [] if self._start is None else list(inspect.signature(self._start).parameters)
        except (TypeError, ValueError):
            return None
        return names[1] if len(names) > 1 else None

    @property
    def about(self) -> str | None:
        """The first paragraph of `start`'s own docstring, on one line."""
        doc = inspect.getdoc(self._start) if inspect.isroutine(self._start) else None
        return " ".join(doc.split("\n\n")[0].split()) or None if doc else None

    @functools.cached_property
    def schema(self) -> dict[str, Json] | None:
        """The JSON Schema of the input; None if `start` doesn't declare a type."""
        if self._adapter is None:
            return None
        try:
            return self._adapter.json_schema()
        except PydanticUserError:
            # It can be checked, but not expressed as JSON Schema.
            return None

    def check(self, value: object) -> None:
        """Raise ValidationError if the value doesn't match what `start` declares."""
        if self._adapter is None:
            return
        try:
            self._adapter.validate_python(value)
        except PydanticError as error:
            first = error.errors(include_url=False, include_context=False)[0]
            at = "".join(f"/{part}" for part in first["loc"])
            place = f"The input at {at}" if at else "The input"
            raise ValidationError(
                f"{place} is not valid for workflow {self._workflow!r}: {first['msg']}.",
                field="input",
                at=at,
                workflow=self._workflow,
            ) from error


def _second_annotation(start: Callable[..., object]) -> object:
    target = start if inspect.isroutine(start) else type(start).__call__
    try:
        names = list(inspect.signature(start).parameters)
        hints = typing.get_type_hints(target, include_extras=True)
    except (NameError, TypeError, ValueError):
        # The annotation uses a name that only a type checker can see.
        return UNDECLARED
    return hints.get(names[1], UNDECLARED) if len(names) > 1 else UNDECLARED
