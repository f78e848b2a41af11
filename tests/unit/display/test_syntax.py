"""Syntax colors: whole lines in pieces, whatever they contain."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from callboard.display.syntax import Piece, colored, sliced

LINES = ["def look(at):", '    return "a"  # why', "x = 1"]


def kinds(path: str, lines: list[str]) -> list[tuple[str, str]]:
    told = [piece for line in colored(path, lines) for piece in line]
    return [(text.strip(), kind) for text, kind in told if kind != "plain"]


def test_python():
    assert kinds("src/a.py", LINES) == [
        ("def", "keyword"),
        ("look", "name"),
        ("return", "keyword"),
        ('"', "string"),
        ("a", "string"),
        ('"', "string"),
        ("# why", "comment"),
        ("1", "literal"),
    ]


def test_a_comment_of_several_lines():
    assert kinds("a.c", ["/* one", "two */ int x;"])[:2] == [
        ("/* one", "comment"),
        ("two */", "comment"),
    ]


def test_files_of_no_known_language_are_plain():
    assert colored("notes.unknown", LINES) == [[Piece(line)] for line in LINES]


def test_long_lines_and_the_end_of_long_files_are_plain():
    long = "x = " + "1" * 1000
    assert colored("a.py", [long, "x = 1"])[0] == [Piece(long)]
    assert len(colored("a.py", [long, "x = 1"])[1]) > 1
    many = colored("a.py", ["x = 1"] * 100_000)
    assert (len(many[0]) > 1, many[-1]) == (True, [Piece("x = 1")])


@pytest.mark.parametrize("path", ["a.py", "a.html", "a.ts", "a.md", "Makefile", "", "a.unknown"])
@given(lines=st.lists(st.text(st.characters(exclude_characters="\n"), max_size=40), max_size=8))
def test_nothing_is_lost(path: str, lines: list[str]):
    found = colored(path, lines)
    assert ["".join(text for text, _ in line) for line in found] == lines


def test_a_part_of_a_line():
    pieces = [Piece("ab", "keyword"), Piece("cd"), Piece("ef", "string")]
    assert sliced(pieces, 1, 5) == [Piece("b", "keyword"), Piece("cd"), Piece("e", "string")]
    assert sliced(pieces, 0, 9) == pieces
