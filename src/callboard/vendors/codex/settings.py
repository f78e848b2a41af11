"""Codex's hooks: `hooks.json` next to its configuration, in Claude Code's format.

Codex doesn't run a hook before a person has reviewed and trusted it, and asks again when it
changes.
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
"""Events to report as they happen. SessionStart and PermissionRequest have different hooks."""

TRUST: Final = "Codex runs them only after you trust them: start codex, type /hooks, look at them."

_SOON = 10
_SHORT = ("Interrupt", "SessionEnd")
_AT_ONCE = 3
"""Codex allows these hooks no more than this, and warns about more at every start."""
_A_WHILE = 600
_AGENT = "codex"


class CodexSettings(DocumentSettings):
    """Codex's settings."""

    agent = _AGENT

    def place(self, scope: Scope, project: Path) -> Path:
        """The file: the person's own, or the project's."""
        return (project / ".codex" if scope == "project" else home()) / "hooks.json"

    def wanted(self, plan: InstallPlan) -> HookSettings:
        """Our hooks. Codex supports only commands, and runs them in the person's own shell."""
        told = spooling if plan.transport == "spool" else calling
        telling = in_sh(told(plan.folder, _AGENT))
        hooks: Groups = {
            event: _hook(telling, _AT_ONCE if event in _SHORT else _SOON) for event in EVENTS
        }
        hooks["SessionStart"] = _hook(in_sh(calling(plan.folder, _AGENT)), _SOON)
        # Codex asks its person only after this hook has ended, so holding it delays the dialog. It
        # is held only if that was requested, and not for long.
        asking = in_sh(calling(plan.folder, _AGENT, hold=True)) if plan.answers else telling
        hooks["PermissionRequest"] = _hook(asking, _A_WHILE if plan.answers else _SOON)
        return {"hooks": hooks}


def home() -> Path:
    """Codex's folder for the person's own files."""
    given = os.environ.get("CODEX_HOME")
    return Path(given).expanduser() if given else Path.home() / ".codex"


def obstacles(text: str) -> Iterator[str]:
    """What in its configuration, which is a separate file, keeps hooks from running."""
    features = as_object(_configuration().get("features"))
    for name in ("hooks", "codex_hooks"):
        if features.get(name) is False:
            yield f"{_file()} turns hooks off (features.{name} = false): no hook runs"


def trusted(path: Path) -> int:
    """How many hooks of a file a person trusts, according to the configuration.

    Only Codex knows whether a hook has changed since.
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
