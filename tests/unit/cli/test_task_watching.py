"""Watching a workflow whose file somebody else writes, and not at once."""

import json
from collections.abc import Callable
from itertools import repeat
from pathlib import Path
from typing import Any

import pytest

from callboard.cli import task_drawing as task_watching
from callboard.cli.screen import Screen
from callboard.errors import StoreCorrupt
from callboard.statusfiles import create_workflow_state
from callboard.statusfiles.location import find_place

Watch = Callable[..., Any]


@pytest.fixture
def watch(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Watch:
    """Follows a workflow; between two looks the file becomes each of the contents in turn."""
    create_workflow_state("t", [("A", "x")], path=tmp_path)
    place, file = find_place(tmp_path), tmp_path / ".claude/state/workflow.json"
    whole = json.loads(file.read_text(encoding="utf-8"))

    def follow(*contents: str | None) -> Any:
        done = json.dumps({**whole, "status": "completed"})
        coming = iter(contents)

        def look_again(seconds: float) -> None:
            content = next(coming)
            file.write_text(done if content is None else content, encoding="utf-8")

        monkeypatch.setattr(task_watching.time, "sleep", look_again)
        return task_watching.follow(place, Screen(), as_json=True)

    return follow


def test_a_file_that_is_half_written_is_looked_at_again(watch: Watch):
    assert watch("", '{"id": "wf_', None)["status"] == "completed"


def test_one_that_stays_broken_is_told(watch: Watch):
    with pytest.raises(StoreCorrupt, match="can't be read"):
        watch(*repeat("{", 100))
