"""Users' functions: how many arguments they want."""

import inspect
from collections.abc import Callable
from typing import Any


def fitting(function: Callable[..., Any], most: int) -> Callable[..., Any]:
    """Wrap a function so that it can be given `most` arguments and takes the first it wants."""
    wanted = arity(function, most)
    if wanted == most:
        return function
    return lambda *arguments: function(*arguments[:wanted])


def arity(function: Callable[..., Any], most: int) -> int:
    """How many of `most` positional arguments the function takes."""
    try:
        parameters = inspect.signature(function).parameters.values()
    except (TypeError, ValueError):
        return most
    if any(p.kind is p.VAR_POSITIONAL for p in parameters):
        return most
    positional = [p for p in parameters if p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD)]
    return min(most, len(positional))
