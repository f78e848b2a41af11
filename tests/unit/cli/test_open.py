"""Where the dashboard is opened by itself, and where it is not."""

import subprocess
import webbrowser
from pathlib import Path

import pytest

from callboard.cli.commands.open import has_browser, open_dashboard


@pytest.mark.parametrize(
    ("environment", "platform", "opens"),
    [
        ({}, "linux", False),  # A text browser would take over the terminal.
        ({"DISPLAY": ":0"}, "linux", True),
        ({"WAYLAND_DISPLAY": "wayland-0"}, "linux", True),
        ({"BROWSER": "/usr/bin/code-open"}, "linux", True),
        ({"DISPLAY": ""}, "linux", False),
        ({}, "darwin", True),
        ({"DISPLAY": ":0", "CALLBOARD_NO_BROWSER": "1"}, "linux", False),
        ({"CALLBOARD_NO_BROWSER": "1"}, "darwin", False),
        ({"DISPLAY": ":0", "CALLBOARD_NO_BROWSER": "0"}, "linux", True),
    ],
)
def test_a_browser_needs_a_window(environment: dict[str, str], platform: str, opens: bool):
    assert has_browser(environment, platform) is opens


def test_a_browser_that_cannot_be_opened_stops_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    def fail(_: str) -> bool:
        raise webbrowser.Error("could not locate runnable browser")

    monkeypatch.setenv("XDG_RUNTIME_DIR", str(tmp_path))
    monkeypatch.setattr(webbrowser, "open", fail)
    monkeypatch.setattr(subprocess, "Popen", lambda *_, **__: None)  # It removes the page later.
    assert open_dashboard("http://127.0.0.1:2255", "code") is False
    (page,) = (tmp_path / "callboard").glob("open-*.html")
    assert "/login?code=code" in page.read_text(encoding="utf-8")
