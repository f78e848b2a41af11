"""`callboard budget`."""

from typing import Final

import click

from callboard.board.budgets import DailyBudget
from callboard.board.protocol import Board
from callboard.cli import options
from callboard.cli.bars import text_bar
from callboard.cli.format import time_zone, utc_offset
from callboard.cli.person import BUDGETS, ask_as_person
from callboard.cli.printing import print_json
from callboard.cli.screen import Screen
from callboard.cli.targets import Target
from callboard.display.amounts import dollars

_BAR: Final = 24


@click.command("budget")
@click.option(
    "--daily",
    type=float,
    metavar="DOLLARS",
    help="Ask people once a day when agents have spent this much, in US dollars.",
)
@click.option("--off", is_flag=True, help="Remove the budget.")
@options.anywhere
def command(daily: float | None, off: bool, place: Target, as_json: bool) -> None:
    """Show or set the daily budget for all agents.

    When it is spent, people get a question in the inbox. Nothing is stopped or paused. The day is
    that of the time zone of the machine on which the budget was set.
    """
    if off and daily is not None:
        raise click.UsageError("Give either --daily or --off.")
    changes = off or daily is not None

    async def show(board: Board) -> DailyBudget:
        return await board.usage.budget()

    async def change(board: Board) -> DailyBudget:
        return await board.usage.set_budget(daily, utc_offset=utc_offset(), time_zone=time_zone())

    told = ask_as_person(place, BUDGETS, change) if changes else place.look(show)
    if as_json:
        return print_json([told.to_wire()])
    return _print(Screen(), told, place)


def _print(screen: Screen, told: DailyBudget, place: Target) -> None:
    spent = f"Spent today ({told.day}): {dollars(told.spent)}"
    if told.daily is None or told.limit is None:
        screen.line("There is no budget. Set one: ", _command(place, "budget", "--daily", "20"))
        screen.line(f"{spent}.")
    else:
        raised = f", raised to {dollars(told.limit)} for today" if told.limit > told.daily else ""
        screen.line(f"Daily budget: {dollars(told.daily)}{raised}.")
        share = told.spent / told.limit
        bar = text_bar(screen, share, _BAR)
        # All of it only if it is: 99.6 % is not.
        percent = round(share * 100) if told.spent >= told.limit else min(99, round(share * 100))
        screen.line(f"{spent} of {dollars(told.limit)}, {percent}%.  ", (bar, "here"))
    if told.unpriced_tokens:
        note = f"Not included: {told.unpriced_tokens:,} tokens without a known price. "
        screen.line((note, "here"), _command(place, "usage", "--by", "model"))
    if told.interaction_id is not None:
        screen.line("The budget is spent: ", _command(place, "inbox", told.interaction_id))


def _command(place: Target, *words: str) -> tuple[str, str]:
    return place.command(*words), "command"
