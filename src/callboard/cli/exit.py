"""The exit codes of commands, and how the process ends."""

import os
import sys
from typing import Final, NoReturn

DONE: Final = 0
FAILED: Final = 1
WRONG_USE: Final = 2
WAITING: Final = 3
"""The session waits for a person, or an answer for the agent that asked."""
INTERRUPTED: Final = 130
_STANDARD_OUTPUT: Final = 1
_SHOW_CURSOR: Final = b"\x1b[?25h"
_A_MOMENT: Final = 0.2


def write_no_more() -> None:
    """Discard further standard output, because its reader is gone.

    The interpreter flushes it once more at exit, and would complain.
    """
    os.dup2(os.open(os.devnull, os.O_WRONLY), _STANDARD_OUTPUT)


def leave_threads_behind(code: int) -> None:
    """Exit now if functions still run in threads, because nothing can stop those.

    The interpreter would wait for them, and so would a person who pressed Ctrl-C.
    """
    threading = sys.modules.get("threading")
    if threading is None:
        return
    others = [one for one in threading.enumerate() if one is not threading.main_thread()]
    for thread in others:
        if not thread.daemon:
            thread.join(_A_MOMENT)
            if thread.is_alive():
                leave_now(code)


def leave_now(code: int = INTERRUPTED) -> NoReturn:
    """Exit immediately; the database doesn't need to be closed."""
    for stream in (sys.stdout, sys.stderr):
        try:
            stream.flush()
        except (OSError, ValueError, RuntimeError):
            continue
    if sys.stdout.isatty():
        os.write(_STANDARD_OUTPUT, _SHOW_CURSOR)
    os._exit(code)
