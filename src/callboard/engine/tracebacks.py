"""Where a user's code raised, for the events that report it."""

import logging
import sysconfig
import traceback
from pathlib import Path
from typing import Final

from callboard.events.failures import ErrorDescription, describe

log = logging.getLogger(__name__)
"""At level DEBUG, it logs every error with all of its frames."""

MOST: Final = 4000
"""In characters. Events are stored and sent, including those of agents that keep failing."""
_FRAMES: Final = 100
_CHAIN: Final = 4
_LIBRARIES: Final = tuple(
    {sysconfig.get_path(name) for name in ("stdlib", "platstdlib", "purelib", "platlib")}
)
_OURS: Final = str(Path(__file__).parent.parent)


def describe_raised(error: Exception) -> ErrorDescription:
    """An error raised by a user's code, with the lines of that code in its traceback."""
    log.debug("%s", error, exc_info=error)
    described = describe(error)
    if error.__traceback__ is not None:
        described["traceback"] = _shortened(_text(error))
    return described


def _text(error: Exception) -> str:
    found = traceback.TracebackException.from_exception(error, limit=-_FRAMES)
    _trim(found, _CHAIN)
    return "".join(found.format()).rstrip()


def _trim(found: traceback.TracebackException, left: int) -> None:
    """Keep the user's own frames, and the last one, which raised."""
    frames = list(found.stack)
    theirs = [frame for frame in frames if not _is_library(frame.filename)]
    if frames and not frames[-1].filename.startswith(_OURS) and frames[-1] not in theirs:
        theirs.append(frames[-1])
    found.stack = traceback.StackSummary.from_list(theirs)
    if left == 0:
        found.__cause__ = found.__context__ = None
    for one in (found.__cause__, found.__context__, *(found.exceptions or ())):
        if one is not None:
            _trim(one, left - 1)


def _is_library(file: str) -> bool:
    return file.startswith((_OURS, *_LIBRARIES, "<frozen"))


def _shortened(text: str) -> str:
    """Keep the end, which says what was raised, and the start, which says where from."""
    if len(text) <= MOST:
        return text
    gap = "\n  …\n"
    begin = MOST // 4
    return text[:begin] + gap + text[len(text) - (MOST - begin - len(gap)) :]
