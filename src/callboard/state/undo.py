"""Takes back events that were folded into a view but not written.

The driver of a session folds events before they are in the log. If another process wrote first, the
view has to be restored, and folding a long session again would be slow.
"""

from dataclasses import fields
from operator import attrgetter
from typing import TypeVar

from callboard.events import names
from callboard.events.envelope import Event
from callboard.state.session import SessionView
from callboard.state.visits import Asked, Run, Visit

_VIEW = tuple(field.name for field in fields(SessionView))
_VISIT = tuple(field.name for field in fields(Visit))
_values_of_view, _values_of_visit = attrgetter(*_VIEW), attrgetter(*_VISIT)
_values_of_run = attrgetter(*(field.name for field in fields(Run)))
_values_of_asked = attrgetter(*(field.name for field in fields(Asked)))

_QUESTIONS, _RUNS = _VIEW.index("questions"), _VISIT.index("runs")

# These events replace objects in the view.
_ANEW = frozenset({names.PHASE_ENTERED, names.PHASE_EXITED, names.FORKED, names.CHECKPOINT})
_TASKS = frozenset({names.TASK_STARTED, names.TASK_COMPLETED, names.FORKED, *names.TERMINAL})


class Undo:
    """Restores a view's parts that have changed since."""

    __slots__ = (
        "_anew",
        "_asked",
        "_runs",
        "_tasks",
        "_view",
        "_view_was",
        "_visit_was",
        "_visits",
    )

    def __init__(self, view: SessionView) -> None:
        self._view = view
        self._view_was = _values_of_view(view)
        self._visit_was = None if view.visit is None else _values_of_visit(view.visit)
        self._visits: dict[str, int] | None = None
        self._tasks: dict[str, str] | None = None
        self._runs: dict[str, Run | None] = {}
        self._asked: dict[str, Asked | None] = {}
        self._anew = False

    def before(self, event: Event) -> None:
        """Save what an event is about to change."""
        view, name, payload = self._view, event.name, event.payload
        if name in _TASKS and self._tasks is None:
            self._tasks = dict(view.tasks)
        if name in _ANEW and not self._anew:
            self._anew, self._visits = True, dict(view.visits)
        run, question = payload.get("run"), payload.get("id")
        if isinstance(run, str) and run not in self._runs:
            known = self._all_runs().get(run)
            self._runs[run] = None if known is None else _copy_of_run(known)
        if isinstance(question, str) and question not in self._asked:
            asked: Asked | None = self._view_was[_QUESTIONS].get(question)
            self._asked[question] = None if asked is None else Asked(*_values_of_asked(asked))

    def take_back(self) -> None:
        """Restore the view."""
        view = self._view
        for name, value in zip(_VIEW, self._view_was, strict=True):
            setattr(view, name, value)
        if view.visit is not None and self._visit_was is not None:
            for name, value in zip(_VISIT, self._visit_was, strict=True):
                setattr(view.visit, name, value)
        view.visits = view.visits if self._visits is None else self._visits
        view.tasks = view.tasks if self._tasks is None else self._tasks
        before = {id: view.questions.get(id) for id in self._asked}
        _put_back(view.questions, self._asked)
        _put_back(self._all_runs(), self._runs)
        if self._anew:
            view.open.rebuild(view.questions, view.visit)
        else:
            self._index(before)

    def _index(self, before: dict[str, Asked | None]) -> None:
        view, changed = self._view, dict.fromkeys(self._runs)
        for id, asked in self._asked.items():
            known = asked or before[id]
            if known is not None:
                view.open.question_changed(known, is_there=asked is not None)
                changed |= {} if known.run is None else {known.run: None}
        if view.visit is not None:
            for run in changed:
                view.open.run_changed(view.visit, run)

    def _all_runs(self) -> dict[str, Run]:
        return {} if self._visit_was is None else self._visit_was[_RUNS]


def _copy_of_run(run: Run) -> Run:
    copied = Run(*_values_of_run(run))
    copied.once = dict(run.once)  # The one part that is changed in place.
    return copied


T = TypeVar("T")


def _put_back(now: dict[str, T], were: dict[str, T | None]) -> None:
    for key, was in were.items():
        if was is None:
            now.pop(key, None)
        else:
            now[key] = was
