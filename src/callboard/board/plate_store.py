"""Plates in the log: reads them, appends to their streams, and finds their questions."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final, TypeVar

from callboard.board.dialogs import Moment
from callboard.board.identity import PlateReader
from callboard.board.plate import Plate
from callboard.board.recording import Recording, record
from callboard.board.repeats import with_call
from callboard.clock import Clock
from callboard.errors import PlateNotFound
from callboard.events.envelope import NewEvent
from callboard.events.rows import Query
from callboard.interactions.kinds import is_from_board
from callboard.interactions.records import Interaction, interaction
from callboard.log.protocol import EventLog, Writing
from callboard.vendors.reports import Report

T = TypeVar("T")

MOST: Final = 1000
"""How many plates, sessions or deliveries are recognized without querying the database."""


@dataclass(frozen=True, slots=True)
class Heard:
    """Where a report went: the plate, and the question that it opened."""

    plate: Plate
    interaction_id: str | None = None
    continues: bool = False
    """Its client cleared the context and continues with another session."""


@dataclass(frozen=True, slots=True)
class CachedPlate:
    """A plate, and the length of the stream that it was folded from."""

    head: int
    plate: Plate

    @property
    def before(self) -> Plate | None:
        """The plate as it is in the log; None if it is new."""
        return self.plate if self.head else None


class Recent(dict[str, T]):
    """The most recent values, by key."""

    def __init__(self, most: int = MOST) -> None:
        super().__init__()
        self._most = most

    def keep(self, key: str, value: T) -> None:
        """Store a value, replacing an older one; when full, the oldest is dropped."""
        self.pop(key, None)
        self[key] = value
        if len(self) > self._most:
            del self[next(iter(self))]


class PlateStore:
    """Reads and appends to plates. An append to an outdated plate raises PositionConflict."""

    def __init__(self, log: EventLog, clock: Clock, reader: PlateReader) -> None:
        self._log = log
        self._clock = clock
        self._reader = reader
        # A plate is folded from its stream: any other change makes the stream longer.
        self._kept = Recent[CachedPlate]()

    def at(self, report: Report) -> int:
        """When it happened: not later than now, whatever its sender says."""
        now = self._clock.now_ms()
        return min(report.at_ms or now, now)

    async def load(self, plate_id: str) -> CachedPlate:
        """The current plate, and the length of its stream."""
        # In this order: anything that changes the plate after the row was read moves the head.
        head = await self._log.head(plate_id)
        kept = self._kept.get(plate_id)
        if kept is not None and kept.head == head:
            return kept
        found = await self._reader.all(Query("plates", {"id": plate_id}))
        if not found:
            raise PlateNotFound(
                f"There is no plate {plate_id!r}. List them: callboard plates",
                plate_id=plate_id,
            )
        return CachedPlate(head, found[0])

    async def write(self, known: CachedPlate, report: Report, *, fresh: bool = False) -> Recording:
        """Fold a report into a plate and append the resulting events."""
        report = await with_call(self._log, known.plate, report)
        questions = await questions_of(self._log, known.plate, self._clock.now_ms())
        moment = self._moment(report, fresh)
        told = record(known.before, known.plate, report, moment, questions)
        await self.append(known, told.events(moment.at_ms), told.plate)
        return told

    def fold(self, plate: Plate, report: Report) -> tuple[Plate, list[NewEvent]]:
        """Fold a report into a plate without dialogs; for those, the log has to be queried."""
        moment = self._moment(report)
        told = record(plate, plate, report, moment, {})
        return told.plate, told.events(moment.at_ms)

    async def append(self, known: CachedPlate, events: Sequence[NewEvent], plate: Plate) -> None:
        """Append the events that led to this plate."""
        # Settled right away: there is nothing in a plate for a driver to do.
        writing = Writing(expect=known.head, settle=True)
        appended = await self._log.append(plate.plate_id, events, writing)
        self._kept.keep(plate.plate_id, CachedPlate(appended.head, plate))

    def _moment(self, report: Report, fresh: bool = False) -> Moment:
        return Moment(self.at(report), report.session_id, fresh, self._clock.now_ms())


@dataclass(frozen=True, slots=True)
class QuestionAsker:
    """Who asked a question: a coding agent through its hook, or something else."""

    stream: str
    session_id: str | None
    by_hook: bool

    def is_session(self, session_id: str | None) -> bool:
        """Whether this coding agent session asked it."""
        return self.by_hook and self.session_id == session_id


async def who_asked(log: EventLog, interaction_id: str) -> QuestionAsker | None:
    """Who asked this; None if there is no such question."""
    rows = await log.rows(Query("human_interactions", {"id": interaction_id}))
    if not rows:
        return None
    row = rows[0]
    return QuestionAsker(row["stream"], row["execution_id"], is_from_board(row["type"]))


async def questions_of(log: EventLog, plate: Plate, now_ms: int) -> dict[str, Interaction]:
    """The questions of a plate whose outcome is not confirmed, by id."""
    ids = [one.id for one in (*plate.pending, *plate.unsettled) if one.id is not None]
    if not ids:
        return {}
    rows = await log.rows(Query("human_interactions", one_of=("id", ids)))
    return {row["id"]: interaction(row, now_ms) for row in rows}
