"""LangGraph on PostgreSQL: workflows of five nodes, each appending one string, every step durable.

`durability="sync"` writes each step before the next one starts. A saver lets one statement through
at a time, so every lane has one of its own, with a connection of its own. Tracing is off.
"""

import argparse
import asyncio
import json
import sys
from contextlib import AsyncExitStack
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from lanes import run_lanes
from langgraph.checkpoint.postgres.aio import AsyncPostgresSaver
from langgraph_workflows import build, config, work_async


async def set_up(saver: AsyncPostgresSaver) -> None:
    """Make the tables, one process at a time: two at once fail."""
    # Without waiting in the server, where the migrations would wait for us.
    while not await taken(saver):
        await asyncio.sleep(0.05)
    await saver.setup()
    await saver.conn.execute("SELECT pg_advisory_unlock(1)")


async def taken(saver: AsyncPostgresSaver) -> bool:
    cursor = await saver.conn.execute("SELECT pg_try_advisory_lock(1) AS taken")
    return (await cursor.fetchone())["taken"]


async def run(url: str, width: int, count: int, warm: int) -> dict[str, float]:
    async with AsyncExitStack() as stack:
        savers = [
            await stack.enter_async_context(AsyncPostgresSaver.from_conn_string(url))
            for _ in range(width)
        ]
        await set_up(savers[0])
        graphs = [build(work_async, saver) for saver in savers]

        async def once(lane: int) -> None:
            result = await graphs[lane].ainvoke({"items": []}, config(), durability="sync")
            assert result["items"] == ["done"] * 5

        return await run_lanes(once, width, count, warm)


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--url", required=True)
    parser.add_argument("--count", type=int, default=100)
    parser.add_argument("--warm", type=int, default=16)
    parser.add_argument("--width", type=int, default=16)
    options = parser.parse_args()
    given = (options.url, options.width, options.count, options.warm)
    print(json.dumps(asyncio.run(run(*given))))


if __name__ == "__main__":
    main()
