"""One session, from claim to end: open it, watch it, judge its end, record it."""

import asyncio
import signal
from collections.abc import AsyncGenerator, Callable, Coroutine, Generator
from contextlib import asynccontextmanager, contextmanager, suppress
from dataclasses import asdict, dataclass, replace
from typing import Final

from callboard.board.question_protocols import Questions
from callboard.clock import Clock
from callboard.errors import AgentError, CallboardError, NotFound
from callboard.harness.checkpoints import Checkpoint, forget, save
from callboard.harness.claim_renewal import Harness, keep
from callboard.harness.conversation import is_confirmed, said_in
from callboard.harness.ending import Confirm, Course, Cut, SessionEnding, judged
from callboard.harness.folders import Attempt, Folders
from callboard.harness.preparing import PreparedSession, words_for
from callboard.harness.pty import Exit, Passthrough
from callboard.harness.recording import EndRecord, recorded
from callboard.harness.transcripts import kept
from callboard.harness.unrecorded import is_in_use
from callboard.interactions.configs import is_shared
from callboard.interactions.records import Interaction
from callboard.systems.processes import started_at
from callboard.terminals.persons_terminal import PersonsTerminal
from callboard.vendors.claude import launching
from callboard.vendors.claude.extraction import Spoken
from callboard.vendors.settings.installing import InstallPlan

GRACE: Final = 60.0
"""Seconds between the warning that time is up and the end."""
_TO_LEAVE: Final = 5.0
"""Seconds for an agent to exit by itself when asked to."""


@dataclass(frozen=True, slots=True)
class Office:
    """Where sessions come from, and who attends to them.

    plan: the hooks that put a session on the board.
    """

    desk: Questions
    folders: Folders
    me: Harness
    clock: Clock
    plan: InstallPlan | None = None
    grace: float = GRACE


@asynccontextmanager
async def alongside(*work: Coroutine[object, None, None]) -> AsyncGenerator[None]:
    """Run this work during the block, and cancel it afterwards."""
    tasks = [asyncio.create_task(one) for one in work]
    try:
        yield
    finally:
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)


@contextmanager
def starting() -> Generator[None]:
    """Turn an OSError into an AgentError if an agent cannot be started."""
    try:
        yield
    except OSError as error:
        raise AgentError(f"The agent cannot be started: {error}.") from error


