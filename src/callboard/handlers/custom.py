"""The caller's own handler: an object or a mapping with `approval`, `choice`, `interactive`.

Questions from coding agents are passed to these, too.
"""

import asyncio
import contextvars
import inspect
import threading
from collections.abc import Awaitable, Callable, Iterable
from concurrent.futures import Future
from dataclasses import replace
from functools import partial
from typing import Final, cast

from callboard.display.lines import collapsed
from callboard.display.questions import CUT, beside_plan, details_of, omitted_from
from callboard.display.tool_calls import CallPart, tool_parts
from callboard.engine.ports import HumanInput, NoAnswer, Request
from callboard.errors import DefinitionError
from callboard.events.json_values import Object, as_text, is_mapping, is_object, objects
from callboard.handlers.interactive import plainly
from callboard.interactions.configs import KIND

_TOLD_BY_PROMPT: Final = ("Bash", "Read", "WebFetch", "WebSearch")
"""Tools for which the prompt may already show everything."""


Ask = Callable[[Request], Awaitable[object]]
NAMES = ("approval", "choice", "interactive")


async def ask_plainly(ask: Ask, request: Request, config: Object) -> object:
    """Ask each of its questions as a choice; otherwise, ask for one approval with the details."""
    questions = objects(config.get("questions"))
    if not questions:
        cut = f"\n\n{CUT.text}" if config.get("truncated") else ""
        prompt = request.prompt + _details(request.prompt, config) + cut
        return await ask(replace(request, prompt=prompt, options=None))
    answers = {as_text(one["question"]): await ask(_choice(request, one)) for one in questions}
    return {"answers": answers}


def _choice(request: Request, question: Object) -> Request:
    options = objects(question["options"])
    told = [f"- {one['label']}{_about(one)}" for one in options if details_of(one)]
    told += [line.text for line in omitted_from(question, "option")]
    several = " You can choose several, separated by commas." if question["multiSelect"] else ""
    prompt = "\n".join([f"{question['question']}{several}", *told])
    labels = list(dict.fromkeys(as_text(one["label"]) for one in options))
    return replace(request, prompt=prompt, options=labels, other=True)


def _about(option: Object) -> str:
    """The description of an option: after its label, or below it if it has several lines."""
    lines = [line.text for line in collapsed(details_of(option))]
    return f": {lines[0]}" + "".join(f"\n  {line}" for line in lines[1:])


def _details(prompt: str, config: Object) -> str:
    """Details that a person must see before they approve."""
    plan, given = config.get("plan"), config.get("toolInput")
    if isinstance(plan, str):
        return f"\n\n{plan}{_written(beside_plan(config))}"
    by_prompt = config.get("toolName") in _TOLD_BY_PROMPT
    if by_prompt and is_object(given) and _is_told(prompt, given):
        return ""
    return _written(tool_parts(given))


def _written(parts: Iterable[CallPart]) -> str:
    lines = [line for part in parts for line in collapsed(part.lines)]
    return "\n\n" + "\n".join(line.lead + line.text for line in lines) if lines else ""


def _is_told(prompt: str, given: Object) -> bool:
    return all(key == "description" or str(value) in prompt for key, value in given.items())


class CustomHandler:
    """Calls the caller's functions, async or not, passing the whole request if they accept it."""

    def __init__(self, given: object) -> None:
        self._functions = {name: _function(given, name) for name in NAMES}

    async def answer(self, request: Request) -> object:
        """The answer from the function for this type of question."""
        if request.type == KIND:
            return await self._decide(request)
        if request.config is not None:
            return await ask_plainly(self._ask, request, request.config)
        return await self._ask(request)

    async def _decide(self, request: Request) -> object:
        """Answer an interactive session; without a function for that, as a simpler question."""
        if self._functions["interactive"] is not None:
            return await self._call(self._functions["interactive"], request)
        plain = plainly(request)
        if self._functions[_kind(plain)] is None:
            raise NoAnswer
        return await self._ask(plain)

    async def _ask(self, request: Request) -> object:
        kind = _kind(request)
        function = self._functions[kind]
        if function is None:
            shown = "choice(prompt, options)" if kind == "choice" else "approval(prompt)"
            raise DefinitionError(f"human_input has no {kind!r}; add {shown}.")
        return await self._call(function, request)

    async def _call(self, function: Callable[..., object], request: Request) -> object:
        call = partial(function, request.prompt)
        if request.options is not None:
            call = partial(call, list(request.options))
        if _takes_request(function):
            call = partial(call, request=request)
        result = call() if inspect.iscoroutinefunction(function) else await _apart(call)
        return await result if inspect.isawaitable(result) else result


def _kind(request: Request) -> str:
    return "choice" if request.options is not None else "approval"


def as_handler(given: object) -> HumanInput | None:
    """Turn what a caller passes as `human_input` into a handler for the engine."""
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


def _function(given: object, name: str) -> Callable[..., object] | None:
    found = given.get(name) if is_mapping(given) else getattr(given, name, None)
    return found if callable(found) else None


def _takes_request(function: Callable[..., object]) -> bool:
    try:
        return "request" in inspect.signature(function).parameters
    except (TypeError, ValueError):
        return False


async def _apart(call: Callable[[], object]) -> object:
    """Call in a separate thread, because it may block while it waits for a person.

    The loop's own threads are few, and a program waits for them before it exits. A question that
    was answered elsewhere must delay neither other work nor the exit.
    """
    answered: Future[object] = Future()
    answered.set_running_or_notify_cancel()  # From now on, it accepts a late answer too.
    context = contextvars.copy_context()

    def work() -> None:
        try:
            answered.set_result(context.run(call))
        except StopIteration as stopped:
            # A future can't hold a StopIteration; it usually means that prepared answers have run
            # out.
            error = RuntimeError("it has no more answers (StopIteration)")
            error.__cause__ = stopped
            answered.set_exception(error)
        except BaseException as raised:
            answered.set_exception(raised)

    threading.Thread(target=work, name="human_input", daemon=True).start()
    return await asyncio.wrap_future(answered)
