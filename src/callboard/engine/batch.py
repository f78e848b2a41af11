"""Events to be committed together, applied to the view as they are added.

Each decision has to see the effects of the previous one. If the commit then conflicts, the view is
reloaded and the batch is built again.
"""

from collections.abc import Callable, Mapping
from typing import Protocol

from callboard.clock import Clock
from callboard.drafts.draft import change
from callboard.drafts.draft import view as lend
from callboard.drafts.patch import Patch, diff
from callboard.drafts.shape import StateType
from callboard.engine.references import refer
from callboard.errors import EditInvalid
from callboard.events import names
from callboard.events.envelope import Event, Json, NewEvent, make, place
from callboard.events.event_name import Entry
from callboard.events.json_values import is_object
from callboard.ids import event_id
from callboard.state.fold import apply
from callboard.state.session import SessionView
from callboard.state.undo import Undo

References = Mapping[int, int]
"""Index of a patch → position of the event whose output is the patch's value."""


class Batch:
    """New events of a session, with the view and the live state after them."""

    def __init__(self, session: SessionView, clock: Clock, cause: str | None = None) -> None:
        self.view = session
        self.events: list[NewEvent] = []
        self.placed: list[Event] = []
        self.now = clock.now_ms()
        self.has_checkpoint = False
        self._cause = cause
        self._undo = Undo(session)

    def add(self, new: Entry, *, id: str | None = None, outputs: References | None = None) -> Event:
        """Add an event, with the previous one as its cause."""
        name, payload = new
        id = id or event_id()
        view, now, cause = self.view, self.now, self._cause
        unplaced = make(NewEvent, (id, name, payload, now, 1, cause, outputs))
        event = place(unplaced, view.session_id, view.position + 1)
        self._undo.before(event)
        apply(view, event)
        self.events.append(unplaced)
        self.placed.append(event)
        if name == names.CHECKPOINT:
            self.has_checkpoint = True
        self._cause = id
        return event

    def take_back(self) -> None:
        """Restore the view to what it was before the first event: none of them was written."""
        self._undo.take_back()


class LiveState:
    """The state as users' functions see it: typed, and the same as after a reload."""

    def __init__(self, state_type: StateType, session: SessionView) -> None:
        self._type = state_type
        self._session = session
        self._live: object = None
        self._loaded = False

    def copy(self, session: SessionView) -> "LiveState":
        """The same state for a copy of the view. They share the live value, which never changes."""
        made = LiveState(self._type, session)
        made._live, made._loaded = self._live, self._loaded
        return made

    def start_with(self, live: object) -> None:
        """Continue with the initial state: loading the view's state would give the same."""
        self._live, self._loaded = live, True

    def read(self) -> object:
        """The state, for reading only."""
        return lend(self._type, self._current())

    def change(
        self,
        batch: Batch,
        function: Callable[..., object],
        *,
        reason: str,
        outputs: Mapping[int, object] | None = None,
        always: bool = False,
    ) -> list[Patch]:
        """Run a function on a draft and record what it changed; returns the patches.

        `outputs`: position → agent output, which patches can refer to instead of repeating it.
        `always`: record the change even if it is empty.
        """
        changed = change(self._type, self._current(), function)
        if changed.patches or always:
            self._write(batch, changed.patches, reason, outputs or {})
            self._live = changed.live
        return changed.patches

    def repeat(self, batch: Batch, patches: list[Patch], *, reason: str) -> None:
        """Record a change again after its batch was rolled back."""
        self._current()
        self._write(batch, patches, reason, {})
        self._loaded = False

    def _write(
        self, batch: Batch, patches: list[Patch], reason: str, outputs: Mapping[int, object]
    ) -> None:
        try:
            self._record(batch, patches, reason, outputs)
        except EditInvalid:
            # The type has gained fields since the session started; record their defaults.
            missing = diff(self._session.state, self._type.dump(self._live))
            self._record(batch, missing, "upgrade", {})
            self._record(batch, patches, reason, outputs)

    def _record(
        self, batch: Batch, patches: list[Patch], reason: str, outputs: Mapping[int, object]
    ) -> None:
        recorded, references = refer(patches, self._session.state, outputs)
        id = event_id()
        intent = names.INTENT({"intentId": id, "reason": reason, "patches": recorded})
        batch.add(intent, id=id, outputs=references)

    def _current(self) -> object:
        if not self._loaded:
            self._live = self._type.load(self._session.state)
            self._loaded = True
        return self._live


class WithAnswer(Protocol):
    """A state with the fields in which the engine stores the answer."""

    human_response: object
    approved: bool | None


Answerable = dict[str, Json] | WithAnswer


def has_answer(state: Json) -> bool:
    """Whether a state, as JSON, has the answer to a question."""
    return is_object(state) and (
        state.get("humanResponse") is not None or state.get("approved") is not None
    )


def set_answer(draft: Answerable, response: Json, approved: bool | None) -> None:
    """Store the answer where routing can see it."""
    if isinstance(draft, dict):
        draft["human_response"] = response
        draft["approved"] = approved
    else:
        draft.human_response = response
        draft.approved = approved


def reset_answer(draft: Answerable) -> None:
    """Clear the answer."""
    set_answer(draft, None, None)
