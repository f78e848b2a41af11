"""The real Codex, in a home of its own, talking to a scripted model."""

import json
import shutil
import subprocess
from collections.abc import AsyncGenerator, Generator
from contextlib import asynccontextmanager, contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

import psutil
from tests.real_clients.home import Done, Home, installed
from tests.real_clients.model import Model
from tests.real_clients.patience import until
from tests.real_clients.terminal import Terminal

CONFIG = """
check_for_update_on_startup = false
model = "scripted"
model_provider = "scripted"

[model_providers.scripted]
name = "scripted"
base_url = "{url}/v1"
wire_api = "responses"
env_key = "SCRIPTED_KEY"

# Its sandbox makes folders such as .git in each place where commands may write. Other clients would
# take /tmp for a repository.
[sandbox_workspace_write]
exclude_slash_tmp = true
exclude_tmpdir_env_var = true
"""
TRUSTED = """
[projects."{project}"]
trust_level = "trusted"
"""
TRUST = "Trust all and continue"
"""What the first terminal offers, because nobody has looked at the hooks yet."""


@dataclass(frozen=True)
class Codex:
    """Codex, headless or in terminals."""

    home: Home
    model: Model

    def prepare(self) -> None:
        """Lead it to the model."""
        self._folder.mkdir()
        self._config.write_text(CONFIG.format(url=self.model.url), encoding="utf-8")
        self.trust(self.home.project)

    def trust(self, project: Path) -> Path:
        """Let it work in a folder without asking."""
        project.mkdir(exist_ok=True)
        with self._config.open("a", encoding="utf-8") as config:
            config.write(TRUSTED.format(project=project))
        return project

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
            env=_KEY,
        )

    @asynccontextmanager
    async def app_server(self) -> AsyncGenerator[None]:
        """Its app server, which terminals find. The first would copy 400 MB to start one."""
        process = psutil.Popen(
            [installed("codex"), "app-server", "--listen", "unix://"],
            cwd=self.home.folder,
            env=self.env,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        try:
            await until(self._socket.exists, f"{self._socket}")
            yield
        finally:
            # It does not end by itself while a permission waits.
            for program in (*process.children(recursive=True), process):
                with suppress(psutil.NoSuchProcess):
                    program.kill()
            process.wait()
            self._remove_sockets()

    def terminal(self, project: Path, *words: str, through: tuple[str, ...] = ()) -> Terminal:
        """In a terminal, as it starts by default; `through` goes before it."""
        return Terminal([*through, installed("codex"), *words], project, self.env)

    @staticmethod
    def process(terminal: Terminal) -> psutil.Process:
        """The program in a terminal, without the script that starts it."""
        programs = psutil.Process(terminal.pid).children(recursive=True)
        return next(one for one in programs if one.name() == "codex")

    @contextmanager
    def daemon(self) -> Generator[None]:
        """Ends the app server that the first terminal starts, and removes its copy of Codex."""
        try:
            yield
        finally:
            for file in (self._folder / "app-server-daemon").glob("*.pid"):
                with suppress(psutil.Error):
                    psutil.Process(json.loads(file.read_text())["pid"]).kill()
            shutil.rmtree(self._folder / "packages", ignore_errors=True)
            self._remove_sockets()

    def _remove_sockets(self) -> None:
        """Their paths are too long for sockets: they are links to temporary files."""
        links = [one for one in self._folder.glob("app-server-*/*.sock") if one.is_symlink()]
        for there in (link.readlink() for link in links):
            there.unlink(missing_ok=True)
            there.with_name(f"{there.name}.lock").unlink(missing_ok=True)

    @property
    def _socket(self) -> Path:
        return self._folder / "app-server-control" / "app-server-control.sock"

    @property
    def _folder(self) -> Path:
        return self.home.folder / ".codex"

    @property
    def _config(self) -> Path:
        return self._folder / "config.toml"

    @property
    def env(self) -> dict[str, str]:
        """The environment of its terminals."""
        return {**self.home.env, **_KEY}


_KEY = {"SCRIPTED_KEY": "scripted-key"}
