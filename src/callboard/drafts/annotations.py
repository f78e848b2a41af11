"""Turns annotations into kinds."""

import enum
import types
from collections.abc import Mapping
from functools import cache, partial
from typing import (
    Annotated,
    Any,
    Literal,
    Union,
    get_args,
    get_origin,
    get_type_hints,
)

from pydantic import BaseModel, ConfigDict, JsonValue

from callboard.drafts.classes import field_metadata, has_drafts
from callboard.drafts.coding import Codec
from callboard.drafts.instances import field_names, has_fields, is_typed_dict
from callboard.drafts.kind import Kind
from callboard.drafts.kinds import IMMUTABLE, UNTYPED, DictOf, Leaf, ListOf, Maybe, Unchecked
from callboard.drafts.objects import ObjectOf
from callboard.drafts.records import OneOf, RecordKind

_ANYTHING = (Any, object, JsonValue)
_QUALIFIERS = ("Required", "NotRequired", "ReadOnly")
_UNIONS = (Union, types.UnionType)


def kind_of(
    annotation: object, config: ConfigDict | None = None, metadata: tuple[object, ...] = ()
) -> Kind:
    """The kind that an annotation declares; `config` is that of the model it belongs to."""
    bare, more = _bare(annotation)
    metadata = (*more, *metadata)
    if get_origin(bare) in _UNIONS:
        return _union(bare, config, metadata)
    if metadata:
        return Leaf(_codec(bare, config, metadata))
    if bare in _ANYTHING:
        return UNTYPED
    if isinstance(bare, type) and not isinstance(bare, types.GenericAlias):
        return _class(bare, config)
    return _generic(bare, config)


def _bare(annotation: object) -> tuple[object, tuple[object, ...]]:
    """Unwrap an annotation."""
    metadata: tuple[object, ...] = ()
    while True:
        if get_origin(annotation) is Annotated:
            annotation, *more = get_args(annotation)
            metadata = (*more, *metadata)
        elif getattr(get_origin(annotation), "_name", None) in _QUALIFIERS:
            annotation = get_args(annotation)[0]
        else:
            return annotation, metadata


def _codec(bare: object, config: ConfigDict | None, metadata: tuple[object, ...] = ()) -> Codec:
    return Codec(Annotated[bare, *metadata] if metadata else bare, config)


def _union(bare: object, config: ConfigDict | None, metadata: tuple[object, ...]) -> Kind:
    members = [member for member in get_args(bare) if member is not type(None)]
    optional = len(members) < len(get_args(bare))
    if len(members) == 1 and not metadata:
        return Maybe(kind_of(members[0], config))
    if all(_is_object(member) for member in members) and not _related(members):
        codec = _codec(bare, config, metadata)
        kind = OneOf(codec, {member: partial(field_kinds, member) for member in members})
        return Maybe(kind) if optional else kind
    return Leaf(_codec(bare, config, metadata), inert=not metadata and all(map(_inert, members)))


def _class(cls: type[object], config: ConfigDict | None) -> Kind:
    if is_typed_dict(cls):
        return record_kind(cls)
    if has_fields(cls):
        return object_kind(cls)
    if cls is list:
        return ListOf(_codec(list[object], config), UNTYPED)
    if cls is dict:
        return DictOf(_codec(dict[str, object], config), UNTYPED)
    return Leaf(_codec(cls, config), inert=_inert(cls))


def _generic(bare: object, config: ConfigDict | None) -> Kind:
    origin, arguments = get_origin(bare), get_args(bare)
    if origin is list:
        return ListOf(_codec(bare, config), kind_of(arguments[0], config))
    if origin is dict and arguments[0] is str:
        return DictOf(_codec(bare, config), kind_of(arguments[1], config))
    return Leaf(_codec(bare, config), inert=_inert(bare))


def _inert(annotation: object) -> bool:
    if get_origin(annotation) is Literal:
        return True
    return isinstance(annotation, type) and issubclass(annotation, (*IMMUTABLE, enum.Enum))


def _is_object(annotation: object) -> bool:
    return has_fields(annotation) and isinstance(object_kind(annotation), ObjectOf)


def _related(classes: list[type[object]]) -> bool:
    # pydantic would write an object of a subclass as one of whichever class comes first.
    return any(one is not other and issubclass(one, other) for one in classes for other in classes)


@cache
def object_kind(cls: type[object]) -> Kind:
    """The kind of a model or dataclass."""
    if not has_drafts(cls):
        return Leaf(Codec(cls))
    return ObjectOf(cls, Codec(cls), partial(field_kinds, cls))


@cache
def record_kind(cls: type[object]) -> Kind:
    """The kind of a TypedDict."""
    return RecordKind(cls, Codec(cls), partial(_hinted_kinds, cls))


def field_kinds(cls: type[object]) -> Mapping[str, Kind]:
    """The kind of each field of a model or dataclass."""
    if issubclass(cls, BaseModel):
        return {name: _model_field(cls, name) for name in cls.model_fields}
    kinds = _hinted_kinds(cls)
    return {name: kinds[name] for name in field_names(cls)}


def _hinted_kinds(cls: object) -> Mapping[str, Kind]:
    config = getattr(cls, "__pydantic_config__", None)
    hints = get_type_hints(cls, include_extras=True)
    return {name: kind_of(hint, config) for name, hint in hints.items()}


def _model_field(cls: type[BaseModel], name: str) -> Kind:
    field = cls.model_fields[name]
    metadata = field_metadata(cls, name, field)
    if metadata is None:
        return Unchecked(Codec(field.annotation, cls.model_config))
    return kind_of(field.annotation, cls.model_config, tuple(metadata))
