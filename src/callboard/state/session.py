"""What is known about one session: its state, and where its workflow is.

Everything here is folded from events (`callboard.state.fold`) and nothing else, so every prefix of
a session has a view.
"""

from dataclasses import dataclass, field, replace
from typing import Annotated, Any

from callboard.events.failures import ErrorDescription
from callboard.events.payloads.workflow import WorkflowPausingPayload
from callboard.events.status import Status, status_of
from callboard.state.unfinished import Unfinished
from callboard.state.visits import AsItIs, Asked, Run, Visit


class _Indexed:
    """Has an index that doesn't count in comparisons."""

    __slots__ = ("open",)

    open: Unfinished


@dataclass(slots=True)
class SessionView(_Indexed):
    """A session's view, folded from its events up to `position`.

    `open` is what still has to be done. It follows from the rest, and the fold maintains it.
    """

    session_id: str = ""
    position: int = 0
    state: Any = None
    workflow: str = ""
    version: str | None = None
    source: dict[str, str] | None = None
    parent: str | None = None
    fork_position: int | None = None
    created_at: int = 0
    updated_at: int = 0
    visit: Visit | None = None
    visits: dict[str, int] = field(default_factory=dict[str, int])
    last_phase: str | None = None
    next_phase: str | None = None
    exit_phase: str | None = None
    questions: dict[str, Asked] = field(default_factory=dict[str, Asked])
    tasks: dict[str, str] = field(default_factory=dict[str, str])
    pausing: Annotated[WorkflowPausingPayload | None, AsItIs] = None
    paused: bool = False
    ended: str | None = None
    error: Annotated[ErrorDescription | None, AsItIs] = None
    held: str | None = None
    untouched: bool = False
    """Whether it is a fork in which nothing has happened yet."""

    def __post_init__(self) -> None:
        self.open = Unfinished()

    @property
    def status(self) -> Status:
        """The session's status."""
        return status_of(
            ended=self.ended,
            paused=self.paused,
            questions=len(self.open.questions),
            entered=self.last_phase is not None,
        )

    @property
    def phase(self) -> str | None:
        """The current phase, or the last one."""
        return self.visit.phase if self.visit else self.last_phase

    def pending(self) -> list[Asked]:
        """The open questions, oldest first."""
        return list(self.open.questions.values())

    def in_flight(self) -> dict[str, Run]:
        """The runs that have started and not ended."""
        return dict(self.open.running)

    def copy(self) -> "SessionView":
        """A view that can be folded further without changing this one.

        The state and other content of events is shared, because no fold changes it in place.
        """
        visit = self.visit
        made = replace(
            self,
            visit=None if visit is None else visit.copy(),
            visits=dict(self.visits),
            questions={id: replace(asked) for id, asked in self.questions.items()},
            tasks=dict(self.tasks),
        )
        made.open.rebuild(made.questions, made.visit)
        return made
