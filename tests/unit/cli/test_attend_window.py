"""What a window of tmux is told, and what nobody else can see of it."""

import os
from pathlib import Path

import pytest

from callboard.cli import handover
from callboard.cli.handover import Handover, take_token
from callboard.cli.targets import Database, ServerTarget
from callboard.harness.claim_renewal import Harness
from callboard.harness.folders import Folders

ME = Harness(4711, "12", "here", "ann")


@pytest.fixture
def opened(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The command of the window that would be opened, and the token that it finds."""
    told: list[str] = []

    async def note(name: str, words: list[str], cwd: Path) -> None:
        told.extend(words)
        for word in words:
            if word.startswith("--token-from="):
                path = Path(word.partition("=")[2])
                assert path.stat().st_mode & 0o777 == 0o600
                monkeypatch.delenv("CALLBOARD_TOKEN")
                take_token(path)
                assert not path.exists()

    monkeypatch.setattr(handover, "run_in_window", note)
    return told


async def test_a_token_is_handed_over_in_no_argument(
    opened: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setenv("CALLBOARD_TOKEN", "cb_secret")
    place = ServerTarget("http://127.0.0.1:1")
    await Handover(place, Folders(tmp_path / "kept"), ME, 7.0).give("q1", "a mark")
    assert "--server=http://127.0.0.1:1" in opened
    assert {
        "--question=q1",
        "--shown=a mark",
        f"--from={ME.name}",
        "--by=ann",
        "--grace=7.0",
    } <= set(opened)
    assert "cb_secret" not in " ".join(opened)
    assert os.environ["CALLBOARD_TOKEN"] == "cb_secret"
    assert list((tmp_path / "kept").iterdir()) == []


async def test_a_database_needs_none(
    opened: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setenv("CALLBOARD_TOKEN", "cb_secret")
    place = Database(str(tmp_path / "b.db"))
    await Handover(place, Folders(tmp_path / "kept"), ME, 60.0).give("q1", "a mark")
    assert f"--db={tmp_path / 'b.db'}" in opened
    assert not [word for word in opened if word.startswith("--token-from")]
    assert not (tmp_path / "kept").exists()
