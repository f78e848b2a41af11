"""Gemini CLI's settings: its hooks, whose timeouts are in milliseconds."""

from collections.abc import Iterator
from pathlib import Path
from typing import Final

from callboard.events.json_values import Object, as_list, as_object
from callboard.vendors.settings.commands import calling, spooling
from callboard.vendors.settings.hook_documents import (
    DocumentSettings,
    HookSettings,
    document,
)
from callboard.vendors.settings.installing import InstallPlan, Scope

EVENTS: Final = (
    "BeforeAgent",
    "AfterAgent",
    "BeforeTool",
    "AfterTool",
    "Notification",
    "SessionEnd",
)
"""Events to report as they happen. Model calls are left out, because there are too many."""

_NAME = "callboard"
_SOON = 10_000
_AGENT = "gemini"


class GeminiSettings(DocumentSettings):
    """Gemini CLI's settings."""

    agent = _AGENT

    def place(self, scope: Scope, project: Path) -> Path:
        """The file: the person's own, or the project's."""
        return (project / ".gemini" if scope == "project" else home()) / "settings.json"

    def wanted(self, plan: InstallPlan) -> HookSettings:
        """Our hooks. None can answer, so none is held."""
        told = spooling if plan.transport == "spool" else calling
        hooks = {event: _hook(told(plan.folder, _AGENT)) for event in EVENTS}
        return {"hooks": {**hooks, "SessionStart": _hook(calling(plan.folder, _AGENT))}}


def home() -> Path:
    """Gemini CLI's folder for the person's own files."""
    return Path.home() / ".gemini"


def obstacles(text: str) -> Iterator[str]:
    """What in these settings keeps our hooks from running."""
    value = document(text)
    for section in ("hooksConfig", "hooks", "tools"):
        chosen = as_object(value.get(section))
        switch = "enableHooks" if section == "tools" else "enabled"
        if chosen.get(switch) is False:
            yield f"{section}.{switch} is false: no hook runs until you remove it"
        if section != "tools" and _NAME in as_list(chosen.get("disabled")):
            yield f"{section}.disabled names {_NAME}: our hooks do not run until you remove it"


def _hook(command: str) -> list[Object]:
    handler = {"type": "command", "command": command, "timeout": _SOON, "name": _NAME}
    return [{"hooks": [handler]}]
