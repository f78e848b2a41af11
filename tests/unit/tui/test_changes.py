"""What an agent changed in the terminal, by key presses."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from tests.unit.tui.scripted import ScriptedSource, ago, plate
from tests.unit.tui.stage import Stage, staged
from textual.widgets import TextArea

from callboard.display.syntax import Piece
from callboard.events.moments import to_ms
from callboard.tui.changes import ChangesScreen
from callboard.tui.diff_view import DiffView, parts
from callboard.tui.messages import MessagesScreen
from callboard.worktree.changes import (
    ChangedFile,
    CheckRun,
    ComparedTo,
    DiffHunk,
    DiffLine,
    FileChanges,
    PullRequest,
    WorktreeChanges,
)

KINDS = ("keyword", "string", "comment", "literal", "name")
AT = to_ms(ago(minutes=5))
SESSION = ComparedTo("session", "s1", AT)


def changed(path: str, status: Any = "modified", **more: Any) -> ChangedFile:
    told: dict[str, Any] = {"old_path": None, "staged": False, "unstaged": True}
    told |= {"added": 1, "removed": 1}
    return ChangedFile(path=path, status=status, **(told | more))


FILES = [
    changed("src/app.py"),
    changed("docs/new.md", "added", added=3, removed=0),
    changed("logo.png", "added", added=None, removed=None, binary=True),
    changed("b.py", "renamed", old_path="a.py", staged=True, unstaged=False),
]
PULL_REQUEST = PullRequest(
    7,
    "Mend the shop",
    "https://example.com/7",
    "open",
    [CheckRun("lint", "passed"), CheckRun("test", "failed", None, "The check test failed.")],
)


def diff(file: ChangedFile) -> FileChanges:
    lines = [
        DiffLine("same", "def total(cart):", 1, 1),
        DiffLine("removed", "\treturn 0", 2, None),
        DiffLine("added", f"\treturn sum(cart)  # {file.path}", None, 2),
        DiffLine("same", "", 3, 3),
    ]
    hunks = [] if file.binary else [DiffHunk(1, 1, "class Shop:", lines)]
    return FileChanges(file, SESSION, hunks)


def source(files: list[ChangedFile] = FILES, **more: Any) -> ScriptedSource:
    made = ScriptedSource([plate("shop")])
    told = WorktreeChanges(
        root="/home/ann/shop",
        branch="carts",
        detached=False,
        upstream="origin/carts",
        ahead=2,
        behind=1,
        state=None,
        base=SESSION,
        files=files,
        more=0,
        turns=[],
        commits=[],
        more_commits=0,
        snapshot_at=AT,
        read_at=AT,
    )
    made.differing = replace(told, **more)
    made.diffs = {one.path: diff(one) for one in files}
    return made


async def opened(stage: Stage) -> None:
    await stage.press("f")
    await stage.until(lambda: "reading" not in stage.text)
    assert isinstance(stage.app.screen, ChangesScreen)


@pytest.mark.parametrize("size", [(40, 14), (80, 24), (150, 36)], ids=str)
async def test_the_files(tmp_path: Path, size: tuple[int, int]):
    async with staged(source(pull_request=PULL_REQUEST), tmp_path, size) as stage:
        await opened(stage)
        stage.matches(f"changes-{size[0]}x{size[1]}")


@pytest.mark.parametrize("size", [(40, 14), (80, 24)], ids=str)
async def test_a_diff(tmp_path: Path, size: tuple[int, int]):
    async with staged(source(), tmp_path, size) as stage:
        await opened(stage)
        await stage.press("enter")
        await stage.until(lambda: "return sum(cart)" in stage.text)
        stage.matches(f"diff-{size[0]}x{size[1]}")
        await stage.press("n")
        await stage.until(lambda: "# docs/new.md" in stage.text)
        await stage.press("n")
        await stage.until(lambda: "The file is binary." in stage.text)
        await stage.press("escape")
        assert "a.py → b.py" in stage.text
        await stage.press("escape")
        assert not isinstance(stage.app.screen, ChangesScreen)


async def test_comments_become_one_message(tmp_path: Path):
    told = source()
    async with staged(told, tmp_path) as stage:
        await opened(stage)
        await stage.press("enter")
        await stage.until(lambda: "return sum(cart)" in stage.text)
        await stage.press("j", "c")
        await stage.type("Why?")
        await stage.press("enter")
        await stage.press("j", "c")
        await stage.type("Round it.")
        await stage.press("enter")
        assert "2 comments not sent" in stage.text
        assert "▎Round it." in stage.text
        [first, second] = told.drafts.comments["shop"]
        assert (first.side, first.line, first.excerpt) == ("old", 2, "\treturn 0")
        assert (second.side, second.line) == ("new", 2)
        await stage.press("s")
        await stage.until(lambda: isinstance(stage.app.screen, MessagesScreen))
        assert "Round it." in stage.app.screen.query_one(TextArea).text
        await stage.press("enter")
        await stage.until(lambda: told.written.get("shop"))
        await stage.press("escape")
        assert "Comments on your changes:" in told.written["shop"][0].text
        assert not told.drafts.comments["shop"]
        assert "Round it." not in stage.text


async def test_comments_are_kept_until_they_are_sent(tmp_path: Path):
    told = source()
    async with staged(told, tmp_path, (150, 36)) as stage:
        await opened(stage)
        await stage.press("enter", "c")
        await stage.type("Why?")
        await stage.press("enter", "escape", "escape", "f")
        await stage.until(lambda: "1 comment not sent" in stage.text)
        await stage.press("enter")
        await stage.until(lambda: "▎Why?" in stage.text)
        await stage.press("u")
        assert "not sent" not in stage.text


async def test_a_red_check_becomes_a_message(tmp_path: Path):
    told = source(pull_request=PULL_REQUEST)
    async with staged(told, tmp_path) as stage:
        await opened(stage)
        assert "failed: test" in stage.text
        await stage.press("x")
        await stage.until(lambda: isinstance(stage.app.screen, MessagesScreen))
        assert stage.app.screen.query_one(TextArea).text == "The check test failed."


async def test_another_start(tmp_path: Path):
    told = source()
    async with staged(told, tmp_path) as stage:
        await opened(stage)
        await stage.press("o", "o", "o")
        assert told.since == ["session", "turn", "commit", "session"]


async def test_no_repository(tmp_path: Path):
    told = ScriptedSource([plate("shop")])
    async with staged(told, tmp_path) as stage:
        await opened(stage)
        assert "There is no git repository." in stage.text


async def test_no_changes(tmp_path: Path):
    async with staged(source([], state="rebase", detached=True), tmp_path) as stage:
        await opened(stage)
        assert "No files changed." in stage.text
        assert "A rebase is not finished." in stage.text
        assert "No branch is checked out" in stage.text


async def test_what_could_deceive_is_made_visible(tmp_path: Path):
    bad = "\x1b[2K\u202e[red]x[/red]\nno.py"
    told = source([changed(bad)])
    hunk = DiffHunk(1, 1, bad, [DiffLine("added", bad, None, 1)])
    told.diffs[bad] = FileChanges(changed(bad), SESSION, [hunk])
    async with staged(told, tmp_path, (150, 36)) as stage:
        await opened(stage)
        await stage.press("enter")
        await stage.until(lambda: stage.text.count("[red]x[/red]") == 4)
        assert "\x1b" not in stage.text
        assert "\u202e" not in stage.text


async def test_a_long_diff_is_scrolled_through(tmp_path: Path):
    lines = [DiffLine("added", f"Line {number}.", None, number) for number in range(1, 60)]
    told = source()
    told.diffs["src/app.py"] = FileChanges(FILES[0], SESSION, [DiffHunk(1, 1, "", lines)], cut=True)
    async with staged(told, tmp_path) as stage:
        await opened(stage)
        await stage.press("enter")
        await stage.until(lambda: "Line 1." in stage.text)
        seen = set[str]()
        for _ in range(8):
            seen |= {line.split("+")[-1].strip(" ▌▁▂▃▄▅▆▇█") for line in stage.lines}
            await stage.press("pagedown")
        assert {f"Line {number}." for number in range(1, 60)} <= seen
        await stage.press("G", "j")
        assert "The rest of the diff is left out." in stage.text
        await stage.press("g")
        line = stage.app.screen.query_one(DiffView).selected
        assert line is not None
        assert line.new == 1


async def test_diffs_have_syntax_colors(tmp_path: Path):
    async with staged(source(), tmp_path) as stage:
        await opened(stage)
        await stage.press("enter")
        await stage.until(lambda: "return sum(cart)" in stage.text)
        view = stage.app.screen.query_one(DiffView)
        rows = [view.render_line(y) for y in range(view.size.height)]
        kinds = {view.get_component_rich_style(f"code--{kind}"): kind for kind in KINDS}
        found = {
            (text, kinds[style])
            for row in rows
            for text, style, _ in row
            if style is not None and style in kinds
        }
    assert ("return", "keyword") in found
    assert ("# src/app.py", "comment") in found


def test_a_long_colored_line_keeps_all_its_words():
    pieces = [Piece("return", "keyword"), Piece(" "), Piece("x" * 9), Piece(" # why", "comment")]
    found = [[piece.text for piece in part] for part in parts(pieces, 8)]
    assert found == [["return"], ["x" * 8], ["x", " # why"]]
