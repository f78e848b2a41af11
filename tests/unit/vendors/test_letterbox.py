"""Letters move on at any moment, also while they are looked for, and are kept for a while."""

import os
from pathlib import Path

import pytest

from callboard.vendors.letterbox import Letterbox


@pytest.fixture
def box(tmp_path: Path) -> Letterbox:
    made = Letterbox(tmp_path, "claude", os.getpid())
    made.folder.mkdir(parents=True)
    made.put("x", b"{}")
    return made


@pytest.mark.parametrize("moves", [["json", "taken"], ["taken", "given"], ["given", "delivered"]])
@pytest.mark.parametrize("after", range(1, 6))
def test_a_letter_that_moves_on_while_it_is_looked_for(
    box: Letterbox, monkeypatch: pytest.MonkeyPatch, moves: list[str], after: int
):
    before, then = (box.folder / f"x.{one}" for one in moves)
    (box.folder / "x.json").rename(before)
    exists, looks = Path.exists, []

    def look(path: Path) -> bool:
        found = exists(path)
        looks.append(path)
        if len(looks) == after:
            before.rename(then)
        return found

    monkeypatch.setattr(Path, "exists", look)
    assert box.stage("x") in moves


@pytest.mark.parametrize("stage", ["json", "taken", "refused", "given", "delivered", "seen"])
def test_what_became_of_the_last_letter_is_forgotten(box: Letterbox, stage: str):
    (box.folder / "x.json").rename(box.folder / f"x.{stage}")
    assert box.stage("x") == stage
    box.put("x", b"{}")
    assert [one.name for one in box.folder.iterdir()] == ["x.json"]


def test_letters_to_a_process_that_has_ended_are_kept_for_a_while(tmp_path: Path, box: Letterbox):
    gone = Letterbox(tmp_path, "claude", 2**22 - 1)
    gone.folder.mkdir()
    gone.put("x", b"{}")
    box.open()
    assert gone.stage("x") == "json"
    week_ago = box.folder.stat().st_mtime - 8 * 86_400
    for folder in (gone.folder, box.folder):
        os.utime(folder, (week_ago, week_ago))
    box.open()
    assert not gone.folder.exists()
    assert box.stage("x") == "json"
