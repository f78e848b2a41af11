"""Which installed hooks report to the relay of this machine."""

from contextlib import suppress
from pathlib import Path
from typing import Final

from callboard.cli.relay_place import relay_folder
from callboard.errors import SettingsUnusable
from callboard.relay.settings import hooks_of, settings_file
from callboard.vendors.hook_targets import INSTALLABLE, HooksState, Installable
from callboard.vendors.settings.files import read
from callboard.vendors.settings.installing import InstallState, Scope

SCOPES: Final[tuple[Scope, ...]] = ("user", "project")


def state_for_relay(one: Installable, text: str, standing: InstallState) -> HooksState | None:
    """The state of hooks that report to the relay; None if they report elsewhere."""
    folder = relay_folder()
    state = one.state(text, standing, settings_file(folder), hooks_of(folder))
    return state if state == "current" or standing.folder == hooks_of(folder) else None


def hooks_of_relay(agent: str, project: Path) -> Path | None:
    """The relay's hooks folder, if hooks of this agent use it."""
    one = INSTALLABLE.get(agent)
    if one is None:
        return None
    for scope in SCOPES:
        with suppress(SettingsUnusable):
            text = read(one.settings.place(scope, project)).text
            standing = one.settings.standing(text) if text is not None else None
            if text is not None and standing and state_for_relay(one, text, standing):
                return hooks_of(relay_folder())
    return None
