"""Start an agent in a terminal of its own, in the background."""

import json
import subprocess
import time
from collections.abc import Generator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from callboard.disk.locks import locked
from callboard.disk.private import make_own_folder
from callboard.events.json_values import Object, as_object, as_text, as_whole
from callboard.ids import short_id
from callboard.terminals import host_process
from callboard.terminals.records import own_terminals, terminals_folder

_WITHIN: Final = 15.0
_ENDS_WITHIN: Final = 3.0
_LOOK_AGAIN: Final = 0.05
_NOT_OURS: Final = frozenset(
    {"COLUMNS", "LINES", "STY", "TMUX", "TMUX_PANE", "VTE_VERSION", "WINDOWID", "WT_SESSION"}
)
"""What a terminal sets, besides variables that start with its name."""
_NAMED: Final = (
    "TERM_",
    "KITTY_",
    "ITERM_",
    "WEZTERM_",
    "ALACRITTY_",
    "VSCODE_",
    "CALLBOARD_TOKEN",
)
_LOCALES: Final = ("LC_ALL", "LC_CTYPE", "LANG")


@dataclass(frozen=True, slots=True)
class TerminalStart:
    """What to start.

    hooks: the folder through which the board is told; "" if there is none. session: the one that it
    continues.
    """

    agent: str
    words: Sequence[str]
    folder: Path
    hooks: str = ""
    session: str | None = None


@dataclass(frozen=True, slots=True)
class StartedProcess:
    """The process of an agent that was started."""

    pid: int
    start: str


def start_in_terminal(wanted: TerminalStart, env: Mapping[str, str], python: str) -> StartedProcess:
    """Start it; OSError if that fails. python: the interpreter for the process that keeps it."""
    given = {
        "terminals": str(terminals_folder()),
        "id": short_id(),
        "agent": wanted.agent,
        "folder": str(wanted.folder),
        "words": list(wanted.words),
        "hooks": wanted.hooks,
        "session": wanted.session,
    }
    command = [python, "-I", "-S", str(Path(host_process.__file__))]
    return start_host(command, given, for_terminal(env))


def start_host(
    command: Sequence[str], given: Mapping[str, object], env: Mapping[str, str]
) -> StartedProcess:
    """Start a process that keeps an agent, and wait until it says which one; OSError if it doesn't.

    given: what it is to keep. OSError, too, if another one continues the same session.
    """
    with _nothing_else_continues(given):
        return _started(command, given, env)


@contextmanager
def _nothing_else_continues(given: Mapping[str, object]) -> Generator[None]:
    """Whatever several people and servers resume at the same time, one process has a session."""
    session, folder = given["session"], terminals_folder()
    if session is None:
        yield
        return
    make_own_folder(folder)

    def is_continued() -> bool:
        known = {(one.agent, one.session) for one in own_terminals(folder)}
        return (given["agent"], session) in known

    # The board knows of the end of a session a moment before its process has ended.
    ends = time.monotonic() + _ENDS_WITHIN
    while is_continued() and time.monotonic() < ends:
        time.sleep(_LOOK_AGAIN)
    with locked(folder / "resuming.lock"):
        if is_continued():
            raise OSError("its session is still running")
        yield


def _started(
    command: Sequence[str], given: Mapping[str, object], env: Mapping[str, str]
) -> StartedProcess:
    with subprocess.Popen(
        command,
        env=env,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
    ) as process:
        # Not on the command line, where every user of the machine could read the prompt twice.
        try:
            out, _ = process.communicate(json.dumps(given).encode(), _WITHIN)
        except subprocess.TimeoutExpired:
            process.kill()
            raise OSError("the terminal did not start in time") from None
    told = _read(out)
    if "pid" not in told:
        raise OSError(as_text(told.get("error")) or "the terminal could not be started")
    return StartedProcess(as_whole(told["pid"]), as_text(told.get("start")))


def for_terminal(env: Mapping[str, str]) -> dict[str, str]:
    """An environment without what another terminal says about itself, and without our token."""
    kept = {
        name: value
        for name, value in env.items()
        if name not in _NOT_OURS and not name.startswith(_NAMED)
    }
    kept |= {"TERM": "xterm-256color", "COLORTERM": "truecolor"}
    if not any(kept.get(name) for name in _LOCALES):
        kept["LANG"] = "C.UTF-8"
    return kept


def _read(out: bytes) -> Object:
    with suppress(ValueError):
        return as_object(json.loads(out))
    return {}
