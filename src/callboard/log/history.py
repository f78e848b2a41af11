"""Whether what a reader has read is still in the log.

A server that takes over may lack the newest events, and so does a restored backup. New events then
get their positions, and a reader that only remembers a position would skip them.
"""

from typing import Protocol

from callboard.errors import HistoryChanged
from callboard.events.envelope import Event
from callboard.log.protocol import Limit


class Readable(Protocol):
    """What is needed of a log to compare."""

    @property
    def incarnation(self) -> int:
        """Changes if events may have been lost that were already read."""
        ...

    async def read(
        self, stream: str, after: int = 0, upto: int | None = None, limit: Limit = None
    ) -> list[Event]:
        """Events with after < position <= upto."""
        ...

    async def read_all(
        self, after: int, upto: int | None = None, limit: Limit = None
    ) -> list[tuple[int, Event]]:
        """Events of all streams with after < sequence <= upto, each with its sequence."""
        ...

    async def last_sequence(self) -> int:
        """The sequence of the newest event."""
        ...


async def event_at(log: Readable, stream: str | None, place: int) -> str | None:
    """The id of the event at a position of a stream, or of all by sequence; None without one."""
    if place < 1:
        return None
    if stream is None:
        return next((event.id for _, event in await log.read_all(place - 1, place)), None)
    return next((event.id for event in await log.read(stream, place - 1, place)), None)


class Bookmark:
    """The last position that a reader has, and the event there."""

    def __init__(self, log: Readable, stream: str | None, place: int) -> None:
        self.place = place
        self.event: str | None = None
        """The id of the event at the position, if it is known."""
        self.incarnation = log.incarnation
        """The history that the position belongs to."""
        self._log = log
        self._stream = stream

    async def find(self) -> None:
        """Look up the event at the position."""
        self.event = await event_at(self._log, self._stream, self.place)
        # The first read connects to a log that is on a server.
        self.incarnation = self.incarnation or self._log.incarnation

    async def resume(self, event: str | None) -> None:
        """Continue at a position that was read earlier, maybe from another server.

        event: the id of the event that was read there, if it is known. HistoryChanged if the log
        has another one, or none.
        """
        await self.find()
        if event not in (None, self.event) or self.event is None:
            await self._miss()

    def move(self, place: int, event: Event) -> None:
        """The reader has an event."""
        self.place, self.event = place, event.id

    async def is_outdated(self) -> bool:
        """Whether another server took over since the last call: read again what was read meanwhile.

        HistoryChanged if the new server lacks what the reader has.
        """
        now = self._log.incarnation
        if self.incarnation in (0, now):
            self.incarnation = now
            return False
        await self.resume(self.event)
        self.incarnation = now
        return True

    async def _miss(self) -> None:
        """Raise HistoryChanged, unless there is only no event left to compare."""
        if self.place < 1:
            return
        # Events that were deleted leave gaps in the sequence, but not at its end.
        has_gaps = self._stream is None and self.event is None
        if not has_gaps or self.place > await self._log.last_sequence():
            raise HistoryChanged(last_position=self.place)
