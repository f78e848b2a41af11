"""Checks schemas and values in bounded time: immediately if that is certainly fast, otherwise in a
separate process, which is killed if it takes too long.
"""

import asyncio
import atexit
import subprocess
import sys
import threading
from concurrent.futures import ThreadPoolExecutor
from typing import BinaryIO, Final, cast

from callboard.errors import Overloaded, ValidationError
from callboard.events.json_values import as_object
from callboard.interactions.schema import worker as schema_worker
from callboard.interactions.schema.schemas import SchemaCheck, check, check_sizes, is_quick
from callboard.interactions.schema.worker import LIMIT

_WAITING: Final = 8
"""How many checks may wait for the process at once."""


def verify(wanted: SchemaCheck) -> None:
    """Raise a ValidationError if it doesn't fit. May block for the duration of a check."""
    if not _is_checked_at_once(wanted):
        _worker.check(wanted)


async def verified(wanted: SchemaCheck | None) -> None:
    """Raise a ValidationError if it doesn't fit, without blocking the event loop.

    Raises Overloaded if too many checks are waiting.
    """
    if wanted is None or _is_checked_at_once(wanted):
        return
    if _worker.waiting >= _WAITING:
        raise Overloaded(
            f"{wanted.field} cannot be checked now: {_WAITING} slow checks are waiting already. "
            "Try again in a few seconds.",
            field=wanted.field,
            retry_after=5,
        )
    _worker.waiting += 1
    try:
        loop = asyncio.get_running_loop()
        await loop.run_in_executor(_worker.thread, _worker.check, wanted)
    finally:
        _worker.waiting -= 1


def _is_checked_at_once(wanted: SchemaCheck) -> bool:
    """Check it if that is certainly fast; returns whether it was."""
    check_sizes(wanted)
    if is_quick(wanted):
        check(wanted)
        return True
    return False


class _Worker:
    """One process, started on first use and replaced after a check that killed it."""

    def __init__(self) -> None:
        self.waiting = 0
        self._one_at_a_time = threading.Lock()
        self._process: subprocess.Popen[bytes] | None = None
        self.thread = ThreadPoolExecutor(1, "callboard-schemas")
        """Where callers wait that must not block."""

    def check(self, wanted: SchemaCheck) -> None:
        """Run the check, one at a time."""
        with self._one_at_a_time:
            process = self._process or self._start()
            try:
                asked = {"schema": wanted.schema, "field": wanted.field, "value": wanted.value}
                schema_worker.write(cast("BinaryIO", process.stdin), asked)
                found = schema_worker.read(cast("BinaryIO", process.stdout))
            except (EOFError, OSError):
                self.stop()
                raise _unfinished(wanted) from None
        if found:
            raise ValidationError(str(found["message"]), **as_object(found["context"]))

    def _start(self) -> subprocess.Popen[bytes]:
        if self._process is None:
            atexit.register(self.stop)
        # With -P, a module in the current folder isn't mistaken for one of ours.
        command = [sys.executable, "-P", "-m", schema_worker.__name__]
        self._process = process = subprocess.Popen(
            command,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            start_new_session=True,  # Ctrl-C is for us, not for it.
        )
        schema_worker.read(cast("BinaryIO", process.stdout))
        return process

    def stop(self) -> None:
        """Stop the process, if it is running."""
        process, self._process = self._process, None
        atexit.unregister(self.stop)
        if process is not None:
            process.kill()
            process.__exit__(None, None, None)


_worker: Final = _Worker()


def _unfinished(wanted: SchemaCheck) -> ValidationError:
    what = "checking this value" if wanted.value else "checking this schema"
    return ValidationError(
        f"{wanted.field}: {what} took longer than {LIMIT:g} s or too much memory. Ask for less at "
        "once, or use a simpler schema.",
        field=wanted.field,
    )
