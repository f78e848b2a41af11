"""What a person sees of `callboard attend` between sessions, and what they type."""

import asyncio
import os
import shlex
import sys
from collections.abc import Mapping, Sequence
from contextlib import suppress
from typing import Final

from callboard.cli.format import ago, duration, one_line, preview
from callboard.cli.printing import pretty_json
from callboard.cli.screen import Screen
from callboard.cli.targets import Target
from callboard.display.amounts import counted
from callboard.display.lines import visible
from callboard.events.codec import dump_json
from callboard.events.moments import from_ms
from callboard.harness.ending import SessionEnding
from callboard.harness.outcomes import form_of, options_of
from callboard.harness.preparing import PreparedSession
from callboard.interactions.configs import participants
from callboard.interactions.records import Interaction

_PROMPT = 90
_MOST_LINES = 30
_LONGEST = 200
_MUCH = 2_000
"""Characters of a text to process when only its start is shown."""
SOON: Final = 1.0
SELDOM: Final = 5.0
"""Seconds. Each poll loads all open questions, with everything attached to them."""

_SLOWER: Final = 1.3


class AttendScreen:
    """Prints the list, what a session would start, and how it ended."""

    def __init__(self, place: Target) -> None:
        self._place = place
        self._screen = Screen()
        self.is_gone = False
        """Whether the terminal was closed."""

    def line(self, *parts: str | tuple[str, str]) -> None:
        """Print a line; does nothing if the terminal is gone."""
        try:
            self._screen.line(*parts)
        except OSError:
            self.is_gone = True

    def note(self, text: str) -> None:
        """Print a note."""
        self.line((text, "here"))

    def ask(self, question: str) -> None:
        """Print a question, and stay on its line."""
        with suppress(OSError):
            self._screen.add((question, "asks"))

    def waiting(
        self,
        waiting: Sequence[Interaction],
        free: Sequence[Interaction],
        now_ms: int,
        *,
        asks: bool,
    ) -> None:
        """Print the open sessions, numbered."""
        if not waiting:
            return self.line(("No sessions are waiting for you. Ctrl-C to exit.", "faint"))
        self.line((f"{counted(len(waiting), 'session')} for you:", "name"))
        for number, one in enumerate(waiting, 1):
            self.line((f"{number:3}  ", "faint"), (one_line(one.prompt[:_MUCH], _PROMPT), "asks"))
            about = [form_of(one.config or {}), f"asked {ago(one.created_at, from_ms(now_ms))}"]
            about += [f"session {one.session_id}"] if one.session_id else []
            about += [] if one in free else [_held(one)]
            self.line((f"     {f' {self._screen.signs.dot} '.join(about)}", "faint"))
        if asks:
            self.ask("Choose a number, Enter for the first, q to quit: ")
        return None

    def show(self, ready: PreparedSession) -> None:
        """Show everything that is about to be started, because it runs code."""
        asks = ready.wanted
        self.line()
        lines = asks.prompt.splitlines()
        for text in lines[:_MOST_LINES]:
            self.line((one_line(text[: 4 * _LONGEST], 4 * _LONGEST), "asks"))
        if len(lines) > _MOST_LINES:
            self.line((f"… {counted(len(lines) - _MOST_LINES, 'more line')}", "faint"))
        for name, value in self._about(ready):
            self.line((f"  {name:<14}", "faint"), value)

    def _about(self, ready: PreparedSession) -> list[tuple[str, str]]:
        asks = ready.wanted
        prompt, config, tools = asks.system_prompt, ready.mcp_config, ready.tools
        servers: Mapping[str, str] = {} if tools is None else tools.servers
        about = [
            ("decision", _decision(asks.config)),
            ("directory", visible(str(ready.cwd))),
            ("agent", f"{ready.program}, model {one_line(asks.model, _LONGEST)}"),
            ("resumes", ready.resumes),
            ("system prompt", None if prompt is None else one_line(prompt[:_MUCH], _LONGEST)),
            ("context", None if asks.context is None else _beginning(asks.context)),
            ("MCP config", None if config is None else visible(str(config))),
            *(("  starts", f"{one_line(name)}: {one_line(servers[name])}") for name in servers),
            ("time", None if asks.timeout is None else duration(asks.timeout)),
            ("transcript", "is kept; the requester can read it" if asks.captures else None),
        ]
        return [(name, said) for name, said in about if said is not None]

    def not_for(self, person: str, one: Interaction) -> None:
        """Print whose decision it is."""
        missing = one_line(", ".join(_missing(one)))
        self.note(f"Only {missing} can decide this, not {one_line(person)}. See --by.")

    def unsure(self, ending: SessionEnding) -> None:
        """Show in full what may have been decided: no one confirmed it in the agent's dialog."""
        self.line()
        why = {
            "read": "No decision was submitted. The conversation reads as: ",
            "last": "No decision was submitted. The agent's last response: ",
            "unconfirmed": "The agent submitted this, but you did not confirm it in its dialog: ",
        }[ending.unsure or "read"]
        self.line(why, (_whole(ending.response), "name"))
        if ending.otherwise is not None:
            kept = (_whole(ending.otherwise.response), "name")
            self.line("If you say no, the decision you confirmed before is recorded: ", kept)

    def done(self, done: Interaction, *, stays: bool) -> None:
        """Print how a session ended, and whether the session that asked has to be resumed."""
        signs = self._screen.signs
        took = "" if done.duration_ms is None else f"  {duration(done.duration_ms / 1000)}"
        sign, style = {
            "completed": (signs.done, "done"), "failed": (signs.failed, "failed"),
            "pending": (signs.asks, "asks"),
        }.get(done.status, (signs.off, "faint"))  # fmt: skip
        what = f": {preview(done.response, _LONGEST)}" if done.response is not None else ""
        self.line((f"{sign} {done.status}{what}", style), (took, "faint"))
        if done.error is not None:
            self.line((f"  {one_line(done.error)}", "faint"))
        if stays and done.session_id is not None:
            command = self._place.command("resume", done.session_id)
            self.line("  Resume the session: ", (command, "command"))


