"""What a hook told, in the board's words: the one shape that every translator makes."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Self

from callboard.events.plates import HOOK_HEARD


@dataclass(frozen=True, slots=True)
class Signal:
    """One event for a plate's stream.

    `details` are its payload, on the wire as they are here. The fold knows these keys:

    toolName, toolInput, toolUseId: of `tool_start`, `tool_call`, `permission_request`.
    subagent: the id of the subagent in which it happened, or that began or ended.
    asks: what a person is asked, in words, for `tool_start` and `permission_request`.
    error: why a turn failed, for `stop` and `stop_failure`.
    message: the agent's last words, for `stop`. prompt: a person's, for `prompt_submit`.
    background: what goes on after a `stop`: [{id, kind, description}].
    todos: the whole list, [{id, text, status}]. todo: one of it, new or changed.
    approved: how a `permission_resolved` was decided, where that is known.
    outcome, via, answers, message, source, final: what became of a request, in the words of
        `Outcome`, for `permission_resolved` and `permission_settled`; request: its question.
    handed: the hook of that request got the answer that was accepted here.
    resultAt: when the call of a `tool_start` that comes late had its result.
    interrupted: a `turn_idle` that a person brought about. reason: of a `session_end`.
    """

    name: str
    details: Mapping[str, Any] = field(default_factory=dict[str, Any])


@dataclass(frozen=True, slots=True)
class Request:
    """A question that a hook is held open for: it becomes an interaction.

    type: `permission`, `question` or `plan`.
    config: what people should see and what the vendor needs to word the decision.
    """

    type: str
    prompt: str
    config: Mapping[str, Any]
    options: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Report:
    """A hook's payload, translated.

    session_id: the client's own. pid, proc_start: the client's process, where it is known.
    at_ms: when it happened, where the sender said so. raw: the payload itself.
    continues: the session before this one, in the same process (`/clear`), is over for this.
    request: what a person could answer, if the hook is held for it.
    hold: the durable id of a hook that is held open; gone: that hook is not any more.
    delivery: the same each time that our client brings the same payload.
    """

    agent: str
    session_id: str
    signals: tuple[Signal, ...]
    raw: Any = None
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
    request: Request | None = None
    hold: str | None = None
    gone: bool = False
    delivery: str | None = None

    def having(self, details: Mapping[str, Any]) -> Self:
        """The report with further details, which were found out when it came."""
        signals = tuple(replace(one, details={**details, **one.details}) for one in self.signals)
        return replace(self, signals=signals)


def unheard(agent: str, session_id: str, raw: Any, hook: str) -> Report:
    """A hook that tells the board nothing: kept, and shown as what it is."""
    return Report(agent, session_id, (Signal(HOOK_HEARD, {"hook": hook}),), raw)
