"""Texts as lines for people: nothing vanishes, and the end is always there."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from callboard.display.lines import (
    Bounds,
    Line,
    bounded,
    collapsed,
    exact,
    size_of,
    text_lines,
    visible,
)
from callboard.interactions.excerpts import excerpt

BOUNDS = Bounds(9, 90, "callboard inbox q1 --full")
SPACES = "\n \t\r\x0b\x85\u2028\u3000\u2800\u3164\u200d"
TEXTS = st.lists(
    st.one_of(
        st.text(SPACES, max_size=60),
        st.text(max_size=30),
        st.builds(
            lambda one, count: one * count, st.sampled_from("\n a\u2028"), st.integers(0, 300)
        ),
    ),
    max_size=8,
).map("".join)


def shown(text: str) -> list[str]:
    return [line.text for line in bounded(collapsed(text_lines(text)), BOUNDS)]


def test_blank_lines_are_counted():
    assert shown("ls -la" + "\n" * 300 + "; curl x | sh") == [
        "ls -la",
        "⋯ 299 blank lines ⋯",
        "; curl x | sh",
    ]


@pytest.mark.parametrize(
    "blank", ["", "  ", "\t", "\u3000", "\u2028", "\x0b\r", "\u2800", "\u3164"]
)
def test_whatever_nobody_sees_is_blank(blank: str):
    assert shown(f"a\n{blank}\n{blank}\n{blank}\nb")[1:] == ["⋯ 3 blank lines ⋯", "b"]
    assert len(shown(f"a\n{blank}\n{blank}\nb")) == 4


def test_a_single_control_character_is_shown_as_what_it_is():
    assert shown("a\n\u2028\nb\x1b[2K") == ["a", "\\u2028", "b\\x1b[2K"]


@pytest.mark.parametrize(
    ("run", "said"),
    [(" " * 5000, "5,000 spaces"), ("\u2028" * 300, "300 blank characters")],
)
def test_nothing_is_pushed_out_of_sight_on_its_own_line(run: str, said: str):
    assert shown(f"ls{run}; curl x") == [f"ls ⋯ {said} ⋯ ; curl x"]
    assert exact(f"ls{run}; curl x") == f"ls ⋯ {said} ⋯ ; curl x"


def test_a_long_text_says_what_is_missing_and_how_to_see_it():
    told = shown("\n".join(f"line {n}" for n in range(100)))
    assert told[:4] == ["line 0", "line 1", "line 2", "line 3"]
    assert told[-1] == "line 99"
    assert told[4] == "⋯ 92 lines, 638 characters not shown. See all: callboard inbox q1 --full ⋯"


def test_blank_lines_count_among_the_missing():
    lines = collapsed(text_lines("\n".join(["a"] * 20 + [""] * 50 + ["b"] * 20)))
    [notice] = [line for line in bounded(lines, BOUNDS) if "not shown" in line.text]
    assert notice.stands_for == 82


def test_a_long_line_keeps_both_ends():
    said = excerpt("a" * 500 + "the end", 90)
    assert len(said) == 90
    assert said.startswith("aaa")
    assert said.endswith("the end")
    assert re.search(r" … 4\d\d characters not shown … ", said)


@pytest.mark.parametrize(
    ("text", "size"),
    [
        ("one", ""),
        ("one\n", ""),
        ("a\nb", "2 lines, 3 B"),
        ("x" * 99 + "\n" * 41, "41 lines, 140 B"),
        ("abcdefghi\n" * 410, "410 lines, 4.1 KB"),
        ("abcdefghi\n" * 410_000, "410,000 lines, 4.1 MB"),
    ],
)
def test_sizes(text: str, size: str):
    assert size_of(text) == size


@given(TEXTS, st.integers(60, 200))
def test_an_excerpt_is_never_too_long_and_keeps_the_end(text: str, longest: int):
    said = excerpt(text, longest)
    assert len(said) <= longest
    assert said.endswith(text[-10:])
    assert said == text or "characters not shown" in said


@given(TEXTS)
def test_the_end_is_always_shown(text: str):
    last = next((line for line in reversed(text_lines(text)) if not line.blank), None)
    if last is not None:
        assert any(line.endswith(last.text[-20:]) for line in shown(text))


@given(TEXTS)
def test_there_are_never_too_many_lines_or_too_long_ones(text: str):
    lines = bounded(collapsed(text_lines(text)), BOUNDS)
    assert len(lines) <= BOUNDS.lines
    assert all(len(line.text) <= BOUNDS.width for line in lines)


@given(TEXTS)
def test_every_line_is_shown_or_counted(text: str):
    lines = text_lines(text)
    kept = bounded(collapsed(lines), BOUNDS)
    assert sum(line.stands_for for line in kept) == len(lines)
    notices = [line for line in kept if line.look == "notice"]
    assert len(kept) - len(notices) == sum(
        line.stands_for == 1 for line in kept if line not in notices
    )
    for line in kept:
        if line.look != "notice" and line not in lines:
            assert "characters not shown" in line.text


@given(TEXTS)
def test_text_of_any_length_is_made_visible(text: str):
    long = text * (70_000 // max(1, len(text)) + 1)
    expected = "".join(visible(char) for char in text)
    assert visible(long) == expected * (len(long) // max(1, len(text)))


@given(TEXTS)
def test_no_character_is_obeyed(text: str):
    for line in text_lines(text):
        assert visible(line.text, keep="") == line.text


@given(TEXTS)
def test_what_is_not_blank_is_kept_to_the_letter(text: str):
    seen = "".join(line.text for line in text_lines(text))
    if " ⋯ " not in seen:
        assert _letters(seen) == _letters(visible(text.replace("\r\n", "\n")))


def _letters(text: str) -> str:
    return re.sub(r"\s", "", text)


def test_lines_of_a_diff_are_collapsed_by_their_sign():
    lines = [Line("", lead="+ ", blank=True)] * 4 + [Line("", lead="- ", blank=True)] * 2
    assert [line.text for line in collapsed(lines)] == ["⋯ 4 blank lines ⋯", "", ""]
