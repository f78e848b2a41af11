"""The coding agents that hooks can be installed for: all that the board supports."""

import shutil
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Final, Literal

from callboard.vendors.agents import VENDORS
from callboard.vendors.claude import settings as claude
from callboard.vendors.codex import settings as codex
from callboard.vendors.gemini import settings as gemini
from callboard.vendors.opencode import settings as opencode
from callboard.vendors.settings.installing import (
    AgentSettings,
    InstallPlan,
    InstallState,
    Transport,
)

HooksState = Literal["current", "outdated", "elsewhere", "unusable"]
"""elsewhere: they report to another database. unusable: the settings can't be read."""


@dataclass(frozen=True, slots=True)
class Installable:
    """An agent whose hooks we can install.

    home: its folder for the person's own files. transports: how its hooks can reach a server.
    obstacles: what in its settings keeps hooks from running. remark: what else a person has to do.
    """

    settings: AgentSettings
    home: Callable[[], Path]
    transports: tuple[Transport, ...]
    obstacles: Callable[[str], Iterator[str]] = lambda text: iter(())
    remark: str | None = None

    @property
    def name(self) -> str:
        """Its name on the command line, and its own command."""
        return self.settings.agent

    @property
    def title(self) -> str:
        """Its name for people."""
        return VENDORS[self.name].title

    @property
    def is_here(self) -> bool:
        """Whether it is installed or was used on this machine."""
        return shutil.which(self.name) is not None or self.home().is_dir()

    def state(self, text: str, standing: InstallState, database: Path, folder: Path) -> HooksState:
        """The state of our hooks in a settings file, for a database and its hooks folder."""
        if standing.folder is not None and standing.folder != folder:
            return "elsewhere"
        plan = InstallPlan(
            folder=folder,
            database=database.absolute(),
            transport=standing.transport,
            answers=standing.answers,
            port=standing.port or 2255,
            token=standing.token,
            status_files=claude.has_status_hooks(text),
        )
        return "current" if self.settings.is_current(text, plan) else "outdated"


INSTALLABLE: Final[Mapping[str, Installable]] = {
    one.name: one
    for one in (
        Installable(
            claude.ClaudeSettings(), claude.home, ("spool", "command", "http"), claude.obstacles
        ),
        Installable(
            codex.CodexSettings(),
            codex.home,
            ("spool", "command"),
            codex.obstacles,
            codex.TRUST,
        ),
        Installable(gemini.GeminiSettings(), gemini.home, ("spool", "command"), gemini.obstacles),
        Installable(opencode.OpencodeSettings(), opencode.home, ("spool",)),
    )
}
