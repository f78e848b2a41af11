"""The `callboard` command itself: its subcommands, and how an error ends one.

Only click is imported here. A command's module is imported when it is called, so that `callboard
--help` stays fast.
"""

import gc
import sys
from collections.abc import Generator, Sequence
from contextlib import contextmanager, nullcontext
from importlib import import_module
from typing import TYPE_CHECKING, Final

import click

from callboard.cli.exit import DONE, INTERRUPTED, write_no_more
from callboard.cli.invocation import DB_HELP, Invocation

if TYPE_CHECKING:
    from click.shell_completion import CompletionItem

SECTIONS: Final[dict[str, dict[str, str]]] = {
    "Run": {
        "run": "Run a workflow from a Python file.",
        "resume": "Resume a session in this process.",
        "retry": "Retry a failed session from the failed phase.",
        "fork": "Start a new session from any point of another one.",
    },
    "Serve": {
        "serve": "Start a server for workflows, the board and the inbox.",
        "worker": "Drive the sessions of workflows, without a server.",
        "open": "Open the dashboard in your browser, signed in.",
        "token": "Create, list and revoke access tokens.",
        "service": "Run the server in the background as a user service, or the relay.",
        "pair": "Make a code that lets another machine report its coding agents.",
        "notify": "Send a test notification.",
    },
    "Agents": {
        "hooks": "Connect coding agents to the board, to follow and answer them there.",
        "start": "Start a coding agent in the background: claude, codex, gemini, opencode or acp.",
        "attach": "Show a coding agent in this terminal that was started with `callboard start`.",
        "stop": "Stop a coding agent that was started with `callboard start`.",
        "watch": "Start a coding agent and report its end to the board at once.",
        "hook": "Report one hook of a coding agent; the payload is read from standard input.",
        "relay": "Report the coding agents of this machine to a server on another one.",
        "delegate": "Have coding agents do a task, phase by phase.",
        "task": "Track delegated work in status files that agents and people can read.",
        "demo": "Try Callboard without any setup.",
        "mcp": "Run an MCP server with tools that let agents ask you questions.",
    },
    "Look": {
        "board": "Show every agent and question in the terminal, and answer there.",
        "plates": "List coding agents, those that need you first.",
        "changes": "Show what a coding agent changed in its working tree.",
        "hosts": "List the machines whose coding agents are on the board, ask one, or remove it.",
        "sessions": "List sessions, newest first.",
        "stats": "Show how runs went: outcomes, durations, tokens.",
        "usage": "Show the tokens that agents have used, and what they cost.",
        "show": "Show a session: its path, timings and questions.",
        "plan": "Print a session's questions, open and closed, as XML for agents.",
        "workers": "List the processes that drive sessions, and sessions that none can drive.",
        "why": "Explain what a session is waiting for, and how to unblock it.",
        "events": "List the events of a session.",
        "state": "Print a session's state, now or at any position.",
        "diff": "Print what changed in the state between two positions.",
        "export": "Export a session with all its events, as Markdown or JSON.",
    },
    "Decide": {
        "inbox": "List open questions, or show one.",
        "answer": "Answer a question.",
        "say": "Write to a coding agent.",
        "messages": "List the messages to a coding agent, and change those that wait.",
        "interrupt": "Stop a coding agent's turn, as Esc does in its terminal.",
        "assign": "Assign a question to yourself or someone else.",
        "attend": "Work through interactive sessions with a coding agent, one at a time.",
        "transcript": "Show the conversation of a coding agent or of an interactive session.",
        "pause": "Pause a session, wherever it runs.",
        "cancel": "Cancel a session. It cannot be resumed.",
        "rename": "Change the title of a session.",
        "limit": "Show or change how many agents of a kind run at once.",
        "budget": "Show or set the daily budget for all agents.",
    },
    "Maintain": {
        "doctor": "Check the installation, the database and the port, and suggest fixes.",
        "backup": "Copy the database while it is in use.",
        "migrate": "Bring a database to this version's schema, before servers start.",
        "copy": "Copy a SQLite database into PostgreSQL.",
        "prune": "Permanently delete old sessions and plates.",
        "rebuild": "Rebuild the query tables from the log.",
        "completion": "Set up Tab completion for bash, zsh or fish.",
    },
}
"""The commands and their descriptions, without importing any of them."""

