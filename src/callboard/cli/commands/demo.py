"""`callboard demo board`."""

import asyncio
import tempfile
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Final

import click

from callboard.app import Callboard
from callboard.board.demo.playing import PATIENCE, Player, scripts
from callboard.board.tokens import local_person
from callboard.cli.commands.open import page_address
from callboard.cli.screen import Screen
from callboard.cli.targets import Database
from callboard.client.transport import Transport
from callboard.clock import Clock
from callboard.errors import MissingExtra
from callboard.waiting import wait_any

if TYPE_CHECKING:
    from callboard.server.running import Address

_AN_HOUR: Final = 3600.0
_BETWEEN: Final = 10.0
"""Seconds between repetitions."""


@dataclass(frozen=True, slots=True)
class _Served:
    """A server: its address, a sign-in link, a token, and its task."""

    address: "Address"
    link: str
    token: str
    task: "asyncio.Task[None]"


@click.group("demo")
def command() -> None:
    """Try Callboard without any setup."""


@command.command("board")
@click.option(
    "--speed",
    type=click.FloatRange(min=0, min_open=True),
    default=1.0,
    show_default=True,
    help="Playback speed; 2 is twice as fast.",
)
@click.option("--once", is_flag=True, help="Play once and exit.")
@click.option("--debug", is_flag=True, expose_value=False, help="Show a traceback for errors.")
def board(speed: float, once: bool) -> None:
    """Show a live board: eight recorded sessions of four agents.

    The demo uses its own temporary board. Three agents ask for something and act on your
    answer. Press Ctrl-C to stop.
    """
    try:
        from callboard.server.lean_imports import loop_factory

        new_loop = loop_factory()
    except ImportError as error:
        raise MissingExtra(
            f"`callboard demo` needs {error.name}: pip install 'callboard[server]'"
        ) from error
    with (
        tempfile.TemporaryDirectory(prefix="callboard-demo-") as folder,
        asyncio.Runner(loop_factory=new_loop) as runner,
    ):
        runner.run(_show(Database(str(Path(folder, "demo.db"))), speed, once))


async def _show(database: Database, speed: float, once: bool) -> None:
    screen = Screen()
    async with database.open(create=True) as callboard, _served(callboard, database) as served:
        _announce(screen, database, served, speed)
        transport = Transport(served.address.url, served.token, via="demo", timeout=_AN_HOUR)

        async def post(agent: str, payload: dict[str, object]) -> dict[str, object]:
            return await transport.post(f"/hooks/{agent}", payload)

        player = Player(post, callboard.clock, speed, lambda text: screen.line("  ", text))
        playing = asyncio.create_task(_play(player, callboard.clock, speed, screen, once))
        try:
            # Ctrl-C ends the server, and with it the demo.
            await wait_any(playing, served.task)
            if playing.done():
                playing.result()
        finally:
            playing.cancel()
            await asyncio.wait({playing})
            await transport.close()


async def _play(player: Player, clock: Clock, speed: float, screen: Screen, once: bool) -> None:
    await player.play(scripts())
    while not once:
        screen.line("End of the recording. Starting over; press Ctrl-C to stop.")
        await clock.sleep(_BETWEEN / speed)
        await player.play(scripts())


@asynccontextmanager
async def _served(callboard: Callboard, database: Database) -> AsyncGenerator[_Served]:
    """A server for the board, on a free port."""
    from callboard.log.presence import present
    from callboard.server.access.login import SignIn
    from callboard.server.running import bind, here, serve
    from callboard.server.settings import ServerSettings
    from callboard.server.wiring import prepare

    settings = ServerSettings(port=0, link_lives=_AN_HOUR, grace=1.0)
    listening = bind(settings)
    app, service = prepare(callboard, settings, database.path)
    ready: asyncio.Future[Address] = asyncio.get_running_loop().create_future()
    stopping = asyncio.Event()
    # It is temporary: commands work on it only if they name it.
    with present(database.path, callboard.workflows, here(listening).url, listed=False):
        serving = asyncio.create_task(serve(app, service, listening, ready.set_result, stopping))
        try:
            await wait_any(serving, ready)
            if serving.done():
                serving.result()
            address = await ready
            code, _ = await service.links.create(SignIn(local_person()))
            link = f"{page_address(address.url)}/login?code={code}"
            yield _Served(address, link, service.tokens.admin(), serving)
        finally:
            stopping.set()
            await serving


def _announce(screen: Screen, database: Database, served: _Served, speed: float) -> None:
    screen.line(("Callboard", "name"), " plays a demo at ", (served.address.url, "command"))
    screen.line("In your browser (the link works once): ", (served.link, "command"))
    screen.line("To sign in again: ", (database.command("open"), "command"))
    screen.line("In another terminal: ", (database.command("board"), "command"))
    screen.line("For scripts: ", (database.command("plates", "--json"), "command"))
    screen.line(
        f"Questions wait {PATIENCE / speed:.0f} s for you; then they are answered in the agent's "
        "terminal."
    )
