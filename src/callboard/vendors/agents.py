"""The coding agents that the board knows. The one table to add an agent to."""

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Final

from callboard.interactions.records import Interaction
from callboard.vendors.claude import decisions as claude_decisions
from callboard.vendors.claude import payloads as claude
from callboard.vendors.codex import payloads as codex
from callboard.vendors.gemini import payloads as gemini
from callboard.vendors.opencode import decisions as opencode_decisions
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
    """

    name: str
    title: str
    translate: Callable[[Any], Report | None]
    decision: Callable[[Interaction], dict[str, Any]]
    resuming: tuple[str, ...]
    has_several: bool = False

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
        ),
        Vendor(codex.NAME, "Codex", codex.translate, codex.decision, ("codex", "resume")),
        Vendor(
            gemini.NAME, "Gemini CLI", gemini.translate, gemini.decision, ("gemini", "--resume")
        ),
        Vendor(
            opencode.NAME,
            "opencode",
            opencode.translate,
            opencode_decisions.decision,
            ("opencode", "--session"),
            has_several=True,
        ),
    )
}
