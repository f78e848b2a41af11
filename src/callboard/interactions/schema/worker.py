"""The process for slow checks: `python -P -m callboard.interactions.schema.worker`.

It reads checks from standard input and writes results to standard output, each as JSON after four
bytes with its length. A check that takes too long ends the process.
"""

import contextlib
import signal
import struct
import sys
from functools import partial
from typing import BinaryIO, Final

from callboard.errors import ValidationError
from callboard.events.codec import dump_json, load_json
from callboard.events.json_values import Object, as_list, as_object
from callboard.interactions.schema.schemas import SchemaCheck, check

LIMIT: Final = 1.0
"""Seconds of CPU time that one check may take."""
_MEMORY: Final = 1024 * 1_048_576
_LENGTH: Final = struct.Struct(">I")


def write(stream: BinaryIO, message: object) -> None:
    """Write one message."""
    data = dump_json(message)
    stream.write(_LENGTH.pack(len(data)) + data)
    stream.flush()


def read(stream: BinaryIO) -> Object:
    """Read one message; EOFError at the end."""
    head = stream.read(_LENGTH.size)
    if len(head) < _LENGTH.size:
        raise EOFError
    (length,) = _LENGTH.unpack(head)
    data = stream.read(length)
    if len(data) < length:
        raise EOFError
    return as_object(load_json(data))


def main() -> None:
    """Check until the input ends."""
    with contextlib.suppress(ImportError, OSError, ValueError):  # Not every system can limit this.
        import resource

        resource.setrlimit(resource.RLIMIT_AS, (_MEMORY, _MEMORY))
    check(SchemaCheck({}, "schema"))  # Loads everything before anything is timed.
    write(sys.stdout.buffer, {"ready": True})
    # Windows has no such limit.
    limit = partial(signal.setitimer, signal.ITIMER_PROF) if hasattr(signal, "setitimer") else int
    while True:
        try:
            asked = read(sys.stdin.buffer)
        except EOFError:
            return
        wanted = SchemaCheck(asked["schema"], str(asked["field"]), tuple(as_list(asked["value"])))
        # CPU time, not wall time: on a busy machine, a check waits for its turn. The signal ends
        # the process wherever it is, also outside Python.
        limit(LIMIT)
        found = _found(wanted)
        limit(0)
        write(sys.stdout.buffer, found)


def _found(wanted: SchemaCheck) -> Object:
    try:
        check(wanted)
    except ValidationError as error:
        return {"message": error.message, "context": dict(error.context)}
    return {}


if __name__ == "__main__":
    main()
