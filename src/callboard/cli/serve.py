"""`callboard serve [FILE[:NAME] …]`."""

import asyncio
from collections.abc import Callable
from ipaddress import ip_address
from socket import socket
from typing import TYPE_CHECKING, Any, Final

import click

from callboard.app import Callboard
from callboard.cli import options
from callboard.cli.database import Database
from callboard.cli.printing import print_json
from callboard.cli.screen import Screen
from callboard.cli.sizes import Size
from callboard.cli.source import load_all
from callboard.cli.wording import preview
from callboard.engine.workflow import Workflow
from callboard.errors import MissingExtra, ValidationError
from callboard.interactions.records import Interaction
from callboard.server.activation import inherited

if TYPE_CHECKING:
    from callboard.server.running import Address
    from callboard.server.settings import Settings


_OPTIONS: Final = (
    click.option("--host", default="127.0.0.1", show_default=True, help="Where to listen."),
    click.option(
        "--port",
        type=click.IntRange(0, 65535),
        default=2255,
        show_default=True,
        help="The port; 0 picks a free one.",
    ),
    click.option(
        "--cors-origin",
        "origins",
        multiple=True,
        metavar="ORIGIN",
        help="A site whose pages may call this server, with a token: https://app.example.com",
    ),
    click.option(
        "--allowed-host",
        "hosts",
        multiple=True,
        metavar="NAME",
        help="A name under which a proxy makes this server known.",
    ),
    click.option(
        "--allow-remote", is_flag=True, help="Listen beyond this machine; put TLS in front of it."
    ),
    click.option(
        "--concurrency",
        type=click.IntRange(min=1),
        default=64,
        show_default=True,
        help="Sessions driven at once.",
    ),
    click.option(
        "--grace",
        type=click.FloatRange(min=0),
        default=10.0,
        show_default=True,
        help="Seconds that agents get when it stops.",
    ),
    click.option(
        "--memory",
        type=Size(128 * 1_048_576),
        default="256MB",
        show_default=True,
        help="Memory for all connections together: bodies being sent, answers not yet read. "
        "Beyond it the server answers 503.",
    ),
    click.option(
        "--wrong-tokens",
        type=click.IntRange(min=1),
        default=10,
        show_default=True,
        help="Wrong tokens a minute that one address may send; behind a proxy all have the same.",
    ),
    click.option(
        "--notify",
        multiple=True,
        metavar="URL",
        envvar="CALLBOARD_NOTIFY",
        help="Whom to tell when a person is needed: slack://…, ntfy://…, mailto://…. Also "
        "CALLBOARD_NOTIFY, which nobody else on the machine can read.",
    ),
    click.option(
        "--log-format",
        type=click.Choice(["json", "text"]),
        help="How it logs: json unless standard error is a terminal.",
    ),
)


def _serving(function: Callable[..., None]) -> Callable[..., None]:
    for option in reversed(_OPTIONS):
        function = option(function)
    return function


@click.command("serve")
@click.argument("files", metavar="[FILE[:NAME] ...]", nargs=-1)
@_serving
@options.common
def command(files: tuple[str, ...], database: Database, as_json: bool, **given: Any) -> None:
    """Run workflows for other programs, over HTTP.

    NAME is the variable that holds a workflow; without it, all of the file are served. Sessions
    that were running when the last server ended go on at once. SIGTERM ends it in order. Without
    a file it serves the board and the inbox. A listening socket that systemd or launchd hands
    over is used instead of --host and --port; `callboard service install` sees to that.
    """
    handed = inherited()
    if handed is not None:
        given["host"], given["port"] = handed.getsockname()[:2]
    _check_reach(given["host"], given["allow_remote"])
    workflows = [source.workflow for file in files for source in load_all(file)]
    try:
        import uvloop

        from callboard.server import logs
        from callboard.server.settings import Settings
    except ImportError as error:
        raise MissingExtra(
            f"`callboard serve` needs {error.name}: pip install 'callboard[server]'"
        ) from error

    logs.install(given["log_format"])
    settings = Settings(
        host=given["host"],
        port=given["port"],
        cors_origins=frozenset(given["origins"]),
        allowed_hosts=frozenset(given["hosts"]),
        concurrency=given["concurrency"],
        grace=given["grace"],
        memory=given["memory"],
        wrong_tokens=given["wrong_tokens"],
        notify=given["notify"],
    )
    with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
        runner.run(_serve(database, workflows, settings, handed, as_json))


def _check_reach(host: str, allowed: bool) -> None:
    """Everyone who can reach the server can try tokens on it: that must be meant."""
    try:
        is_here = host == "localhost" or ip_address(host).is_loopback
    except ValueError:
        is_here = False
    if not is_here and not allowed:
        raise ValidationError(
            f"{host} can be reached from other machines. If that is meant, put TLS in front of "
            "it and add --allow-remote.",
            field="host",
        )


async def _serve(
    database: Database,
    workflows: list[Workflow],
    settings: "Settings",
    handed: socket | None,
    as_json: bool,
) -> None:
    from callboard.server.hook_access import keep_hooks_in
    from callboard.server.notices import telling
    from callboard.server.presence import present
    from callboard.server.running import bind, serve, spare_collector
    from callboard.server.starting import prepare
    from callboard.server.tracing import traced

    listening = handed or bind(settings)
    async with database.open(workflows, create=True) as board:
        prepared = prepare(board, board.driver, settings, database.path)
        oldest = await board.people.find(status="pending", limit=1)

        def ready(address: "Address") -> None:
            notices.link = address.page
            access = keep_hooks_in(prepared.tokens, database.path, address.host, address.port)
            prepared.service.rounds.also = access.check
            spare_collector()
            if as_json:
                names = sorted(board.workflows)
                print_json([{"url": address.url, "port": address.port, "workflows": names}])
            else:
                _announce(board, database, address, oldest)

        told = telling(settings.notify, board.log, prepared.service.plates, board.clock)
        async with traced(board.log), told as notices:
            with present(database.path, board.workflows):
                await serve(prepared.app, prepared.service, prepared.driver, listening, ready)


def _announce(
    board: Callboard, database: Database, address: "Address", oldest: list[Interaction]
) -> None:
    screen = Screen()
    screen.line(("Callboard", "strong"), " is at ", (address.url, "command"))
    screen.line("Workflows: ", ", ".join(sorted(board.workflows)) or "none; give it files of some")
    for question in oldest:
        value = question.options[0] if question.options else "yes"
        answer = database.command("answer", question.id, value)
        screen.line(f"Waiting for a person: {preview(question.prompt)}")
        screen.line("  answer it: ", (answer, "command"))
    screen.line("Look around: ", (database.command("open"), "command"), "   End it: Ctrl-C")
