"""Another user for processes of a test, where the test runs as root.

The other user may read all files: Python and this checkout may lie where only root can. It may not
see which files the processes of others have open.
"""

import os
import shutil
import subprocess
from functools import cache

USER = 12345
"""A user who owns nothing else on this machine."""
OTHER = 12346
"""A third one: neither root nor that user."""

_CAPABILITY = "+dac_read_search"


@cache
def are_there() -> bool:
    """Whether processes can be started as other users."""
    if os.geteuid() != 0 or shutil.which("setpriv") is None:
        return False
    return subprocess.run([*_prefix(USER), "true"], check=False).returncode == 0


def as_user(user: int = USER) -> tuple[str, ...]:
    """What a command begins with to run as that user; nothing where that cannot be done."""
    return _prefix(user) if are_there() else ()


def _prefix(user: int) -> tuple[str, ...]:
    return (
        "setpriv",
        f"--reuid={user}",
        f"--regid={user}",
        "--clear-groups",
        f"--inh-caps={_CAPABILITY}",
        f"--ambient-caps={_CAPABILITY}",
    )
