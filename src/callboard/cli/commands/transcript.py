"""`callboard transcript ID`."""

import contextlib
from dataclasses import dataclass
from functools import partial
from typing import Final

import click

from callboard.board.plate import Plate
from callboard.board.protocol import Board
from callboard.board.usage_reports import MOST_DAYS
from callboard.cli import options
from callboard.cli.conversation import (
    MOST_FOUND,
    AgentConversation,
    ConversationPrinter,
    link,
)
from callboard.cli.format import ago, one_line
from callboard.cli.lookup import find_question, plate_called
from callboard.cli.person import READS, check_person
from callboard.cli.printing import print_json
from callboard.cli.screen import Screen
from callboard.cli.targets import Target
from callboard.display.amounts import total_text
from callboard.errors import InteractionNotFound, NotFound, ValidationError
from callboard.events.json_values import as_object
from callboard.events.moments import from_ms
from callboard.interactions.kinds import is_from_board
from callboard.interactions.records import Interaction
from callboard.tui.rows import plate_of
from callboard.vendors.conversation import ConversationItem

_LAST: Final = 20


@dataclass(frozen=True, slots=True)
class _Typed:
    """The command line's values."""

    given: str
    whole: bool
    full: bool
    follow: bool
    search: str | None
    subagent: str | None
    place: Target
    as_json: bool

    @property
    def id(self) -> str:
        """Whose conversation it is."""
        return self.given.partition("#")[0]

    @property
    def message(self) -> str | None:
        """The message to show."""
        return self.given.partition("#")[2] or None


@click.command("transcript")
@click.argument("given", metavar="ID[#MESSAGE]")
@click.option("--all", "whole", is_flag=True, help="From the start, not just the last messages.")
@click.option("--full", is_flag=True, help="Show all of tool calls, diffs and long messages.")
@click.option("--follow", "-f", is_flag=True, help="Follow it as it grows, until Ctrl-C.")
@click.option("--search", metavar="TEXT", help="List the messages with this text, newest first.")
@click.option("--subagent", metavar="ID", help="The conversation of this subagent.")
@options.anywhere
@options.collected(_Typed)
def command(typed: _Typed) -> None:
    """Show the conversation of a coding agent or of an interactive session.

    ID is that of an agent on the board, of its session, or of a question that it asked, the start
    of one, or the agent's name. With #MESSAGE, one message is shown in full. Conversations are read
    from the agent's own transcript, on its machine; on a server, that needs a token with the scope
    `operate`.

    Transcripts of interactive sessions are kept only on request. Anything that looks like a
    secret is removed from them.
    """
    if typed.search is not None and (typed.follow or typed.whole or typed.message):
        raise click.UsageError("--search can't be combined with --follow, --all or #MESSAGE.")

    async def show(board: Board) -> None:
        plate = await plate_called(board, typed.id)
        if plate is None:
            asked = await _question(board, typed)
            plate_id = plate_of(asked) if is_from_board(asked.type) else None
            if plate_id is None:
                return _kept(asked, typed.as_json)
            plate = await board.plates.get(plate_id)
        await check_person(board, READS)
        return await _show(board, plate, typed)

    typed.place.ask(show)


async def _question(board: Board, typed: _Typed) -> Interaction:
    try:
        return await find_question(board, typed.place, typed.id)
    except InteractionNotFound as error:
        if not error.message.startswith("There is no question"):
            raise
        raise NotFound(
            f"There is no agent and no question {typed.id!r}. List them: "
            f"{typed.place.command('plates')} or {typed.place.command('inbox')}"
        ) from error


async def _show(board: Board, plate: Plate, typed: _Typed) -> None:
    conversation = AgentConversation(board, plate, typed.subagent)
    full = partial(link, typed.place, plate, typed.subagent)
    printer = ConversationPrinter(Screen(), plate, full, from_ms(board.clock.now_ms()))
    if typed.search is not None:
        return await _search(board, conversation, plate, typed)
    if typed.message is not None:
        item = await conversation.item(typed.message)
        if typed.as_json:
            return print_json([item.to_wire()])
        return printer.print([item], full=True)
    after = await _show_so_far(conversation, printer, typed)
    if not typed.follow:
        return None if typed.as_json or typed.subagent else await _print_total(board, plate)
    async for page in conversation.following(after):
        if page.restarted and not typed.as_json:
            Screen().line(("The transcript was rewritten. This is its end.", "here"))
        _print(printer, typed, page.items)
    return None


async def _print_total(board: Board, plate: Plate) -> None:
    """Print what the agent has used; nothing if that isn't known."""
    with contextlib.suppress(ValidationError):  # Wrong prices; `callboard usage` says so.
        told = await board.usage.report(days=MOST_DAYS, by="model", stream=plate.plate_id)
        if told.total.tokens:
            used = total_text(told.total.tokens, told.total.cost)
            Screen().line((f"Used so far: {used}.", "faint"))


async def _show_so_far(
    conversation: AgentConversation, printer: ConversationPrinter, typed: _Typed
) -> str:
    """Show it, and return where it continues."""
    if typed.whole:
        after = ""
        async for page in conversation.all():
            _print(printer, typed, page.items)
            after = page.after
        return after
    known = await conversation.last(_LAST)
    if not typed.as_json:
        screen = Screen()
        if known.before is not None:
            earlier = typed.place.command("transcript", typed.id, "--all")
            screen.line(("Earlier messages: ", "faint"), (earlier, "command"))
        elif not known.items and not typed.follow:
            screen.line("No messages yet.")
    _print(printer, typed, known.items)
    return known.after or ""


def _print(printer: ConversationPrinter, typed: _Typed, items: list[ConversationItem]) -> None:
    if typed.as_json:
        print_json(one.to_wire() for one in items)
    else:
        printer.print(items, full=typed.full)


async def _search(
    board: Board, conversation: AgentConversation, plate: Plate, typed: _Typed
) -> None:
    found, has_more = await conversation.search(typed.search or "")
    if typed.as_json:
        return print_json(one.to_wire() for one in found)
    screen, now = Screen(), from_ms(board.clock.now_ms())
    if not found:
        screen.line("No matching messages.")
    for one in found:
        when = "" if one.at is None else f", {ago(from_ms(one.at), now)}"
        screen.line((f"{one.kind}{when}", "faint"))
        screen.line(f"  {one_line(one.excerpt)}")
        screen.line("    ", (link(typed.place, plate, typed.subagent, one.id), "command"))
    if has_more:
        screen.line((f"These are the newest {MOST_FOUND}. Search for more words.", "faint"))
    return None


def _kept(found: Interaction, as_json: bool) -> None:
    """Print the transcript of an interactive session."""
    if found.transcript is None:
        raise NotFound(_why(found), interaction_id=found.id)
    if as_json:
        return print_json([{"id": found.id, "transcript": found.transcript}])
    screen = Screen()
    for line in found.transcript.splitlines():
        screen.line(line)
    return None


def _why(found: Interaction) -> str:
    if found.type != "interactive_session":
        return f"Question {found.id} is not an interactive session, so it has no transcript."
    if found.status == "pending":
        return f"Session {found.id} has not ended. Its transcript is kept when it does."
    wanted = as_object(found.config).get("captureTranscript") is True
    why = "it has no messages" if wanted else "captureTranscript was not set"
    return f"No transcript of session {found.id} is kept: {why}."
