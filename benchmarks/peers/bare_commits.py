"""Bare sqlite3: the statements that our log wrote for workflows, in the same commits, on their own.

Takes a recording that `workflows.py --record` has made: the schema, and for each commit its
statements with their values. Writes them again with WAL, synchronous=FULL and pages of the same
size: no event loop, no encoding, no folds, no checks.
"""

import argparse
import json
import pickle
import sqlite3
import sys
import time
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from common import scratch


def replay(recorded: dict[str, Any], target: Path) -> dict[str, Any]:
    database = sqlite3.connect(target, isolation_level=None)
    database.execute(f"PRAGMA page_size={recorded['page_size']}")
    database.execute("PRAGMA journal_mode=WAL")
    database.execute("PRAGMA synchronous=FULL")
    for sql in recorded["schema"]:
        database.execute(sql)
    started, busy = time.perf_counter(), time.process_time()
    for commit in recorded["commits"]:
        database.execute("BEGIN IMMEDIATE")
        for sql, rows in commit:
            database.executemany(sql, rows)
        database.execute("COMMIT")
    seconds, busy = time.perf_counter() - started, time.process_time() - busy
    database.close()
    done = recorded["workflows"]
    return {"per_second": done / seconds, "cpu_ms": 1000 * busy / done, "seconds": seconds}


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("recording", type=Path)
    options = parser.parse_args()
    # Our own benchmark has just written it.
    recorded = pickle.loads(options.recording.read_bytes())
    with scratch() as folder:
        print(json.dumps(replay(recorded, folder / "bare.db")))


if __name__ == "__main__":
    main()
