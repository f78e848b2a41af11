"""Starts an agent that speaks ACP in the background, with a command line from its own machine.

Only its own machine: a command line can be anything, so none is taken from a server.
"""

import importlib.util
import math
import os
import shutil
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from callboard.errors import ConflictError, MissingExtra, NotFound, ValidationError
from callboard.ids import short_id
from callboard.terminals.records import terminals_folder
from callboard.terminals.starting import StartedProcess, for_terminal, start_host
from callboard.vendors.acp.payloads import NAME
from callboard.vendors.claude.launching import MARK
from callboard.vendors.client_programs import check_folder, search_path, without_secrets

DEADLINE_VARIABLE: Final = "CALLBOARD_ACP_START_WITHIN"
"""The variable with the seconds that an agent has for each answer while it starts."""
_HOST: Final = "callboard.vendors.acp.agent_host"
_LONGEST_PROMPT: Final = 262_144


@dataclass(frozen=True, slots=True)
class AcpStart:
    """An agent to start. words: its command. hooks: the folder through which the board is told.

    session: the id of the session that it continues.
    """

    words: Sequence[str]
    folder: Path
    hooks: Path
    prompt: str | None = None
    session: str | None = None


def start_acp(wanted: AcpStart, env: Mapping[str, str] = os.environ) -> StartedProcess:
    """Start it; returns the process that keeps it.

    MissingExtra without the protocol's library, NotFound if there is no such command,
    ValidationError if the folder or the variable's value can't be used.
    """
    if importlib.util.find_spec("acp") is None:
        raise MissingExtra(
            "Agents that speak ACP need the extra `acp`: pip install 'callboard[acp]'"
        )
    check_folder(wanted.folder)
    if len((wanted.prompt or "").encode("utf-8", "replace")) > _LONGEST_PROMPT:
        raise ValidationError(
            f"prompt: use at most {_LONGEST_PROMPT:,} bytes. Put more into a file, and name it.",
            field="prompt",
        )
    within = _within(env)
    path = search_path(env)
    program = shutil.which(wanted.words[0], path=path)
    if program is None:
        raise NotFound(
            f"There is no command `{wanted.words[0]}`. Check its name, or give its path."
        )
    told = {
        "terminals": str(terminals_folder()),
        "id": short_id(),
        "agent": NAME,
        "folder": str(wanted.folder),
        "words": [str(Path(program).absolute()), *wanted.words[1:]],
        "hooks": str(wanted.hooks),
        "prompt": wanted.prompt,
        "session": wanted.session,
        "within": within,
    }
    # It has no terminal, so commands had better not print colors.
    given = {**for_terminal(without_secrets(env)), "PATH": path, "TERM": "dumb", MARK: "start"}
    try:
        return start_host([sys.executable, "-P", "-m", _HOST], told, given)
    except OSError as error:
        raise ConflictError(f"{wanted.words[0]} could not be started: {error}.") from error


def _within(env: Mapping[str, str]) -> float | None:
    """The seconds that a person gives it, if they do."""
    told = env.get(DEADLINE_VARIABLE, "")
    if not told:
        return None
    try:
        seconds = float(told)
    except ValueError:
        seconds = 0.0
    if not 0 < seconds < math.inf:
        raise ValidationError(
            f"{DEADLINE_VARIABLE}: expected a number of seconds above 0, such as 90."
        )
    return seconds
