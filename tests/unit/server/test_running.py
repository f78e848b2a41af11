"""A server that has nothing to do wakes rarely, and measures itself well when it has."""

from email.utils import parsedate_to_datetime

import pytest
import uvicorn

from callboard.server import running
from callboard.server.running import LoopWatch


class Measured:
    """A watch over a loop whose thread takes as much time as the test says."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self._now = 0.0
        monkeypatch.setattr(running.time, "thread_time", lambda: self._now)
        self.seen: list[float] = []
        self.is_idle = True
        self.watch = LoopWatch(self.seen.append, lambda: self.is_idle)
        self.watch.start()

    def look(self, busy: float) -> float:
        """The time comes to look; returns for how long it then waits."""
        self._now += busy
        assert self.watch._timer is not None
        self.watch._timer.cancel()
        self.watch._look()
        return self.watch._seconds

    def wake(self, busy: float) -> float:
        self._now += busy
        self.watch.wake()
        return self.watch._seconds


@pytest.fixture
async def measured(monkeypatch: pytest.MonkeyPatch):
    measured = Measured(monkeypatch)
    yield measured
    measured.watch.stop()


async def test_with_nothing_to_do_it_looks_rarely(measured: Measured):
    waits = [measured.look(0.0001) for _ in range(25)]
    assert waits[0] == 0.05
    assert waits[-1] == 2.0
    # What little a server does in two seconds is no reason to look closely.
    assert measured.look(0.02) == 2.0


async def test_it_looks_often_while_a_request_waits_for_a_thread(measured: Measured):
    measured.is_idle = False
    assert {measured.look(0.0001) for _ in range(50)} == {0.05}
    measured.is_idle = True
    assert [measured.look(0.0001) for _ in range(25)][-1] == 2.0


async def test_it_looks_closely_at_once_when_something_happens(measured: Measured):
    for _ in range(25):
        measured.look(0.0)
    assert measured.wake(0.001) == 0.05
    assert measured.look(0.3) == 0.005
    assert measured.seen[-2:] == pytest.approx([0.001, 0.3])


async def test_a_block_that_nothing_announced_is_seen(measured: Measured):
    for _ in range(25):
        measured.look(0.0)
    assert measured.look(1.5) == 0.005
    assert measured.seen[-1] == pytest.approx(1.5)


async def test_to_be_woken_while_it_looks_often_changes_nothing(measured: Measured):
    measured.look(0.0)
    seen = list(measured.seen)
    assert measured.wake(0.0) == 0.05
    assert measured.seen == seen


async def test_responses_have_the_date_of_their_second():
    server = running._Server(uvicorn.Config("unused"))
    for seconds in (1_769_860_800, 1_769_860_801):
        server.set_date(seconds)
        [(name, date)] = server.server_state.default_headers
        assert name == b"date"
        assert parsedate_to_datetime(date.decode()).timestamp() == seconds
