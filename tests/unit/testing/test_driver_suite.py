"""What the driver suite does with the workers that it starts."""

import asyncio
import sys
from collections.abc import Sequence
from contextlib import AbstractAsyncContextManager
from pathlib import Path

from callboard.drivers.choice import Driven
from callboard.drivers.watching import Dispatcher
from callboard.log.protocol import EventLog
from callboard.testing.driver_suite_material import Fleet

CHATTY = """
import sys, time
from pathlib import Path

print("ready", flush=True)
print("more " * 100_000, flush=True)
Path(sys.argv[1]).touch()
time.sleep(600)
"""


class ChattyFleet(Fleet):
    """Its workers print more than anyone reads, as the library of an engine may do."""

    def command(self, *options: str) -> Sequence[str]:
        return [sys.executable, "-c", CHATTY, str(self.folder / "printed")]

    def open_log(self) -> EventLog:
        raise NotImplementedError

    def driver(self, driven: Driven, *, works: bool) -> Dispatcher:
        raise NotImplementedError

    async def jobs(self) -> int:
        raise NotImplementedError

    def outage(self) -> AbstractAsyncContextManager[None]:
        raise NotImplementedError

    def log_outage(self) -> AbstractAsyncContextManager[None]:
        raise NotImplementedError


async def test_a_worker_that_prints_a_lot_is_not_held_up(tmp_path: Path):
    async with asyncio.timeout(30), ChattyFleet(tmp_path).worker() as worker:
        while not (tmp_path / "printed").exists():
            await asyncio.sleep(0.01)
    assert worker.returncode is not None
