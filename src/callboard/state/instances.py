"""Objects of users' classes, taken apart and put together without running their constructors."""

import copy
import dataclasses
import types
from abc import ABCMeta
from collections.abc import Mapping
from typing import Any, TypeGuard

from pydantic import BaseModel


def has_fields(tp: Any) -> TypeGuard[type[Any]]:
    """Whether something is a pydantic model or a dataclass."""
    if not isinstance(tp, type) or isinstance(tp, types.GenericAlias):
        return False
    cls: type[Any] = tp
    return issubclass(cls, BaseModel) or dataclasses.is_dataclass(cls)


def field_names(cls: type[Any]) -> tuple[str, ...]:
    """The fields of a pydantic model or dataclass, in their order."""
    if issubclass(cls, BaseModel):
        return tuple(cls.model_fields)
    return tuple(field.name for field in dataclasses.fields(cls))


def values_of(value: Any) -> dict[str, Any]:
    """The fields of an object as it holds them, in a dict of their own."""
    if isinstance(value, BaseModel):
        fields = type(value).model_fields
        return {name: part for name, part in value.__dict__.items() if name in fields}
    return {field.name: getattr(value, field.name) for field in dataclasses.fields(value)}


def assemble(cls: type[Any], values: Mapping[str, Any], like: Any) -> Any:
    """Make an object from its fields; what else pydantic keeps in it is taken from `like`."""
    made: Any = object.__new__(cls)
    if isinstance(made, BaseModel):
        object.__setattr__(made, "__dict__", dict(values))
        adopt(made, like)
    else:
        for name, value in values.items():
            object.__setattr__(made, name, value)
    return made


def adopt(made: BaseModel, like: Any) -> None:
    """Give a model a copy of what pydantic keeps in another beside its fields."""
    object.__setattr__(made, "__pydantic_fields_set__", set(like.__pydantic_fields_set__))
    object.__setattr__(made, "__pydantic_extra__", copy.deepcopy(like.__pydantic_extra__))
    object.__setattr__(made, "__pydantic_private__", copy.deepcopy(like.__pydantic_private__))


def subclass(cls: type[Any], mixins: tuple[type, ...], namespace: dict[str, Any]) -> Any:
    """Make a subclass past the metaclass of pydantic, which would build the schema anew."""
    meta = type(cls)
    make: Any = ABCMeta if issubclass(meta, ABCMeta) else type
    given = {
        "__module__": cls.__module__,
        "__qualname__": cls.__qualname__,
        "__doc__": cls.__doc__,
        **namespace,
    }
    return make.__new__(meta, cls.__name__, (*mixins, cls), given)
