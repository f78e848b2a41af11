"""`callboard serve [FILE[:NAME] …]`."""

import asyncio
import gc
import os
import shlex
import sys
from collections.abc import Callable, Coroutine, Sequence
from functools import partial
from ipaddress import ip_address
from pathlib import Path
from socket import socket
from typing import TYPE_CHECKING, Any, Final, Literal
from urllib.parse import urlsplit

import click

from callboard.app import Callboard
from callboard.board.prices import load_prices
from callboard.board.tokens import local_person
from callboard.cli import options
from callboard.cli.answer_commands import ways_to_answer
from callboard.cli.format import preview
from callboard.cli.printing import print_json
from callboard.cli.screen import Screen
from callboard.cli.targets import Database
from callboard.cli.units import size
from callboard.cli.workflow_files import load_all
from callboard.drivers.choice import DRIVERS, check_driver
from callboard.engine.workflow import Workflow
from callboard.errors import CallboardError, MissingExtra, ValidationError
from callboard.interactions.records import Interaction
from callboard.log.presence import listed_servers, present
from callboard.server.activation import inherited

if TYPE_CHECKING:
    from callboard.server.running import Address
    from callboard.server.service import Service
    from callboard.server.settings import ServerSettings

_PREVIEW: Final = 200
_LEAST_MEMORY: Final = 128 * 1_048_576


def _memory(value: str) -> int:
    if (given := size(value)) < _LEAST_MEMORY:
        least = f"{_LEAST_MEMORY >> 20}MB"
        raise click.BadParameter(f"{value} is too small; give at least {least}.")
    return given


_OPTIONS: Final = (
    click.option(
        "--host", default="127.0.0.1", show_default=True, help="The address to listen on."
    ),
    click.option(
        "--port",
        type=click.IntRange(0, 65535),
        default=2255,
        show_default=True,
        help="The port to listen on; 0 picks a free one.",
    ),
    click.option(
        "--cors-origin",
        "cors_origins",
        multiple=True,
        metavar="ORIGIN",
        help="Allow pages of this site to call the server, with a token: https://app.example.com",
    ),
    click.option(
        "--dev",
        is_flag=True,
        help="For development: let pages of --cors-origin read workflow sessions and answer their "
        "questions without a token. Default origin: http://localhost:5173",
    ),
    click.option(
        "--allowed-host",
        "allowed_hosts",
        multiple=True,
        metavar="NAME",
        help="A host name under which a proxy exposes this server.",
    ),
    click.option(
        "--proxy-auth",
        type=click.Path(dir_okay=False, path_type=Path),
        metavar="FILE",
        help="Sign people in whom a proxy has authenticated, as this TOML file says: with signed "
        "assertions (OIDC), or with headers and a shared secret.",
    ),
    click.option(
        "--allow-remote",
        is_flag=True,
        help="Allow connections from other machines; put TLS in front.",
    ),
    click.option(
        "--driver",
        type=click.Choice(DRIVERS),
        default="local",
        show_default=True,
        help="What drives sessions: this server (local), the workers of an engine (see `callboard "
        "worker`), or other processes (none).",
    ),
    click.option(
        "--concurrency",
        type=click.IntRange(min=1),
        default=64,
        show_default=True,
        help="Maximum number of sessions that this server drives in parallel.",
    ),
    click.option(
        "--grace",
        type=click.FloatRange(min=0),
        default=10.0,
        show_default=True,
        help="Seconds that running agents get to finish when the server stops.",
    ),
    click.option(
        "--memory",
        type=_memory,
        metavar="SIZE",
        default="256MB",
        show_default=True,
        help="Memory limit for all connections together, for request bodies and unread responses. "
        "Above it, the server responds with 503.",
    ),
    click.option(
        "--wrong-tokens",
        type=click.IntRange(min=1),
        default=10,
        show_default=True,
        help="Wrong tokens allowed per minute and address; behind a proxy, all clients share one "
        "address.",
    ),
    click.option(
        "--notify",
        multiple=True,
        metavar="URL",
        envvar="CALLBOARD_NOTIFY",
        help="Where to send a notification when a person is needed: slack://…, ntfy://…, "
        "mailto://…, sound://. Also CALLBOARD_NOTIFY, which other users of this machine "
        "cannot read.",
    ),
    click.option(
        "--prices",
        type=click.Path(dir_okay=False, path_type=Path),
        envvar="CALLBOARD_PRICES",
        metavar="FILE",
        help="A JSON file with the prices of models, instead of those that come with Callboard. "
        "Also CALLBOARD_PRICES, or ~/.config/callboard/prices.json.",
    ),
    click.option(
        "--open",
        "opens",
        is_flag=True,
        help="Open the dashboard when the server is ready, if this is a terminal with a browser. "
        "CALLBOARD_NO_BROWSER=1 prevents it.",
    ),
    click.option(
        "--log-format",
        type=click.Choice(["json", "text"]),
        help="The log format. Default: text in a terminal, otherwise json.",
    ),
)


