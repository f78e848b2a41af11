"""`callboard notify URL`."""

import asyncio

import click

from callboard.cli import options
from callboard.cli.exits import DONE, FAILED
from callboard.cli.printing import print_json
from callboard.cli.screen import Screen


@click.command("notify")
@click.argument("urls", metavar="URL...", nargs=-1, required=True, envvar="CALLBOARD_NOTIFY")
@options.plain
def command(urls: tuple[str, ...], as_json: bool) -> int:
    """Send a message by way of trial, as a server would.

    A server does so when it was started with `callboard serve --notify URL`. URL is an address
    that Apprise knows: slack://…, ntfy://…, mailto://…, json://…. Without one it is
    CALLBOARD_NOTIFY. The exit code is 1 when somebody was not reached.
    """
    from callboard.server.notifier import AppriseNotifier

    notifier = AppriseNotifier(urls)
    reached = asyncio.run(notifier.needs("Callboard", "This is how it calls you."))
    notifier.close()
    if as_json:
        print_json([{"reached": reached}])
    elif reached:
        Screen().line(("It was sent.", "done"))
    else:
        Screen().line(("It did not arrive everywhere. Check the addresses.", "failed"))
    return DONE if reached else FAILED
