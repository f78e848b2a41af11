"""Which sessions to look at now, and which to leave alone for a while."""

import heapq
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass

_FIRST = 0.1
_OWNED = 5.0
_FAILED = 60.0


@dataclass(slots=True)
class _PutOff:
    head: int | None
    times: int
    at: float
    owner: str | None


class Backlog:
    """Sessions by their ids: a queue, and those that were put off until later.

    A session that is put off repeatedly waits twice as long each time; `forget` resets that.
    """

    def __init__(self) -> None:
        self._queue: deque[str] = deque()
        self._queued: set[str] = set()
        self._later: dict[str, _PutOff] = {}
        self._times: list[tuple[float, str]] = []

    def __len__(self) -> int:
        return len(self._queue)

    def __contains__(self, session_id: str) -> bool:
        return session_id in self._queued

    def add(self, session_id: str) -> None:
        """Look at a session as soon as there is room."""
        if session_id not in self._queued:
            self._queued.add(session_id)
            self._queue.append(session_id)

    def take(self) -> str:
        """Take the session that has been in the queue the longest."""
        session_id = self._queue.popleft()
        self._queued.discard(session_id)
        return session_id

    def clear(self) -> None:
        """Forget everything."""
        self._queue.clear()
        self._queued.clear()
        self._later.clear()
        self._times.clear()

    def put_off(
        self,
        session_id: str,
        head: int | None,
        now: float,
        *,
        failed: bool,
        owner: str | None = None,
    ) -> float:
        """Leave a session alone for a while, unless its stream grows beyond `head`.

        Returns for how many seconds. `owner` is who drives it, if someone does.
        """
        before = self._later.get(session_id)
        # A session that others drive is looked at soon after each of its events.
        again = before is not None and (failed or before.head == head)
        times = before.times + 1 if before is not None and again else 0
        seconds = min(_FIRST * 2 ** min(times, 20), _FAILED if failed else _OWNED)
        self._later[session_id] = _PutOff(head, times, now + seconds, owner)
        heapq.heappush(self._times, (now + seconds, session_id))
        return seconds

    def forget(self, session_id: str) -> None:
        """Nothing is wrong with this session anymore."""
        self._later.pop(session_id, None)

    def is_put_off(self, session_id: str) -> bool:
        """Whether a session is to be left alone for now."""
        return session_id in self._later

    def head_of(self, session_id: str) -> int | None:
        """The length of the stream when the session was put off, if known."""
        put_off = self._later.get(session_id)
        return put_off.head if put_off is not None else None

    def forget_dead(self, alive: Callable[[str], bool]) -> None:
        """Forget the sessions that were put off because of owners that are dead now."""
        owners = {one.owner for one in self._later.values() if one.owner is not None}
        dead = {owner for owner in owners if not alive(owner)}
        if dead:
            self._later = {id: one for id, one in self._later.items() if one.owner not in dead}

    def next_at(self) -> float | None:
        """When the next session that was put off is due."""
        while self._times and not self._counts(*self._times[0]):
            heapq.heappop(self._times)
        return self._times[0][0] if self._times else None

    def ripe(self, now: float) -> dict[str, int | None]:
        """The sessions that are due, with the lengths of their streams when they were put off."""
        found: dict[str, int | None] = {}
        while (at := self.next_at()) is not None and at <= now:
            session_id = heapq.heappop(self._times)[1]
            found[session_id] = self._later[session_id].head
        return found

    def _counts(self, at: float, session_id: str) -> bool:
        put_off = self._later.get(session_id)
        return put_off is not None and put_off.at == at
