"""`callboard notify URL`."""

import asyncio

import click

from callboard.cli import options
from callboard.cli.exit import DONE, FAILED
from callboard.cli.printing import print_result


@click.command("notify")
@click.argument("urls", metavar="URL...", nargs=-1, required=True, envvar="CALLBOARD_NOTIFY")
@options.plain
def command(urls: tuple[str, ...], as_json: bool) -> int:
    """Send a test notification.

    Uses the same channels as `callboard serve --notify URL`. URL is any address that Apprise
    supports, such as slack://…, ntfy://…, mailto://… or json://…; or sound:// for tones on the
    server's own machine. The default is CALLBOARD_NOTIFY. The exit code is 1 if a notification
    couldn't be delivered.
    """
    from callboard.server.notifier import AppriseNotifier

    notifier = AppriseNotifier(urls)
    reached = asyncio.run(
        notifier.needs("Callboard", "This is a test notification from Callboard.")
    )
    notifier.close()
    missed = "Not every notification was delivered. Check the addresses."
    said = ("Notification sent.", "done") if reached else (missed, "failed")
    print_result(as_json, {"reached": reached}, said)
    return DONE if reached else FAILED
