"""A local copy of the server's data, kept up to date across reconnects."""

import asyncio
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Final, NamedTuple

from callboard.board.hook_backlog import NO_BACKLOG
from callboard.clock import Clock
from callboard.errors import CallboardError
from callboard.events import names
from callboard.events import plates as plate_events
from callboard.events.envelope import Event
from callboard.events.json_values import as_text
from callboard.interactions.records import Interaction
from callboard.tui.rows import Row, plate_of, plate_row, question_row
from callboard.tui.source import Source
from callboard.tui.whereabouts import Place, whereabouts

if TYPE_CHECKING:
    from callboard.board.plate import Plate
    from callboard.board.relay_hosts import RelayHost
    from callboard.engine.sessions import SessionInfo

_BREATH: Final = 0.1
"""Seconds between requests to the server; changes in between are handled together."""
_SINGLY: Final = 8
"""Up to this many plates are requested individually; more than that, all at once."""
_AGAIN_AFTER: Final = 60.0
"""Seconds after which everything is refreshed, because pruning sends no events."""
_BACKLOG_EVERY: Final = 2.0
_MOST_ANSWERS: Final = 500
"""The number of recent answers to remember."""
_ABOUT_QUESTIONS: Final = ("input:", "workflow:", "session:titled")
_FIRST_PAUSE: Final = 0.5
_LONGEST_PAUSE: Final = 5.0


class _MadeOf(NamedTuple):
    """What a plate's row was built from."""

    plate: "Plate"
    asked: Sequence[Interaction]
    answered: Interaction | None
    place: Place


