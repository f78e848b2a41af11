"""How an error ends a command: one clear line on standard error, and an exit code."""

import re
import sys
import traceback
from collections.abc import Sequence

import click

from callboard.cli.exit import FAILED, WRONG_USE
from callboard.errors import (
    AgentError,
    CallboardError,
    HandlerFailed,
    HistoryChanged,
    OwnershipLost,
    ServerFailed,
    ServerUnreachable,
    SettingsUnusable,
    StoreCorrupt,
    StoreError,
    StoreForeign,
    StoreTooNew,
)

# Not the caller's fault; everything else is wrong usage.
_NOT_THE_CALLERS = (
    AgentError,
    HandlerFailed,
    HistoryChanged,
    OwnershipLost,
    ServerFailed,
    ServerUnreachable,
    SettingsUnusable,
    StoreError,
)
_THE_CALLERS = (StoreCorrupt, StoreForeign, StoreTooNew)


def exit_code(error: Exception) -> int:
    """The exit code for this error."""
    if isinstance(error, click.ClickException):
        return error.exit_code
    if not isinstance(error, CallboardError):
        return FAILED
    failed = isinstance(error, _NOT_THE_CALLERS) and not isinstance(error, _THE_CALLERS)
    return FAILED if failed else WRONG_USE


def report(error: Exception, arguments: Sequence[str]) -> int:
    """Print the error in the format that the arguments ask for; returns the exit code."""
    if "--debug" in arguments:
        traceback.print_exception(error)
    if "--json" in arguments:
        from callboard.events.codec import dump_json

        print(dump_json({"error": as_payload(error)}).decode(), file=sys.stderr)
    else:
        _tell(error)
    return exit_code(error)


def as_payload(error: Exception) -> dict[str, object]:
    """The error as JSON: code, message and details."""
    if isinstance(error, CallboardError):
        return error.as_payload()
    if isinstance(error, click.ClickException):
        return {"code": "WRONG_USE", "message": _wrong_use(error)}
    return {"code": "UNEXPECTED", "message": _unexpected(error)}


def _tell(error: Exception) -> None:
    if isinstance(error, click.exceptions.NoArgsIsHelpError):
        print(error.format_message(), file=sys.stderr)
        return
    if isinstance(error, click.UsageError) and error.ctx is not None:
        print(error.ctx.get_usage(), file=sys.stderr)
        print(f"Try: {error.ctx.command_path} --help", file=sys.stderr)
    message = str(as_payload(error)["message"])
    if not isinstance(error, click.ClickException):
        from callboard.display.lines import visible

        message = visible(message)
    print(f"error: {message}", file=sys.stderr)


def _wrong_use(error: click.ClickException) -> str:
    """Click's message on one line, in our words."""
    message = error.format_message()
    if isinstance(error, click.MissingParameter):
        message = " ".join(message.split())
    return re.sub(r"a valid integer( range)?\.", "a whole number.", message)


def _unexpected(error: Exception) -> str:
    text = f"{type(error).__name__}: {error}" if str(error) else type(error).__name__
    return f"{text}. Run the command again with --debug for a traceback."
