"""The shell commands that hooks run, and the mark by which we recognize them.

A hook that needs no server is a shell, `cat` and `mv`: it drops its payload into the spool.
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
    "exec >/dev/null 2>&1; umask 077; set -C; "
    "{pid}"
    # A name is ours once we could make its `.part`: with `set -C` no one makes it twice. `true`,
    # because a shell would end with `:` if that failed.
    "cd {spool} && [ ! -e .full ] && n={agent}.$p.$$ && i=0 && "
    "until [ $i = 9 ] || {{ true >$n.$i.part && [ ! -e $n.$i.json ]; }}; do i=$((i+1)); done && "
    "[ $i != 9 ] && {{ cat >|$n.$i.part && mv -f $n.$i.part $n.$i.json || "
    # A full disk: what is left stands for a hook that was lost, and is counted.
    "{{ true >|$n.$i.part; mv -f $n.$i.part $n.$i.lost; false; }}; }} || "
    # The agent must not notice that its payload was not wanted, nor that there is no `cat`.
    "cat || while read -r p; do true; done; exit 0"
)
_ITS_OWN = 'p=${CLAUDE_PID-}; case $p in ""|*[!0-9]*) p=$PPID;; esac; '
_PARENT = "p=$PPID; "
MARK: Final = "# callboard"
"""How each of our commands ends. A shell takes it for a comment."""

TOKEN_VARIABLE: Final = "CALLBOARD_HOOK_TOKEN"

CLIENT: Final = Path(__file__).parents[2] / "hookclient.py"
"""The script that `calling` runs."""

_URL = re.compile(r"http://127\.0\.0\.1:([0-9]+)/hooks/[a-z]+")


def spool_command(folder: Path, agent: str) -> str:
    """A line for a POSIX shell that drops what it reads into the spool of the hooks' folder.

    It prints nothing, ends with 0 in every case, and overwrites nothing. A shell cannot edit JSON,
    so the agent's process is told by the name of the file: `<agent>.<pid>.<shell>.<n>.json`.
    """
    if not is_agent(agent):
        raise ValidationError(f"{agent!r} is not a valid agent name.", field="agent")
    pid = _ITS_OWN if agent == "claude" else _PARENT
    return _LINE.format(pid=pid, spool=quote(str(folder.absolute() / "spool")), agent=agent)


def spooling(folder: Path, agent: str) -> str:
    """Drops the payload into the spool: no more than a shell, and no server has to run."""
    return f"{spool_command(folder, agent)} {MARK}"


def calling(folder: Path, agent: str, *, hold: bool = False) -> str:
    """Runs the client, which knows the agent's process and can wait for an answer."""
    return scripted(CLIENT, str(folder), agent, *(["--hold"] if hold else []))


def scripted(script: Path, *words: str) -> str:
    """Runs a script of ours that needs nothing but the standard library.

    A Python that cannot find its script ends with 2, and 2 blocks what the agent is about to do:
    so both are looked for first. `exec`, because the script must get the signal that means Esc.
    """
    python = interpreter()
    there = f"[ -x {shlex.quote(python)} ] && [ -r {shlex.quote(str(script))} ]"
    run = shlex.join([python, "-I", "-S", str(script), *words])
    return f"{there} || exit 0; exec {run} 2>/dev/null {MARK}"


def interpreter() -> str:
    """The Python itself, not the link to it in a virtual environment.

    The client needs nothing from there, the interpreter starts quicker without looking for it,
    and it is still there when the environment is made again.
    """
    return os.path.realpath(sys.executable)


def in_sh(command: str) -> str:
    """The same for a client that runs hooks in whatever shell the person likes."""
    inner = command.removesuffix(f" {MARK}")
    return f"exec /bin/sh -c {shlex.quote(inner)} {MARK}"


def is_ours(handler: Json) -> bool:
    """Whether we made this hook, in whatever version and for whatever database."""
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
    """The hooks folder that one of our hooks calls the client with."""
    command = str(handler.get("command", "")).removesuffix(MARK)
    try:
        words = shlex.split(command)
        if words[:3] == ["exec", "/bin/sh", "-c"]:
            words = shlex.split(words[3])
    except ValueError:
        return None
    clients = [index for index, word in enumerate(words) if word.endswith("/hookclient.py")]
    folder = words[clients[-1] + 1] if clients and clients[-1] + 1 < len(words) else ""
    return Path(folder) if folder.startswith("/") else None