HIDDEN: Final = ("decision",)
"""Commands that only our own programs start."""

_DELETES: Final = ("prune", "deletes old sessions; a session's page in the dashboard deletes one")
_LISTS: Final = ("sessions", "lists sessions, and `callboard inbox` questions")
_SHOWS: Final = (
    "show ID",
    "shows what happened in a session, and `callboard events ID` every event",
)
_CANCELS: Final = ("cancel ID", "ends a session")
_ANSWERS: Final = ("answer ID yes", "approves, and `callboard answer ID no` rejects")

ELSEWHERE: Final[dict[str, tuple[str, str]]] = {
    "delete": _DELETES,
    "remove": _DELETES,
    "rm": _DELETES,
    "list": _LISTS,
    "ls": _LISTS,
    "ps": ("plates", "lists coding agents, and `callboard sessions` workflow sessions"),
    "log": _SHOWS,
    "logs": _SHOWS,
    "status": ("why ID", "explains what a session is waiting for"),
    "approve": _ANSWERS,
    "reject": _ANSWERS,
    "allow": _ANSWERS,
    "deny": _ANSWERS,
    "kill": _CANCELS,
    "abort": _CANCELS,
    "continue": ("resume ID", "continues a session"),
    "questions": ("inbox", "lists open questions"),
    "agents": ("plates", "lists coding agents"),
    "dashboard": ("open", "opens the dashboard"),
    "install": ("hooks install", "connects coding agents"),
}
"""What other tools call it → our command, and what it does."""


NOT_ON_WINDOWS: Final[dict[str, str]] = {
    "attend": "it shares its terminal with the agent",
    "watch": "it shares its terminal with the agent",
    "start": "agents run in pseudo-terminals",
    "attach": "agents run in pseudo-terminals",
    "stop": "agents run in pseudo-terminals",
    "hooks": "hooks are commands for a POSIX shell",
    "hook": "hooks are commands for a POSIX shell",
    "relay": "hooks are commands for a POSIX shell",
    "service": "it uses systemd or launchd",
    "task": "status files are kept safe with open folders",
}
"""Commands that need Linux or macOS, and why."""


def _unsupported(name: str) -> click.Command:
    """A command that only says why it doesn't work here."""

    def refuse() -> None:
        from callboard.errors import SystemUnsupported

        raise SystemUnsupported(
            f"`callboard {name}` needs Linux or macOS, because {NOT_ON_WINDOWS[name]}."
        )

    passed = {"ignore_unknown_options": True, "allow_extra_args": True}
    return click.Command(name, passed, callback=refuse, add_help_option=False)


