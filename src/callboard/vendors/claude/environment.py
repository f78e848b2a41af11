"""The environment in which a client is started."""

import re
from collections.abc import Mapping
from typing import Final

# What one session of the client tells its children. Ours is not a child of it.
_INHERITED: Final = re.compile(
    r"CLAUDECODE|CLAUDE_(PID|EFFORT|ENV_FILE|PROJECT_DIR|PLUGIN_\w+)"
    r"|CLAUDE_CODE_(SESSION_\w+|ENTRYPOINT|EXECPATH|SSE_PORT|CHILD_\w+|MESSAGING_\w+)"
)


def clean(env: Mapping[str, str]) -> dict[str, str]:
    """The environment without what an agent's session left in it, and without our token."""
    return {
        name: value
        for name, value in env.items()
        if not _INHERITED.fullmatch(name) and name != "CALLBOARD_TOKEN"
    }
