"""Objects of users' classes, taken apart and put together without running their constructors."""

import copy
import dataclasses
import types
from abc import ABCMeta
from collections.abc import Mapping
from functools import cache
from typing import Any, TypeGuard

from pydantic import BaseModel

_set = object.__setattr__


def has_fields(tp: Any) -> TypeGuard[type[Any]]:
    """Whether something is a pydantic model or a dataclass."""
    if not isinstance(tp, type) or isinstance(tp, types.GenericAlias):
        return False
    cls: type[Any] = tp
    return issubclass(cls, BaseModel) or dataclasses.is_dataclass(cls)


def is_typed_dict(tp: Any) -> bool:
    """Whether something is a TypedDict, of `typing` or of `typing_extensions`."""
    return isinstance(tp, type) and hasattr(tp, "__required_keys__") and hasattr(tp, "__total__")


@cache
def is_model(cls: type[Any]) -> bool:
    """Whether a class is a pydantic model; to ask pydantic each time takes ten times as long."""
    return issubclass(cls, BaseModel)


def field_names(cls: type[Any]) -> tuple[str, ...]:
    """The fields of a pydantic model or dataclass, in their order."""
    if issubclass(cls, BaseModel):
        return tuple(cls.model_fields)
    return tuple(field.name for field in dataclasses.fields(cls))


def values_of(value: Any) -> dict[str, Any]:
    """The fields of a live object, in a dict of their own."""
    if is_model(value.__class__):
        return dict(value.__dict__)
    return {field.name: getattr(value, field.name) for field in dataclasses.fields(value)}


def assemble(cls: type[Any], values: Mapping[str, Any], like: Any) -> Any:
    """Make an object from its fields; what else pydantic keeps in it is taken from `like`."""
    made: Any = object.__new__(cls)
    if is_model(cls):
        _set(made, "__dict__", dict(values))
        adopt(made, like)
    else:
        for name, value in values.items():
            _set(made, name, value)
    return made


def adopt(made: BaseModel, like: Any) -> None:
    """Give a model a copy of what pydantic keeps in another beside its fields."""
    _set(made, "__pydantic_fields_set__", set(like.__pydantic_fields_set__))
    extra, private = like.__pydantic_extra__, like.__pydantic_private__
    _set(made, "__pydantic_extra__", None if extra is None else copy.deepcopy(extra))
    _set(made, "__pydantic_private__", None if private is None else copy.deepcopy(private))


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
    if hasattr(cls, "__dataclass_fields__"):
        # orjson looks no further than the class itself.
        given["__dataclass_fields__"] = cls.__dataclass_fields__
    return make.__new__(meta, cls.__name__, (*mixins, cls), given)
