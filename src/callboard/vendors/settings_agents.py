"""The coding agents that hooks can be installed into: all that the board knows."""

import shutil
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from callboard.vendors.agents import VENDORS
from callboard.vendors.claude import settings as claude
from callboard.vendors.codex import settings as codex
from callboard.vendors.gemini import settings as gemini
from callboard.vendors.opencode import settings as opencode
from callboard.vendors.settings import AgentSettings, Transport


@dataclass(frozen=True, slots=True)
class Installable:
    """An agent whose hooks we can install.

    program: its command. home: where it keeps what is the person's. transports: how its hooks
    can reach a server. obstacles: what in its settings keeps hooks from running. remark: what a
    person has to do besides.
    """

    program: str
    settings: AgentSettings
    home: Callable[[], Path]
    transports: tuple[Transport, ...]
    obstacles: Callable[[str], Iterator[str]]
    remark: str | None = None

    @property
    def name(self) -> str:
        """How it is called on the command line."""
        return self.settings.agent

    @property
    def title(self) -> str:
        """How people call it."""
        return VENDORS[self.name].title

    @property
    def is_here(self) -> bool:
        """Whether it is installed on this machine, or was used here."""
        return shutil.which(self.program) is not None or self.home().is_dir()


def _without_text(look: Callable[[], Iterator[str]]) -> Callable[[str], Iterator[str]]:
    return lambda text: look()


def _nothing(text: str) -> Iterator[str]:
    return iter(())


INSTALLABLE: Final[Mapping[str, Installable]] = {
    one.name: one
    for one in (
        Installable(
            "claude",
            claude.settings(),
            claude.home,
            ("spool", "command", "http"),
            claude.obstacles,
        ),
        Installable(
            "codex",
            codex.settings(),
            codex.home,
            ("spool", "command"),
            _without_text(codex.obstacles),
            codex.TRUST,
        ),
        Installable(
            "gemini",
            gemini.settings(),
            gemini.home,
            ("spool", "command"),
            gemini.obstacles,
        ),
        Installable("opencode", opencode.settings(), opencode.home, ("spool",), _nothing),
    )
}
