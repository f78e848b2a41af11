"""The coding agents that the board knows. The one table to add an agent to."""

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Final

from callboard.events.envelope import Json
from callboard.interactions.records import Interaction
from callboard.vendors.claude import decisions as claude_decisions
from callboard.vendors.claude import payloads as claude
from callboard.vendors.codex import payloads as codex
from callboard.vendors.codex.daemon import with_terminal
from callboard.vendors.gemini import payloads as gemini
from callboard.vendors.opencode import payloads as opencode
from callboard.vendors.reports import Report

# What a client calls a session stands in a command: it must be no option, and no placeholder.
_SESSION: Final = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.-]*")


@dataclass(frozen=True, slots=True)
class Vendor:
    """A coding agent: how it is understood, answered and started again.

    translate: what a raw payload tells; None for what belongs to no session. It never raises.
    decision: what a held hook gets as its answer; `{}` decides nothing.
    resuming: the command that takes up a session, without the session's id.
    has_several: one process can have several sessions at once.
    locate: completes a report by looking at its process, where that may be a daemon.
    plan_again: what the hook of a session that starts prints, to give an approved plan back.
    """

    name: str
    title: str
    translate: Callable[[Json], Report | None]
    decision: Callable[[Interaction], dict[str, Json]]
    resuming: tuple[str, ...]
    has_several: bool = False
    locate: Callable[[Report], Report] | None = None
    plan_again: Callable[[str], dict[str, Json]] | None = None

    def resume(self, session_id: str) -> list[str]:
        """The command that takes up a session again; empty when there is none to take up."""
        if not _SESSION.fullmatch(session_id):
            return []
        return [*self.resuming, session_id]


VENDORS: Final[Mapping[str, Vendor]] = {
    vendor.name: vendor
    for vendor in (
        Vendor(
            claude.NAME,
            "Claude Code",
            claude.translate,
            claude_decisions.decision,
            ("claude", "--resume"),
            plan_again=claude_decisions.plan_again,
        ),
        Vendor(
            codex.NAME,
            "Codex",
            codex.translate,
            codex.decision,
            ("codex", "resume"),
            locate=with_terminal,
        ),
        Vendor(
            gemini.NAME, "Gemini CLI", gemini.translate, gemini.decision, ("gemini", "--resume")
        ),
        Vendor(
            opencode.NAME,
            "opencode",
            opencode.translate,
            opencode.decision,
            ("opencode", "--session"),
            has_several=True,
        ),
    )
}
