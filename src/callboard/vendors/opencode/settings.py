"""opencode's plugin: one file, entirely ours."""

import json
import os
from pathlib import Path
from typing import Final

from callboard.errors import SettingsUnusable
from callboard.vendors.settings.installing import AgentSettings, InstallPlan, InstallState, Scope
from callboard.vendors.settings.records import InstallRecord

_TEMPLATE: Final = Path(__file__).with_name("plugin.js")
_OURS: Final = "// Tells Callboard "
"""How the file starts, in every version."""
_FOLDER, _ANSWERS = "const FOLDER = ", "const ANSWERS = "


class OpencodeSettings(AgentSettings):
    """The plugin file. opencode loads everything in its folder, and needs no other entry."""

    agent = "opencode"

    def place(self, scope: Scope, project: Path) -> Path:
        """The file: the person's own, or the project's."""
        folder = project / ".opencode" if scope == "project" else home()
        return folder / "plugin" / "callboard.js"

    def installed(self, text: str | None, plan: InstallPlan) -> str:
        """The plugin. It writes to the spool itself, whatever the transport of others."""
        if text is not None and text.strip() and not text.startswith(_OURS):
            raise SettingsUnusable("it is not Callboard's plugin. Move it away and try again")
        return _plugin(plan)

    def uninstalled(self, text: str, record: InstallRecord | None, folder: Path) -> str | None:
        """None if it is ours."""
        if not text.startswith(_OURS):
            return text
        return record.before if record else None

    def standing(self, text: str) -> InstallState | None:
        """What the file says about itself."""
        if not text.startswith(_OURS):
            return None
        folder, answers = (_constant(text, name) for name in (_FOLDER, _ANSWERS))
        return InstallState(
            "spool", answers is True, Path(folder) if isinstance(folder, str) else None
        )

    def is_current(self, text: str, plan: InstallPlan) -> bool:
        """Whether it is this version's plugin."""
        return text == _plugin(plan)


def home() -> Path:
    """opencode's folder for the person's own files."""
    given = os.environ.get("OPENCODE_CONFIG_DIR")
    if given:
        return Path(given).expanduser()
    config = os.environ.get("XDG_CONFIG_HOME")
    return (Path(config) if config else Path.home() / ".config") / "opencode"


def _plugin(plan: InstallPlan) -> str:
    text = _TEMPLATE.read_text(encoding="utf-8")
    text = text.replace('"@FOLDER@"', json.dumps(str(plan.folder.absolute())))
    return text.replace('"@ANSWERS@"', json.dumps(plan.answers is not False))


def _constant(text: str, name: str) -> object:
    line = text.partition(f"\n{name}")[2].partition("\n")[0]
    try:
        return json.loads(line)
    except ValueError:
        return None
