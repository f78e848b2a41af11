"""What a hook reported: the one shape that every translator makes."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Self

from callboard.events.envelope import Json
from callboard.events.event_name import Entry
from callboard.events.payloads.plates import PlateDetails


@dataclass(frozen=True, slots=True)
class HookRequest:
    """A question that a hook is held open for: it becomes an interaction.

    type: `permission`, `question` or `plan`.
    config: what people should see and what the vendor needs to word the decision.
    """

    type: str
    prompt: str
    config: Mapping[str, Json]
    options: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Report:
    """A hook's payload, translated.

    session_id: the client's own. pid, proc_start: the client's process, where it is known.
    host, host_name, boot_id: where that process runs; None for where this is heard.
    in_daemon: that process runs the sessions of many terminals, so only the session says whose
    this is. client_pid, client_start: the process of its terminal, where it can be found.
    signals: the events for the plate's stream. raw: the payload itself.
    at_ms: when it happened, where the sender said so.
    continues: the session before this one, in the same process (`/clear`), is over for this.
    request: what a person could answer, if the hook is held for it.
    hold: the durable id of a hook that is held open; gone: that hook is not any more.
    delivery: the same each time that our client brings the same payload.
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
    host: str | None = None
    host_name: str | None = None
    boot_id: str | None = None
    in_daemon: bool = False
    client_pid: int | None = None
    client_start: str | None = None

    def having(self, details: PlateDetails) -> Self:
        """The report with further details, which were found out when it came."""
        signals = tuple(one._replace(payload={**details, **one.payload}) for one in self.signals)
        return replace(self, signals=signals)
