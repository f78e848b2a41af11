"""`callboard usage`."""

from collections.abc import Sequence
from typing import Final, get_args

import click

from callboard.board.protocol import Board
from callboard.board.usage_reports import DAYS, MOST_DAYS, UsageGroup, UsageReport, UsageRow
from callboard.board.usage_sums import UsageSum
from callboard.cli import options
from callboard.cli.bars import text_bar
from callboard.cli.format import one_line, utc_offset
from callboard.cli.printing import Cell, print_json, print_table
from callboard.cli.screen import Screen
from callboard.cli.targets import Target
from callboard.display.amounts import counted, dollars, short_count

_BAR: Final = 24
_MOST_NAMED: Final = 5


@click.command("usage")
@click.option(
    "--days",
    type=click.IntRange(1, MOST_DAYS),
    default=DAYS,
    show_default=True,
    help="How many days to look at, today included.",
)
@click.option(
    "--by",
    type=click.Choice(get_args(UsageGroup)),
    default="day",
    show_default=True,
    help="What the rows are.",
)
@options.anywhere
def command(days: int, by: UsageGroup, place: Target, as_json: bool) -> None:
    """Show the tokens that agents have used, and what they cost.

    Tokens are those in the transcripts of coding agents, subagents included, and those that
    agents of workflows report. Money is in US dollars: what the agent says, otherwise list
    prices. Days are those of this machine's time zone.
    """
    offset = utc_offset()

    async def look(board: Board) -> UsageReport:
        return await board.usage.report(days=days, by=by, utc_offset=offset)

    told = place.look(look)
    if as_json:
        return print_json([told.to_wire()])
    screen = Screen()
    if not told.total.calls and not told.total.tokens:
        screen.line(_nothing(place, told))
    else:
        _print(screen, told)
    return _print_notes(screen, told, place)


def _print(screen: Screen, told: UsageReport) -> None:
    rows = told.rows
    if told.by == "day":
        # Days before anything was counted say nothing.
        first = next((at for at, row in enumerate(rows) if row.used.tokens), 0)
        rows = rows[first:]
    measure = _cost if any(row.used.cost for row in rows) else _tokens
    most = max((measure(row.used) for row in rows), default=0.0)
    heads = [told.by, "tokens", "from cache", "output", "calls", "cost", ""]
    print_table(screen, heads, [_row(screen, row, measure(row.used), most) for row in rows])
    used = told.total
    cost = "" if used.cost is None else f", {dollars(used.cost)}"
    tokens = f"{used.tokens:,} tokens in {counted(used.calls, 'call')}"
    screen.line((f"Total {_within(told.days)}: {tokens}{cost}.", "name"))


def _row(screen: Screen, row: UsageRow, share: float, most: float) -> list[Cell]:
    used = row.used
    return [
        one_line(row.label),
        short_count(used.tokens) if used.tokens else "",
        short_count(used.cache_read_tokens) if used.cache_read_tokens else "",
        short_count(used.output_tokens) if used.output_tokens else "",
        str(used.calls) if used.calls else "",
        _money(used),
        (text_bar(screen, share / most if most else 0.0, _BAR), "here"),
    ]


def _money(used: UsageSum) -> str:
    if used.cost is None:
        return "no price" if used.tokens else ""
    return dollars(used.cost) + ("+" if used.unpriced_tokens else "")


def _cost(used: UsageSum) -> float:
    return used.cost or 0.0


def _tokens(used: UsageSum) -> float:
    return used.tokens


def _print_notes(screen: Screen, told: UsageReport, place: Target) -> None:
    """What the figures rest on, and what they don't include."""
    if told.total.unpriced_tokens:
        models = _named([one or "an unknown model" for one in told.unpriced_models])
        screen.line(
            (f"Without a price: {told.total.unpriced_tokens:,} tokens of {models}.", "here")
        )
    source = told.prices_source or "the list that comes with Callboard"
    screen.line((f"Prices of {told.prices_date}, from {source}.", "faint"))
    if told.uncounted_hosts:
        hosts = _named(told.uncounted_hosts)
        screen.line(
            (f"Not counted: agents on {hosts}, which don't allow it. On each, run ", "here")
        )
        screen.line("  ", ("callboard relay --allow read", "command"))
    if told.limited:
        screen.line(("There was more than could be counted. Look at fewer days.", "here"))
    budget = told.budget
    if budget.daily is not None:
        spent = f"{dollars(budget.spent)} of {dollars(budget.limit or budget.daily)}"
        budgeted = (place.command("budget"), "command")
        screen.line((f"Budget: {spent} spent today. ", "faint"), budgeted)


def _named(models: Sequence[str]) -> str:
    more = len(models) - _MOST_NAMED
    named = ", ".join(one_line(one) for one in models[:_MOST_NAMED])
    return f"{named} and {more} more" if more > 0 else named


def _nothing(place: Target, told: UsageReport) -> str:
    install = place.database_command("hooks", "install")
    return f"No tokens were used {_within(told.days)}. Connect coding agents: {install}"


def _within(days: int) -> str:
    return "today" if days == 1 else f"in the last {counted(days, 'day')}"
