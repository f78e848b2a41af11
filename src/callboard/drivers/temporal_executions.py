"""How a session becomes an execution in Temporal, and which task queue it is on."""

import re
from collections.abc import Awaitable
from datetime import timedelta
from typing import Final, Protocol

from temporalio.client import Client
from temporalio.common import ActivityIDConflictPolicy

from callboard.drivers.temporal_jobs import (
    DRIVE,
    HANDED_OVER_FOR,
    LIMITS,
    WAKE,
    SessionWorkflow,
)
from callboard.ids import keyed_id

_PREFIX: Final = "callboard."
_WORKER_PREFIX: Final = "callboard-worker."
# Those that need no quoting in a query, and that Temporal does not find too long.
_PLAIN_ID = re.compile(r"[\w.:-]{1,200}", re.ASCII)

_RPC_WITHIN = timedelta(seconds=5)
# A worker that dies with a workflow task keeps others from it for so long.
_TASK_WITHIN = timedelta(seconds=2)


def queue_of(workflow: str) -> str:
    """The name of a workflow's task queue, which only workers that know the workflow poll."""
    return _PREFIX + workflow


def queue_of_worker(engine_worker: str) -> str:
    """The name of the task queue for sessions with a phase that not every worker has.

    On a workflow's queue, Temporal would prefer the worker that asked last, again and again.
    """
    return _WORKER_PREFIX + engine_worker


def job_id(session_id: str) -> str:
    """The id of a session's execution: there is at most one at a time."""
    if _PLAIN_ID.fullmatch(session_id):
        return _PREFIX + session_id
    return f"{_PREFIX}~{keyed_id(session_id)}"


class Jobs(Protocol):
    """How a session becomes an execution in Temporal."""

    async def wake(self, session_id: str, queue: str) -> None:
        """Have the session driven, or once more if it is being driven."""
        ...

    async def hand_over(self, session_id: str, queue: str) -> str | None:
        """Have the session driven by the worker with this queue, when the present job has ended.

        Returns the queue if the execution is to continue there.
        """
        ...

    def running(self, query: str) -> Awaitable[list[str]]:
        """The ids of the executions that match this query."""
        ...


class WorkflowJobs:
    """A workflow execution for each session; a wake is a signal, so none is lost."""

    def __init__(self, client: Client) -> None:
        self._client = client

    async def wake(self, session_id: str, queue: str) -> None:
        """Signal the session's workflow, and start it if it is not running."""
        await self._client.start_workflow(
            SessionWorkflow.run,
            session_id,
            id=job_id(session_id),
            task_queue=queue,
            start_signal=WAKE,
            task_timeout=_TASK_WITHIN,
            rpc_timeout=_RPC_WITHIN,
        )

    async def hand_over(self, session_id: str, queue: str) -> str | None:
        """The workflow continues with an activity on the other queue."""
        return queue

    async def running(self, query: str) -> list[str]:
        """The ids of the workflows that match this query and have not ended."""
        given = f"WorkflowId IN ({query}) AND ExecutionStatus = 'Running'"
        found = self._client.list_workflows(given, rpc_timeout=_RPC_WITHIN)
        return [one.id async for one in found]


class StandaloneJobs:
    """An activity for each session, without a workflow: faster, and a public preview of Temporal.

    A wake in the last moment of a drive has no effect; the dispatcher looks again after each drive.
    """

    def __init__(self, client: Client) -> None:
        self._client = client

    async def wake(self, session_id: str, queue: str) -> None:
        """Start the session's activity, unless it is queued or running."""
        await self._client.start_activity(
            DRIVE,
            session_id,
            id=job_id(session_id),
            task_queue=queue,
            id_conflict_policy=ActivityIDConflictPolicy.USE_EXISTING,
            rpc_timeout=_RPC_WITHIN,
            **LIMITS,
        )

    async def hand_over(self, session_id: str, queue: str) -> str | None:
        """Start another activity, because the present one still has the session's id."""
        await self._client.start_activity(
            DRIVE,
            session_id,
            id=f"{job_id(session_id)}@{queue}",
            task_queue=queue,
            id_conflict_policy=ActivityIDConflictPolicy.USE_EXISTING,
            schedule_to_start_timeout=HANDED_OVER_FOR,
            rpc_timeout=_RPC_WITHIN,
            **LIMITS,
        )
        return None

    async def running(self, query: str) -> list[str]:
        """The ids of the activities that match this query and have not ended."""
        given = f"ActivityId IN ({query}) AND ExecutionStatus = 'Running'"
        found = self._client.list_activities(given, rpc_timeout=_RPC_WITHIN)
        return [one.activity_id async for one in found]
