"""The real Codex, headless, in a home of its own, talking to a scripted model."""

from dataclasses import dataclass

from tests.real_clients.home import Done, Home, installed
from tests.real_clients.model import Model

CONFIG = """
model = "scripted"
model_provider = "scripted"

[model_providers.scripted]
name = "scripted"
base_url = "{url}/v1"
wire_api = "responses"
env_key = "SCRIPTED_KEY"

[projects."{project}"]
trust_level = "trusted"
"""


@dataclass(frozen=True)
class Codex:
    """`codex exec`."""

    home: Home
    model: Model

    def prepare(self) -> None:
        """Lead it to the model."""
        folder = self.home.folder / ".codex"
        folder.mkdir()
        config = CONFIG.format(url=self.model.url, project=self.home.project)
        (folder / "config.toml").write_text(config, encoding="utf-8")

    async def run(self, prompt: str, *options: str) -> Done:
        """One prompt, one answer. Whoever installs hooks trusts them once; here nobody is asked."""
        return await self.home.run(
            installed("codex"),
            "exec",
            "--skip-git-repo-check",
            "--dangerously-bypass-hook-trust",
            "--sandbox=danger-full-access",
            *options,
            prompt,
            env={"SCRIPTED_KEY": "scripted-key"},
        )