@click.command("serve")
@click.argument(
    "files", metavar="[FILE[:NAME] ...]", nargs=-1, shell_complete=options.complete_files
)
@options.several(*_OPTIONS)
@options.common
def command(
    files: tuple[str, ...],
    allow_remote: bool,
    log_format: Literal["json", "text"] | None,
    database: Database,
    as_json: bool,
    **chosen: Any,
) -> None:
    """Start a server for workflows, the board and the inbox.

    NAME is the variable that holds a workflow; without it, all workflows of the file are
    served. Without a file, the server has only the board and the inbox. Sessions that were
    running when the last server stopped are resumed at once. SIGTERM stops the server
    gracefully. A listening socket from systemd or launchd replaces --host and --port;
    `callboard service install` sets one up.
    """
    handed = inherited()
    if handed is not None:
        chosen["host"], chosen["port"] = handed.getsockname()[:2]
    _check_reach(chosen["host"], allow_remote, dev=chosen["dev"])
    check_driver(chosen["driver"], is_shared=database.address is not None)
    workflows = [source.workflow for file in files for source in load_all(file)]
    try:
        from callboard.server import lean_imports, logs
        from callboard.server.settings import ServerSettings

        new_loop = lean_imports.loop_factory()
        lean_imports.import_fastapi()
    except ImportError as error:
        raise MissingExtra(
            f"`callboard serve` needs {error.name}: pip install 'callboard[server]'"
        ) from error

    _check_access(chosen)
    if chosen["prices"] is not None:
        load_prices(chosen["prices"])
    logs.install(log_format)
    opens = chosen.pop("opens") and sys.stdout.isatty() and _has_browser()
    chosen["sign_in"] = _sign_in(database)
    settings = ServerSettings(**chosen)  # Every other option is a setting with the same name.
    listening = handed or _bind(settings, database, files)
    _run(_serve(database, workflows, settings, listening, as_json, opens), new_loop)


def _check_access(chosen: dict[str, Any]) -> None:
    """Check who may get in without a token, before the port is taken."""
    from callboard.server.access import pages, proxy_settings

    if chosen["dev"]:
        chosen["cors_origins"] = chosen["cors_origins"] or (pages.DEFAULT_ORIGIN,)
        pages.check_development(chosen["cors_origins"], chosen["allowed_hosts"])
    if chosen["proxy_auth"] is not None:
        proxy_settings.load_proxy_settings(chosen["proxy_auth"])


def _bind(settings: "ServerSettings", database: Database, files: Sequence[str]) -> socket:
    """Bind the port; if one of our own servers has it, the error says which and what to do."""
    from callboard.server.running import bind

    try:
        return bind(settings)
    except CallboardError as error:
        for one in listed_servers():
            if one.url is not None and urlsplit(one.url).port == settings.port:
                other = database.command("serve", *files, "--port", "0")
                raise CallboardError(
                    f"A Callboard server is already running at {one.url}, on the database "
                    f"{one.database}. Open it: {Database(str(one.database)).command('open')}  "
                    f"Or start this one on another port: {other}",
                    port=settings.port,
                    url=one.url,
                ) from error
        raise


def _run(
    serving: Coroutine[object, None, None], loop_factory: Callable[[], asyncio.AbstractEventLoop]
) -> None:
    gc.disable()  # Until the server is ready: a start creates hardly any garbage.
    try:
        with asyncio.Runner(loop_factory=loop_factory) as runner:
            runner.run(serving)
    finally:
        gc.enable()


