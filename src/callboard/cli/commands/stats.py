"""`callboard stats`."""

import click

from callboard.board.protocol import Board
from callboard.cli import options
from callboard.cli.format import (
    ago,
    duration,
    error_text,
    one_line,
    utc_offset,
)
from callboard.cli.printing import Cell, print_json, print_table
from callboard.cli.screen import Screen
from callboard.cli.targets import Target
from callboard.display.amounts import counted
from callboard.engine.statistics import COUNTED, DAYS, MOST_DAYS, Overview, WorkflowStats
from callboard.events.moments import from_ms
from callboard.state.statistics import Outcomes, Spread

_BARS = "▁▂▃▄▅▆▇█"


@click.command("stats")
@click.argument("workflow", required=False)
@click.option(
    "--days",
    type=click.IntRange(1, MOST_DAYS),
    default=DAYS,
    show_default=True,
    help="How many days to look at, today included.",
)
@options.anywhere
def command(workflow: str | None, days: int, place: Target, as_json: bool) -> None:
    """Show how runs went: outcomes, durations, tokens.

    Without WORKFLOW, all workflows, the busiest first. With it, also how long people took to
    answer and what failed last.
    """
    offset = utc_offset()

    async def all_of_them(board: Board) -> tuple[Overview, int]:
        told = await board.statistics.overview(days=days, utc_offset=offset)
        return told, board.clock.now_ms()

    async def one(board: Board) -> tuple[WorkflowStats, int]:
        told = await board.statistics.workflow(workflow or "", days=days, utc_offset=offset)
        return told, board.clock.now_ms()

    told, now_ms = place.look(one) if workflow else place.look(all_of_them)
    if as_json:
        return print_json([told.to_wire()])
    screen = Screen()
    if isinstance(told, WorkflowStats):
        _print_one(screen, told, place, now_ms)
    else:
        _print_all(screen, told, place)
    if told.limited:
        screen.line((f"Only the newest {COUNTED:,} runs were counted.", "faint"))
    return None


def _print_all(screen: Screen, told: Overview, place: Target) -> None:
    if not told.workflows:
        screen.line(f"No runs {_within(told.days)}. Start one: {place.command('run', 'FILE')}")
        return
    print_table(
        screen,
        ["workflow", "runs", "completed", "failed", "success", "p50", "p95", "tokens", "per day"],
        [
            [
                one_line(one.workflow),
                *_numbers(one),
                _length(one.duration and one.duration.p50),
                _length(one.duration and one.duration.p95),
                _tokens(one),
                _days(screen, one),
            ]
            for one in told.workflows
        ],
    )
    screen.line((f"Runs that started {_within(told.days)}.", "faint"))


def _print_one(screen: Screen, told: WorkflowStats, place: Target, now_ms: int) -> None:
    if not told.runs:
        screen.line(f"No runs of {one_line(told.workflow)} {_within(told.days)}.")
        return
    screen.line((one_line(told.workflow), "name"), (f"  {_within(told.days)}", "faint"))
    outcomes = [f"{told.completed} completed", f"{told.failed} failed"]
    outcomes += [f"{told.cancelled} cancelled"] if told.cancelled else []
    outcomes += [f"{told.active} active"] if told.active else []
    facts = {
        "runs": f"{told.runs}  ({', '.join(outcomes)})",
        "success": _rate(told),
        "duration": _spread(told.duration),
        "people took": _spread(told.answer_time),
        "tokens": f"{told.input_tokens:,} in, {told.output_tokens:,} out",
        "per day": _days(screen, told),
    }
    for name, fact in facts.items():
        screen.line((f"{name:<12}", "faint"), fact)
    _print_failure(screen, told, place, now_ms)


def _print_failure(screen: Screen, told: WorkflowStats, place: Target, now_ms: int) -> None:
    failed = told.last_failure
    if failed is None:
        return
    when = ago(failed.updated_at, from_ms(now_ms))
    screen.line()
    screen.line(("last failure", "failed"), f"  {failed.session_id}, {when}")
    if failed.error:
        screen.line("  ", error_text(failed.error))
    screen.line("  ", (place.command("show", failed.session_id), "command"))


def _numbers(told: Outcomes) -> list[Cell]:
    failed: Cell = (str(told.failed), "failed") if told.failed else "0"
    return [str(told.runs), str(told.completed), failed, _rate(told)]


def _rate(told: Outcomes) -> str:
    return "" if told.success_rate is None else f"{told.success_rate:.0%}"


def _length(millis: int | None) -> str:
    return "" if millis is None else duration(millis / 1000)


def _spread(told: Spread | None) -> str:
    return f"{_length(told.p50)} (p50), {_length(told.p95)} (p95)" if told else "nothing yet"


def _tokens(told: Outcomes) -> str:
    count = told.input_tokens + told.output_tokens
    return f"{count:,}" if count else ""


def _days(screen: Screen, told: Outcomes) -> str:
    """A bar for each day, the highest for the busiest; numbers if bars can't be shown."""
    counts = [one.completed + one.failed + one.cancelled + one.active for one in told.per_day]
    if not screen.unicode:
        return " ".join(map(str, counts[-7:]))
    most = max(counts)
    top = len(_BARS) - 1
    return "".join(_BARS[-(-count * top // most)] if count else " " for count in counts)


def _within(days: int) -> str:
    return "today" if days == 1 else f"in the last {counted(days, 'day')}"
