"""Gemini CLI's settings: its hooks, which count their timeouts in milliseconds."""

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
"""What is told as it happens: not every call of the model, of which there are many."""

_NAME = "callboard"
_SOON = 10_000
_AGENT = "gemini"


class GeminiSettings(DocumentSettings):
    """What Gemini CLI's settings need."""

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
    """Where Gemini CLI keeps what is the person's."""
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
