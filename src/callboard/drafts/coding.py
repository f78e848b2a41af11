"""Values with an annotation: checked, written and read by pydantic."""

import dataclasses
from collections.abc import Iterable
from functools import cached_property
from reprlib import repr as shortened
from typing import TypeGuard, cast

import orjson
from pydantic import BaseModel, ConfigDict, TypeAdapter, ValidationError
from pydantic_core import PydanticSerializationError

from callboard.drafts import pointer
from callboard.drafts.instances import values_of
from callboard.drafts.plain import rewritten, written
from callboard.errors import StateInvalid, StateNotSerializable
from callboard.events.codec import LARGE, uncollected
from callboard.events.envelope import Json
from callboard.events.json_values import is_list, is_object


class Codec:
    """Checks, writes and reads the values of one annotation.

    Fields are identified by name, never by alias, so that a renamed alias does not orphan stored
    data.
    """

    def __init__(self, annotation: object, config: ConfigDict | None = None) -> None:
        self._annotation = annotation
        self._config = config
        # Most text is always valid and unchanged by reloading.
        self._takes_text = annotation is str and not any(
            option.startswith("str_") for option in config or ()
        )

    def prepare(self) -> None:
        """Find out right away whether pydantic understands the annotation."""
        if not self._adapter.pydantic_complete:
            self._adapter.rebuild(raise_errors=True)

    def check(self, value: object, path: str) -> object:
        """Convert a value as pydantic would, or raise StateInvalid."""
        if self._takes_text and type(value) is str:
            return value
        try:
            return self._adapter.validator.validate_python(value, by_alias=True, by_name=True)
        except ValidationError as error:
            raise invalid(error, path) from error

    def dump(self, value: object, path: str = "") -> Json:
        """Write a value of the annotated type as fresh JSON."""
        try:
            wire = self._adapter.serializer.to_python(
                value, mode="json", by_alias=False, round_trip=True, warnings=False
            )
        except (PydanticSerializationError, ValueError) as error:
            raise StateNotSerializable(f"{path or '/'}: {error}.", path=path) from error
        if self._has_sets:
            _sort_sets(value, wire)
        return wire

    def read(self, wire: Json, path: str = "") -> object:
        """Read a value from parsed JSON, or raise StateInvalid."""
        return self.load(rewritten(wire, path), path)

    def load(self, data: bytes, path: str = "") -> object:
        """Read a value from JSON, or raise StateInvalid."""
        try:
            return self._adapter.validator.validate_json(data, by_alias=False, by_name=True)
        except ValidationError as error:
            raise invalid(error, path) from error

    def renew(self, checked: object, path: str) -> tuple[object, Json]:
        """Return a checked value as a reload would give it, and as JSON."""
        if self._takes_text and type(checked) is str and checked.isascii():
            return checked, checked
        data = written(self.dump(checked, path), path)
        if len(data) < LARGE:
            return self._reloaded(data, path)
        with uncollected():
            return self._reloaded(data, path)

    def _reloaded(self, data: bytes, path: str) -> tuple[object, Json]:
        # Objects that were created or changed without checks may need a second round to become
        # stable.
        for _ in range(2):
            live = self.load(data, path)
            again = orjson.dumps(self.dump(live, path))
            if again == data:
                return live, orjson.loads(data)
            data = again
        what = "the value changes each time it is written and read"
        raise StateInvalid(f"{path or '/'}: {what}; check its validators.", path=path)

    @cached_property
    def _adapter(self) -> TypeAdapter[object]:
        # Or any other form that pydantic accepts.
        return TypeAdapter(cast("type[object]", self._annotation), config=self._config)

    @cached_property
    def _has_sets(self) -> bool:
        return _mentions(self._adapter.core_schema, {"set", "frozenset"})


def invalid(error: ValidationError, path: str) -> StateInvalid:
    """Describe what pydantic found wrong in our own words."""
    problems = error.errors(include_url=False, include_context=False)
    first = problems[0]
    for part in first["loc"]:
        path = pointer.join(path, part)
    more = f", and {len(problems) - 1} more" if len(problems) > 1 else ""
    given = shortened(first["input"])
    return StateInvalid(f"{path or '/'}: {first['msg']} (got {given}){more}.", path=path)


def _mentions(schema: object, types: set[str]) -> bool:
    if is_object(schema):
        return schema.get("type") in types or any(_mentions(p, types) for p in schema.values())
    return is_list(schema) and any(_mentions(part, types) for part in schema)


def _sort_sets(value: object, wire: Json) -> None:
    """Write sets in a fixed order, whatever order Python keeps them in, for exact patches."""
    if isinstance(value, BaseModel):
        value = value.__dict__
    elif dataclasses.is_dataclass(value):
        value = values_of(value)
    if is_object(value) and is_object(wire):
        _sort_members(value, wire)
    elif _is_collection(value) and is_list(wire):
        for part, written_part in zip(value, wire, strict=False):
            _sort_sets(part, written_part)
        if isinstance(value, set | frozenset):
            wire.sort(key=orjson.dumps)


def _sort_members(value: dict[str, object], wire: dict[str, Json]) -> None:
    if value.keys() == wire.keys():
        for name, part in value.items():
            _sort_sets(part, wire[name])
    else:
        # Keys that aren't text are written in their order.
        for part, written_part in zip(value.values(), wire.values(), strict=False):
            _sort_sets(part, written_part)


def _is_collection(value: object) -> TypeGuard[Iterable[object]]:
    return isinstance(value, list | tuple | set | frozenset)
