"""What a hook reported, in the one format that every translator produces."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Final, Self

from callboard.events.envelope import Json
from callboard.events.event_name import Entry
from callboard.events.payloads.plates import PlateDetails

SUBAGENT: Final = "subagent"
"""The member of a question's config that says which subagent asks, and of which agent."""


@dataclass(frozen=True, slots=True)
class HookRequest:
    """A question for which a hook is held open. It becomes an interaction.

    type: `permission`, `question` or `plan`.
    config: what people should see, and what the vendor needs for the decision.
    """

    type: str
    prompt: str
    config: Mapping[str, Json]
    options: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class RelayNumber:
    """The number of what a relay sent. Numbers of one incarnation, a relay's outbox, only grow."""

    incarnation: str
    number: int

    def __str__(self) -> str:
        """As it is stored with a plate."""
        return f"{self.incarnation}:{self.number}"

    def is_among(self, last: str) -> bool:
        """Whether it was recorded before: `last` is the last one that was, or "" if none was."""
        incarnation, _, number = last.partition(":")
        return incarnation == self.incarnation and int(number) >= self.number


@dataclass(frozen=True, slots=True)
class Report:
    """A translated hook payload.

    session_id: the client's own. pid, proc_start: the client's process, if known.
    host, host_name, boot_id: where that process runs; None for this machine.
    in_daemon: that process runs the sessions of many terminals, so only the session identifies
        this one. client_pid, client_start: the process of its terminal, if it can be found.
    signals: the events for the plate's stream. raw: the payload itself.
    at_ms: when it happened, if the sender says so.
    continues: this session replaces the one before in the same process (`/clear`).
    request: what a person could answer, if the hook is held for it.
    hold: the durable id of a hook that is held open. gone: that hook has ended.
    delivery: the same each time our client delivers the same payload.
    known: its events are recorded already, and only its question is not.
    relayed: its number in the outbox of the relay on another host that sent it.
    """

    agent: str
    session_id: str
    signals: tuple[Entry, ...]
    raw: Json = None
    project_path: str | None = None
    transcript_path: str | None = None
    git_branch: str | None = None
    tmux_target: str | None = None
    model: str | None = None
    name: str | None = None
    pid: int | None = None
    proc_start: str | None = None
    at_ms: int | None = None
    continues: bool = False
    request: HookRequest | None = None
    hold: str | None = None
    gone: bool = False
    delivery: str | None = None
    known: bool = False
    host: str | None = None
    host_name: str | None = None
    boot_id: str | None = None
    in_daemon: bool = False
    client_pid: int | None = None
    client_start: str | None = None
    relayed: RelayNumber | None = None

    def from_spool(self) -> Self:
        """The report of a hook that left it in the spool: no one waits there for an answer.

        If the hook keeps looking for a server, the id of its question shows that both are the same.
        """
        if self.gone or self.hold is None:
            return self
        return replace(self, hold=None, delivery=self.hold)

    def having(self, details: PlateDetails) -> Self:
        """The report with more details, found when it came."""
        signals = tuple(one._replace(payload={**details, **one.payload}) for one in self.signals)
        return replace(self, signals=signals)
