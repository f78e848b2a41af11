"""Narrows JSON values: each function returns the expected type, or an empty value."""

from collections.abc import Mapping
from typing import TypeGuard

Object = Mapping[str, object]
"""A JSON object, for reading only."""


def is_object(value: object) -> TypeGuard[dict[str, object]]:
    """Whether a JSON value is an object."""
    return isinstance(value, dict)


def is_list(value: object) -> TypeGuard[list[object]]:
    """Whether a JSON value is a list."""
    return isinstance(value, list)


def is_mapping(value: object) -> TypeGuard[Object]:
    """Whether a value can be read like a JSON object."""
    # dict first: checking against an abstract class takes ten times as long.
    return isinstance(value, dict) or isinstance(value, Mapping)  # noqa: SIM101


def as_object(value: object) -> Object:
    """The value if it can be read like an object, else an empty one."""
    return value if is_mapping(value) else {}


def as_list(value: object) -> list[object]:
    """The value if it is a list, else an empty one."""
    return value if is_list(value) else []


def objects(value: object) -> list[Object]:
    """The objects in a list, ignoring anything else in it."""
    return [one for one in as_list(value) if is_mapping(one)]


def as_text(value: object) -> str:
    """The value if it is text, else an empty one."""
    return value if isinstance(value, str) else ""


def as_whole(value: object) -> int:
    """The value if it is a whole number, else 0."""
    return value if isinstance(value, int) else 0
