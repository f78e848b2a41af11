"""What users' classes do besides holding fields, as far as it matters for changing them."""

import inspect
from collections.abc import Callable, Iterator

from pydantic import (
    AfterValidator,
    BaseModel,
    BeforeValidator,
    Field,
    PlainValidator,
    WrapValidator,
)
from pydantic.fields import FieldInfo

from callboard.drafts.instances import field_names

_INTERCEPTING = ("__setattr__", "__getattribute__", "__init_subclass__", "__class__")
_LIBRARIES = ("pydantic", "typing", "abc", "builtins", "callboard")
_VALIDATORS: dict[str, Callable[..., object]] = {
    "after": AfterValidator,
    "before": BeforeValidator,
    "plain": PlainValidator,
    "wrap": WrapValidator,
}


def has_drafts(cls: type[object]) -> bool:
    """Whether a subclass can stand in for the class; otherwise its objects are copied whole."""
    if issubclass(cls, BaseModel) and cls.__pydantic_root_model__:
        return False
    frozen = _is_frozen(cls)
    return not any(
        name in vars(part)
        for part in cls.__mro__
        if part.__module__.partition(".")[0] not in _LIBRARIES
        for name in _INTERCEPTING
        if not (frozen and name == "__setattr__")
    )


def frozen_fields(cls: type[object]) -> frozenset[str]:
    """The fields that can't be assigned."""
    if issubclass(cls, BaseModel):
        fields = cls.model_fields
        return frozenset(name for name in fields if _is_frozen(cls) or fields[name].frozen)
    return frozenset(field_names(cls)) if _is_frozen(cls) else frozenset()


def is_open(cls: type[object]) -> bool:
    """Whether objects accept fields that the class doesn't declare."""
    return issubclass(cls, BaseModel) and cls.model_config.get("extra") == "allow"


def _is_frozen(cls: type[object]) -> bool:
    if issubclass(cls, BaseModel):
        return bool(cls.model_config.get("frozen"))
    return cls.__dataclass_params__.frozen  # type: ignore[attr-defined]


def sees_all_fields(cls: type[object]) -> bool:
    """Whether loading an object depends on more than each field on its own."""
    if not issubclass(cls, BaseModel):
        return hasattr(cls, "__post_init__") or hasattr(cls, "__pydantic_decorators__")
    decorators = cls.__pydantic_decorators__
    return any(
        (
            decorators.model_validators,
            decorators.root_validators,
            decorators.validators,
            decorators.model_serializers,
            decorators.field_serializers,
            cls.__pydantic_custom_init__,
            cls.__pydantic_post_init__,
            cls.__private_attributes__,
            cls.model_config.get("extra") == "allow",
            cls.model_config.get("json_encoders"),
            any(_may_be_left_out(field) for field in cls.model_fields.values()),
            any(_takes_info(mode, call) for mode, call in _validators(cls, None)),
        )
    )


def _may_be_left_out(field: FieldInfo) -> bool:
    # pydantic has had the second one since 2.12.
    return bool(field.exclude or getattr(field, "exclude_if", None))


def field_metadata(cls: type[BaseModel], name: str, field: FieldInfo) -> list[object] | None:
    """What restricts a field besides its type; None if that can't be told apart from the rest."""
    validators = list(_validators(cls, name))
    if any(_takes_info(mode, call) for mode, call in validators):
        return None
    union = [Field(discriminator=field.discriminator)] if field.discriminator else []
    return [*field.metadata, *union, *(_VALIDATORS[mode](call) for mode, call in validators)]


def _validators(
    cls: type[BaseModel], name: str | None
) -> Iterator[tuple[str, Callable[..., object]]]:
    for decorator in cls.__pydantic_decorators__.field_validators.values():
        if name is None or name in decorator.info.fields or "*" in decorator.info.fields:
            yield decorator.info.mode, decorator.func


def _takes_info(mode: str, call: Callable[..., object]) -> bool:
    """Whether a validator takes the other fields."""
    return len(inspect.signature(call).parameters) > (2 if mode == "wrap" else 1)
