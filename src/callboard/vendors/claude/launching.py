"""How to start Claude Code for a person: its command, settings and environment."""

import os
import re
import shlex
import sys
import uuid
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from callboard.disk.files import read
from callboard.errors import ValidationError
from callboard.events.codec import load_json
from callboard.events.json_values import Object, as_list, as_object, is_list, is_object
from callboard.vendors.claude.home import home
from callboard.vendors.claude.settings import ClaudeSettings
from callboard.vendors.settings.files import LARGEST
from callboard.vendors.settings.hook_documents import HookSettings
from callboard.vendors.settings.installing import InstallPlan

MARK: Final = "CALLBOARD_CLAUDE_RUN"
"""Set for every client that Callboard starts, and inherited by everything the client starts."""

# What a client's session sets for its child processes. Ours isn't one of them.
_INHERITED: Final = re.compile(
    r"CLAUDECODE|CLAUDE_(PID|EFFORT|ENV_FILE|PROJECT_DIR|PLUGIN_\w+)"
    r"|CLAUDE_CODE_(SESSION_\w+|ENTRYPOINT|EXECPATH|SSE_PORT|CHILD_\w+|MESSAGING_\w+)"
)
PROGRAM: Final = "claude"

SERVER: Final = "callboard-decision"
"""The name of our MCP server in a session."""
TOOL: Final = f"mcp__{SERVER}__submit_decision"

_PATIENCE: Final = "MCP_CONNECT_TIMEOUT_MS"
"""How long the client's first turn waits for its servers: 5 s by default, too short under load."""
_HOOK_WITHIN: Final = 60
"""Seconds. Longer than a hook takes on a very busy machine."""
_LARGEST_CONFIG: Final = 1_000_000
_SESSIONS: Final = uuid.UUID("6f1f6a51-43bd-4a6b-9d4f-7f7b3a2255ca")
_UUID: Final = re.compile(r"[0-9a-fA-F]{8}(-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}")


def clean(env: Mapping[str, str]) -> dict[str, str]:
    """The environment without an agent session's variables, and without our token."""
    return {
        name: value
        for name, value in env.items()
        if not _INHERITED.fullmatch(name) and name != "CALLBOARD_TOKEN"
    }


@dataclass(frozen=True, slots=True)
class Launch:
    """A session to open.

    session: its id. resumes: whether it is an existing one. own_servers: whether the session has
    the person's own MCP servers, too.
    """

    session: str
    name: str
    model: str
    prompt: str
    system_prompt: Path
    settings: Path
    mcp_configs: Sequence[Path]
    resumes: bool = False
    own_servers: bool = False


def command(program: str, launch: Launch) -> list[str]:
    """The command line. Outside values follow `=` or `--`, so that none is read as an option."""
    which = "--resume" if launch.resumes else "--session-id"
    strict = [] if launch.own_servers else ["--strict-mcp-config"]
    return [
        program,
        "--mcp-config",  # It takes all words up to the next option.
        *map(str, launch.mcp_configs),
        *strict,
        f"{which}={launch.session}",
        f"--name={launch.name}",
        f"--model={launch.model}",
        f"--append-system-prompt-file={launch.system_prompt}",
        f"--settings={launch.settings}",
        "--permission-mode=default",  # It asks, whatever mode the person's settings start with.
        "--",
        launch.prompt,
    ]


def session_id(question: str, attempt: int) -> str:
    """The client's id for an attempt at a question: always the same, so it can be found again."""
    return str(uuid.uuid5(_SESSIONS, f"{question}/{attempt}"))


def is_session(id: str) -> bool:
    """Whether it has the format of a client's session id."""
    return _UUID.fullmatch(id) is not None


def transcript_of(session: str) -> Path | None:
    """Where the client stores a session's transcript; None before it exists."""
    if not is_session(session):
        return None
    folder = home() / "projects"
    return next(iter(sorted(folder.glob(f"*/{session}.jsonl"))), None)


def session_settings(
    folder: Path, readable: Sequence[Path], plan: InstallPlan | None, confirming: str
) -> HookSettings:
    """Settings for one session: our hooks, and always asking about the decision.

    folder: what the agent may not change. readable: what it may read without asking.
    plan: None if the person's own settings already have our hooks.
    confirming: the command of the hook that asks about the decision and records that it asked.
    """
    wanted: HookSettings = {"hooks": {}} if plan is None else ClaudeSettings().wanted(plan)
    hook = {"type": "command", "command": confirming, "timeout": _HOOK_WITHIN}
    for event in ("PreToolUse", "PermissionRequest"):
        wanted["hooks"].setdefault(event, []).append({"matcher": TOOL, "hooks": [hook]})
    permissions = wanted.setdefault("permissions", {"deny": []})
    permissions["deny"].append(f"Edit(/{folder}/**)")
    # Asking takes precedence over anything that was once allowed permanently.
    permissions["ask"] = [TOOL]
    permissions["allow"] = [f"Read(/{path})" for path in readable]
    return wanted


def has_our_hooks(folder: Path, project: Path) -> bool:
    """Whether settings that the session reads anyway report to this hooks folder."""
    ours = ClaudeSettings()
    for path in (ours.place("user", project), ours.place("project", project)):
        try:
            standing = ours.standing(read(path, LARGEST, follow=True).decode())
        except Exception:
            continue
        if standing is not None and standing.folder == folder:
            return True
    return False


def decision_server(folder: Path) -> Object:
    """The MCP config with `submit_decision`, visible to the model from the first turn."""
    # -P, so that a project's own `mcp.py` isn't imported as one of the server's modules.
    words = ["-P", "-m", "callboard", "decision", str(folder)]
    server = {"type": "stdio", "command": sys.executable, "args": words, "alwaysLoad": True}
    return {"mcpServers": {SERVER: server}}


@dataclass(frozen=True, slots=True)
class Tools:
    """A parsed MCP config: what it starts, by name, to show to a person."""

    content: bytes
    servers: Mapping[str, str]


def tools_in(path: Path) -> Tools:
    """Read an MCP config; ValidationError if it isn't one."""
    try:
        content = read(path, _LARGEST_CONFIG, follow=True)
        servers = as_object(load_json(content))["mcpServers"]
        if not is_object(servers):
            raise TypeError("mcpServers is not an object")
        return Tools(content, {name: _started(as_object(one)) for name, one in servers.items()})
    except OSError as error:
        why = error.strerror or str(error)
    except (ValueError, TypeError, KeyError, AttributeError) as error:
        why = "it has no mcpServers" if isinstance(error, KeyError) else str(error)
    raise ValidationError(f"The MCP config {path} cannot be used: {why}.", field="mcpConfig")


def _started(told: Object) -> str:
    """Everything that determines what it does: a variable or header can do as much as a command."""
    if "url" in told:
        headers = [f"{name}: {value}" for name, value in as_object(told.get("headers")).items()]
        return " ".join([str(told["url"]), *(f"({one})" for one in headers)])
    env = as_object(told.get("env"))
    given = [f"{name}={shlex.quote(str(value))}" for name, value in env.items()]
    words = told.get("args")
    if words and not is_list(words):
        raise TypeError("args is not a list")
    return " ".join([*given, str(told["command"]), *map(str, as_list(words))])


def environment() -> dict[str, str]:
    """This process's environment, cleaned, and set to wait for the decision tool on the first turn.

    It is marked, so that an answer from the agent is recognized.
    """
    return {_PATIENCE: "30000", **clean(os.environ), MARK: "attend"}
