"""Codex's hooks: `hooks.json` beside its configuration, in the shape of Claude Code's.

Codex runs no hook before a person has looked at it and trusts it, and asks again when it changes.
"""

import os
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from callboard.events.json_values import Object, as_object
from callboard.vendors.settings.commands import calling, in_sh, spooling
from callboard.vendors.settings.hook_documents import DocumentSettings, Groups, HookSettings
from callboard.vendors.settings.installing import InstallPlan, Scope

EVENTS: Final = (
    "UserPromptSubmit",
    "PreToolUse",
    "PostToolUse",
    "Stop",
    "SubagentStart",
    "SubagentStop",
    "PreCompact",
    "PostCompact",
    "Interrupt",
    "SessionEnd",
)
"""What is told as it happens. SessionStart and PermissionRequest have hooks of another kind."""

TRUST: Final = "Codex runs them only after you trust them: start codex, type /hooks, look at them."

_SOON = 10
_SHORT = ("Interrupt", "SessionEnd")
_AT_ONCE = 3
"""Codex gives the hooks of these no more, and warns of more at every start."""
_A_WHILE = 600
_AGENT = "codex"


class CodexSettings(DocumentSettings):
    """What Codex's settings need."""

    agent = _AGENT

    def place(self, scope: Scope, project: Path) -> Path:
        """The file: the person's own, or the project's."""
        return (project / ".codex" if scope == "project" else home()) / "hooks.json"

    def wanted(self, plan: InstallPlan) -> HookSettings:
        """Our hooks. Codex knows only commands, and runs them in the person's own shell."""
        told = spooling if plan.transport == "spool" else calling
        telling = in_sh(told(plan.folder, _AGENT))
        hooks: Groups = {
            event: _hook(telling, _AT_ONCE if event in _SHORT else _SOON) for event in EVENTS
        }
        hooks["SessionStart"] = _hook(in_sh(calling(plan.folder, _AGENT)), _SOON)
        # Codex asks its person only after this hook has ended: to hold it keeps the dialog away.
        # So it is held only when that was asked for, and not for long.
        asking = in_sh(calling(plan.folder, _AGENT, hold=True)) if plan.answers else telling
        hooks["PermissionRequest"] = _hook(asking, _A_WHILE if plan.answers else _SOON)
        return {"hooks": hooks}


def home() -> Path:
    """Where Codex keeps what is the person's."""
    given = os.environ.get("CODEX_HOME")
    return Path(given).expanduser() if given else Path.home() / ".codex"


def obstacles(text: str) -> Iterator[str]:
    """What in its configuration, which is a file of its own, keeps hooks from running."""
    features = as_object(_configuration().get("features"))
    for name in ("hooks", "codex_hooks"):
        if features.get(name) is False:
            yield f"{_file()} turns hooks off (features.{name} = false): no hook runs"


def trusted(path: Path) -> int:
    """How many hooks of a file a person trusts, as far as the configuration tells.

    Whether a hook has changed since, only Codex knows.
    """
    states = as_object(as_object(_configuration().get("hooks")).get("state"))
    names = (str(path), os.path.realpath(path))
    ours = [key for key in states if key.rsplit(":", 3)[0] in names]
    return sum("trusted_hash" in as_object(states[key]) for key in ours)


def _file() -> Path:
    return home() / "config.toml"


def _configuration() -> Object:
    try:
        return tomllib.loads(_file().read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return {}


def _hook(command: str, timeout: int) -> list[Object]:
    return [{"hooks": [{"type": "command", "command": command, "timeout": timeout}]}]
