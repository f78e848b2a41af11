"""The agent's prompts: the question, its context, and how the session has to end."""

import re
from collections.abc import Mapping
from typing import Final

import orjson

from callboard.display.lines import one_line, visible
from callboard.events.envelope import Json
from callboard.events.json_values import Object
from callboard.harness.folders import Attempt
from callboard.harness.outcomes import form_of, options_of
from callboard.harness.request import Wanted
from callboard.interactions.outcomes import Form

HEADER: Final = "A decision is needed from the person at this terminal. Help them to make it."

GOES_ON: Final = "This session was interrupted and resumes here; everything above still holds."

LARGEST_ARGUMENT: Final = 48_000
"""Bytes. Anything larger goes into a file, because arguments can't exceed 128 KB."""

_TOOL: Final = "submit_decision"
_LAST_LINE: Final[Mapping[Form, str]] = {
    "approval": "state it on a line of its own, APPROVED or REJECTED and nothing else",
    "selection": "state the option on a line of its own",
    "structured": 'end with it as one JSON block: ```json\\n{"decision": …}\\n```',
    "freeform": "tell the person that it cannot be recorded from here",
}


def first_prompt(wanted: Wanted, attempt: Attempt, *, goes_on: bool = False) -> str:
    """The session's first prompt.

    It never starts with text from others: a slash or `!` at the start would be taken as a command
    of the client.
    """
    begins = [GOES_ON] if goes_on else []
    parts = [HEADER, *begins, f"## The question\n\n{_given(wanted.prompt, 'question.md', attempt)}"]
    if wanted.context is not None:
        parts.append(f"## Context\n\n{_context(wanted.context, attempt)}")
    return "\n\n".join(parts)


def system_prompt(wanted: Wanted) -> str:
    """Text to append to the client's own system prompt."""
    own = [] if wanted.system_prompt is None else [visible(wanted.system_prompt)]
    return "\n\n".join([*own, _conclusion(wanted.config)])


def title(prompt: str, longest: int = 60) -> str:
    """A session's name."""
    return "decision: " + one_line(prompt, longest)


def _conclusion(config: Object) -> str:
    form = form_of(config)
    what = {
        "approval": "`approved` or `rejected`",
        "selection": "one of " + ", ".join(f"`{visible(one)}`" for one in options_of(config)),
        "freeform": "text that says what the person means",
        "structured": "an object that fits the tool's schema",
    }[form]
    return (
        "## How this session ends\n\n"
        f"The decision is the person's, never yours: {what}. Help them to look into the matter "
        "as far as they like. When they have decided, and not before, call the tool "
        f"{_TOOL} with it; the person sees the call and confirms it. A later call replaces an "
        "earlier one. If the tool reports that something does not fit, fix that and call it "
        "again; if it says that the person has not confirmed it, call it again with the same "
        "decision. After it has been accepted, tell the person that leaving (/exit) records it. "
        f"If the tool is not there, {_LAST_LINE[form]}."
    )


def _given(text: str, name: str, attempt: Attempt) -> str:
    shown = visible(text)
    if len(shown.encode("utf-8", "replace")) <= LARGEST_ARGUMENT:
        return shown
    path = attempt.write(name, shown)
    return f"It is long, so it is in the file {path}. Read it first.\n\n{shown[:2000]}…"


def _context(context: Json, attempt: Attempt) -> str:
    written = orjson.dumps(context, option=orjson.OPT_INDENT_2)
    if len(written) <= LARGEST_ARGUMENT:
        text = visible(written.decode())
        longest = max((len(run) for run in re.findall(r"`+", text)), default=0)
        fence = "`" * max(3, longest + 1)
        return f"{fence}json\n{text}\n{fence}"
    path = attempt.write("context.json", written)
    return f"It is {len(written):,} bytes of JSON, in the file {path}. Read what you need of it."
