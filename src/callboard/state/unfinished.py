"""What isn't finished in a session, indexed next to its view to avoid searching.

A `for_each` may have 100,000 runs and a session 10,000 questions. Each event changes one of them,
and deciding what is next looks only at those that can make a difference.
"""

from collections.abc import Mapping
from heapq import heappop, heappush

from callboard.state.visits import Asked, Run, Visit


class Moments:
    """Due times by key, with fast access to the earliest."""

    __slots__ = ("_at", "_count", "_heap")

    def __init__(self) -> None:
        self._at: dict[str, int] = {}
        self._heap: list[tuple[int, int, str]] = []
        self._count = 0

    def __bool__(self) -> bool:
        return bool(self._at)

    def clear(self) -> None:
        """Remove all keys."""
        self._at.clear()
        self._heap.clear()

    def set(self, key: str, at: int | None) -> None:
        """Set or remove a key's due time."""
        if at is None:
            self._at.pop(key, None)
        else:
            self._at[key] = at
            self._count += 1
            heappush(self._heap, (at, self._count, key))
        # Outdated entries leave the heap when they reach its top.
        while self._heap and self._at.get(self._heap[0][2]) != self._heap[0][0]:
            heappop(self._heap)

    def earliest(self) -> int | None:
        """The earliest due time."""
        return self._heap[0][0] if self._heap else None

    def later_than(self, now: int) -> int | None:
        """The earliest due time after this one."""
        if not self._heap or self._heap[0][0] > now:
            return self.earliest()
        return min((at for at in self._at.values() if at > now), default=None)

    def first(self) -> str:
        """The key that is due first."""
        return self._heap[0][2]

    def due(self, now: int) -> list[str]:
        """The keys that are due by this time."""
        if not self._heap or self._heap[0][0] > now:
            return []
        return [key for key, at in self._at.items() if at <= now]


class Unfinished:
    """A session's open questions, and the unfinished runs of its visit."""

    __slots__ = (
        "blocked", "busy", "by_run", "deadlines", "fresh", "halting",
        "lost", "questions", "ready", "retries", "running",
    )  # fmt: skip

    def __init__(self) -> None:
        self.questions: dict[str, Asked] = {}
        """The questions that wait for a person, oldest first."""
        self.by_run: dict[str, dict[str, Asked]] = {}
        """The questions that each run has asked, including closed ones."""
        self.halting: dict[str, None] = {}
        """The open questions that keep everything else from continuing."""
        self.deadlines = Moments()
        self.running: dict[str, Run] = {}
        self.busy: dict[str, None] = {}
        """Running runs that take up a slot. A run that waits for a person gives up its slot."""
        self.ready: dict[str, None] = {}
        """Runs that can continue now, in the order in which they became ready."""
        self.blocked: dict[str, None] = {}
        """Runs that continue when a question is closed."""
        self.lost: dict[str, None] = {}
        """Runs whose process died."""
        self.retries = Moments()
        """Runs to retry later."""
        self.fresh = 0
        """The first item that was never started; later ones may have been."""

    def forget_runs(self) -> None:
        """Start a visit without runs."""
        for runs in (self.running, self.busy, self.ready, self.blocked, self.lost, self.retries):
            runs.clear()
        self.fresh = 0

    def rebuild(self, questions: Mapping[str, Asked], visit: Visit | None) -> None:
        """Rebuild the index for a view that wasn't folded event by event."""
        self.__init__()
        for asked in questions.values():
            self._know(asked)
        if visit is not None:
            for key in visit.runs:
                self.run_changed(visit, key)

    def asked(self, asked: Asked) -> None:
        """A question was asked."""
        self._know(asked)
        if asked.run is not None:
            self.busy.pop(asked.run, None)

    def _know(self, asked: Asked) -> None:
        if asked.run is not None:
            self.by_run.setdefault(asked.run, {})[asked.id] = asked
        if asked.status == "pending":
            self.questions[asked.id] = asked
            self.deadline_changed(asked)
            if asked.halts:
                self.halting[asked.id] = None

    def deadline_changed(self, asked: Asked) -> None:
        """A question's deadline changed or was removed."""
        self.deadlines.set(asked.id, asked.deadline if asked.id in self.questions else None)

    def question_changed(self, asked: Asked, *, is_there: bool) -> None:
        """A question was restored, or taken back."""
        self._end(asked)
        if is_there:
            self._know(asked)
        elif asked.run in self.by_run:
            self.by_run[asked.run].pop(asked.id, None)
            if not self.by_run[asked.run]:
                del self.by_run[asked.run]

    def _end(self, asked: Asked) -> None:
        self.questions.pop(asked.id, None)
        self.halting.pop(asked.id, None)
        self.deadline_changed(asked)

    def closed(self, asked: Asked, visit: Visit | None) -> None:
        """A question was closed."""
        self._end(asked)
        key = asked.run
        if key is None:
            return
        if key in self.running and not self.pending_of(key):
            self.busy[key] = None
        if key in self.blocked and visit and asked.id in visit.runs[key].blockers:
            del self.blocked[key]
            self.ready[key] = None

    def pending_of(self, run: str) -> list[Asked]:
        """The open questions of one run, oldest first."""
        known = self.by_run.get(run)
        return [asked for asked in known.values() if asked.status == "pending"] if known else []

    def run_changed(self, visit: Visit, key: str) -> None:
        """A run has started, stopped or ended, or was taken back."""
        run = visit.runs.get(key)
        for group in (self.running, self.busy, self.ready, self.blocked, self.lost):
            group.pop(key, None)
        if self.retries or (run is not None and run.retry_at is not None):
            self.retries.set(key, run.retry_at if run else None)
        if run is not None:
            self._place(visit, key, run)
        elif (item := visit.item_of(key)) is not None:
            self.fresh = min(self.fresh, item)

    def _place(self, visit: Visit, key: str, run: Run) -> None:
        if visit.items is not None:
            while visit.key_of(self.fresh) in visit.runs:
                self.fresh += 1
        match run.status:
            case "running":
                self.running[key] = run
                if not self.pending_of(key):
                    self.busy[key] = None
            case "suspended":
                waits = run.blockers and all(id in self.questions for id in run.blockers)
                (self.blocked if waits else self.ready)[key] = None
            case "interrupted":
                self.ready[key] = None
            case "lost":
                self.lost[key] = None
            case _:
                pass

    @property
    def has_runs(self) -> bool:
        """Whether any started run is unfinished."""
        return bool(self.running or self.ready or self.blocked or self.lost or self.retries)
