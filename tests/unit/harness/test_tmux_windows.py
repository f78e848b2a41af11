"""A window of tmux: what others wrote is text in it, and nothing that tmux or a shell obeys."""

import json
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from callboard.harness.tmux_windows import run_in_window

TELLS = (
    "import json, os, sys; "
    "told = {'argv': sys.argv[2:], 'cwd': os.getcwd(), 'env': dict(os.environ)}; "
    "json.dump(told, open(sys.argv[1], 'w'))"
)


@pytest.fixture
def tmux(monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A folder with a tmux of its own, whose environment has a secret."""
    folder = Path(tempfile.mkdtemp(prefix="cb-tmux-"))  # A socket's path may not be long.
    monkeypatch.delenv("TMUX", raising=False)
    monkeypatch.setenv("TMUX_TMPDIR", str(folder))
    env = {**os.environ, "CALLBOARD_TOKEN": "of tmux"}
    start = ["tmux", "-f", "/dev/null", "new-session", "-d", "sleep 600"]
    subprocess.run(start, env=env, check=True, cwd=folder)
    yield folder
    subprocess.run(["tmux", "kill-server"], check=True)
    shutil.rmtree(folder)


async def told(name: str, cwd: Path, *words: str) -> dict[str, Any]:
    """What a command in a window finds."""
    out = cwd / "told.json"
    await run_in_window(name, [sys.executable, "-c", TELLS, str(out), *words], cwd)
    return json.loads(out.read_text(encoding="utf-8"))


async def test_a_name_and_a_folder_run_no_command(tmux: Path):
    folder = tmux / "#(touch from-folder)"
    folder.mkdir()
    found = await told("#(touch from-name)\x1b[2J", folder)
    assert found["cwd"] == str(folder)
    assert list(tmux.rglob("from-*")) == []


async def test_every_word_arrives_as_it_is(tmux: Path):
    words = ["--by=ann;", "Is this right;", "a;b", "#(touch from-word)", ";", "\\;"]
    assert (await told("q", tmux, *words))["argv"] == words
    assert list(tmux.rglob("from-*")) == []


async def test_a_token_of_tmux_is_not_taken_for_ours(tmux: Path):
    assert "CALLBOARD_TOKEN" not in (await told("q", tmux))["env"]
