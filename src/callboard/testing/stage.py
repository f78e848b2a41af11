"""A session in memory that is moved step by step, without agents, people or an event loop."""

from collections.abc import Coroutine, Mapping
from typing import TypeVar

from callboard.engine import decide as d
from callboard.engine.inbox import Inbox
from callboard.engine.live import Build, LiveSession
from callboard.engine.operations import Operations, begin
from callboard.engine.perform import perform, start
from callboard.engine.scene import Scene
from callboard.engine.workflow import Workflow
from callboard.events.envelope import Event
from callboard.events.event_name import Entry
from callboard.log.memory import MemoryLog
from callboard.state.rows import project
from callboard.state.session import SessionView
from callboard.testing.fake_clock import FakeClock
from callboard.testing.histories import complete

T = TypeVar("T")

SESSION = "session"


class Stage:
    """A session of a workflow, with methods to move it."""

    def __init__(self, workflow: Workflow) -> None:
        self.workflow = workflow
        self.clock = FakeClock()
        self.log = MemoryLog(project, self.clock)
        self.operations = Operations(self.log, self.clock)
        self.inbox = Inbox(self.log, self.clock)
        self.live = LiveSession(self.log, workflow, SESSION, self.clock)

    @property
    def view(self) -> SessionView:
        """The session's current view."""
        return self.live.view

    def begin(self, given: object) -> None:
        """Start the session, without continuing it."""
        self.commit(begin(self.workflow, given))

    def record(self, name: str, payload: Mapping[str, object]) -> None:
        """Add an event to the history, whether or not it could have happened."""
        filled = complete(self.workflow, self.view, name, payload)

        def build(scene: Scene) -> None:
            scene.batch.add(Entry(name, filled))

        self.commit(build)

    def commit(self, build: Build) -> None:
        """Append the events that the function builds."""
        now(self.live.commit(build))

    def go_on(self) -> None:
        """Continue as far as possible without an agent's output, a person's answer or time."""
        now(self.live.catch_up())
        self.commit(_decide)

    def events(self, after: int) -> list[Event]:
        """The events after a position."""
        return now(self.log.read(SESSION, after))


def _decide(scene: Scene) -> None:
    while True:
        decision = d.decide(scene.workflow, scene.batch.view, scene.batch.now)
        if isinstance(decision, d.Start):
            for run in decision.runs:
                start(scene, run)
        elif not perform(scene, decision):
            return


def now(work: Coroutine[object, None, T]) -> T:
    """Run a coroutine without an event loop. Works because in-memory code never waits."""
    try:
        while True:
            if work.send(None) is not None:
                raise NotImplementedError("The coroutine waits, which needs an event loop.")
    except StopIteration as done:
        return done.value
