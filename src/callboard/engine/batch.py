"""Events that will be committed together, applied to the view as they are added.

Deciding needs to see what has just been decided. If the commit then meets a conflict, the view
is loaded again and the batch is built anew.
"""

from collections.abc import Callable, Mapping
from typing import Any

from callboard.clock import Clock
from callboard.engine.references import refer
from callboard.errors import EditInvalid
from callboard.events import names
from callboard.events.envelope import Event, NewEvent
from callboard.ids import event_id
from callboard.state.draft import change
from callboard.state.draft import view as lend
from callboard.state.fold import apply
from callboard.state.patch import Patch, diff
from callboard.state.session import SessionView
from callboard.state.shape import StateType
from callboard.state.undo import Undo


class Batch:
    """New events of one session, and the view and live state after them."""

    def __init__(self, session: SessionView, clock: Clock, cause: str | None = None) -> None:
        self.view = session
        self.events: list[NewEvent] = []
        self.placed: list[Event] = []
        self.now = clock.now_ms()
        self.has_checkpoint = False
        self._cause = cause
        self._undo = Undo(session)

    def add(
        self,
        name: str,
        payload: Mapping[str, Any],
        *,
        cause: str | None = None,
        outputs: Mapping[int, int] | None = None,
    ) -> Event:
        """Add an event; unless told otherwise, the one before it is its cause."""
        id = payload.get("intentId") or event_id()
        view, now, cause = self.view, self.now, cause or self._cause
        new = NewEvent(id, name, payload, now, 1, cause, outputs)
        event = Event(id, view.session_id, view.position + 1, name, 1, payload, now, cause)
        self._undo.before(event)
        apply(view, event)
        self.events.append(new)
        self.placed.append(event)
        if name == names.CHECKPOINT:
            self.has_checkpoint = True
        self._cause = id
        return event

    def take_back(self) -> None:
        """Let the view be what it was before the first event: none of them was written."""
        self._undo.take_back()


class LiveState:
    """The state as users' functions see it: typed, and always what a reload would give."""

    def __init__(self, state_type: StateType, session: SessionView) -> None:
        self._type = state_type
        self._session = session
        self._live: Any = None
        self._loaded = False

    def read(self) -> Any:
        """The state for someone who only reads it."""
        return lend(self._type, self._current())

    def change(
        self,
        batch: Batch,
        function: Callable[[Any], Any],
        *,
        reason: str,
        outputs: Mapping[int, Any] | None = None,
    ) -> None:
        """Run a function on a draft and record what it changed.

        `outputs`: position → output of agents, which patches may refer to instead of repeating.
        """
        changed = change(self._type, self._current(), function)
        if not changed.patches:
            return
        try:
            self._record(batch, changed.patches, reason, outputs or {})
        except EditInvalid:
            # The type has gained fields since the session was begun: record their defaults.
            missing = diff(self._session.state, self._type.dump(self._live))
            self._record(batch, missing, "upgrade", {})
            self._record(batch, changed.patches, reason, outputs or {})
        self._live = changed.live

    def _record(
        self, batch: Batch, patches: list[Patch], reason: str, outputs: Mapping[int, Any]
    ) -> None:
        recorded, references = refer(patches, self._session.state, outputs)
        payload = {"intentId": event_id(), "reason": reason, "patches": recorded}
        batch.add(names.INTENT, payload, outputs=references)

    def _current(self) -> Any:
        if not self._loaded:
            self._live = self._type.load(self._session.state)
            self._loaded = True
        return self._live
