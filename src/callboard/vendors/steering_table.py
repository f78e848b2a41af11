"""How to steer each coding agent. A client's module is imported when it is first steered."""

from importlib import import_module
from pathlib import Path
from typing import Final

from callboard.vendors.steering import Steering

_MODULES: Final = {
    "acp": "callboard.vendors.acp.steering",
    "claude": "callboard.vendors.claude.steering",
    "codex": "callboard.vendors.codex.steering",
    "gemini": "callboard.vendors.gemini.steering",
    "opencode": "callboard.vendors.opencode.steering",
}


def steering_of(agent: str, hooks: Path) -> Steering | None:
    """The ways of a client on this machine; None for an agent that can't be steered.

    hooks: the hooks folder. Keep what is returned: it remembers which messages are held.
    """
    module = _MODULES.get(agent)
    return None if module is None else import_module(module).steering(hooks)
