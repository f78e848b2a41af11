"""The coding agents that the board supports. Add a new agent to this table."""

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from callboard.events.envelope import Json
from callboard.vendors.acp import payloads as acp
from callboard.vendors.claude import decisions as claude_decisions
from callboard.vendors.claude import payloads as claude
from callboard.vendors.codex import payloads as codex
from callboard.vendors.codex.daemon import with_terminal
from callboard.vendors.gemini import payloads as gemini
from callboard.vendors.opencode import payloads as opencode
from callboard.vendors.reports import Report

if TYPE_CHECKING:
    from callboard.interactions.records import Interaction

# A session id is used in a command: it must not be an option or a placeholder.
_SESSION: Final = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.-]*")


@dataclass(frozen=True, slots=True)
class Vendor:
    """A coding agent: how to understand, answer and resume it.

    translate: the report in a raw payload; None if it belongs to no session. It never raises.
    decision: the answer to a held hook; `{}` decides nothing. undecided: the answer if its question
        was closed without one.
    resuming: the command that resumes a session, without the session's id.
    has_several: one process can have several sessions at once.
    locate: completes a report by looking at its process, if that may be a daemon.
    is_logged: its conversation is in the log, because it has no transcript that could be read.
    plan_again: what the hook of a starting session prints to return an approved plan.
    """

    name: str
    title: str
    translate: Callable[[Json], Report | None]
    decision: "Callable[[Interaction], dict[str, Json]]"
    resuming: tuple[str, ...]
    undecided: Mapping[str, Json] | None = None
    has_several: bool = False
    locate: Callable[[Report], Report] | None = None
    plan_again: Callable[[str], dict[str, Json]] | None = None
    is_logged: bool = False

    def printed(self, asked: "Interaction") -> Mapping[str, Json]:
        """What a hook prints that was held for a question which is closed now."""
        return self.decision(asked) if asked.for_agent is not None else self.undecided or {}

    def resume(self, session_id: str) -> list[str]:
        """The command that resumes a session; empty if it can't be resumed."""
        if not self.resuming or not _SESSION.fullmatch(session_id):
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
        Vendor(
            acp.NAME,
            "ACP agent",
            acp.translate,
            acp.decision,
            (),
            undecided=acp.UNDECIDED,
            is_logged=True,
        ),
    )
}
