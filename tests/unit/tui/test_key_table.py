"""A key of the board means the same in the terminal, in the dashboard and in the documentation."""

import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from textual.binding import Binding

from callboard.tui.app import BoardApp
from callboard.tui.keys import KEYS, BoardKey, key_table
from callboard.tui.listing import Listing
from callboard.tui.verdict_dialog import RulingDialog

ROOT = Path(__file__).parents[3]
DASHBOARD = ROOT / "web" / "src" / "shell" / "keys.ts"
PAGES = ("board-in-the-terminal.md", "dashboard.md")
ROWS = [row for rows in KEYS.values() for row in rows]
NAMES = {
    "enter": "Enter",
    "escape": "Esc",
    "slash": "/",
    "question_mark": "?",
    "up": "↑",
    "down": "↓",
    "ctrl+l": "Ctrl+L",
}
NUMBERS = [str(number) for number in range(1, 10)]
# Moves by the page and to the ends, and a second way to quit: as everywhere in a terminal.
USUAL = {"pageup", "pagedown", "ctrl+b", "ctrl+f", "home", "end", "ctrl+c"}


def keys_of(row: BoardKey) -> list[str]:
    """Each key of a row; two that are pressed one after the other are one."""
    if "…" in row.keys:
        return NUMBERS
    parts = row.keys.split()
    return [row.keys] if len(set(parts)) < len(parts) else parts


def bound() -> Iterator[str]:
    """The keys that the terminal has, as people read them."""
    for owner in (BoardApp, Listing):
        for binding in owner.BINDINGS:
            assert isinstance(binding, Binding)
            yield from binding.key.split(",")


def test_the_terminal_has_exactly_the_keys_of_the_table():
    has = {NAMES.get(key, key) for key in bound() if key not in USUAL}
    table = {key for row in ROWS if row.where != "dashboard" for key in keys_of(row)}
    # One `g` is enough in the terminal, so that two work as well; Textual itself has Tab.
    # A rule is made in the dialog that shows it.
    assert {one.key for one in RulingDialog.BINDINGS if isinstance(one, Binding)} >= {"a"}
    assert has - {"g"} == table - {"g g", "Tab", "a"}


def test_the_dashboard_has_exactly_the_keys_of_the_table():
    code = DASHBOARD.read_text(encoding="utf-8")
    has = re.findall(r"^  \w+: '([^']+)',$", code, re.MULTILINE)
    assert "NUMBERED = 9" in code
    table = [key for row in ROWS if row.where != "terminal" for key in keys_of(row)]
    wanted = {"Escape" if key == "Esc" else key for key in table} - set(NUMBERS)
    assert sorted(has) == sorted(wanted)


@pytest.mark.parametrize("page", PAGES)
def test_the_table_is_in_the_documentation(page: str):
    assert key_table() in (ROOT / "docs" / "how-to" / page).read_text(encoding="utf-8")


def test_no_key_means_two_things_in_one_place():
    for place in ("terminal", "dashboard"):
        keys = [key for row in ROWS if row.where in ("both", place) for key in keys_of(row)]
        assert len(keys) == len(set(keys))
