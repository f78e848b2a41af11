"""`callboard watch -- COMMAND …`."""

import os
import resource
import signal
from collections.abc import Callable, Iterable, Mapping
from contextlib import closing, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Final, Protocol, Self

import click

from callboard.cli.invocation import DB_HELP, Invocation
from callboard.systems.processes import started_at

if TYPE_CHECKING:
    from callboard.courier.wire import ServerAddress

_PASSED_ON: Final = {"ignore_unknown_options": True, "allow_interspersed_args": False}
_NOT_FOUND, _NOT_STARTED = 127, 126
"""The exit codes of shells for a program that doesn't exist, or can't be run."""
_USUAL: Final = "claude"
_WITHIN: Final = 1.0
_HELD: Final = (
    signal.SIGCHLD,
    signal.SIGHUP,
    signal.SIGINT,
    signal.SIGQUIT,
    signal.SIGTERM,
    signal.SIGTSTP,
    signal.SIGUSR1,
    signal.SIGUSR2,
)
"""Signals that we wait for instead of handling."""
_IGNORED: Final = (signal.SIGPIPE, signal.SIGXFSZ)
"""Signals that Python ignores for itself. It handles interrupts, unless ignored before."""
_OF_TERMINALS: Final = frozenset({signal.SIGINT, signal.SIGQUIT, signal.SIGTSTP})
_BY_KERNEL: Final = 128
_NEWS: Final = os.WNOHANG | os.WUNTRACED | os.WCONTINUED


@click.command("watch", context_settings=_PASSED_ON)
@click.option("--db", metavar="PATH", help=DB_HELP)
@click.option("--server", metavar="URL", help="Use a server instead: http://host:port.")
@click.option("--agent", metavar="NAME", help="Which agent it is, if the command doesn't show it.")
@click.argument("words", metavar="-- COMMAND ...", nargs=-1, required=True)
@click.pass_context
def command(ctx: click.Context, words: tuple[str, ...], **given: str | None) -> int:
    """Start a coding agent and report its end to the board at once.

    The agent has the terminal to itself. Signals are passed on to it, and this command exits as
    the agent did. Without a server, the agent just runs.
    """
    try:
        child = ChildProgram.start(words)
    except OSError as error:
        click.echo(f"error: {words[0]} cannot be started: {error.strerror}.", err=True)
        return _NOT_FOUND if isinstance(error, FileNotFoundError) else _NOT_STARTED
    # The agent is starting; what follows doesn't slow it down.
    chosen: Invocation = ctx.obj or Invocation()
    server = given["server"] or (None if given["db"] else chosen.server)
    db = given["db"] or chosen.db
    told = _told(child.pid, given["agent"] or _agent(words))
    _tell(db, server, "/plates/register", told)
    status = child.wait()
    _tell(db, server, "/plates/stopped", told)
    return end_like(status)


def _tell(db: str | None, server: str | None, path: str, told: Mapping[str, object]) -> None:
    """Report to the board, within a second or not at all. An error must not affect the agent."""
    with suppress(Exception):
        import json

        _send(str(told["agent"]), db, server, path, json.dumps(told).encode())


def _send(agent: str, db: str | None, server: str | None, path: str, body: bytes) -> None:
    """Send to the server of a database, or to the relay, as the agent's hooks know it, if any.

    server: the address of one to use instead.
    """
    from urllib.parse import urlsplit

    from callboard.board.hook_folders import hooks_folder
    from callboard.cli.relay_hooks import hooks_of_relay
    from callboard.client.access import checked, find_token
    from callboard.courier.wire import ServerAddress, Timeouts, ask, read_connection
    from callboard.log.location import database_path

    database = database_path(db or None)
    if server is None:
        # Looked up each time, because the server may have moved.
        hooks = hooks_of_relay(agent, Path(_folder())) if not db else None
        if (known := read_connection(str(hooks or hooks_folder(database)))) is not None:
            ask(known, path, body, Timeouts(_WITHIN))
        return
    url = checked(server)
    parts = urlsplit(url)
    secure = parts.scheme == "https"
    port = parts.port or (443 if secure else 80)
    to = ServerAddress(parts.hostname or "", port, find_token(url, database) or "")
    path = parts.path.rstrip("/") + path
    if secure:
        _send_securely(to, path, body)
    else:
        ask(to, path, body, Timeouts(_WITHIN))


