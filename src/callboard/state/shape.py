"""The type of a workflow's state: its first value, and its way to JSON and back."""

import dataclasses
from collections.abc import Callable
from functools import cached_property
from typing import Any, get_origin

import orjson
import pydantic
from pydantic import BaseModel

from callboard.errors import DefinitionError, StateError
from callboard.events.envelope import Json
from callboard.state.annotations import field_kinds, kind_of, object_kind
from callboard.state.coding import invalid
from callboard.state.dicts import Keyed
from callboard.state.instances import field_names, has_fields, is_typed_dict
from callboard.state.kind import Kind
from callboard.state.kinds import Leaf
from callboard.state.records import ObjectOf
from callboard.state.roots import FIELD, WIRE_KEY, Answer, RootCodec, RootDict, RootObject


class StateType:
    """A user's state type: a pydantic model, dataclass, TypedDict, or dict for any JSON.

    On the wire fields have the user's own names, never aliases; only the engine's
    `human_response` is `humanResponse` there.

    The live state is always exactly what a reload from the wire would give, so that a restart
    changes nothing: a tuple in an untyped dict is a list at once. It is never changed, only
    replaced (`callboard.state.draft`), and what is inside its lists refuses to be changed.
    """

    def __init__(self, tp: Any, *, name: str, factory: Callable[[], Any] | None = None) -> None:
        self.name = name
        self._type = tp
        self._factory = factory
        try:
            kind = _root(tp)
        except (pydantic.errors.PydanticUserError, NameError) as error:
            reason = str(error).splitlines()[0]
            raise self._wrong(f"pydantic cannot use the state: {reason}") from error
        if kind is None:
            wanted = "a pydantic model, a dataclass, a TypedDict, or dict with text as keys"
            raise self._wrong(f"the state is {wanted}, not {tp!r}")
        self.kind = kind
        if WIRE_KEY in self._declared():
            raise self._wrong(f"name the field {FIELD!r}, not {WIRE_KEY!r}")

    def initial(self) -> Any:
        """Make the state that a session begins with: the defaults, or what the factory gives."""
        if self._factory is not None:
            first = self._factory()
        elif isinstance(self.kind, RootDict):
            first = {}
        else:
            first = self._defaults()
        try:
            return self.kind.renew(first, "", inside=False)[0]
        except StateError as error:
            raise self._wrong(f"the first state does not fit: {error.message}") from error

    def load(self, wire: Json) -> Any:
        """Make the live state from JSON; StateInvalid names the path that does not fit."""
        return self.kind.freeze(self.kind.load(wire, ""), inside=False)

    def read(self, wire: Json) -> Any:
        """Make a state from JSON that is nobody else's, to keep and to change."""
        return self.kind.load(wire, "")

    def dump(self, state: Any) -> Json:
        """Write a live state as fresh JSON."""
        return orjson.loads(orjson.dumps(self.kind.wire(state)))

    def has(self, field: str) -> bool:
        """Whether the state has a place for a field; a dict has one for any."""
        is_open = isinstance(self.kind, RootDict) and not is_typed_dict(self._type)
        return is_open or field in self._declared()

    def _declared(self) -> tuple[str, ...]:
        if is_typed_dict(self._type):
            return tuple(self._type.__annotations__)
        return () if isinstance(self.kind, RootDict) else field_names(self._type)

    def _defaults(self) -> Any:
        if missing := self._missing:
            fields = ", ".join(map(repr, missing))
            raise self._wrong(f"the state needs a default for {fields}", field=missing[0])
        try:
            return self._type()
        except pydantic.ValidationError as error:
            raise self._wrong(f"the defaults do not fit: {invalid(error, '').message}") from error

    @cached_property
    def _missing(self) -> list[str]:
        return [name for name in field_names(self._type) if _is_required(self._type, name)]

    def _wrong(self, what: str, **context: object) -> DefinitionError:
        what = what.removesuffix(".")
        return DefinitionError(f"Workflow {self.name!r}: {what}.", workflow=self.name, **context)


def _root(tp: Any) -> Kind | None:
    if has_fields(tp):
        return _object_root(tp)
    if tp is dict or get_origin(tp) is dict or is_typed_dict(tp):
        kind = kind_of(tp)
        return _prepared(RootDict(kind)) if isinstance(kind, Keyed) else None
    return None


def _prepared(kind: Kind) -> Kind:
    """Let pydantic find fault with a definition now, and not in the middle of a session."""
    for part in kind.within():
        part.prepare()
    return kind


def _object_root(cls: type[Any]) -> Kind:
    if issubclass(cls, BaseModel):
        cls.model_rebuild()
    codec = RootCodec(cls)
    if not isinstance(object_kind(cls), ObjectOf):
        return _prepared(Leaf(codec))
    kinds = dict(field_kinds(cls))
    if FIELD in kinds:
        kinds[FIELD] = Answer(kinds[FIELD])
    return _prepared(RootObject(cls, codec, lambda: kinds))


def _is_required(cls: type[Any], name: str) -> bool:
    if issubclass(cls, BaseModel):
        return cls.model_fields[name].is_required()
    field = next(field for field in dataclasses.fields(cls) if field.name == name)
    nothing = dataclasses.MISSING
    return field.init and field.default is nothing and field.default_factory is nothing
