"""Changes to hooks from the dashboard: exactly what was shown, also when two are made at once."""

import threading
from pathlib import Path
from typing import Any

import pytest

from callboard.server import hook_settings
from callboard.server.hook_settings import agent_hooks, install_hooks, remove_hooks
from callboard.vendors.hook_targets import INSTALLABLE

CLAUDE = INSTALLABLE["claude"]


def test_nothing_changes_between_the_comparison_and_the_change(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setenv("CLAUDE_CONFIG_DIR", str(tmp_path / "claude"))
    db = tmp_path / "x.db"
    install_hooks(CLAUDE, db, agent_hooks(CLAUDE, db).install_diff)
    shown = agent_hooks(CLAUDE, db)
    removing = threading.Thread(target=remove_hooks, args=(CLAUDE, db, shown.remove_diff))
    install = hook_settings.install

    def slowly(*arguments: Any) -> Any:
        removing.start()
        removing.join(0.5)
        return install(*arguments)

    monkeypatch.setattr(hook_settings, "install", slowly)
    assert shown.install_diff == ""
    install_hooks(CLAUDE, db, "")
    removing.join()
    assert agent_hooks(CLAUDE, db).state == "absent"
