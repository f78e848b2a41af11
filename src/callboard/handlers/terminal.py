"""Asks in the terminal: arrow keys, one question at a time; Ctrl-C leaves it pending."""

import asyncio
import sys
from collections.abc import Awaitable, Callable, Mapping, Sequence
from json import loads
from typing import TYPE_CHECKING, TypeVar

from callboard.display.assignments import restriction
from callboard.display.lines import collapsed, text_lines, visible
from callboard.engine.ports import NoAnswer, Request
from callboard.errors import CallboardError
from callboard.handlers.interactive import choices_of, schema_of
from callboard.interactions.outcomes import form_of, json_schema_of
from callboard.interactions.schema.checking import verify
from callboard.interactions.schema.schemas import SchemaCheck

if TYPE_CHECKING:
    from questionary import Question

OTHER = "Other…"
LATER = "Later"
Said = TypeVar("Said")
_OTHER = object()
_LATER = object()


class TerminalPrompt:
    """The person at this terminal. After Ctrl-C, they aren't asked anything else."""

    def __init__(self) -> None:
        self.interrupted = False
        self._turn = asyncio.Lock()

    async def approval(self, prompt: str, request: Request | None = None) -> bool:
        """Yes or no; Enter alone means no."""
        return await self._in_turn(lambda: _confirm(_with_assignees(prompt, request)))

    async def choice(
        self, prompt: str, options: Sequence[str], request: Request | None = None
    ) -> str:
        """One of the options, or the person's own text if that is allowed."""
        other = request is not None and request.other
        shown = _with_assignees(prompt, request)
        return await self._in_turn(lambda: _select(shown, options, other=other))

    async def interactive(self, prompt: str, request: Request) -> object:
        """A decision in the requested form, with a hint on how to use an agent for it."""
        return await self._in_turn(lambda: _decide(prompt, request))

    async def _in_turn(self, ask: Callable[[], Awaitable[Said]]) -> Said:
        async with self._turn:
            if self.interrupted or not (sys.stdin.isatty() and sys.stdout.isatty()):
                raise NoAnswer
            try:
                return await ask()
            except (KeyboardInterrupt, EOFError):
                self.interrupted = True
                raise NoAnswer from None


def cli_prompt() -> TerminalPrompt:
    """A handler that asks in this terminal; without a terminal, questions stay pending."""
    return TerminalPrompt()


async def _confirm(prompt: str) -> bool:
    import questionary  # Slow to import, and most runs never ask in a terminal.

    return bool(await _shown(questionary.confirm(_message(prompt), default=False)))


async def _select(prompt: str, options: Sequence[str], *, other: bool) -> str:
    import questionary

    choices = [questionary.Choice(visible(option, keep=""), option) for option in options]
    if other:
        choices.append(questionary.Choice(OTHER, _OTHER))
    picked = await _shown(questionary.select(_message(prompt), choices))
    if picked is _OTHER:
        picked = await _shown(questionary.text("Your answer:", validate=_some_text))
    return str(picked)


async def _decide(prompt: str, request: Request) -> object:
    schema = schema_of(request)
    asked = _with_assignees(prompt, request)
    shown = f"{asked}\n(With an agent: callboard attend --session {request.session_id})"
    match form_of(schema):
        case "approval":
            return await _pick(shown, {"Approve": "approved", "Reject": "rejected"})
        case "selection":
            return await _pick(shown, {visible(one, keep=""): one for one in choices_of(schema)})
        case form if form == "freeform" or schema is None:
            return await _written(f"{shown}\nYour decision, or Enter to skip:")
        case _:
            fits = json_schema_of(schema)
            return await _written(f"{shown}\nYour decision as JSON, or Enter to skip:", fits)


async def _pick(shown: str, decisions: Mapping[str, str]) -> str:
    """One of the decisions; raises NoAnswer if the person leaves it for later."""
    import questionary

    choices = [questionary.Choice(name, decision) for name, decision in decisions.items()]
    choices.append(questionary.Choice(LATER, _LATER))
    picked = await _shown(questionary.select(_message(shown), choices))
    if picked is _LATER:
        raise NoAnswer
    return str(picked)


async def _written(shown: str, schema: object = None) -> object:
    """Text, or JSON that matches the schema; raises NoAnswer if the person writes nothing."""
    import questionary

    def fits(text: str) -> bool | str:
        try:
            if text.strip() and schema is not None:
                verify(SchemaCheck(schema, "decision", (loads(text),)))
        except (ValueError, CallboardError) as error:
            return str(error)
        return True

    said = str(await _shown(questionary.text(_message(shown), validate=fits)))
    if not said.strip():
        raise NoAnswer
    return said if schema is None else loads(said)


def _with_assignees(prompt: str, request: Request | None) -> str:
    """The prompt, with who is meant to answer. A terminal can't check who is at it."""
    only = None if request is None else restriction(request.assignees)
    return (
        f"{prompt}\n({only} An answer given here is recorded as an override.)" if only else prompt
    )


def _message(prompt: str) -> str:
    """The prompt; after several lines, the answer has a line of its own."""
    shown = "\n".join(line.text for line in collapsed(text_lines(prompt))).rstrip("\n")
    return f"{shown}\n" if "\n" in shown else shown


async def _shown(question: "Question") -> object:
    from prompt_toolkit.patch_stdout import patch_stdout

    # Agent output goes above the prompt, including colors.
    with patch_stdout(raw=True):
        return await question.unsafe_ask_async()


def _some_text(text: str) -> bool | str:
    return True if text.strip() else "Please enter an answer."