def _held(one: Interaction) -> str:
    if one.claimed_by is not None:
        return f"{one_line(one.claimed_by)} has claimed it"
    return f"for {one_line(', '.join(_missing(one)))}"


def _missing(one: Interaction) -> list[str]:
    return [name for name in participants(one.config) if name not in (one.response or {})]


def _beginning(context: object) -> str:
    written = dump_json(context)
    size = f" ({len(written):,} bytes)" if len(written) > _LONGEST else ""
    return one_line(written[:_MUCH].decode("utf-8", "replace"), _LONGEST) + size


def _whole(decision: object) -> str:
    return decision if isinstance(decision, str) else pretty_json(decision)


def _decision(config: Mapping[str, object]) -> str:
    form = form_of(config)
    if form != "selection":
        return form
    return f"one of {', '.join(shlex.quote(one_line(one)) for one in options_of(config))}"


class Keyboard:
    """Standard input, line by line, without a thread that waits forever."""

    def __init__(self) -> None:
        self._file = sys.stdin.fileno()
        self.is_closed = False
        """Whether nothing more will be typed."""

    async def line(self, within: float) -> str | None:
        """A line without its end; None if none was typed in time. Also "" once it is closed."""
        loop = asyncio.get_running_loop()
        typed: asyncio.Future[bytes] = loop.create_future()

        def read() -> None:
            if not typed.done():
                try:
                    typed.set_result(os.read(self._file, 4096))
                except OSError:
                    typed.set_result(b"")

        try:
            loop.add_reader(self._file, read)
        except OSError:  # A file, such as /dev/null: EPERM on Linux, EINVAL on macOS.
            await asyncio.sleep(within)
            return None
        try:
            async with asyncio.timeout(within):
                data = await typed
        except TimeoutError:
            return None
        finally:
            loop.remove_reader(self._file)
        self.is_closed = not data
        return data.decode("utf-8", "replace").strip()


class PollPace:
    """Seconds between polls."""

    def __init__(self) -> None:
        self._within = SOON

    def after(self, *, changed: bool) -> float:
        """How long to wait now; changed: whether the last poll found something new."""
        self._within = SOON if changed else min(SELDOM, self._within * _SLOWER)
        return self._within
