"""What a group of appends writes, decided without the database.

Streams are remembered between groups, so what a plan is based on may be out of date. If the plan
writes to a stream, the database compares. Otherwise (the append is refused, or changes nothing) the
stream is doubtful, and has to be read again before anyone is told.
"""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace

from callboard.clock import Clock
from callboard.errors import PositionConflict
from callboard.events.rows import Projection, RowChange
from callboard.log.admission import Claimant, StreamState, admit, admit_fork, admit_gone
from callboard.log.appending import AppendRequest, EventRow, KnownStream, Outcome, entries
from callboard.log.postgres.views import check
from callboard.log.protocol import Appended, Base

Place = tuple[int, int]
"""A stream's key, and a position in it."""


@dataclass(frozen=True, slots=True)
class Rules:
    """Who appends, how events become rows, and the time."""

    claimant: Claimant
    project: Projection
    clock: Clock


@dataclass(slots=True)
class Facts:
    """What is known about the streams of a group.

    fresh: the streams that were read for this group.
    keys: keys for new streams.
    owners: the streams that positions were appended to, as far as they had to be looked up.
    incarnation: the history that all of this belongs to.
    """

    streams: Mapping[str, KnownStream]
    fresh: Collection[str]
    keys: Sequence[int]
    owners: Mapping[Place, int]
    incarnation: int


@dataclass(slots=True)
class GroupPlan:
    """The outcome of each request if the streams are as we know them, and all that is written."""

    rules: Rules
    facts: Facts
    now: dict[str, KnownStream] = field(default_factory=dict[str, KnownStream])
    created: dict[int, KnownStream] = field(default_factory=dict[int, KnownStream])
    moved: dict[str, KnownStream] = field(default_factory=dict[str, KnownStream])
    parents: set[int] = field(default_factory=set[int])
    events: list[EventRow] = field(default_factory=list[EventRow])
    changes: list[RowChange] = field(default_factory=list[RowChange])
    outcomes: list[Outcome] = field(default_factory=list[Outcome])
    doubtful: set[str] = field(default_factory=set[str])
    unknown: set[Place] = field(default_factory=set[Place])

    @property
    def heads(self) -> dict[str, int]:
        """The new lengths of the changed streams."""
        changed = [*self.created.values(), *self.moved.values()]
        return {known.id: known.standing.head for known in changed}

    def add(self, request: AppendRequest) -> None:
        """Decide about one more request."""
        try:
            outcome = self._append(request)
        except Exception as error:
            outcome = error
            self._doubt(request)
        self.outcomes.append(outcome)

    def _doubt(self, request: AppendRequest) -> None:
        base = request.writing.base
        named = {request.stream} if base is None else {request.stream, base.stream}
        self.doubtful |= {stream for stream in named if stream not in self.facts.fresh}

    def _append(self, request: AppendRequest) -> Appended:
        stream, events, payloads, writing, *_ = request
        found = self._find(stream)
        if writing.expect and request.incarnation not in (0, self.facts.incarnation):
            raise _replaced(stream, writing.expect, found.standing.head if found else 0)
        if found is not None and found.hidden:
            self._doubt(request)
            admit_gone(stream, writing, len(events), self.rules.claimant)
            return Appended(0, 0, 0)
        known = self._fork(stream, found, writing.base) if writing.base else found
        standing = known.standing if known else None
        after = admit(stream, standing, writing, len(events), self.rules.claimant)
        if known is None:
            if not events:
                return Appended(0, 0, 0)
            known = self._new(stream, None, 0, StreamState(0))
        rows, changes = entries(request, known, self.rules.project)
        changes = check(changes)
        # From here on, nothing can fail: this is what the following requests build on.
        self._note(request, found, known, after)
        self.events += rows
        self.changes += changes
        return Appended(after.head, after.epoch, sum(map(len, payloads)))

    def _note(
        self,
        request: AppendRequest,
        found: KnownStream | None,
        known: KnownStream,
        after: StreamState,
    ) -> None:
        events = request.events
        if found is None:
            known.updated_at = self.rules.clock.now_ms()
            self.created[known.key] = self.now[known.id] = known
            if base := request.writing.base:
                parent = self._find(base.stream)
                if parent is not None and parent.key not in self.created:
                    self.parents.add(parent.key)
        elif known.standing == after and not events:
            self._doubt(request)
        elif known.key not in self.created:
            self.moved[known.id] = known
        known.standing = after
        if events:
            known.updated_at = events[-1].at_ms

    def _find(self, stream: str) -> KnownStream | None:
        """A stream as of the previous request. A copy, because the plan may be discarded."""
        if known := self.now.get(stream):
            return known
        before = self.facts.streams.get(stream)
        if before is None:
            return None
        known = self.now[stream] = replace(before)
        return known

    def _new(
        self, stream: str, base: int | None, base_position: int, start: StreamState
    ) -> KnownStream:
        return KnownStream(
            stream, self.facts.keys[len(self.created)], base, base_position, 0, start
        )

    def _fork(self, stream: str, found: KnownStream | None, base: Base) -> KnownStream:
        parent = self._find(base.stream)
        parent = None if parent is None or parent.hidden else parent
        start = admit_fork(stream, found and found.standing, base, parent and parent.standing)
        assert parent is not None
        return self._new(stream, self._owner(parent, base.position), base.position, start)

    def _owner(self, stream: KnownStream, position: int) -> int:
        """The key of the stream that a position was appended to: this one or an ancestor."""
        while stream.base is not None and position <= stream.base_position:
            unwritten = self.created.get(stream.base)
            if unwritten is None:
                place = (stream.base, position)
                if place not in self.facts.owners:
                    self.unknown.add(place)
                return self.facts.owners.get(place, stream.base)
            stream = unwritten
        return stream.key


def _replaced(stream: str, expected: int, head: int) -> PositionConflict:
    """The refusal of an append that was decided from a history that may be lost."""
    return PositionConflict(
        f"Another server took over, and session {stream} may have lost events: it has {head}. Read "
        "it again and decide again.",
        session=stream,
        expected=expected,
        actual=head,
    )


def make_plan(rules: Rules, facts: Facts, group: Sequence[AppendRequest]) -> GroupPlan:
    """Decide about a whole group, in order."""
    plan = GroupPlan(rules, facts)
    for request in group:
        plan.add(request)
    return plan
