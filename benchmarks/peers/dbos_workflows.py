"""DBOS on SQLite: workflows of five steps, each returning one string, every step recorded before
the next one starts.

`--journal delete` is DBOS as it opens a `sqlite:///` address (rollback journal, synchronous FULL;
it has no setting for this). `--journal wal` puts the database file into WAL beforehand, which
SQLite remembers in the file and which makes it quicker; the documentation does
not mention it. Logging is at ERROR, tracing is off.
"""

import argparse
import asyncio
import json
import sqlite3
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from common import scratch
from dbos import DBOS, DBOSConfig
from dbos_flows import five, five_async


def rates(done: int, seconds: float, busy: float) -> dict[str, Any]:
    return {"per_second": done / seconds, "cpu_ms": 1000 * busy / done, "seconds": seconds}


def serial(count: int, warm: int) -> dict[str, Any]:
    for _ in range(warm):
        five()
    started, busy = time.perf_counter(), time.process_time()
    for _ in range(count):
        result = five()
    seconds, busy = time.perf_counter() - started, time.process_time() - busy
    assert result == ["done"] * 5
    return rates(count, seconds, busy)


def threads(count: int, warm: int, width: int) -> dict[str, Any]:
    with ThreadPoolExecutor(width) as pool:
        list(pool.map(lambda _: five(), range(warm)))
        started, busy = time.perf_counter(), time.process_time()
        results = list(pool.map(lambda _: five(), range(count)))
        seconds, busy = time.perf_counter() - started, time.process_time() - busy
    assert all(result == ["done"] * 5 for result in results)
    return rates(count, seconds, busy)


async def tasks(count: int, warm: int, width: int) -> dict[str, Any]:
    async def lane(runs: int) -> None:
        for _ in range(runs):
            assert await five_async() == ["done"] * 5

    await asyncio.gather(*(lane(max(1, warm // width)) for _ in range(width)))
    each = max(1, count // width)
    started, busy = time.perf_counter(), time.process_time()
    await asyncio.gather(*(lane(each) for _ in range(width)))
    seconds, busy = time.perf_counter() - started, time.process_time() - busy
    return rates(each * width, seconds, busy)


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("mode", choices=["serial", "threads", "tasks"])
    parser.add_argument("--count", type=int, default=100)
    parser.add_argument("--warm", type=int, default=16)
    parser.add_argument("--width", type=int, default=16)
    parser.add_argument("--journal", choices=["delete", "wal"], default="delete")
    options = parser.parse_args()
    with scratch() as folder:
        path = folder / "dbos.sqlite"
        if options.journal == "wal":
            connection = sqlite3.connect(path)
            connection.execute("PRAGMA journal_mode=WAL")
            connection.close()
        settings: DBOSConfig = {
            "name": "bench",
            "system_database_url": f"sqlite:///{path}",
            "log_level": "ERROR",
            "enable_otlp": False,
        }
        DBOS(config=settings)
        DBOS.launch()
        try:
            if options.mode == "serial":
                result = serial(options.count, options.warm)
            elif options.mode == "threads":
                result = threads(options.count, options.warm, options.width)
            else:
                result = asyncio.run(tasks(options.count, options.warm, options.width))
        finally:
            DBOS.destroy()
        connection = sqlite3.connect(path)
        result["journal"] = connection.execute("PRAGMA journal_mode").fetchone()[0]
        result["steps"] = connection.execute("SELECT count(*) FROM operation_outputs").fetchone()[0]
        connection.close()
    print(json.dumps(result))


if __name__ == "__main__":
    main()