class LazyGroup(click.Group):
    """Knows its commands by name, and imports the module of the one that is called."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        """The names, in the order of the help text."""
        return [name for section in SECTIONS.values() for name in section]

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """The command with this name, with its module imported."""
        if cmd_name not in (*self.list_commands(ctx), *HIDDEN):
            return None
        if sys.platform == "win32" and cmd_name in NOT_ON_WINDOWS:
            return _unsupported(cmd_name)
        command = import_module(f"callboard.cli.commands.{cmd_name}").command
        if not gc.isenabled():  # `__main__` turned it off.
            gc.freeze()  # What was imported stays; looking through it takes long.
            gc.enable()
        return command

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """The requested command; for an unknown one, the error says which was meant."""
        name = args[0]
        known = (*self.list_commands(ctx), *HIDDEN)
        if name not in known and not name.startswith("-"):
            ctx.fail(f"There is no command {name!r}.{_meant(name, self.list_commands(ctx))}")
        return super().resolve_command(ctx, args)

    def shell_complete(self, ctx: click.Context, incomplete: str) -> "list[CompletionItem]":
        """The commands, without importing any of them, and our own options."""
        from click.shell_completion import CompletionItem

        known = {name: said for section in SECTIONS.values() for name, said in section.items()}
        found = [
            CompletionItem(name, help=said)
            for name, said in known.items()
            if name.startswith(incomplete)
        ]
        return [*found, *click.Command.shell_complete(self, ctx, incomplete)]

    def invoke(self, ctx: click.Context) -> object:
        """Run the command; exits quietly if the reader of its output is gone."""
        try:
            return super().invoke(ctx)
        except BrokenPipeError:
            write_no_more()
            return DONE

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the commands in their sections."""
        for title, commands in SECTIONS.items():
            with formatter.section(title):
                formatter.write_dl(list(commands.items()), col_max=10)


def _meant(typed: str, known: Sequence[str]) -> str:
    if typed in ELSEWHERE:
        command, does = ELSEWHERE[typed]
        return f" `callboard {command}` {does}."
    near = next((name for name in known if _is_typo(typed, name)), None)
    return f" Did you mean {near!r}?" if near else ""


def _is_typo(typed: str, name: str) -> bool:
    """Whether one letter is missing, added or wrong, or two are swapped."""
    while typed and name and typed[0] == name[0]:
        typed, name = typed[1:], name[1:]
    swapped = typed[1:2] + typed[:1] + typed[2:]
    return typed[1:] in (name, name[1:]) or typed == name[1:] or swapped == name


@click.group(
    cls=LazyGroup,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
    epilog="Exit codes: 0 done, 1 failed, 2 wrong use, 3 waiting for a person, 130 interrupted.",
)
@click.version_option(package_name="callboard", message="callboard %(version)s")
@click.option(
    "--db",
    metavar="PATH",
    envvar="CALLBOARD_DB",
    help=f"{DB_HELP} Also CALLBOARD_DB. "
    "Default: that of the only running server, else one in your user data directory.",
)
@click.option(
    "--server",
    metavar="URL",
    envvar="CALLBOARD_SERVER",
    help="Use a server instead of a database: http://host:port. Also CALLBOARD_SERVER. "
    "Its token: CALLBOARD_TOKEN, or on this machine the file next to its database.",
)
@click.option("--debug", is_flag=True, help="Show a traceback for errors.")
@click.pass_context
def group(ctx: click.Context, db: str | None, server: str | None, debug: bool) -> None:
    """Run agent workflows with people in charge, and answer coding agents in one place."""
    typed = click.core.ParameterSource.COMMANDLINE
    ctx.obj = Invocation(
        db or None,
        server or None,
        db_was_typed=ctx.get_parameter_source("db") is typed,
        server_was_typed=ctx.get_parameter_source("server") is typed,
    )


def run_command(arguments: Sequence[str]) -> int:
    """Run one command; errors become a line on standard error and an exit code."""
    try:
        with _whole_tracebacks() if "--debug" in arguments else nullcontext():
            code = group.main(list(arguments), prog_name="callboard", standalone_mode=False)
        sys.stdout.flush()
    except (click.Abort, KeyboardInterrupt):
        return INTERRUPTED
    except Exception as error:
        from callboard.cli.failures import report

        return report(error, arguments)
    return code if isinstance(code, int) else 0


@contextmanager
def _whole_tracebacks() -> Generator[None]:
    """Show full tracebacks of errors in workflows on standard error."""
    import logging

    log, handler = logging.getLogger("callboard.engine.tracebacks"), logging.StreamHandler()
    before = log.level
    log.addHandler(handler)
    log.setLevel(logging.DEBUG)
    try:
        yield
    finally:
        log.removeHandler(handler)
        log.setLevel(before)
