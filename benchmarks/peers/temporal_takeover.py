"""Temporal: an activity that is held, on a worker that is killed; another worker runs it again.

`temporal_takeover.py FOLDER server` starts Temporal's dev server and one workflow; `… ADDRESS`
starts a worker for it. The activity notes each of its starts in the file `runs`, and sends a
heartbeat every 0.2 s until the file `gate` appears. Its heartbeat timeout is a second, and it is
retried at once.
"""

import asyncio
import json
import signal
import sys
from datetime import timedelta
from pathlib import Path

from dbos_recovery import note
from temporal_workflows import keep_stdout, program
from temporalio import activity, workflow
from temporalio.client import Client
from temporalio.common import RetryPolicy
from temporalio.testing import WorkflowEnvironment
from temporalio.worker import UnsandboxedWorkflowRunner, Worker

FOLDER = Path(sys.argv[1])
QUEUE = "bench"


@activity.defn
async def work() -> None:
    note(FOLDER / "runs", f"held {activity.info().attempt}\n")
    while not (FOLDER / "gate").exists():
        activity.heartbeat()
        await asyncio.sleep(0.2)


@workflow.defn
class Held:
    @workflow.run
    async def run(self) -> None:
        await workflow.execute_activity(
            work,
            start_to_close_timeout=timedelta(minutes=10),
            heartbeat_timeout=timedelta(seconds=1),
            retry_policy=RetryPolicy(initial_interval=timedelta(milliseconds=10)),
        )


async def serve() -> None:
    # In order, so that the server's own process ends too.
    stopped = asyncio.Event()
    asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, stopped.set)
    async with await WorkflowEnvironment.start_local(
        dev_server_existing_path=program(),
        dev_server_database_filename=str(FOLDER / "temporal.db"),
        dev_server_log_level="error",
    ) as environment:
        await environment.client.start_workflow(Held.run, id="held", task_queue=QUEUE)
        address = environment.client.service_client.config.target_host
        print(json.dumps({"url": address}), flush=True)
        await stopped.wait()


async def serve_worker(address: str) -> None:
    async with Worker(
        await Client.connect(address),
        task_queue=QUEUE,
        workflows=[Held],
        activities=[work],
        workflow_runner=UnsandboxedWorkflowRunner(),
        max_heartbeat_throttle_interval=timedelta(seconds=0.5),
    ):
        print(json.dumps({"ready": True}), flush=True)
        await asyncio.Event().wait()


if __name__ == "__main__":
    keep_stdout()
    asyncio.run(serve() if sys.argv[2] == "server" else serve_worker(sys.argv[2]))
