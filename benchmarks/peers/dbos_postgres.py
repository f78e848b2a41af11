"""DBOS on PostgreSQL: workflows of five steps, every step recorded before the next one starts.

Logging is at ERROR, tracing is off, and there are as many connections as lanes.
"""

import argparse
import asyncio
import json
import os
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from dbos import DBOS, DBOSConfig
from dbos_flows import five, five_async
from lanes import run_lanes, run_threads


async def once(lane: int) -> None:
    assert await five_async() == ["done"] * 5


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("mode", choices=["threads", "tasks"])
    parser.add_argument("--url", required=True)
    parser.add_argument("--count", type=int, default=100)
    parser.add_argument("--warm", type=int, default=16)
    parser.add_argument("--width", type=int, default=16)
    options = parser.parse_args()
    settings: DBOSConfig = {
        "name": "bench",
        "system_database_url": options.url.replace("postgresql://", "postgresql+psycopg://"),
        "sys_db_pool_size": max(20, options.width),
        "executor_id": str(os.getpid()),
        "log_level": "ERROR",
        "enable_otlp": False,
    }
    DBOS(config=settings)
    DBOS.launch()
    given = (options.width, options.count, options.warm)
    try:
        if options.mode == "threads":
            found = run_threads(five, *given)
        else:
            found = asyncio.run(run_lanes(once, *given))
    finally:
        DBOS.destroy()
    print(json.dumps(found))


if __name__ == "__main__":
    main()