def _send_securely(to: "ServerAddress", path: str, body: bytes) -> None:
    from http.client import HTTPSConnection

    headers = {"Authorization": f"Bearer {to.token}", "Content-Type": "application/json"}
    with closing(HTTPSConnection(to.host, to.port, timeout=_WITHIN)) as connection:
        connection.request("POST", path, body, headers)
        connection.getresponse()


def _told(pid: int, agent: str) -> dict[str, object]:
    told: dict[str, object] = {"agent": agent, "pid": pid, "project_path": _folder()}
    start = started_at(pid)
    return told | ({"proc_start": start} if start else {})


def _folder() -> str:
    try:
        return str(Path.cwd())
    except OSError:  # The current folder was removed.
        return os.environ.get("PWD") or "/"


def _agent(words: tuple[str, ...]) -> str:
    """The agent that a command line starts, such as `npx claude`; `claude` if it doesn't say."""
    with suppress(ImportError):
        from callboard.vendors.agents import VENDORS

        named = (Path(word).name for word in words if not word.startswith("-"))
        return next((name for name in named if name in VENDORS), _USUAL)
    return _USUAL


@dataclass(frozen=True, slots=True)
class ChildProgram:
    """A program that was started here.

    It is in our process group, so the terminal is as much its own as ours; we never touch it.
    """

    pid: int

    @classmethod
    def start(cls, words: tuple[str, ...]) -> Self:
        """Start it; raises an OSError if that fails."""
        # The process that started us may have ignored it. A handler, because macOS drops a signal
        # that is ignored by default, even while it is blocked.
        signal.signal(signal.SIGCHLD, _nothing)
        is_handled = callable(signal.getsignal(signal.SIGINT))
        before = signal.pthread_sigmask(signal.SIG_BLOCK, _HELD)
        try:
            pid = os.posix_spawnp(
                words[0],
                words,
                os.environ,
                setsigmask=before,
                setsigdef=(*_IGNORED, signal.SIGINT) if is_handled else _IGNORED,
            )
        except OSError:
            signal.pthread_sigmask(signal.SIG_SETMASK, before)
            raise
        return cls(pid)

    def wait(self) -> int:
        """Wait until it ends; returns its status, as `os.waitpid` does."""
        while True:
            number, is_shared = _next_signal()
            if number != signal.SIGCHLD:
                if not is_shared:
                    self._send(number)
                continue
            ended = self._look()
            if ended is not None:
                return ended

    def _look(self) -> int | None:
        """Its status if it has ended. While it is stopped, so are we."""
        is_stopped = False
        while True:
            pid, status = os.waitpid(self.pid, _NEWS)
            if pid == 0:
                if not is_stopped:
                    return None
                # Only we were resumed. A shell resumes both, and resuming the program again could
                # undo the next Ctrl-Z.
                self._send(signal.SIGCONT)
                is_stopped = False
            elif os.WIFSTOPPED(status):
                # The process that started us sees a stopped job, and can resume it.
                os.kill(os.getpid(), signal.SIGSTOP)
                is_stopped = True
            elif os.WIFCONTINUED(status):
                is_stopped = False
            else:
                return status

    def _send(self, number: int) -> None:
        try:
            os.kill(self.pid, number)
        except ProcessLookupError:
            return


def _nothing(number: int, frame: object) -> None:
    """Handles a signal that is waited for elsewhere."""


def end_like(status: int) -> int:
    """End as a program did: with its exit code, or the signal that ended it."""
    if not os.WIFSIGNALED(status):
        return os.waitstatus_to_exitcode(status)
    number = os.WTERMSIG(status)
    # One core dump is enough.
    resource.setrlimit(resource.RLIMIT_CORE, (0, resource.getrlimit(resource.RLIMIT_CORE)[1]))
    if number not in (signal.SIGKILL, signal.SIGSTOP):
        signal.signal(number, signal.SIG_DFL)
    os.kill(os.getpid(), number)
    signal.pthread_sigmask(signal.SIG_UNBLOCK, [number])
    return 128 + number


class _SignalInfo(Protocol):
    si_signo: int
    si_code: int


def _next_signal() -> tuple[int, bool]:
    """The next signal, and whether the program got it as well."""
    wait: Callable[[Iterable[int]], _SignalInfo] | None = getattr(signal, "sigwaitinfo", None)
    if wait is None:
        number = signal.sigwait(_HELD)
        return number, number in _OF_TERMINALS
    told = wait(_HELD)
    # A terminal sends signals to its whole foreground process group.
    return told.si_signo, told.si_code == _BY_KERNEL
