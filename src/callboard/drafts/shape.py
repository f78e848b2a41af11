"""The type of a workflow's state: its initial value, and its conversion to and from JSON."""

import dataclasses
from typing import cast, get_origin

import orjson
import pydantic
from pydantic import BaseModel

from callboard.drafts.annotations import field_kinds, kind_of, object_kind
from callboard.drafts.coding import invalid
from callboard.drafts.dicts import Keyed
from callboard.drafts.instances import field_names, has_fields, is_typed_dict
from callboard.drafts.kind import Kind
from callboard.drafts.kinds import Leaf
from callboard.drafts.objects import ObjectOf
from callboard.drafts.roots import FIELD, WIRE_KEY, AnswerField, RootCodec, RootDict, RootObject
from callboard.errors import DefinitionError, StateError
from callboard.events.codec import uncollected
from callboard.events.envelope import Json


class StateType:
    """A user's state type: a pydantic model, dataclass, TypedDict, or dict for any JSON.

    On the wire, fields have the user's own names, never aliases; only the engine's `human_response`
    is `humanResponse` there.

    The live state is always exactly what a reload from the wire would give, so that a restart
    changes nothing: a tuple in an untyped dict becomes a list right away. It is never changed, only
    replaced (`callboard.drafts.draft`), and what is inside its lists is read-only.
    """

    def __init__(self, tp: object, *, name: str) -> None:
        self.name = name
        try:
            kind = _root(tp)
        except (pydantic.errors.PydanticUserError, NameError) as error:
            reason = str(error).splitlines()[0]
            raise self._wrong(f"pydantic cannot use the state: {reason}") from error
        if kind is None:
            wanted = "a pydantic model, a dataclass, a TypedDict, or dict with text as keys"
            raise self._wrong(f"the state is {wanted}, not {tp!r}")
        self.kind = kind
        self._type = cast("type[object]", tp)  # `_root` accepts nothing else.
        if WIRE_KEY in self._declared():
            raise self._wrong(f"name the field {FIELD!r}, not {WIRE_KEY!r}")

    def initial(self) -> tuple[object, Json]:
        """The state that a session starts with, which is the defaults: live, and as JSON."""
        first: object = {} if isinstance(self.kind, RootDict) else self._defaults()
        try:
            return self.kind.renew(first, "", inside=False)
        except StateError as error:
            raise self._wrong(f"the initial state is not valid: {error.message}") from error

    def load(self, wire: Json) -> object:
        """Make the live state from JSON; StateInvalid has the path of what doesn't match."""
        with uncollected():
            return self.kind.freeze(self.kind.load(wire, ""), inside=False)

    def read(self, wire: Json) -> object:
        """Make a state from JSON that the caller may keep and change."""
        return self.kind.load(wire, "")

    def dump(self, state: object) -> Json:
        """Write a live state as fresh JSON."""
        return orjson.loads(orjson.dumps(self.kind.wire(state)))

    def has(self, field: str) -> bool:
        """Whether the state has a field; a dict can have any."""
        is_open = isinstance(self.kind, RootDict) and not is_typed_dict(self._type)
        return is_open or field in self._declared()

    def _declared(self) -> tuple[str, ...]:
        if is_typed_dict(self._type):
            return tuple(self._type.__annotations__)
        return () if isinstance(self.kind, RootDict) else field_names(self._type)

    def _defaults(self) -> object:
        if missing := [name for name in field_names(self._type) if _is_required(self._type, name)]:
            fields = ", ".join(map(repr, missing))
            raise self._wrong(f"the state needs a default for {fields}", field=missing[0])
        try:
            return self._type()
        except pydantic.ValidationError as error:
            raise self._wrong(
                f"the defaults are not valid: {invalid(error, '').message}"
            ) from error

    def _wrong(self, what: str, **context: object) -> DefinitionError:
        what = what.removesuffix(".")
        return DefinitionError(f"Workflow {self.name!r}: {what}.", workflow=self.name, **context)


def _root(tp: object) -> Kind | None:
    if has_fields(tp):
        return _object_root(tp)
    if tp is dict or get_origin(tp) is dict or is_typed_dict(tp):
        kind = kind_of(tp)
        return _prepared(RootDict(kind)) if isinstance(kind, Keyed) else None
    return None


def _prepared(kind: Kind) -> Kind:
    """Let pydantic find errors in a definition now, not in the middle of a session."""
    for part in kind.within():
        part.prepare()
    return kind


def _object_root(cls: type[object]) -> Kind:
    if issubclass(cls, BaseModel):
        cls.model_rebuild()
    codec = RootCodec(cls)
    if not isinstance(object_kind(cls), ObjectOf):
        return _prepared(Leaf(codec))
    kinds = dict(field_kinds(cls))
    if FIELD in kinds:
        kinds[FIELD] = AnswerField(kinds[FIELD])
    return _prepared(RootObject(cls, codec, lambda: kinds))


def _is_required(cls: type[object], name: str) -> bool:
    if issubclass(cls, BaseModel):
        return cls.model_fields[name].is_required()
    fields = dataclasses.fields(cls) if dataclasses.is_dataclass(cls) else ()
    field = next(field for field in fields if field.name == name)
    nothing = dataclasses.MISSING
    return field.init and field.default is nothing and field.default_factory is nothing
