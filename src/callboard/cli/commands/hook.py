"""`callboard hook EVENT`."""

import sys
from contextlib import suppress
from pathlib import Path
from typing import Final

import click

from callboard.cli.invocation import DB_HELP, Invocation
from callboard.courier.delivery import is_agent
from callboard.courier.letters import Letter, quoted, read_payload, with_member
from callboard.courier.mail import deliver_and_print

_NAMES: Final = {"prompt-submit": "UserPromptSubmit"}
"""Events whose names don't follow from the words."""
_TOLD: Final = b'"hook_event_name"'

_ANYTHING: Final = {"ignore_unknown_options": True, "allow_extra_args": True}


class _NeverWrong(click.Command):
    """A command that accepts any arguments, because exit code 2 would block an agent."""

    def make_context(
        self,
        info_name: str | None,
        args: list[str],
        parent: click.Context | None = None,
        **extra: object,
    ) -> click.Context:
        try:
            return super().make_context(info_name, args, parent, **extra)
        except click.UsageError:
            return super().make_context(info_name, [], parent, **extra)


@click.command("hook", cls=_NeverWrong, context_settings=_ANYTHING)
@click.option(
    "--agent", default="claude", show_default=True, help="Which coding agent sent the hook."
)
@click.option("--db", metavar="PATH", help=DB_HELP)
@click.option("--hold", is_flag=True, help="Wait for a decision and print it.")
@click.argument("words", metavar="EVENT", nargs=-1)
@click.pass_context
def command(
    ctx: click.Context, agent: str, db: str | None, hold: bool, words: tuple[str, ...]
) -> None:
    """Report one hook of a coding agent; the payload is read from standard input.

    EVENT is session-start, prompt-submit, pre-tool-use, post-tool-use, stop,
    permission-request, session-end, or any other. Prints nothing and never fails, so that it
    can't disturb the agent. `callboard hooks install` installs a faster equivalent.
    """
    # An error here would show up in the agent's session, and some would stop it.
    with suppress(Exception):
        payload = read_payload(sys.stdin.fileno())
        chosen: Invocation = ctx.obj or Invocation()
        if is_agent(agent):
            _report(_folder(db or chosen.db), agent, named(payload, words[:1]), hold)


def named(payload: bytes, words: tuple[str, ...]) -> bytes:
    """The payload, with the event's name if it doesn't have one."""
    text = payload.strip()
    if not words or _TOLD in text or not (text.startswith(b"{") and text.endswith(b"}")):
        return payload
    name = _NAMES.get(words[0]) or "".join(word.title() for word in words[0].split("-"))
    return with_member(text, _TOLD + b":" + quoted(name.encode()).encode())


def _report(folder: Path, agent: str, payload: bytes, hold: bool) -> None:
    if not hold:
        return deliver_and_print(Letter(str(folder), agent, payload))
    from callboard.courier.holding import hold_errand

    return hold_errand(str(folder), agent, payload)


def _folder(db: str | None) -> Path:
    from callboard.board.hook_folders import hooks_folder
    from callboard.log.location import database_path

    return hooks_folder(database_path(db or None))
