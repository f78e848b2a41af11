"""How many sessions there are of each status: counted once, then kept up with what changes."""

import sqlite3
from collections.abc import Iterable

_ALL = "SELECT key, status FROM sessions JOIN streams ON streams.id = sessions.id"
# Without an index: SQLite would choose that of the streams, and read all of it.
_GROWN = (
    "SELECT key, status "
    "FROM (SELECT DISTINCT stream FROM events NOT INDEXED WHERE seq > ?) AS grown "
    "JOIN streams ON streams.key = grown.stream JOIN sessions ON sessions.id = streams.id"
)


class SessionCounts:
    """Costs what has changed since the last time, not what there is.

    It remembers the status of each session in one byte, by the key of its stream. An event
    changes the row of its own session only, so to look at the streams that grew is enough. What
    was deleted leaves no event, but makes the total wrong: then all are counted again.
    """

    def __init__(self) -> None:
        self._statuses = [""]
        """The first stands for no session."""
        self._counts = [0]
        self._of_stream = bytearray()
        self._seen: int | None = None

    def forget(self) -> None:
        """Count all again the next time."""
        self._seen = None

    def at(self, database: sqlite3.Connection) -> dict[str, int]:
        """The counts as a connection sees them now."""
        # An error leaves them half done.
        before, self._seen = self._seen, None
        database.execute("BEGIN")
        try:
            (last,) = database.execute("SELECT coalesce(max(seq), 0) FROM events").fetchone()
            (total,) = database.execute("SELECT count(*) FROM sessions").fetchone()
            # To read more events than there are sessions takes longer than to count them.
            knows = before is not None and last - before <= total
            if knows:
                self._note(database.execute(_GROWN, (before,)))
            if not knows or sum(self._counts[1:]) != total:
                self._counts = [0] * len(self._statuses)
                self._of_stream = bytearray()
                self._note(database.execute(_ALL))
        finally:
            database.execute("ROLLBACK")
        self._seen = last
        return dict(zip(self._statuses[1:], self._counts[1:], strict=True))

    def _note(self, found: Iterable[tuple[int, str]]) -> None:
        for key, status in found:
            if key >= len(self._of_stream):
                self._of_stream.extend(bytes(key + 1 - len(self._of_stream)))
            self._counts[self._of_stream[key]] -= 1
            self._of_stream[key] = number = self._number(status)
            self._counts[number] += 1

    def _number(self, status: str) -> int:
        if status not in self._statuses:
            self._statuses.append(status)
            self._counts.append(0)
        return self._statuses.index(status)
