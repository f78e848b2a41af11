"""Takes objects of users' classes apart and rebuilds them without calling their constructors."""

import copy
import dataclasses
import types
from abc import ABCMeta
from collections.abc import Mapping
from functools import cache
from typing import TypeGuard, cast

from pydantic import BaseModel

_set = object.__setattr__


def has_fields(tp: object) -> TypeGuard[type[object]]:
    """Whether something is a pydantic model or a dataclass."""
    if not isinstance(tp, type) or isinstance(tp, types.GenericAlias):
        return False
    cls: type[object] = tp
    return issubclass(cls, BaseModel) or dataclasses.is_dataclass(cls)


def is_typed_dict(tp: object) -> bool:
    """Whether something is a TypedDict, from `typing` or from `typing_extensions`."""
    return isinstance(tp, type) and hasattr(tp, "__required_keys__") and hasattr(tp, "__total__")


@cache
def is_model(cls: type[object]) -> bool:
    """Whether a class is a pydantic model; asking pydantic each time takes ten times as long."""
    return issubclass(cls, BaseModel)


@cache
def field_names(cls: type[object]) -> tuple[str, ...]:
    """The fields of a pydantic model or dataclass, in order."""
    if issubclass(cls, BaseModel):
        return tuple(cls.model_fields)
    return tuple(f.name for f in dataclasses.fields(cls)) if dataclasses.is_dataclass(cls) else ()


def values_of(value: object) -> dict[str, object]:
    """The fields of a live object, in a new dict."""
    cls = value.__class__
    if is_model(cls):
        return dict(value.__dict__)
    return {name: getattr(value, name) for name in field_names(cls)}


def assemble(cls: type[object], values: Mapping[str, object], like: object) -> object:
    """Build an object from its fields; whatever else pydantic keeps in it is taken from `like`."""
    made = object.__new__(cls)
    if is_model(cls):
        _set(made, "__dict__", dict(values))
        adopt(made, like)
    else:
        for name, value in values.items():
            _set(made, name, value)
    return made


def adopt(made: object, like: object) -> None:
    """Give a model a copy of what pydantic keeps in another one besides its fields."""
    model = cast("BaseModel", like)  # `isinstance` would not recognize a draft of one as a model.
    _set(made, "__pydantic_fields_set__", set(model.__pydantic_fields_set__))
    extra, private = model.__pydantic_extra__, model.__pydantic_private__
    _set(made, "__pydantic_extra__", None if extra is None else copy.deepcopy(extra))
    _set(made, "__pydantic_private__", None if private is None else copy.deepcopy(private))


def subclass(
    cls: type[object], mixins: tuple[type, ...], namespace: dict[str, object]
) -> type[object]:
    """Make a subclass without pydantic's metaclass, which would build the schema again."""
    make: type[type] = ABCMeta if issubclass(type(cls), ABCMeta) else type
    given = {
        "__module__": cls.__module__,
        "__qualname__": cls.__qualname__,
        "__doc__": cls.__doc__,
        **namespace,
    }
    if dataclasses.is_dataclass(cls):
        # orjson looks no further than the class itself.
        given["__dataclass_fields__"] = cls.__dataclass_fields__
    return make.__new__(type(cls), cls.__name__, (*mixins, cls), given)
