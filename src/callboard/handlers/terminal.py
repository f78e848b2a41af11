"""Asks in the terminal: arrow keys, one question at a time, Ctrl-C leaves it pending."""

import asyncio
import unicodedata
from typing import Any

from callboard.engine.ports import NoAnswer, Request

OTHER = "Other…"


class TerminalPrompt:
    """A person at this terminal."""

    def __init__(self) -> None:
        self.interrupted = False
        self._turn = asyncio.Lock()

    async def answer(self, request: Request) -> Any:
        """Ask, and give what was answered; NoAnswer after Ctrl-C, and from then on."""
        async with self._turn:
            if self.interrupted:
                raise NoAnswer
            try:
                return await self._ask(request)
            except (KeyboardInterrupt, EOFError):
                self.interrupted = True
                raise NoAnswer from None

    async def _ask(self, request: Request) -> Any:
        import questionary  # Heavy, and most runs never ask in a terminal.

        prompt = visible(request.prompt)
        if request.options is None:
            return await questionary.confirm(prompt, default=False).unsafe_ask_async()
        shown = {visible(option): option for option in request.options}
        choices = [*shown, OTHER] if request.other else list(shown)
        picked = await questionary.select(prompt, choices=choices).unsafe_ask_async()
        if request.other and picked == OTHER:
            return await questionary.text("Your answer:", validate=_some_text).unsafe_ask_async()
        return shown[picked]


def cli_prompt() -> TerminalPrompt:
    """A handler that asks the person at this terminal."""
    return TerminalPrompt()


def visible(text: str) -> str:
    """Text that may come from anywhere, with control and bidi characters made visible."""
    return "".join(
        char if char in "\n\t" or unicodedata.category(char) not in ("Cc", "Cf") else _escaped(char)
        for char in text
    )


def _escaped(char: str) -> str:
    return f"\\x{ord(char):02x}" if ord(char) < 256 else f"\\u{ord(char):04x}"


def _some_text(text: str) -> bool | str:
    return True if text.strip() else "Please write something."
