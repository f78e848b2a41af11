"""What gets a session driven: this process, or a worker that an engine gives a job to."""

from collections.abc import Collection
from typing import Protocol

from callboard.drivers.local import LocalDriver, Manner
from callboard.errors import WorkflowNotFound


class JobRunner(Protocol):
    """The part of a dispatcher that an engine's worker calls."""

    async def drive(self, session_id: str) -> str | None:
        """Drive a session until it waits, pauses or ends. Never raises a CallboardError.

        Returns the engine's id of the worker that has to continue, if this one lacks a phase.
        """
        ...

    async def registered(self, engine_worker: str | None) -> None:
        """Record that sessions are driven here, and the engine's id of this process."""
        ...


def successor(error: Exception) -> str | None:
    """The engine's id of the worker that can continue where a drive failed with this error."""
    worker = error.context.get("engine_worker") if isinstance(error, WorkflowNotFound) else None
    return str(worker) if worker else None


class Engine(Protocol):
    """Gets sessions driven. `callboard.testing.driver_suite` tests it.

    A wake is a hint, and the log is the truth: wakes may be lost, repeated, or come too late. So an
    engine needs no timers, no retries and no results.
    """

    polls: bool
    """Whether the dispatcher has to look for work regularly, because others do the driving."""

    def knows(self, workflow: str) -> bool:
        """Whether sessions of this workflow can be woken here."""
        ...

    async def start(self, runner: JobRunner) -> None:
        """Connect, and start a worker if this process is to have one."""
        ...

    async def wake(self, session_id: str, workflow: str) -> int | None:
        """Have a session driven, soon and once.

        Returns the position up to which it was driven; None if a worker will do that later. While
        the engine is away, this waits.
        """
        ...

    async def awaited(self, sessions: Collection[str]) -> Collection[str]:
        """Those of these sessions that were woken and whose jobs are not done."""
        ...

    async def heal(self) -> Collection[str]:
        """Remove the jobs of dead workers; returns their sessions. Only one process does this."""
        ...

    async def stop(self, grace: float) -> None:
        """Take no more jobs, let those that run finish for `grace` seconds, then cancel them."""
        ...


class LocalEngine:
    """Drives sessions in this process: a wake returns when the drive does."""

    polls = False

    def __init__(self, driver: LocalDriver, manner: Manner) -> None:
        self._driver = driver
        self._manner = manner

    def knows(self, workflow: str) -> bool:
        """Whether the workflow is loaded here."""
        return self._driver.knows(workflow)

    async def start(self, runner: JobRunner) -> None:
        """Let others know what can be driven here."""
        await runner.registered(None)

    async def wake(self, session_id: str, workflow: str) -> int | None:
        """Drive the session until it waits, pauses or ends."""
        return (await self._driver.carry_on(session_id, self._manner)).position

    async def awaited(self, sessions: Collection[str]) -> Collection[str]:
        """None: a wake that has returned is done."""
        return ()

    async def heal(self) -> Collection[str]:
        """There are no jobs."""
        return ()

    async def stop(self, grace: float) -> None:
        """The dispatcher waits for its wakes, and cancels them."""
