"""What is in the prompt boxes of the clients, from what their terminals really showed."""

import pytest

from callboard.terminals.link import ShownScreen
from callboard.vendors.claude import prompt_box as claude
from callboard.vendors.codex import prompt_box as codex
from callboard.vendors.gemini import prompt_box as gemini
from callboard.vendors.prompt_box import letters, shows, typed

RULE = "─" * 140
ABOVE = ["❯ play:greet abc", "", "● Hello.", ""]
CLAUDE_FOOTER = [RULE, "  ⏸ manual mode on · ? for shortcuts · ← for agents"]
CODEX_FOOTER = ["", "  scripted default · ~/project", "  ? for shortcuts"]
GEMINI_HEAD = [RULE, " Shift+Tab to accept edits", ""]
GEMINI_FOOTER = ["", " workspace (/directory)      sandbox", " ~/project      no sandbox", ""]


def screen(lines: list[str], row: int, column: int) -> ShownScreen:
    return ShownScreen(lines, (row, column), 1, attached=False)


@pytest.mark.parametrize(
    ("box", "at", "found"),
    [
        (["❯"], (0, 2), ""),
        (["❯\N{NO-BREAK SPACE}"], (0, 2), ""),
        (['❯ Try "fix lint errors"'], (0, 2), ""),
        (['❯ Try "fix lint errors"'], (0, 25), 'Try "fix lint errors"'),
        (["❯ play:greet abc"], (0, 16), "play:greet abc"),
        (["❯ first line", "", "  second line"], (2, 13), "first line\n\nsecond line"),
        (["❯ a", "  ────────────────────────────────────────"], (1, 2), "a\n" + "─" * 40),
        (["! ls"], (0, 4), None),
    ],
)
def test_claude(box: list[str], at: tuple[int, int], found: str | None):
    lines = [*ABOVE, RULE, *box, *CLAUDE_FOOTER]
    assert claude.read_box(screen(lines, len(ABOVE) + 1 + at[0], at[1])) == found


def test_dialogs_of_claude_have_no_box():
    asks = [*ABOVE, RULE, " Bash command", "", " touch made", " Do you want to proceed?"]
    lines = [*asks, " ❯ 1. Yes", "   2. No", "", " Esc to cancel · Tab to amend"]
    assert claude.read_box(screen(lines, len(asks), 1)) is None
    assert claude.read_box(screen([RULE, *ABOVE, RULE, *lines], len(asks) + 6, 1)) is None
    assert claude.read_box(screen([], 0, 0)) is None
    # A box of which the cursor is elsewhere, as in a menu below it.
    assert claude.read_box(screen([RULE, "❯ /co", *CLAUDE_FOOTER, "  /cost"], 4, 2)) is None


@pytest.mark.parametrize(
    ("box", "at", "found"),
    [
        (["› Ask Codex to do anything"], (0, 2), ""),
        (["› Ask Codex to do anything"], (0, 26), "Ask Codex to do anything"),
        (["›"], (0, 2), ""),
        (["› first line", "", "  second line"], (2, 13), "first line\n\nsecond line"),
    ],
)
def test_codex(box: list[str], at: tuple[int, int], found: str | None):
    lines = ["› play:greet abc", "", "• Hello.", "", *box, *CODEX_FOOTER, ""]
    assert codex.read_box(screen(lines, 4 + at[0], at[1])) == found


def test_dialogs_of_codex_have_no_box():
    asks = ["  Would you like to run the following command?", "", "  $ touch made", ""]
    choices = ["› 1. Yes, proceed (y)", "  3. No, and tell Codex what to do differently (esc)"]
    lines = [*asks, *choices, "", "  Press enter to confirm or esc to cancel"]
    assert codex.read_box(screen(lines, 7, 139)) is None


@pytest.mark.parametrize(
    ("box", "at", "found"),
    [
        ([" >   Type your message or @path/to/file"], (0, 3), ""),
        ([" *   Type your message or @path/to/file"], (0, 3), ""),
        ([" > play:greet abc"], (0, 17), "play:greet abc"),
        ([" > first line", "", "   second line"], (2, 14), "first line\n\nsecond line"),
        ([" > [Pasted Text: 30 lines]"], (0, 26), "[Pasted Text: 30 lines]"),
        ([" ! ls"], (0, 5), None),
    ],
)
@pytest.mark.parametrize("footer", [GEMINI_FOOTER, ["▄" * 140, *GEMINI_FOOTER[1:]]])
def test_gemini(box: list[str], at: tuple[int, int], found: str | None, footer: list[str]):
    lines = [" > play:greet abc", "", "✦ Hello.", *GEMINI_HEAD, *box, *footer]
    shown = screen(lines, 6 + at[0], at[1])
    assert gemini.read_box(shown) == found
    assert not gemini.is_busy(shown)


def test_dialogs_and_turns_of_gemini():
    asks = ["│ Allow execution of [Shell]?", "│ ● 1. Allow once", "╰────────────────╯", ""]
    assert gemini.read_box(screen([" > play:ask", "", *asks], 5, 0)) is None
    works = [" ⠦ Thinking... (esc to cancel, 2s)      ? for shortcuts", *GEMINI_HEAD]
    lines = [*works, " >   Type your message or @path/to/file", *GEMINI_FOOTER]
    assert gemini.is_busy(screen(lines, 4, 3))


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Run the tests.", "Run the tests."),
        ("/cost", "Message: /cost "),
        ("  /cost now", "Message: /cost now"),
        ("\N{ZERO WIDTH SPACE}/cost now", "Message: \N{ZERO WIDTH SPACE}/cost now"),
        ("!rm -rf .", "Message: !rm -rf ."),
        ("#note", "Message: #note"),
        ("@file", "Message: @file "),
        ("look at @src/a.py", "look at @src/a.py "),
        ("a\x1b[201~\rb\x03", "a[201~\nb"),
        ("مرحبا", "مرحبا"),
        ("- a\n- b", "- a\n- b"),
    ],
)
def test_what_is_typed(text: str, expected: str):
    assert typed(text) == expected
    assert letters(typed(text)) == letters(expected)


@pytest.mark.parametrize(
    ("shown", "is_ours"),
    [
        ("a long text\nof three lines\nand more", True),
        ("a long text of\nthree lines and\nmore", True),
        ("[Pasted text #1 +2 lines]", True),
        ("a long text\nof three lines", False),
        ("more", False),
        ("x a long text\nof three lines\nand more", False),
        ("", False),
    ],
)
def test_whether_a_box_shows_a_text(shown: str, is_ours: bool):
    assert shows("a long text\nof three lines\nand more", shown, claude.PASTES) is is_ours


def test_the_end_of_a_text_that_is_too_long_for_the_box():
    text = "\n".join(f"line {number}" for number in range(30))
    shown = "\n".join(f"line {number}" for number in range(20, 30))
    assert shows(text, f"{shown} ↑", codex.PASTES)
    assert not shows(text, "line 3", codex.PASTES)
