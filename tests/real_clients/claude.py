"""The real Claude Code, in a home of its own, talking to a scripted model."""

import json
import os
import signal
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tests.real_clients.home import Done, Home, installed
from tests.real_clients.model import Model
from tests.real_clients.terminal import Terminal

KEY = "scripted-key"

PROCEED = "Do you want to proceed?"
"""What the dialog of a permission says,"""
GO_AHEAD = "Would you like to proceed?"
"""and what that of a plan says."""


class ClaudeTerminal(Terminal):
    """Its terminal."""

    async def is_ready(self) -> None:
        """Wait until it takes a prompt."""
        await self.shows("❯", " mode on")


@dataclass(frozen=True)
class Claude:
    """Claude Code, headless or in a terminal."""

    home: Home
    model: Model

    def prepare(self) -> None:
        """Answer what it asks everybody once, as if somebody had."""
        known = {
            "hasCompletedOnboarding": True,
            "theme": "dark",
            "customApiKeyResponses": {"approved": [KEY], "rejected": []},
            "bypassPermissionsModeAccepted": True,
            "hasSeenAutoDefaultNudge": True,
            "projects": {str(self.home.project): {"hasTrustDialogAccepted": True}},
        }
        (self.home.folder / ".claude.json").write_text(json.dumps(known), encoding="utf-8")

    @property
    def env(self) -> dict[str, str]:
        return {
            **self.home.env,
            "ANTHROPIC_BASE_URL": self.model.url,
            "ANTHROPIC_API_KEY": KEY,
            "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1",
            "DISABLE_AUTOUPDATER": "1",
            "DISABLE_ERROR_REPORTING": "1",
            "DISABLE_TELEMETRY": "1",
            "IS_SANDBOX": "1",
        }

    async def run(self, prompt: str, *options: str) -> Done:
        """Headless: one prompt, one answer."""
        return await self.home.run(installed("claude"), *options, "-p", prompt, env=self.env)

    def terminal(self, *options: str, through: tuple[str, ...] = ()) -> ClaudeTerminal:
        """In a terminal, where every tool has to be permitted; `through` goes before it."""
        mode = () if "--permission-mode" in options else ("--permission-mode", "manual")
        command = [*through, installed("claude"), *mode, *options]
        return ClaudeTerminal(command, self.home.project, self.env)

    def kill(self, terminal: Terminal) -> None:
        """End it as a crash would."""
        os.kill(terminal.pid, signal.SIGKILL)

    @property
    def settings(self) -> Path:
        return self.home.folder / ".claude" / "settings.json"

    def configure(self, settings: Mapping[str, Any]) -> None:
        """Let these be the person's own settings."""
        self.settings.parent.mkdir(exist_ok=True)
        self.settings.write_text(json.dumps(settings), encoding="utf-8")

    def registry(self, pid: int) -> dict[str, Any]:
        """What the client tells of itself, as long as it lives."""
        file = self.home.folder / ".claude" / "sessions" / f"{pid}.json"
        return json.loads(file.read_text(encoding="utf-8")) if file.exists() else {}