def _sign_in(database: Database) -> str:
    """The command that opens the dashboard, from any folder."""
    is_file = database.address is None and not database.is_default
    place = Database(str(database.path.absolute())) if is_file else database
    called, *rest = shlex.split(place.command("open"))
    program = str(Path(called).absolute()) if "/" in called else called
    return shlex.join([program, *rest])


def _check_reach(host: str, allowed: bool, *, dev: bool) -> None:
    """Require an explicit option to be reachable by others, who could then try tokens."""
    try:
        is_here = host == "localhost" or ip_address(host).is_loopback
    except ValueError:
        is_here = False
    if dev and (allowed or not is_here):
        raise ValidationError(
            "--dev lets pages in without a token, so it only works on this machine. Remove --dev, "
            "or --allow-remote and --host.",
            field="host",
        )
    if not is_here and not allowed:
        raise ValidationError(
            f"{host} can be reached from other machines. If you want that, put TLS in front of "
            "it and add --allow-remote.",
            field="host",
        )


async def _serve(
    database: Database,
    workflows: list[Workflow],
    settings: "ServerSettings",
    listening: socket,
    as_json: bool,
    opens: bool,
) -> None:
    from callboard.server.hook_access import keep_hooks_in
    from callboard.server.notifications import telling
    from callboard.server.running import here, serve, spare_collector
    from callboard.server.tracing import traced
    from callboard.server.wiring import prepare

    async with database.open(workflows, create=True) as board:
        board.prices = partial(load_prices, settings.prices)
        app, service = prepare(board, settings, database.path)
        oldest = await board.people.find(status="pending", limit=1)
        opening: list[asyncio.Task[None]] = []

        def ready(address: "Address") -> None:
            notices.link = address.page
            spare_collector()
            if as_json:
                names = sorted(board.workflows)
                print_json([{"url": address.url, "port": address.port, "workflows": names}])
            else:
                _announce(board, database, address, oldest)
            if opens:
                opening.append(asyncio.create_task(_open_browser(service, address)))
            if settings.dev:
                _warn_of_pages(settings)

        # The socket is already listening: a hook that is faster than us waits a moment.
        host, port = listening.getsockname()[:2]
        access = await keep_hooks_in(board.tokens, database.path, host, port)
        service.rounds.also = access.check
        told = telling(settings.notify, board.log, service.plates, board.clock)
        async with traced(board.log), told as notices:
            with present(database.path, board.workflows, here(listening).url):
                await serve(app, service, listening, ready)


def _has_browser() -> bool:
    from callboard.cli.commands.open import has_browser

    return has_browser(os.environ)


async def _open_browser(service: "Service", address: "Address") -> None:
    """Open the dashboard in a thread, because some browsers take seconds to respond."""
    from callboard.cli.commands.open import open_dashboard
    from callboard.server.access.login import SignIn

    code, _ = await service.links.create(SignIn(local_person()))
    await asyncio.to_thread(open_dashboard, address.url, code)


def _warn_of_pages(settings: "ServerSettings") -> None:
    """Warn on standard error about what is open; standard output may be for a program."""
    screen = Screen(sys.stderr)
    origins = " and ".join(settings.cors_origins)
    screen.line((f"--dev: pages of {origins} need no token. They can read workflows' ", "here"))
    screen.line(
        ("sessions and questions, and answer the questions. So may every program and ", "here")
    )
    screen.line(
        ("user of this machine that claims to be such a page. Coding agents' questions, ", "here")
    )
    screen.line(("hooks, tokens, and starting or stopping sessions still need a token.", "here"))


def _announce(
    board: Callboard, database: Database, address: "Address", oldest: list[Interaction]
) -> None:
    screen = Screen()
    screen.line(("Callboard", "name"), " is at ", (address.url, "command"))
    screen.line(
        "Workflows: ",
        ", ".join(sorted(board.workflows)) or "none; pass workflow files to serve some",
    )
    for question in oldest:
        answer = ways_to_answer(question, database.command)[0]
        screen.line(f"Open question: {preview(question.prompt, _PREVIEW)}")
        screen.line("  answer it: ", (answer, "command"))
    screen.line("Dashboard: ", (database.command("open"), "command"), "   Ctrl-C to stop")
