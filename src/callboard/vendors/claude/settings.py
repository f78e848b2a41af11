"""Claude Code's settings: its hooks, and the rules that keep it away from our files.

In a project, ours go into `settings.local.json`: they contain paths of this machine, and the client
keeps that file out of git by itself.
"""

import os
import re
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Final

from callboard.events.envelope import Json
from callboard.events.json_values import Object, as_object, is_list
from callboard.vendors.claude.home import home
from callboard.vendors.settings.commands import (
    TOKEN_VARIABLE,
    calling,
    scripted,
    spooling,
)
from callboard.vendors.settings.hook_documents import (
    DocumentSettings,
    Groups,
    HookSettings,
    Steps,
    document,
)
from callboard.vendors.settings.installing import InstallPlan, Scope

EVENTS: Final = (
    "UserPromptSubmit",
    "PreToolUse",
    "PostToolUse",
    "PostToolUseFailure",
    "Notification",
    "Stop",
    "StopFailure",
    "SubagentStart",
    "SubagentStop",
    "SessionEnd",
    "PreCompact",
    "PostCompact",
    "TaskCreated",
    "TaskCompleted",
)
"""Events to report as they happen. SessionStart and PermissionRequest have different hooks."""

MANAGED: Final = (
    Path("/etc/claude-code/managed-settings.json"),
    Path("/Library/Application Support/ClaudeCode/managed-settings.json"),
    # A Mac that is managed has them as preferences: for everyone, or for one person.
    Path("/Library/Managed Preferences/com.anthropic.claudecode.plist"),
    Path("/Library/Managed Preferences", Path.home().name, "com.anthropic.claudecode.plist"),
)
"""An administrator's settings, which nothing overrides."""

_STATUS_SCRIPT: Final = Path(__file__).parents[2] / "statusfiles" / "hook.py"
"""The script that updates status files of delegated work, without a server."""
_AGENT_TOOLS: Final = "Agent|Task|SubagentTask|AgentTask"
"""The agent tool's current name and earlier ones."""
_STATUS_EVENTS: Final = {
    "SessionStart": None,
    "UserPromptSubmit": None,
    "PreToolUse": _AGENT_TOOLS,
    "PostToolUse": f"{_AGENT_TOOLS}|TodoWrite|TaskCreate|TaskUpdate|TaskList",
    "PostToolUseFailure": _AGENT_TOOLS,
    "SubagentStop": None,
    "TaskCompleted": None,
}
"""Each event, with the tools for which the script runs."""

_SOON = 10
_A_DAY = 86_400
_COMMANDS = ("answer", "attend", "decision", "hooks", "open", "service", "token")
_MODULES = ("python -m callboard", "python3 -m callboard")
_AGENT = "claude"


class ClaudeSettings(DocumentSettings):
    """Claude Code's settings."""

    agent = _AGENT

    def place(self, scope: Scope, project: Path) -> Path:
        """The file: the person's own, or the project's that isn't shared."""
        if scope == "project":
            return project / ".claude" / "settings.local.json"
        return home() / "settings.json"

    def wanted(self, plan: InstallPlan) -> HookSettings:
        """Our hooks and rules, and the token if hooks need one."""
        hooks: Groups = {event: [{"hooks": [_telling(plan)]}] for event in EVENTS}
        start = _command(calling(plan.folder, _AGENT), _SOON)
        hooks["SessionStart"] = [{"hooks": [start]}]
        hooks["PermissionRequest"] = [{"hooks": [_asking(plan)]}]
        if plan.status_files:
            handler = _command(scripted(_STATUS_SCRIPT), _SOON)
            for event, tools in _STATUS_EVENTS.items():
                matcher = {"matcher": tools} if tools else {}
                hooks[event].append({**matcher, "hooks": [handler]})
        wanted: HookSettings = {"hooks": hooks, "permissions": {"deny": denied(plan)}}
        if plan.transport == "http":
            wanted["env"] = {TOKEN_VARIABLE: plan.token}
        return wanted

    def owns(self, steps: Steps, value: Json, folders: frozenset[Path]) -> bool:
        """Whether it is one of our rules, or our token."""
        if steps == ("env", TOKEN_VARIABLE):
            return True
        if steps[:2] != ("permissions", "deny") or not isinstance(value, str):
            return False
        return value in _denied_commands() or any(_denies(value, one) for one in folders)


