"""A process that reads a spool, to be killed while it does.

    python -m tests.faults.spool_reader FOLDER RECORD [STEP]

Every payload becomes a line in RECORD before the file is done with. At STEP, one of `taken`,
`recorded` and `done`, it tells so on standard output and halts.
"""

import os
import sys
from pathlib import Path

from callboard.board.spool.files import Spool
from callboard.clock import SystemClock


def reach(step: str, wanted: str | None) -> None:
    if step == wanted:
        print(step, flush=True)
        sys.stdin.read()


def main(folder: str, record: str, wanted: str | None = None) -> None:
    spool = Spool(Path(folder), SystemClock())
    written = os.open(record, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600)
    while (taken := spool.take(16)) or any(spool.folder.glob("*.json")):
        for number, one in enumerate(taken):
            if number == len(taken) // 2:
                reach("taken", wanted)
            os.write(written, one.hook.body + b"\n")
            if number == len(taken) // 2:
                reach("recorded", wanted)
            one.done()
            if number == len(taken) // 2:
                reach("done", wanted)
    spool.close()


if __name__ == "__main__":
    main(*sys.argv[1:])
