"""A caller's own handler: an object or a mapping with `approval` and `choice`."""

import asyncio
import inspect
from collections.abc import Callable, Mapping
from typing import Any

from callboard.engine.ports import HumanInput, Request
from callboard.errors import DefinitionError

NAMES = ("approval", "choice")


class CustomHandler:
    """Calls the caller's functions, async or not, with the whole request if they want it."""

    def __init__(self, given: object) -> None:
        self._functions = {name: _function(given, name) for name in NAMES}

    async def answer(self, request: Request) -> Any:
        """What the function for this type of question says."""
        kind = "choice" if request.options is not None else "approval"
        function = self._functions[kind]
        if function is None:
            raise DefinitionError(f"human_input has no {kind!r}; add {kind}(prompt, ...).")
        arguments: list[Any] = [request.prompt]
        if kind == "choice":
            arguments.append(list(request.options or []))
        more = {"request": request} if _takes_request(function) else {}
        if inspect.iscoroutinefunction(function):
            return await function(*arguments, **more)
        # It may well block on a person: not in the event loop.
        result = await asyncio.to_thread(function, *arguments, **more)
        return await result if inspect.isawaitable(result) else result


def as_handler(given: object) -> HumanInput | None:
    """Whatever a caller gives as `human_input`, as the engine wants it."""
    if given is None or hasattr(given, "answer"):
        return given  # pyright: ignore[reportReturnType] - the protocol has this one method
    if not any(_function(given, name) for name in NAMES):
        raise DefinitionError(
            "human_input must have approval(prompt) and choice(prompt, options): use cli_prompt(), "
            "auto_approve(), or an object or mapping of your own."
        )
    return CustomHandler(given)


def _function(given: object, name: str) -> Callable[..., Any] | None:
    found: Any = given.get(name) if isinstance(given, Mapping) else getattr(given, name, None)  # pyright: ignore
    return found if callable(found) else None


def _takes_request(function: Callable[..., Any]) -> bool:
    try:
        return "request" in inspect.signature(function).parameters
    except (TypeError, ValueError):
        return False
