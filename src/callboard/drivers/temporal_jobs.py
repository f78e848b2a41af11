"""What Temporal runs: an activity that drives a session, and a workflow that repeats it on demand.

Temporal replays the workflow from its history, so it does nothing but wait, and changes only with
care: executions that started before a change continue after it.
"""

from dataclasses import dataclass
from datetime import timedelta
from typing import Final, TypedDict

from temporalio import workflow
from temporalio.common import RetryPolicy
from temporalio.exceptions import ActivityError

DRIVE: Final = "callboard.drive"
SESSION: Final = "callboard.session"
WAKE: Final = "wake"

BEAT_EVERY: Final = 0.3
"""Seconds between the heartbeats of an activity."""

HANDED_BACK_FOR: Final = timedelta(seconds=0.5)
"""How long a session that a worker handed back waits for another one."""


HANDED_OVER_FOR: Final = timedelta(seconds=5)
"""How long a session waits for the worker that it was handed to, which may have stopped."""


@dataclass(frozen=True)
class DriveEnd:
    """How an activity ended: whether it drove the session, and which queue has to continue."""

    driven: bool
    queue: str | None = None


class JobLimits(TypedDict):
    """How long a job may take, and what happens if it fails."""

    start_to_close_timeout: timedelta
    heartbeat_timeout: timedelta
    retry_policy: RetryPolicy


LIMITS: Final[JobLimits] = {
    # An agent may work for days. Whether its worker is alive, heartbeats tell.
    "start_to_close_timeout": timedelta(days=3650),
    "heartbeat_timeout": timedelta(seconds=1),
    # The log knows which owners are dead, and the dispatcher wakes their sessions.
    "retry_policy": RetryPolicy(maximum_attempts=1),
}


@workflow.defn(name=SESSION)
class SessionWorkflow:
    """Drives a session, and again if it was woken in the meantime. Then it ends."""

    def __init__(self) -> None:
        self._is_woken = False

    @workflow.signal(name=WAKE)
    def wake(self) -> None:
        """There is, or may be, work to do."""
        self._is_woken = True

    @workflow.run
    async def run(self, session_id: str) -> None:
        """Drive the session at least once."""
        queue: str | None = None
        while True:
            self._is_woken = False
            end = await _drive(session_id, queue)
            queue = end.queue
            if not end.driven:
                # Its worker was full or is stopping; others may have room.
                await workflow.sleep(HANDED_BACK_FOR)
            elif queue is None and not self._is_woken:
                return
            if workflow.info().is_continue_as_new_suggested():
                workflow.continue_as_new(session_id)


async def _drive(session_id: str, queue: str | None) -> DriveEnd:
    """Have the session driven, by a certain worker if there is a queue."""
    try:
        return await workflow.execute_activity(
            DRIVE,
            session_id,
            result_type=DriveEnd,
            task_queue=queue,
            schedule_to_start_timeout=HANDED_OVER_FOR if queue else None,
            **LIMITS,
        )
    except ActivityError:
        # Its worker died or hangs, or the activity was ended by hand. The log tells the rest.
        workflow.logger.info("The drive of session %s ended without a result", session_id)
        return DriveEnd(driven=True)
