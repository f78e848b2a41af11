"""DBOS: workflows of three steps, killed while all run, and launched again.

`dbos_recovery.py FOLDER COUNT start` starts COUNT workflows, each held in one of its steps until
the file `gate` appears; `… again` launches on the same database, and DBOS takes up by itself what
was running. Every step notes its key in `runs`, every workflow a byte in `finished`. The database
is the one that DBOS_BENCH_URL names, else a file in WAL, which is quicker than what DBOS sets up by
itself. Logging is at ERROR, tracing is off.
"""

import asyncio
import json
import os
import sqlite3
import sys
from pathlib import Path

from dbos import DBOS, DBOSConfig, SetWorkflowID

FOLDER = Path(sys.argv[1])
PHASES = ("first", "second", "third")


def note(file: Path, text: str) -> None:
    handle = os.open(file, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600)
    try:
        os.write(handle, text.encode())
    finally:
        os.close(handle)


@DBOS.step()
async def work(key: str, hold: bool) -> str:
    note(FOLDER / "runs", f"{key} 1\n")
    while hold and not (FOLDER / "gate").exists():
        await asyncio.sleep(0.25)
    return key


@DBOS.workflow()
async def held(name: str, at: str) -> int:
    for phase in PHASES:
        await work(f"{name}:{phase}", phase == at)
    note(FOLDER / "finished", ".")
    return len(PHASES)


def address() -> str:
    if named := os.environ.get("DBOS_BENCH_URL"):
        return named
    path = FOLDER / "dbos.db"
    database = sqlite3.connect(path)
    database.execute("PRAGMA journal_mode=WAL")
    database.close()
    return f"sqlite:///{path}"


async def main(count: int, mode: str) -> None:
    config: DBOSConfig = {
        "name": "recovery",
        "system_database_url": address(),
        "log_level": "ERROR",
        "run_admin_server": False,
        "enable_otlp": False,
    }
    DBOS(config=config)
    DBOS.launch()
    print(json.dumps({"url": "none"}), flush=True)
    if mode == "start":
        for number in range(count):
            with SetWorkflowID(f"session-{number}"):
                await DBOS.start_workflow_async(held, f"session-{number}", PHASES[number % 3])
    await asyncio.Event().wait()


if __name__ == "__main__":
    asyncio.run(main(int(sys.argv[2]), sys.argv[3]))
