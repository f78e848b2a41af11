"""The board as people see it, character by character."""

import os
import re
import time
from pathlib import Path

import pytest
from tests.unit.tui.scenes import busy_board, one, permission
from tests.unit.tui.scripted import ScriptedSource, plate
from tests.unit.tui.stage import Stage, staged

NASTY = "rm -rf \x1b[2K\u202e/ezis-daer/ \u2066x"


@pytest.mark.parametrize("size", [(80, 24), (100, 30), (150, 36), (40, 12)], ids=str)
async def test_a_working_day(tmp_path: Path, size: tuple[int, int]):
    async with staged(busy_board(), tmp_path, size) as stage:
        stage.matches(f"day-{size[0]}x{size[1]}")
        assert len(stage.lines) == size[1]


async def test_no_session_yet(tmp_path: Path):
    async with staged(ScriptedSource(), tmp_path) as stage:
        stage.matches("empty")


async def test_help(tmp_path: Path):
    async with staged(busy_board(), tmp_path, (80, 36)) as stage:
        await stage.press("question_mark")
        stage.matches("help")


async def test_the_dialog_of_a_permission(tmp_path: Path):
    async with staged(busy_board(), tmp_path) as stage:
        await stage.press("j", "y")
        stage.matches("permission")


async def test_the_dialog_of_questions(tmp_path: Path):
    async with staged(busy_board(), tmp_path) as stage:
        await stage.press("j", "j", "enter", "1")
        await stage.press("1", "3")
        stage.matches("questions")


async def test_a_server_that_is_gone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("TZ", "UTC")
    time.tzset()
    source = busy_board()
    async with staged(source, tmp_path) as stage:
        source.go_away()
        await stage.until(lambda: stage.app.mirror.stale_since is not None)
        stage.clock.skip(90)
        stage.app._tick()
        await stage.pilot.pause()
        assert "reconnecting" in stage.text
        stage.matches("stale")


async def test_what_could_deceive_is_made_visible(tmp_path: Path):
    asked = permission(toolInput={"command": NASTY})
    told = plate("shop", "awaiting_approval", waitingFor=NASTY, name="a\x1b]0;b\u202ec")
    async with staged(one(told, asked), tmp_path) as stage:
        assert not re.search("[\x00-\x09\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]", stage.text)
        assert "\\u202e" in stage.text
        await stage.press("y")
        assert "\\x1b[2K\\u202e/ezis-daer/ \\u2066x" in stage.text
        assert not re.search("[\x00-\x09\x0b-\x1f\u202a-\u202e]", stage.text)


async def test_markup_in_texts_is_text(tmp_path: Path):
    told = plate("shop", "idle", lastMessage="[red]not red[/red] [@click=app.quit]x[/]")
    async with staged(one(told), tmp_path) as stage:
        assert "[red]not red[/red] [@click=app.quit]x[/]" in stage.text


@pytest.mark.parametrize("theme", ["dark", "light", "monochrome"])
async def test_status_is_never_told_by_colour_alone(tmp_path: Path, theme: str):
    (tmp_path / "board.json").write_text(f'{{"theme":"{theme}"}}')
    async with staged(busy_board(), tmp_path, (80, 40)) as stage:
        assert stage.app.theme == theme
        for told in ("! approve", "? asks", "✗ error", "✓ done", "● running", "– idle"):
            assert told in stage.text


async def test_without_colour_nothing_is_coloured(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("NO_COLOR", "1")
    async with staged(busy_board(), tmp_path, (80, 24)) as stage:
        colours = set(re.findall(r"#([0-9a-f]{2})([0-9a-f]{2})([0-9a-f]{2})", _svg(stage)))
        frame = {("29", "29", "29"), ("c5", "c8", "c6"), ("ff", "5f", "57")}
        frame |= {("fe", "bc", "2e"), ("28", "c8", "40")}
        assert {one for one in colours - frame if len(set(one)) > 1} == set()


async def test_picture_for_the_documentation(tmp_path: Path):
    async with staged(busy_board(), tmp_path, (150, 32)) as stage:
        await stage.press("j")
        picture = _svg(stage)
        assert "DROP" in picture
        assert "://" not in picture.replace("http://www.w3.org/2000/svg", "").replace(
            "http://127.0.0.1", ""
        )
        folder = os.environ.get("CALLBOARD_SCREENSHOTS")
        if folder:
            Path(folder, "board-terminal.svg").write_text(picture, encoding="utf-8")


def _svg(stage: Stage) -> str:
    """The screen as a picture that needs no font from elsewhere."""
    drawn = stage.app.export_screenshot(title="callboard board")
    drawn = re.sub(r"@font-face \{.*?\}\s*", "", drawn, flags=re.DOTALL)
    drawn = re.sub(r"\s*<!--.*?-->", "", drawn, flags=re.DOTALL)
    drawn = drawn.replace("Fira Code", "DejaVu Sans Mono, Menlo, Consolas")
    return re.sub(r"[ \t]+\n", "\n", drawn)
