"""The real opencode, in a home of its own, talking to a scripted model."""

import json
import shutil
from dataclasses import dataclass

from tests.real_clients.home import CLIENTS, Done, Home, installed
from tests.real_clients.model import Model
from tests.real_clients.terminal import Terminal

MODEL = "anthropic/claude-sonnet-4-5"


@dataclass(frozen=True)
class Opencode:
    """`opencode run`, or in a terminal."""

    home: Home
    model: Model

    def prepare(self) -> None:
        """Lead it to the model, and give it what it would else fetch for its plugins."""
        folder = self.home.folder / ".config" / "opencode"
        shutil.copytree(CLIENTS / "opencode", folder, symlinks=True)
        options = {"baseURL": f"{self.model.url}/v1", "apiKey": "scripted-key"}
        config = {
            "provider": {"anthropic": {"options": options}},
            "model": MODEL,
            "small_model": MODEL,
            "autoupdate": False,
            "share": "disabled",
        }
        (folder / "opencode.json").write_text(json.dumps(config), encoding="utf-8")

    async def run(self, prompt: str, *options: str) -> Done:
        """One prompt, one answer."""
        return await self.home.run(
            installed("opencode"),
            "run",
            *options,
            prompt,
            env=OFFLINE,
        )

    def terminal(self, *options: str, asks: bool = False) -> Terminal:
        """In a terminal. asks: its shell has to be permitted."""
        env = {**self.env, **(ASKS if asks else {})}
        return Terminal([installed("opencode"), *options], self.home.project, env)

    @property
    def env(self) -> dict[str, str]:
        """The environment of its terminals."""
        return {**self.home.env, **OFFLINE}


OFFLINE = {
    "OPENCODE_DISABLE_AUTOUPDATE": "1",
    "OPENCODE_DISABLE_DEFAULT_PLUGINS": "1",
    "OPENCODE_DISABLE_LSP_DOWNLOAD": "1",
    "OPENCODE_DISABLE_MODELS_FETCH": "1",
}
ASKS = {"OPENCODE_PERMISSION": json.dumps({"bash": "ask"})}
