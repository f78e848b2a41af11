"""The real Gemini CLI in a home of its own, talking to a scripted model."""

import json
from dataclasses import dataclass

from tests.real_clients.home import Done, Home, installed
from tests.real_clients.model import Model
from tests.real_clients.terminal import Terminal

SETTINGS = {
    "security": {"auth": {"selectedType": "gemini-api-key"}, "folderTrust": {"enabled": False}},
    "telemetry": {"enabled": False},
    "privacy": {"usageStatisticsEnabled": False},
    "model": {"name": "gemini-2.5-flash"},
    "general": {"enableAutoUpdate": False, "enableAutoUpdateNotification": False},
}


@dataclass(frozen=True)
class Gemini:
    """`gemini`, with or without `-p`."""

    home: Home
    model: Model

    def prepare(self) -> None:
        """Answer what it asks everybody once. Unnamed, its model would be chosen by another."""
        folder = self.home.folder / ".gemini"
        folder.mkdir()
        (folder / "settings.json").write_text(json.dumps(SETTINGS), encoding="utf-8")

    async def run(self, prompt: str, *options: str) -> Done:
        """One prompt, one answer, every tool allowed."""
        return await self.home.run(*self.command, *options, "-p", prompt, env=self.env)

    def terminal(
        self, *options: str, asks: bool = False, through: tuple[str, ...] = ()
    ) -> Terminal:
        """In a terminal, every tool allowed; asks: none is. `through` goes before it."""
        words = [one for one in self.command if not asks or "yolo" not in one]
        command = [*through, *words, *options]
        return Terminal(command, self.home.project, {**self.home.env, **self.env})

    @property
    def command(self) -> tuple[str, ...]:
        return (installed("gemini"), "--approval-mode=yolo")

    @property
    def env(self) -> dict[str, str]:
        return {
            "GEMINI_API_KEY": "scripted-key",
            "GOOGLE_GEMINI_BASE_URL": self.model.url,
            "GEMINI_CLI_TRUST_WORKSPACE": "true",
        }