class Attendance:
    """One session that was claimed and prepared."""

    def __init__(self, office: Office, ready: PreparedSession) -> None:
        self._office = office
        self._ready = ready
        self._cut: Cut | None = None
        self._over = asyncio.Event()
        self.lost: str | None = None
        """What happened to the question in the meantime, if this harness no longer has it alone."""
        self.left_to_others = False
        """Whether the person left without a decision while others are still taking part."""

    async def attend(self, confirm: Confirm, tell: Callable[[str], None]) -> Interaction | None:
        """Open it, wait for its end, and record it; None if it is left to others.

        tell: reports why it takes long.
        """
        with starting():
            attempt = self._office.folders.begin(self._ready.asked.id, asdict(self._office.me))
        try:
            record = await self._course(attempt, confirm)
        except BaseException:
            if attempt.decision is None:
                attempt.remove()
            raise
        if record is not None and await self._is_left_to_others(attempt, record):
            self.left_to_others, record = True, None
        if record is None:
            attempt.remove()
            return None
        try:
            attempt.write_json("ending.json", asdict(record))
        except OSError as error:
            tell(
                f"Can't save how the session ended: {error}. If it can't be recorded now, it is "
                "lost."
            )
        try:
            found = await recorded(self._office.desk, self._ready.asked.id, record, tell)
        except NotFound:
            attempt.remove()  # It is of no more use.
            raise
        attempt.remove()
        forget(attempt.folder.parent)
        return found

    async def _is_left_to_others(self, attempt: Attempt, record: EndRecord) -> bool:
        """Whether others are still taking part: then one person leaving doesn't end it."""
        office, asked = self._office, self._ready.asked
        if record.outcome != "cancelled" or not is_shared(asked.config):
            return False
        tries = office.folders.tries(asked.id)
        if any(is_in_use(one) for one in tries if one != attempt):
            return True
        try:
            found = await office.desk.get(asked.id)
        except CallboardError:
            return False
        return found.status == "pending" and found.claimed_by not in (None, office.me.name)

    async def _course(self, attempt: Attempt, confirm: Confirm) -> EndRecord | None:
        asks = self._ready.wanted
        with starting():
            words, session = words_for(self._ready, attempt, self._office.plan)
        goes_on = self._ready.goes_on
        before = len(said_in(session)) if self._ready.resumes and goes_on is None else 0
        at = goes_on or Checkpoint(session)
        begun = self._office.clock.monotonic() - at.seconds
        ended = await self._run(words, attempt, at, before)
        duration = self._office.clock.monotonic() - begun
        said = said_in(session, before)
        decision, desk = attempt.decision, self._office.desk
        confirmed = decision is not None and await is_confirmed(
            desk, decision, session, attempt.seen, said
        )
        course = Course(ended, duration, self._cut, said, decision, attempt.proposal, confirmed)
        prompt = (attempt.folder / "prompt.md").read_text(encoding="utf-8")
        ending = judged(course, prompt, asks.config)
        if ending is not None and ending.unsure and not await self._confirmed(confirm, ending):
            ending = ending.otherwise or SessionEnding("cancelled")
        if ending is None:
            return None
        return await self._record(ending, duration, said)

    async def _confirmed(self, confirm: Confirm, ending: SessionEnding) -> bool:
        """Ask the person, and keep the claim until they answer."""
        office = self._office

        def on_loss(why: str) -> None:
            self.lost = why

        async with alongside(
            keep(office.desk, self._ready.asked, office.me, office.clock, on_loss)
        ):
            return await confirm(ending)

    async def _record(
        self, ending: SessionEnding, duration: float, said: list[Spoken]
    ) -> EndRecord:
        captures = self._ready.wanted.captures
        return EndRecord(
            outcome=ending.outcome,
            response=ending.response,
            error=ending.error,
            duration_ms=round(duration * 1000),
            transcript=await asyncio.to_thread(kept, said) if captures else None,
            by=self._office.me.person,
        )

    async def _run(self, words: list[str], attempt: Attempt, at: Checkpoint, before: int) -> Exit:
        about = {"session": at.session, "before": before}
        stage = Passthrough(PersonsTerminal())
        with starting():
            attempt.write_json("agent.json", about)
            stage.start(words, self._ready.cwd, launching.environment())
        loop = asyncio.get_running_loop()
        ended = asyncio.to_thread(
            stage.run, lambda: loop.call_soon_threadsafe(self._leave, "closed") and None
        )
        told = {"pid": stage.pid, "start": started_at(stage.pid)}
        with suppress(OSError):  # It is running; a full disk isn't a reason to stop it.
            attempt.write_json("agent.json", {**about, **told})
        async with alongside(*self._watching(stage, at)):
            with self._signals(stage):
                return await ended

    def _watching(self, stage: Passthrough, at: Checkpoint) -> list[Coroutine[object, None, None]]:
        office, asks = self._office, self._ready.wanted

        def on_loss(why: str) -> None:
            self.lost = why
            stage.ring()
            stage.notify(why)

        watching: list[Coroutine[object, None, None]] = [
            keep(office.desk, self._ready.asked, office.me, office.clock, on_loss),
            self._end(stage),
        ]
        if asks.checkpoint_every is not None:
            watching.append(self._checkpoints(at, asks.checkpoint_every))
        return watching if asks.timeout is None else [*watching, self._time(stage, asks.timeout)]

    async def _checkpoints(self, at: Checkpoint, every: float) -> None:
        """Save the session's progress at intervals."""
        office = self._office
        begun = office.clock.monotonic() - at.seconds
        while True:
            await office.clock.sleep(every)
            reached = replace(at, seconds=office.clock.monotonic() - begun)
            save(office.folders.of(self._ready.asked.id), reached)

    async def _time(self, stage: Passthrough, timeout: float) -> None:
        """Enforce the time limit: a warning, a grace period, then the end."""
        clock = self._office.clock
        await clock.sleep(timeout)
        stage.ring()
        ends = clock.monotonic() + self._office.grace
        while (left := ends - clock.monotonic()) > 0:
            stage.notify(f"Time is up. This session ends in {left:.0f} s: decide, or leave.")
            await clock.sleep(min(1.0, left))
        self._leave("timeout")

    async def _end(self, stage: Passthrough) -> None:
        """When the session has to end, ask the agent to exit, then kill it."""
        await self._over.wait()
        stage.notify("")
        stage.send(signal.SIGHUP if self._cut == "closed" else signal.SIGTERM)
        await self._office.clock.sleep(_TO_LEAVE)
        stage.send(signal.SIGKILL, to_all=True)

    def _leave(self, why: Cut) -> None:
        if self._cut is None:
            self._cut = why
            self._over.set()

    @contextmanager
    def _signals(self, stage: Passthrough) -> Generator[None]:
        """Forward signals to the session."""
        loop = asyncio.get_running_loop()
        heard: dict[signal.Signals, Callable[[], None]] = {
            signal.SIGWINCH: stage.resize,
            signal.SIGHUP: lambda: self._leave("closed"),
            signal.SIGTERM: lambda: self._leave("stopped"),
            signal.SIGINT: lambda: self._leave("stopped"),
        }
        for number, act in heard.items():
            loop.add_signal_handler(number, act)
        try:
            yield
        finally:
            for number in heard:
                with suppress(ValueError):
                    loop.remove_signal_handler(number)