class Mirror:
    """Plates and questions as the server last reported them.

    changed: called whenever something here changes.
    settled: called with a question when the receipt of its answer is known, or is corrected.
    stale_since: when the connection was lost, in milliseconds; None while connected.
    """

    def __init__(
        self,
        source: Source,
        clock: Clock,
        changed: Callable[[], None],
        settled: Callable[[Interaction], None],
    ) -> None:
        self.stale_since: int | None = None
        self.problem = ""
        self.loaded = False
        self.backlog = NO_BACKLOG
        self._backlog_at = 0.0
        self._source = source
        self._clock = clock
        self._changed = changed
        self._settled = settled
        self._answered: dict[str, Interaction] = {}
        self._corrected: set[str] = set()
        self._made_of: dict[str, _MadeOf] = {}
        self._hosts: Sequence[RelayHost] = ()
        self._plates: dict[str, Plate] = {}
        self._questions: dict[str, Interaction] = {}
        self._sessions: dict[str, SessionInfo] = {}
        self._rows: dict[str, Row] = {}
        self._dirty: set[str] = set()
        self._all_dirty = False
        self._questions_dirty = False
        self._hosts_dirty = False
        self._news = asyncio.Event()
        self._looking = False
        self._pause = _FIRST_PAUSE

    @property
    def rows(self) -> list[Row]:
        """All rows, in no particular order."""
        return list(self._rows.values())

    @property
    def is_behind(self) -> bool:
        """Whether there are reported changes that haven't been requested yet."""
        return self._news.is_set() or self._looking

    def is_open(self, interaction_id: str) -> bool:
        """Whether a question is still open, as far as known."""
        found = self._questions.get(interaction_id)
        return found is not None and found.accepted is None

    def note(self, answered: Interaction) -> None:
        """Remember an answer, to find out its receipt."""
        if answered.from_hook:
            self._answered[answered.id] = answered

    async def run(self) -> None:
        """Stay up to date, forever."""
        while True:
            try:
                async with asyncio.TaskGroup() as group:
                    group.create_task(self._follow())
                    group.create_task(self._refresh())
            except* CallboardError as errors:
                self._lost(errors.exceptions[0])
            await self._clock.sleep(self._pause)
            self._pause = min(self._pause * 2, _LONGEST_PAUSE)

    def look_again(self) -> None:
        """Refresh everything as soon as possible."""
        self._all_dirty = True
        self._news.set()

    async def _follow(self) -> None:
        await self._source.follow(self._hear)
        raise CallboardError("The server closed the connection.")

    def _hear(self, event: Event | None) -> None:
        if event is None:
            self._all_dirty = True
        elif event.name in plate_events.ALL:
            self._dirty.add(event.session_id)
        elif event.name in plate_events.OF_HOSTS:
            self._hosts_dirty = True
        elif event.name.startswith(_ABOUT_QUESTIONS):
            self._questions_dirty = True
            if event.name == names.CORRECTED:
                self._corrected |= {as_text(event.payload["id"])} & self._answered.keys()
        else:
            return
        self._news.set()

    def _lost(self, error: BaseException) -> None:
        if self.stale_since is None:
            self.stale_since = self._clock.now_ms()
        self.problem = str(error)
        self._changed()

    async def _refresh(self) -> None:
        while True:
            try:
                async with asyncio.timeout(_AGAIN_AFTER):
                    await self._news.wait()
            except TimeoutError:
                self._all_dirty = True
            self._news.clear()
            begun = self._clock.monotonic()
            self._looking = True
            try:
                await self._look()
            finally:
                self._looking = False
            # A slow server is asked less often.
            took = self._clock.monotonic() - begun
            await self._clock.sleep(max(_BREATH, 2 * took))

    async def _look(self) -> None:
        everything, self._all_dirty = self._all_dirty, False
        dirty, self._dirty = self._dirty, set()
        asked, self._questions_dirty = self._questions_dirty, False
        if everything or len(dirty) > _SINGLY:
            self._plates = {one.plate_id: one for one in await self._source.plates()}
        else:
            await self._look_at(dirty)
        hosts_changed, self._hosts_dirty = self._hosts_dirty, False
        if everything or hosts_changed:
            self._hosts = await self._source.hosts()
        if everything or asked or dirty:
            questions, sessions = await self._source.waiting(self._take_unsettled())
            self._questions = {one.id: one for one in questions if one.status == "pending"}
            self._sessions = {one.session_id: one for one in sessions}
            self._compare(questions)
        now = self._clock.monotonic()
        if everything or now >= self._backlog_at:
            self.backlog, self._backlog_at = await self._source.backlog(), now + _BACKLOG_EVERY
        self.stale_since, self.problem, self.loaded = None, "", True
        self._pause = _FIRST_PAUSE
        self._list()
        self._changed()

    def _take_unsettled(self) -> list[str]:
        """Answers with possible news."""
        waiting = (id for id, one in self._answered.items() if one.receipt == "pending")
        corrected, self._corrected = self._corrected, set()
        return [*waiting, *corrected]

    def _compare(self, questions: Sequence[Interaction]) -> None:
        """Find out what happened to answers."""
        for one in questions:
            if one.accepted is None:
                continue
            before = self._answered.pop(one.id, None)
            self._answered[one.id] = one
            if len(self._answered) > _MOST_ANSWERS:
                del self._answered[next(iter(self._answered))]
            if before is not None and before.receipt != one.receipt:
                self._settled(one)

    async def _look_at(self, dirty: set[str]) -> None:
        for plate_id in dirty:
            plate = await self._source.plate(plate_id)
            if plate is None:
                self._plates.pop(plate_id, None)
            else:
                self._plates[plate_id] = plate

    def _list(self) -> None:
        """Build the rows; one with the same plate and questions stays the same object."""
        asked: dict[str, list[Interaction]] = {}
        rows: dict[str, Row] = {}
        for question in self._questions.values():
            plate_id = plate_of(question)
            if plate_id is not None and plate_id in self._plates:
                asked.setdefault(plate_id, []).append(question)
            elif plate_id is None:
                row = question_row(question, self._sessions.get(question.session_id or ""))
                rows[row.key] = row
        last_answers = {plate_of(one): one for one in self._answered.values()}
        places = whereabouts(self._plates.values(), self._hosts)
        for plate_id, plate in self._plates.items():
            known = self._rows.get(f"plate:{plate_id}")
            questions, answered = asked.get(plate_id, ()), last_answers.get(plate_id)
            made_of = _MadeOf(plate, questions, answered, places[plate_id])
            if known is None or self._made_of.get(plate_id) != made_of:
                known = plate_row(*made_of)
                self._made_of[plate_id] = made_of
            rows[known.key] = known
        self._rows = rows
