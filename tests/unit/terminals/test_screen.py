"""What a terminal's screen shows after what an agent printed."""

from hypothesis import given
from hypothesis import strategies as st

from callboard.terminals.screen import TerminalScreen

ROWS, COLUMNS = 6, 20


def shown(*pieces: str | bytes, rows: int = ROWS, columns: int = COLUMNS) -> TerminalScreen:
    screen = TerminalScreen(rows, columns)
    for piece in pieces:
        screen.feed(piece.encode() if isinstance(piece, str) else piece)
    return screen


def text(*pieces: str | bytes) -> list[str]:
    return [line for line in shown(*pieces).lines if line]


def test_text_wraps_and_scrolls():
    assert text("x" * 25) == ["x" * 20, "x" * 5]
    assert text("x" * 20, "\r\ny") == ["x" * 20, "y"]
    assert text("".join(f"{n}\r\n" for n in range(8))) == ["3", "4", "5", "6", "7"]


def test_wide_characters_and_accents_take_the_cells_that_they_take():
    screen = shown("漢字e\u0301!")
    assert screen.lines[0] == "漢字e\u0301!"
    assert screen.cursor == (0, 6)
    assert text("x" * 19 + "漢") == ["x" * 19, "漢"]


def test_a_prompt_is_drawn_again_in_place():
    frame = "────\r\n❯ one\r\n────"
    again = "\x1b[2K\x1b[1A\x1b[2K\x1b[1A\x1b[2K\x1b[G────\r\n❯ two\r\n────"
    assert text(frame, again) == ["────", "❯ two", "────"]


def test_lines_scroll_within_a_region():
    assert text("a\r\nb\r\nc\r\nd\x1b[2;3r\x1b[3;1H\nx") == ["a", "c", "x", "d"]
    assert text("a\r\nb\r\nc\x1b[2;1H\x1b[Lx") == ["a", "x", "b", "c"]
    assert text("a\r\nb\r\nc\x1b[1;1H\x1b[M") == ["b", "c"]


def test_characters_are_inserted_deleted_and_erased():
    assert text("abcdef\x1b[1;3H\x1b[2P") == ["abef"]
    assert text("abcdef\x1b[1;3H\x1b[2@") == ["ab  cdef"]
    assert text("abcdef\x1b[1;3H\x1b[2X") == ["ab  ef"]
    assert text("abcdef\x1b[1;3H\x1b[K") == ["ab"]
    assert text("abc\r\ndef\x1b[1J") == []


def test_the_second_screen_leaves_the_first_as_it_was():
    screen = shown("first\x1b[?1049h\x1b[Hsecond")
    assert screen.lines[0] == "second"
    screen.feed(b"\x1b[?1049l")
    assert screen.lines[0] == "first"


def test_an_agent_that_asks_its_terminal_gets_a_reply():
    assert shown("ab\x1b[6n\x1b[c\x1b[?u").replies == "\x1b[1;3R\x1b[?62;22c\x1b[?0u"
    assert shown("\x1b]11;?\x1b\\").replies == "\x1b]11;rgb:0000/0000/0000\x1b\\"


def test_styles_without_end_are_not_drawn_for_each_character():
    styled = "".join(f"\x1b[4:{'3' * 9000}{n};38:2:{'7' * 9000}{n}mx" for n in range(50))
    assert len(shown(styled).drawing()) < 50_000


def test_what_was_drawn_shows_the_same_elsewhere():
    first = shown("\x1b[31mred\x1b[0m\r\n", *(f"{n}\r\n" for n in range(9)), "\x1b[2;5Hx漢")
    second = shown(first.drawing())
    assert (second.lines, second.cursor) == (first.lines, first.cursor)
    assert second.drawing() == first.drawing()


PIECES = st.lists(
    st.one_of(
        st.text(max_size=30),
        st.sampled_from("ABCDEFGHJKLMPSTXdefhlmnrsu@`abc").flatmap(
            lambda final: st.from_regex(rf"\A\x1b\[[?>]?[0-9]{{0,3}}(;[0-9]{{0,3}})?{final}\Z")
        ),
        st.sampled_from(
            ["\x1b[?1049h", "\x1b[?1049l", "\x1bM", "\x1bD", "\x1b7", "\x1b8", "\x1bc",
             "\x1b]0;t\x07", "\x1b[", "\x1b]", "\x1bP", "\r\n", "\x1b[38;5;9m",
             "\x1b[38:2:1:2:3m", "漢", "\u0301"]
        ),
    )
)  # fmt: skip


def test_half_of_a_wide_character_that_is_written_over_takes_the_other_with_it():
    assert shown("漢\x1b[1;2H0").lines[0] == " 0"
    assert shown("a漢b\x1b[1;2H0").lines[0] == "a0 b"
    assert shown("漢漢\x1b[1;2H漢").lines[0] == " 漢"


@given(PIECES, st.integers(2, 9), st.integers(2, 30), st.data())
def test_whatever_an_agent_prints_it_stays_a_screen(
    pieces: list[str], rows: int, columns: int, data: st.DataObject
):
    screen = shown(*pieces[: len(pieces) // 2], rows=rows, columns=columns)
    rows, columns = data.draw(st.integers(2, 9)), data.draw(st.integers(2, 30))
    screen.resize(rows, columns)
    for piece in pieces[len(pieces) // 2 :]:
        screen.feed(piece.encode())
    assert screen.size == (rows, columns)
    assert len(screen.lines) == rows
    row, column = screen.cursor
    assert 0 <= row < rows
    assert 0 <= column < columns
    again = shown(screen.drawing(), rows=rows, columns=columns)
    assert again.lines == screen.lines


@given(PIECES, st.integers(1, 7))
def test_it_does_not_matter_how_the_output_is_cut(pieces: list[str], size: int):
    whole = "".join(pieces).encode()
    cut = [whole[at : at + size] for at in range(0, len(whole), size)]
    assert shown(*cut).lines == shown(whole).lines
