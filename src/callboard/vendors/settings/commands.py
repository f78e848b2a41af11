"""The shell commands that hooks run, and the mark by which we recognize them.

A hook that needs no server is a shell, `cat` and `mv`: it writes its payload to the spool.
"""

import os
import re
import shlex
import sys
from pathlib import Path
from shlex import quote
from typing import Final, Literal

from callboard.courier.delivery import is_agent
from callboard.errors import ValidationError
from callboard.events.envelope import Json
from callboard.events.json_values import Object, as_object

_LINE = (
    "{pid}"
    # A message waits for the agent: a script does the same, and prints it.
    'm={mailbox}/{agent}.$p/mail; [ -e "$m" ] && [ -x {python} ] && [ -r {script} ] && '
    "exec {python} -I -S {script} {folder} {agent} 2>/dev/null; "
    "exec >/dev/null 2>&1; umask 077; set -C; "
    # A name is ours once we created its `.part`: with `set -C`, it can't be created twice. `true`,
    # because a shell would exit if `:` failed.
    "cd {spool} && [ ! -e .full ] && n={agent}.$p.$$ && i=0 && "
    "until [ $i = 9 ] || {{ true >$n.$i.part && [ ! -e $n.$i.json ]; }}; do i=$((i+1)); done && "
    "[ $i != 9 ] && {{ cat >|$n.$i.part && mv -f $n.$i.part $n.$i.json || "
    # A full disk: the empty file stands for a lost hook, and is counted.
    "{{ true >|$n.$i.part; mv -f $n.$i.part $n.$i.lost; false; }}; }} || "
    # The agent must not notice that its payload wasn't needed, or that there is no `cat`.
    "cat || while read -r p; do true; done; exit 0"
)
_ITS_OWN = 'p=${CLAUDE_PID-}; case $p in ""|*[!0-9]*) p=$PPID;; esac; '
_PARENT = "p=$PPID; "
MARK: Final = "# callboard"
"""The end of each of our commands. To a shell, it is a comment."""

TOKEN_VARIABLE: Final = "CALLBOARD_HOOK_TOKEN"

CLIENT: Final = Path(__file__).parents[2] / "hookclient.py"
"""The script that `calling` runs."""
MAIL: Final = CLIENT.with_name("hookmail.py")
"""The script that spooling hooks run while a message waits for their agent."""

_URL = re.compile(r"http://127\.0\.0\.1:([0-9]+)/hooks/[a-z]+")


def spool_command(folder: Path, agent: str) -> str:
    """A POSIX shell command that writes its input to the spool in the hooks folder.

    It prints nothing, always exits with 0, and overwrites nothing. A shell can't edit JSON, so the
    agent's process is in the file name: `<agent>.<pid>.<shell>.<n>.json`.
    """
    if not is_agent(agent):
        raise ValidationError(f"{agent!r} is not a valid agent name.", field="agent")
    pid = _ITS_OWN if agent == "claude" else _PARENT
    folder = folder.absolute()
    return _LINE.format(
        pid=pid,
        agent=agent,
        spool=quote(str(folder / "spool")),
        mailbox=quote(str(folder / "mailbox")),
        folder=quote(str(folder)),
        python=quote(interpreter()),
        script=quote(str(MAIL)),
    )


def spooling(folder: Path, agent: str) -> str:
    """Writes the payload to the spool, using only a shell, and without a server."""
    return f"{spool_command(folder, agent)} {MARK}"


def calling(folder: Path, agent: str, *, hold: bool = False) -> str:
    """Runs the client, which knows the agent's process and can wait for an answer."""
    return scripted(CLIENT, str(folder), agent, *(["--hold"] if hold else []))


def scripted(script: Path, *words: str) -> str:
    """Runs one of our scripts that need only the standard library.

    A Python that can't find its script exits with 2, which blocks what the agent is about to do, so
    both are checked first. `exec`, because the script must get the signal that means Esc.
    """
    python = interpreter()
    there = f"[ -x {shlex.quote(python)} ] && [ -r {shlex.quote(str(script))} ]"
    run = shlex.join([python, "-I", "-S", str(script), *words])
    return f"{there} || exit 0; exec {run} 2>/dev/null {MARK}"


def interpreter() -> str:
    """The Python itself, not the link to it in a virtual environment.

    The client needs nothing from the environment, the interpreter starts faster without it, and it
    still exists after the environment is recreated. Its name is kept as it is: Homebrew removes the
    folder that it leads to with the next update, and then links the name to the new one.
    """
    return getattr(sys, "_base_executable", None) or os.path.realpath(sys.executable)


def in_sh(command: str) -> str:
    """The same, for a client that runs hooks in the person's own shell."""
    inner = command.removesuffix(f" {MARK}")
    return f"exec /bin/sh -c {shlex.quote(inner)} {MARK}"


def is_ours(handler: Json) -> bool:
    """Whether this hook is ours, in any version and for any database."""
    made = as_object(handler)
    command, url = made.get("command"), made.get("url")
    if isinstance(command, str):
        return command.rstrip().endswith(MARK)
    return isinstance(url, str) and bool(_URL.fullmatch(url)) and TOKEN_VARIABLE in str(made)


def transport_of(handler: Object) -> Literal["http", "command", "spool"]:
    """How one of our hooks reaches the server."""
    if handler.get("type") == "http":
        return "http"
    return "command" if "hookclient.py" in str(handler.get("command")) else "spool"


def port_of(handler: Object) -> int | None:
    """The port that one of our HTTP hooks calls."""
    found = _URL.fullmatch(str(handler.get("url")))
    return int(found[1]) if found else None


def folder_of(handler: Object) -> Path | None:
    """The hooks folder that one of our hooks passes to the client."""
    words = _words(handler)
    clients = [index for index, word in enumerate(words) if word.endswith("/hookclient.py")]
    folder = words[clients[-1] + 1] if clients and clients[-1] + 1 < len(words) else ""
    return Path(folder) if folder.startswith("/") else None


def interpreter_of(handler: Object) -> Path | None:
    """The Python that one of our hooks runs; None if it needs none."""
    words = _words(handler)
    return Path(words[2]) if words[:2] == ["[", "-x"] and len(words) > 2 else None


def _words(handler: Object) -> list[str]:
    command = str(handler.get("command", "")).removesuffix(MARK)
    try:
        words = shlex.split(command)
        return shlex.split(words[3]) if words[:3] == ["exec", "/bin/sh", "-c"] else words
    except ValueError:
        return []
