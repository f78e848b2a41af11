"""Messages to a coding agent, whatever people, the agent, its machine and crashes do.

Never handed over twice, never lost silently, in order, and changed only while they wait.
"""

import asyncio
import tempfile
from collections.abc import Coroutine
from pathlib import Path
from typing import Any, TypeVar

from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, rule
from tests.scripted_agent import MessageWorld

from callboard.board.messages import PlateMessage
from callboard.errors import ConflictError
from callboard.events import messages as names
from callboard.events import plates as events
from callboard.testing.fake_clock import FakeClock

T = TypeVar("T")

RESULTS = ["accepted", "held", "untouched", "unknown", "unknown but nothing happened"]
WAITING = ("queued",)
GIVEN = ("handed", "held", "delivered", "seen", "lost")

picks = st.integers(0, 5)


class Messages(RuleBasedStateMachine):
    """What people write, against what the agent gets."""

    @initialize()
    def begin(self) -> None:
        self.folder = tempfile.TemporaryDirectory()
        self.runner = asyncio.Runner()
        self.count = 0
        self.run(self.made())

    async def made(self) -> None:
        self.world = MessageWorld(Path(self.folder.name), FakeClock())
        await self.world.start()

    def run(self, work: Coroutine[Any, Any, T]) -> T:
        return self.runner.run(work)

    def listed(self) -> list[PlateMessage]:
        return self.run(self.world.messages())

    def one_of(self, pick: int, *statuses: str) -> PlateMessage | None:
        found = [one for one in self.listed() if not statuses or one.status in statuses]
        return found[pick % len(found)] if found else None

    # ------------------------------------------------------------------ people

    @rule(when=st.sampled_from(["now", "after_turn"]))
    def say(self, when: str) -> None:
        if self.run(self.world.plate()).status == "closed":
            return
        self.count += 1
        self.run(self.world.say(f"m{self.count}", when=when))

    @rule(pick=picks)
    def withdraw(self, pick: int) -> None:
        one = self.one_of(pick)
        if one is not None:
            self.changed(one, self.world.board.messages.withdraw(self.world.id, one.id))

    @rule(pick=picks, before=picks)
    def move(self, pick: int, before: int) -> None:
        one, other = self.one_of(pick), self.one_of(before, *WAITING)
        if one is not None:
            to = "" if other is None else other.id
            self.changed(one, self.world.board.messages.change(self.world.id, one.id, before=to))

    @rule(pick=picks)
    def change(self, pick: int) -> None:
        one = self.one_of(pick)
        if one is not None:
            self.count += 1
            messages = self.world.board.messages
            self.changed(one, messages.change(self.world.id, one.id, text=f"m{self.count}"))

    def changed(self, one: PlateMessage, work: Coroutine[Any, Any, PlateMessage]) -> None:
        try:
            self.run(work)
        except ConflictError:
            assert one.status not in WAITING
        else:
            assert one.status in WAITING

    # ------------------------------------------------------------------ the agent

    @rule()
    def works(self) -> None:
        self.hear(events.PROMPT_SUBMIT({}))

    @rule()
    def stops(self) -> None:
        self.hear(events.STOP({}))

    @rule()
    def asks(self) -> None:
        self.hear(events.PERMISSION_REQUEST({"toolName": "Bash", "asks": "?"}))

    @rule()
    def ends(self) -> None:
        self.hear(events.SESSION_END({}))

    @rule()
    def starts(self) -> None:
        self.hear(events.SESSION_START({}), events.TURN_IDLE({}))

    def hear(self, *signals: Any) -> None:
        self.pass_time(0.01)
        self.run(self.world.hear(*signals))

    @rule(result=st.sampled_from(RESULTS))
    def will_be(self, result: str) -> None:
        self.world.agent.results = [result]

    @rule(pick=picks, shows=st.sampled_from(["delivered", "seen", "refused"]))
    def shows(self, pick: int, shows: str) -> None:
        one = self.one_of(pick, "handed", "held", "delivered")
        if one is not None and one.text in self.world.agent.got:
            is_refused = shows == "refused" and one.status == "held"
            self.world.agent.shows[one.text] = shows if is_refused or shows == "seen" else "seen"

    @rule()
    def hook_runs(self) -> None:
        self.world.agent.hook_runs()

    @rule(pick=picks)
    def drops(self, pick: int) -> None:
        """The client lost it, and says so: as Codex does when a turn is interrupted."""
        one = self.one_of(pick, "handed")
        if one is not None and one.text in self.world.agent.got:
            self.world.agent.got.remove(one.text)
            self.world.agent.shows[one.text] = "untouched"
            self.deliver()
            self.world.agent.shows.pop(one.text)

    @rule(way=st.sampled_from(["inbox", "hook", None]))
    def is_reached(self, way: str | None) -> None:
        self.world.agent.way = way

    # ------------------------------------------------------------------ time, servers, crashes

    @rule(seconds=st.sampled_from([0.1, 1.0, 6.0, 40.0]))
    def pass_time(self, seconds: float) -> None:
        assert isinstance(self.world.clock, FakeClock)
        self.run(self.world.clock.advance(seconds))

    @rule()
    def deliver(self) -> None:
        self.run(self.world.steps())

    @rule()
    def step(self) -> None:
        self.run(self.world.delivery.step())

    @rule()
    def another_server_delivers(self) -> None:
        self.run(self.both())

    async def both(self) -> None:
        await asyncio.gather(self.world.steps(), self.world.steps(self.world.new_delivery()))

    @rule()
    def crash(self) -> None:
        self.run(self.world.serve())

    @rule()
    def crash_while_handing_over(self) -> None:
        self.run(self.crashed())

    async def crashed(self) -> None:
        asked = asyncio.Event()

        def lose(text: str) -> None:
            self.world.is_lost = True
            asked.set()

        self.world.agent.on_say = lose
        work = asyncio.ensure_future(self.world.steps())
        await asyncio.wait(
            [work, asyncio.ensure_future(asked.wait())], return_when=asyncio.FIRST_COMPLETED
        )
        work.cancel()
        asked.set()
        await asyncio.gather(work, return_exceptions=True)
        self.world.agent.on_say, self.world.is_lost = None, False
        await self.world.serve()

    # ------------------------------------------------------------------ what always holds

    @invariant()
    def nothing_is_handed_over_twice(self) -> None:
        got = self.world.agent.got
        assert len(set(got)) == len(got)

    @invariant()
    def what_the_agent_has_is_not_called_waiting(self) -> None:
        by_text = {one.text: one for one in self.listed()}
        for text in self.world.agent.got:
            assert by_text[text].status in GIVEN, by_text[text]

    @invariant()
    def delivered_means_that_the_agent_has_it(self) -> None:
        for one in self.listed():
            if one.status in ("delivered", "seen"):
                assert one.text in self.world.agent.got
                assert one.delivered_at is not None

    @invariant()
    def nothing_is_lost_silently(self) -> None:
        assert all(one.note for one in self.listed() if one.status == "lost")
        assert len(self.listed()) == len({one.id for one in self.listed()})

    @invariant()
    def one_is_on_its_way_at_most(self) -> None:
        assert sum(one.status in ("handed", "held") for one in self.listed()) <= 1

    @invariant()
    def receipts_are_recorded_once(self) -> None:
        told = self.run(self.world.board.plates.events(self.world.id))
        for name in (names.DELIVERED, names.SEEN, names.LOST, names.WITHDRAWN):
            ids = [one.payload["id"] for one in told if one.name == name]
            assert len(ids) == len(set(ids))

    @invariant()
    def the_rows_follow_from_the_events(self) -> None:
        before = self.listed()
        self.run(self.world.board.rebuild())
        assert self.listed() == before

    def teardown(self) -> None:
        if hasattr(self, "runner"):
            self.run(self.world.board.close())
            self.runner.close()
            self.folder.cleanup()


Messages.TestCase.settings = settings(
    max_examples=25,
    stateful_step_count=25,
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow],
)
TestMessages = Messages.TestCase
