"""`callboard worker FILE[:NAME] …`."""

import asyncio
import logging
import os
import signal
from collections.abc import Callable
from dataclasses import dataclass

import click

from callboard.cli import options
from callboard.cli.printing import print_json
from callboard.cli.screen import Screen
from callboard.cli.targets import Database
from callboard.cli.workflow_files import load_all
from callboard.drivers.choice import WORKING, Driven, check_driver, choose_driver
from callboard.engine.workflow import Workflow


@dataclass(frozen=True, slots=True)
class _Options:
    files: tuple[str, ...]
    driver: str
    concurrency: int
    grace: float
    database: Database
    as_json: bool


@click.command("worker")
@click.argument(
    "files",
    metavar="FILE[:NAME] ...",
    nargs=-1,
    required=True,
    shell_complete=options.complete_files,
)
@click.option(
    "--driver",
    type=click.Choice(WORKING),
    default="procrastinate",
    show_default=True,
    help="Where work comes from: an engine's queue, or the database itself (local).",
)
@click.option(
    "--concurrency",
    type=click.IntRange(min=1),
    default=64,
    show_default=True,
    help="Maximum number of sessions driven in parallel.",
)
@click.option(
    "--grace",
    type=click.FloatRange(min=0),
    default=10.0,
    show_default=True,
    help="Seconds that running agents get to finish when the worker stops.",
)
@options.common
@options.collected(_Options)
def command(given: _Options) -> None:
    """Drive the sessions of workflows, without a server.

    Any number of workers can share a PostgreSQL database, on any number of machines. NAME is the
    variable that holds a workflow; without it, all workflows of the file are driven. Servers
    queue sessions for workers with `callboard serve --driver procrastinate`, or `temporal`, whose
    address is in TEMPORAL_ADDRESS. SIGTERM stops the worker gracefully: it starts nothing new, and
    other workers continue what is left.
    """
    check_driver(given.driver, is_shared=given.database.address is not None)
    workflows = [source.workflow for file in given.files for source in load_all(file)]
    _set_up_logs()
    with asyncio.Runner(loop_factory=_loop_factory()) as runner:
        runner.run(_work(given, workflows))


async def _work(given: _Options, workflows: list[Workflow]) -> None:
    stopping = asyncio.Event()
    for number in (signal.SIGTERM, signal.SIGINT):
        asyncio.get_running_loop().add_signal_handler(number, stopping.set)
    async with given.database.open(workflows, create=True) as board:
        driven = Driven(board.log, board.driver, board.workflows, board.clock)
        driver = choose_driver(given.driver, driven, given.concurrency, works=True)
        await driver.start()
        _announce(given, sorted(board.workflows))
        await stopping.wait()
        await driver.stop(given.grace)


def _announce(given: _Options, names: list[str]) -> None:
    if given.as_json:
        print_json([{"pid": os.getpid(), "driver": given.driver, "workflows": names}])
        return
    screen = Screen()
    screen.line(("Worker", "name"), f" for {given.database.shown}")
    screen.line("Workflows: ", ", ".join(names), "   Ctrl-C to stop")


def _loop_factory() -> Callable[[], asyncio.AbstractEventLoop] | None:
    """The server's event loop, which is faster, if it is installed."""
    try:
        import uvloop
    except ImportError:
        return None
    return uvloop.new_event_loop


def _set_up_logs() -> None:
    try:
        from callboard.server import logs
    except ImportError:  # A worker needs no server.
        logging.basicConfig(level=logging.INFO)
        for chatty in ("procrastinate", "temporalio"):
            logging.getLogger(chatty).setLevel(logging.WARNING)
    else:
        logs.install()
