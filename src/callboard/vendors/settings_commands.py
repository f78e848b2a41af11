"""The shell commands that hooks run, and the mark by which we know them again."""

import os
import re
import shlex
import sys
from pathlib import Path
from typing import Any, Final, Literal, cast

from callboard.vendors.spooling import spool_command

MARK: Final = "# callboard"
"""How each of our commands ends. A shell takes it for a comment."""

TOKEN_VARIABLE: Final = "CALLBOARD_HOOK_TOKEN"

CLIENT: Final = Path(__file__).parents[1] / "hookclient.py"
"""The script that `calling` runs."""

_URL = re.compile(r"http://127\.0\.0\.1:([0-9]+)/hooks/[a-z]+")


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
    and it is still there when the environment is made anew.
    """
    return os.path.realpath(sys.executable)


def in_sh(command: str) -> str:
    """The same for a client that runs hooks in whatever shell the person likes."""
    inner = command.removesuffix(f" {MARK}")
    return f"exec /bin/sh -c {shlex.quote(inner)} {MARK}"


def is_ours(handler: Any) -> bool:
    """Whether we made this hook, in whatever version and for whatever database."""
    if not isinstance(handler, dict):
        return False
    made = cast("dict[str, Any]", handler)
    command, url = made.get("command"), made.get("url")
    if isinstance(command, str):
        return command.rstrip().endswith(MARK)
    return isinstance(url, str) and bool(_URL.fullmatch(url)) and TOKEN_VARIABLE in str(made)


def transport_of(handler: dict[str, Any]) -> Literal["http", "command", "spool"]:
    """How one of our hooks reaches the server."""
    if handler.get("type") == "http":
        return "http"
    return "command" if "hookclient.py" in str(handler.get("command")) else "spool"


def port_of(handler: dict[str, Any]) -> int | None:
    """The port that one of our HTTP hooks calls."""
    found = _URL.fullmatch(str(handler.get("url")))
    return int(found[1]) if found else None


def folder_of(handler: dict[str, Any]) -> Path | None:
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
