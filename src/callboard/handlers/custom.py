"""A caller's own handler: an object or a mapping with `approval`, `choice`, `interactive`."""

import asyncio
import contextvars
import inspect
import threading
from collections.abc import Callable, Mapping
from contextlib import suppress
from functools import partial
from typing import Any, cast

from callboard.engine.ports import HumanInput, NoAnswer, Request
from callboard.errors import DefinitionError
from callboard.handlers.coding_agents import ask_plainly
from callboard.handlers.interactive import plainly
from callboard.interactions.configs import KIND

NAMES = ("approval", "choice", "interactive")


class CustomHandler:
    """Calls the caller's functions, async or not, with the whole request if they want it."""

    def __init__(self, given: object) -> None:
        self._functions = {name: _function(given, name) for name in NAMES}

    async def answer(self, request: Request) -> Any:
        """What the function for this type of question says."""
        if request.type == KIND:
            return await self._decide(request)
        if request.config is not None:
            return await ask_plainly(self._ask, request, request.config)
        return await self._ask(request)

    async def _decide(self, request: Request) -> Any:
        """A decision; where no function is for those, a yes, a no or an option will do."""
        if self._functions["interactive"] is not None:
            return await self._call(self._functions["interactive"], request)
        plain = plainly(request)
        if self._functions[_kind(plain)] is None:
            raise NoAnswer
        return await self._ask(plain)

    async def _ask(self, request: Request) -> Any:
        kind = _kind(request)
        function = self._functions[kind]
        if function is None:
            shown = "choice(prompt, options)" if kind == "choice" else "approval(prompt)"
            raise DefinitionError(f"human_input has no {kind!r}; add {shown}.")
        return await self._call(function, request)

    async def _call(self, function: Callable[..., Any], request: Request) -> Any:
        call = partial(function, request.prompt)
        if request.options is not None:
            call = partial(call, list(request.options))
        if _takes_request(function):
            call = partial(call, request=request)
        if inspect.iscoroutinefunction(function):
            return await call()
        result = await _apart(call)
        return await result if inspect.isawaitable(result) else result


def _kind(request: Request) -> str:
    return "choice" if request.options is not None else "approval"


def as_handler(given: object) -> HumanInput | None:
    """Whatever a caller gives as `human_input`, as the engine wants it."""
    if given is None:
        return None
    if any(_function(given, name) for name in NAMES):
        return CustomHandler(given)
    if callable(getattr(given, "answer", None)):
        return cast("HumanInput", given)
    raise DefinitionError(
        "human_input must have approval(prompt), choice(prompt, options) or interactive(prompt): "
        "use cli_prompt(), auto_approve(), or an object or mapping of your own."
    )


def _function(given: object, name: str) -> Callable[..., Any] | None:
    if isinstance(given, Mapping):
        found = cast("Mapping[str, Any]", given).get(name)
    else:
        found = getattr(given, name, None)
    return found if callable(found) else None


def _takes_request(function: Callable[..., Any]) -> bool:
    try:
        return "request" in inspect.signature(function).parameters
    except (TypeError, ValueError):
        return False


async def _apart(call: Callable[[], Any]) -> Any:
    """Call in a thread of its own, because it may well block on a person.

    The loop's own threads are few, and are waited for when a program ends: a question that has
    been answered elsewhere must hold up neither other work nor the end.
    """
    loop = asyncio.get_running_loop()
    answered: asyncio.Future[Any] = loop.create_future()
    context = contextvars.copy_context()

    def settle(result: Any, error: BaseException | None) -> None:
        if answered.done():
            return
        if error is not None:
            answered.set_exception(error)
        else:
            answered.set_result(result)

    def work() -> None:
        result, error = None, None
        try:
            result = context.run(call)
        except StopIteration as stopped:
            # A future cannot hold it; it mostly means that prepared answers have run out.
            error = RuntimeError("it has no more answers (StopIteration)")
            error.__cause__ = stopped
        except BaseException as raised:
            error = raised
        with suppress(RuntimeError):  # The loop may have ended meanwhile.
            loop.call_soon_threadsafe(settle, result, error)

    threading.Thread(target=work, name="human_input", daemon=True).start()
    return await answered