def denied(plan: InstallPlan) -> list[str]:
    """What an agent may not do: answer for the person, or read what would let it.

    The agent runs as the same user, so these rules are guardrails: it could work around them.
    """
    database = _absolute(plan.database)
    # Not the database's whole folder: that may be the project.
    paths = (f"/{database}*", f"/{_absolute(plan.folder)}/**")
    files = [f"{tool}({path})" for path in paths for tool in ("Read", "Edit")]
    # Files of interactive sessions: an agent is given some of them to read.
    attended = f"Edit(/{database.with_name('attend-' + database.name)}/**)"
    return [*_denied_commands(), *files, attended]


def has_status_hooks(text: str | None) -> bool:
    """Whether the settings have hooks for status files, in any version."""
    return text is not None and "/statusfiles/hook.py" in text


def obstacles(text: str, managed: Sequence[Path] = MANAGED) -> Iterator[str]:
    """What in these settings, or an administrator's, keeps our hooks from running."""
    value = document(text)
    if value.get("disableAllHooks") is True:
        yield "disableAllHooks is true: no hook runs until you remove it"
    for path in managed:
        yield from _policies(path)


def http_obstacles(text: str, url: str) -> Iterator[str]:
    """What in these settings keeps HTTP hooks from running."""
    value = document(text)
    urls, names = value.get("allowedHttpHookUrls"), value.get("httpHookAllowedEnvVars")
    if is_list(urls) and not any(_fits(one, url) for one in urls):
        yield f"allowedHttpHookUrls does not have {url}: add it, or use another --transport"
    if is_list(names) and TOKEN_VARIABLE not in names:
        yield f"httpHookAllowedEnvVars does not have {TOKEN_VARIABLE}: add it"


def _policies(path: Path) -> Iterator[str]:
    try:
        value = _managed(path)
    except Exception:  # Errors in it are the administrator's concern.
        return
    for name in ("allowManagedHooksOnly", "disableAllHooks"):
        if value.get(name) is True:
            yield f"{path} sets {name}: your administrator doesn't allow your own hooks"


def _managed(path: Path) -> Object:
    if path.suffix != ".plist":
        return document(path.read_text(encoding="utf-8"))
    import plistlib  # Only on a Mac that is managed.

    return as_object(plistlib.loads(path.read_bytes()))


def _fits(pattern: Json, url: str) -> bool:
    parts = [re.escape(part) for part in str(pattern).split("*")]
    return re.fullmatch(".*".join(parts), url) is not None


def _telling(plan: InstallPlan) -> Object:
    if plan.transport == "http":
        return {
            "type": "http",
            "url": f"http://127.0.0.1:{plan.port}/hooks/{_AGENT}",
            "headers": {"Authorization": f"Bearer ${TOKEN_VARIABLE}"},
            "allowedEnvVars": [TOKEN_VARIABLE],
            "timeout": _SOON,
        }
    if plan.transport == "command":
        return _command(calling(plan.folder, _AGENT), _SOON)
    return _command(spooling(plan.folder, _AGENT), _SOON)


def _asking(plan: InstallPlan) -> Object:
    """The client's own dialog stays open during a held hook, so it may be held for long."""
    if plan.answers is not False:
        return _command(calling(plan.folder, _AGENT, hold=True), _A_DAY)
    if plan.transport == "spool":
        return _command(spooling(plan.folder, _AGENT), _SOON)
    return _command(calling(plan.folder, _AGENT), _SOON)


def _command(command: str, timeout: int) -> Object:
    return {"type": "command", "command": command, "timeout": timeout}


def _denied_commands() -> list[str]:
    commands = [*(f"callboard {name}" for name in _COMMANDS), *_MODULES]
    return [f"Bash({command}:*)" for command in commands]


def _denies(rule: str, folder: Path) -> bool:
    """Whether a rule is about a hooks folder or its database."""
    beside = re.escape(f"/{_absolute(folder).parent}")
    own = re.escape(f"/{_absolute(folder)}")
    paths = rf"{own}/\*\*|{beside}/[^/]+\*|{beside}/attend-[^/]+/\*\*"
    return re.fullmatch(rf"(Read|Edit)\(({paths})\)", rule) is not None


def _absolute(path: Path) -> Path:
    return Path(os.path.normpath(path.absolute()))
