"""Standard output, when whoever read it has gone."""

import os
from typing import Final

_STANDARD_OUTPUT: Final = 1


def write_no_more() -> None:
    """Let whatever is still written go nowhere.

    The interpreter flushes standard output once more at its end, and would complain.
    """
    os.dup2(os.open(os.devnull, os.O_WRONLY), _STANDARD_OUTPUT)
