"""What holds of every session's events, whatever crashed, paused or forked in between."""

from collections.abc import Sequence
from itertools import pairwise
from typing import Any

from callboard.events import names
from callboard.events.envelope import Event

_CLOSING = {names.RECEIVED, names.EXPIRED, names.INPUT_CANCELLED, names.INPUT_FAILED}
_WHILE_PAUSED = {
    *_CLOSING,
    names.CONTRIBUTED,
    names.TASK_COMPLETED,
    names.RESUMED,
    names.CANCELLED,
    names.FORKED,
}


def check_laws(events: Sequence[Event]) -> None:
    """Positions are dense, ends are ends, pauses are quiet, nobody is asked or run twice."""
    assert [event.position for event in events] == list(range(1, len(events) + 1))
    _ends(events)
    _pauses(events)
    _Phases().read(events)
    _Around().read(events)
    _Questions().read(events)
    _Runs().read(events)
    _Tasks().read(events)


def _ends(events: Sequence[Event]) -> None:
    for event, following in pairwise(events):
        if event.name in names.TERMINAL:
            assert following.name == names.FORKED, f"{following.name} follows {event.name}"


def _pauses(events: Sequence[Event]) -> None:
    paused = False
    for event in events:
        if paused:
            assert event.name in _WHILE_PAUSED, f"{event.name} while paused"
        if event.name == names.PAUSED:
            paused = True
        elif event.name in {names.RESUMED, names.FORKED, names.CANCELLED}:
            paused = False


class _Ledger:
    def read(self, events: Sequence[Event]) -> None:
        for event in events:
            method = getattr(self, event.name.replace(":", "_"), None)
            if method:
                method(event.payload)


class _Phases(_Ledger):
    """A phase is entered when none is open, and counts its visits."""

    def __init__(self) -> None:
        self.open: tuple[str, int] | None = None
        self.visits: dict[str, int] = {}

    def phase_entered(self, payload: Any) -> None:
        assert self.open is None, f"{payload['phase']} entered within {self.open}"
        self.visits[payload["phase"]] = self.visits.get(payload["phase"], 0) + 1
        assert payload["visit"] == self.visits[payload["phase"]]
        self.open = (payload["phase"], payload["visit"])

    def phase_exited(self, payload: Any) -> None:
        assert self.open == (payload["phase"], payload["visit"])
        self.open = None


class _Around(_Ledger):
    """`before` and `after` run once in a visit: first of all, and last of all."""

    def __init__(self) -> None:
        self.done: list[str] = []

    def phase_entered(self, payload: Any) -> None:
        self.done = []

    def agent_started(self, payload: Any) -> None:
        self.done.append("agent")

    def state_intent(self, payload: Any) -> None:
        reason = payload["reason"]
        assert reason != "before" or not self.done, f"before follows {self.done}"
        assert "after" not in self.done or reason == "start", f"{reason} follows after"
        if reason in ("before", "after"):
            self.done.append(reason)


class _Questions(_Ledger):
    """A question has one id for life, one end, and is asked once for each visit or run."""

    def __init__(self) -> None:
        self.known: dict[str, tuple[Any, ...]] = {}
        self.open: set[str] = set()
        self.ended: set[str] = set()
        self.asked: dict[tuple[Any, ...], str] = {}
        self.visit: tuple[str, int] | None = None
        self.completed: set[str] = set()

    def phase_entered(self, payload: Any) -> None:
        self.visit = (payload["phase"], payload["visit"])

    def agent_completed(self, payload: Any) -> None:
        self.completed.add(payload["run"])

    def input_requested(self, payload: Any) -> None:
        question = payload["id"]
        assert question not in self.known, f"id {question} used twice"
        identity = self._identity(payload)
        assert identity not in self.asked, f"asked twice: {identity}"
        self.known[question] = identity
        self.asked[identity] = question
        self.open.add(question)

    def _identity(self, payload: Any) -> tuple[Any, ...]:
        if payload.get("inline"):
            return ("inline", self.visit)
        if payload.get("run") is None:
            return ("aside", payload["id"])
        text = (payload["type"], payload["prompt"], tuple(payload.get("options") or ()))
        return ("run", payload["run"], payload.get("key") or text, payload.get("nth", 1))

    def _close(self, payload: Any) -> None:
        assert payload["id"] in self.open, f"{payload['id']} closed twice"
        self.open.discard(payload["id"])

    def input_received(self, payload: Any) -> None:
        self._close(payload)

    def input_expired(self, payload: Any) -> None:
        self._close(payload)

    def input_failed(self, payload: Any) -> None:
        self._close(payload)

    def input_cancelled(self, payload: Any) -> None:
        self._close(payload)
        if "outcome" not in payload:
            self.asked.pop(self.known[payload["id"]], None)

    def input_detached(self, payload: Any) -> None:
        """From here on another stream tells of it."""
        self._close(payload)

    def session_forked(self, payload: Any) -> None:
        """What was open in the parent stays the parent's, and lost runs begin anew."""
        for identity, question in list(self.asked.items()):
            lost = identity[0] == "run" and identity[1] not in self.completed
            if question in self.open or lost:
                del self.asked[identity]
        self.open.clear()


class _Runs(_Ledger):
    """An attempt begins when none runs, and never after the run was completed."""

    def __init__(self) -> None:
        self.attempts: dict[str, int] = {}
        self.running: set[str] = set()
        self.completed: set[str] = set()

    def agent_started(self, payload: Any) -> None:
        run = payload["run"]
        assert run not in self.completed, f"{run} was completed and ran again"
        assert run not in self.running, f"{run} started twice"
        assert payload["attempt"] == self.attempts.get(run, 0) + 1
        self.attempts[run] = payload["attempt"]
        self.running.add(run)

    def _over(self, payload: Any) -> None:
        run = payload["run"]
        assert run in self.running, f"{run} ended and was not running"
        self.running.discard(run)

    def agent_completed(self, payload: Any) -> None:
        # A person may vouch for a run that was lost.
        self.running.discard(payload["run"])
        assert payload["run"] not in self.completed
        self.completed.add(payload["run"])

    def agent_interrupted(self, payload: Any) -> None:
        self._over(payload)

    def phase_failed(self, payload: Any) -> None:
        if payload["run"] is not None:
            self._over(payload)

    def session_forked(self, payload: Any) -> None:
        self.running.clear()
        self.attempts = {k: n for k, n in self.attempts.items() if k in self.completed}


class _Tasks(_Ledger):
    """A task is opened with its question and closed with it, and nothing completes before."""

    def __init__(self) -> None:
        self.open: set[str] = set()
        self.asked: set[str] = set()

    def input_requested(self, payload: Any) -> None:
        if payload["type"] == "interactive_session":
            self.asked.add(payload["id"])

    def task_started(self, payload: Any) -> None:
        assert payload["taskId"] in self.asked
        assert payload["taskId"] not in self.open, f"{payload['taskId']} opened twice"
        self.open.add(payload["taskId"])

    def task_completed(self, payload: Any) -> None:
        assert payload["taskId"] in self.open, f"{payload['taskId']} closed twice"
        self.open.discard(payload["taskId"])

    def input_detached(self, payload: Any) -> None:
        assert payload["id"] in self.asked
        assert payload["id"] not in self.open, "left behind, though the workflow waits for it"

    def workflow_completed(self, payload: Any) -> None:
        assert not self.open, "completed with open tasks"

    def session_forked(self, payload: Any) -> None:
        self.open.clear()
