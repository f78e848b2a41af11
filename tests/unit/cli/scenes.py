"""Sessions told by hand: events at whole seconds, and the situation they lead to."""

from datetime import UTC, datetime, timedelta
from typing import Any

from tests.interactions import interaction

from callboard.cli.diagnosis import Situation
from callboard.cli.targets import Database
from callboard.engine.sessions import SessionInfo
from callboard.events import names
from callboard.events.envelope import Event
from callboard.events.moments import from_ms, to_ms
from callboard.interactions.records import Interaction
from callboard.log.protocol import Lease
from callboard.state.fold import fold

NOON = datetime(2026, 1, 31, 12, 0, tzinfo=UTC)
RUN = {"agent": "planner", "phase": "plan", "visit": 1, "run": "plan#1", "attempt": 1}
BOOM = {"code": "AGENT_ERROR", "type": "ValueError", "message": "boom"}


class Story:
    """Events in a row, each some seconds after the one before."""

    def __init__(self) -> None:
        self.events: list[Event] = []
        self._at = NOON
        self.then(0, names.STARTED, workflow="trip", input="Rome", initialState={"city": ""})

    def then(self, seconds: float, name: str, /, **payload: Any) -> "Story":
        self._at += timedelta(seconds=seconds)
        position = len(self.events) + 1
        self.events.append(Event(f"e{position}", "s1", position, name, 1, payload, to_ms(self._at)))
        return self

    def enter(self, phase: str = "plan", visit: int = 1) -> "Story":
        return self.then(0, names.PHASE_ENTERED, phase=phase, visit=visit)

    def leave(self, phase: str, after: float = 1, **payload: Any) -> "Story":
        return self.then(after, names.PHASE_EXITED, **{"phase": phase, "visit": 1, **payload})

    def start(self, **payload: Any) -> "Story":
        return self.then(0, names.AGENT_STARTED, **{**RUN, **payload})

    def complete(self, after: float = 2, **payload: Any) -> "Story":
        made = {"output": None, "durationMs": round(after * 1000)}
        return self.then(after, names.AGENT_COMPLETED, **{**RUN, **made, **payload})

    def ask(self, id: str = "q1", **payload: Any) -> "Story":
        question = {"id": id, "type": "approval", "prompt": "Go?", "phase": "plan", "inline": True}
        return self.then(0, names.REQUESTED, **{**question, **payload})

    def situation(
        self,
        *,
        owner: str | None = None,
        alive: bool = False,
        later: float = 60,
        watched: bool = False,
    ) -> Situation:
        """How the session stands some seconds after its last event."""
        view = fold(self.events)
        paused = [event for event in self.events if event.name == names.PAUSED]
        return Situation(
            info=self._info(running=alive),
            view=view,
            lease=Lease(owner, 1, 0, alive),
            pause=paused[-1] if view.paused else None,
            now_ms=to_ms(self._at + timedelta(seconds=later)),
            command=Database("t.db").command,
            watched=watched,
        )

    def _info(self, *, running: bool) -> SessionInfo:
        view = fold(self.events)
        return SessionInfo(
            session_id="s1",
            workflow="trip",
            version=None,
            status=view.status,
            running=running,
            phase=view.phase,
            position=view.position,
            created_at=from_ms(view.created_at),
            updated_at=from_ms(view.updated_at),
            parent=None,
            fork_position=None,
            pending=[self._interaction(asked) for asked in view.pending()],
            error=view.error,
            held=view.held,
            source=None,
            pending_count=len(view.pending()),
        )

    def _interaction(self, asked: Any) -> Interaction:
        return interaction(
            id=asked.id,
            type=asked.type,
            prompt=asked.prompt,
            options=asked.options,
            deadline=None if asked.deadline is None else from_ms(asked.deadline),
        )
