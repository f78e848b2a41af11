"""What an agent's output does to a terminal."""

from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st

from callboard.terminals.terminal_modes import TerminalOutput

PICTURE = (
    "\x1b[?2026h\x1b[?25l\x1b[31mé漢🎉\x1b[0m\x1b]0;a title\x07\x1b]8;;http://x\x1b\\link\x1b(B\x1b7\x1b8"
    "\x1bP+q544e\x1b\\\x1b[?2004h\x1b[>1u\x1b[>4;2m\x1b[?1049h\x1b[?2026l"
).encode()


def fed(*pieces: bytes) -> TerminalOutput:
    output = TerminalOutput()
    for piece in pieces:
        output.feed(piece)
    return output


def test_a_line_fits_between_sequences_and_nowhere_else():
    broken = [
        len(PICTURE[:place]) for place in range(len(PICTURE)) if fed(PICTURE[:place]).can_be_broken
    ]
    assert broken == [0], "all of it is one picture, which is shown at once"
    assert fed(PICTURE).can_be_broken


def test_characters_and_sequences_are_not_torn_apart():
    text = "a\x1b[31mé\x1b]0;t\x07b".encode()
    whole = [place for place in range(len(text) + 1) if fed(text[:place]).can_be_broken]
    assert [text[place:] for place in whole] == [
        text, text[1:], text[6:], text[8:], b"b", b"",
    ]  # fmt: skip


def test_what_is_left_on_is_turned_off():
    assert fed(PICTURE).undoing() == b"\x1b[?1049l\x1b[?2004l\x1b[?25h\x1b[<u\x1b[>4m\x1b[0m"


def test_what_was_turned_off_again_is_left_alone():
    tidy = PICTURE + b"\x1b[?25h\x1b[?2004;1049l\x1b[<u\x1b[>4m"
    assert fed(tidy).undoing() == b""


@given(st.lists(st.integers(0, len(PICTURE)), max_size=6))
def test_however_the_bytes_come_they_mean_the_same(cuts):
    places = [0, *sorted(cuts), len(PICTURE)]
    pieces = [PICTURE[a:b] for a, b in pairwise(places)]
    output = fed(*pieces)
    assert output.undoing() == fed(PICTURE).undoing()
    assert output.can_be_broken


@given(st.binary())
def test_any_bytes_are_taken(data):
    fed(data).undoing()


def test_any_number_of_keyboards_can_be_dropped():
    pushed = b"\x1b[>1u\x1b[>3u"
    assert fed(pushed, b"\x1b[<" + b"9" * 5_000 + b"u").doing() == b"\x1b[>1u\x1b[>3u"
    assert fed(pushed, b"\x1b[<2u").doing() == b""
    assert fed(pushed, b"\x1b[<9999u").doing() == b""
    assert fed(pushed, b"\x1b[<u").doing() == b"\x1b[>1u"
    assert fed(pushed, b"\x1b[<0u").doing() == b"\x1b[>1u", "0 counts as 1"


def test_only_few_modes_are_kept():
    modes = b"".join(b"\x1b[?%dh" % mode for mode in range(20_000))
    output = fed(modes, b"\x1b[?" + b"7" * 50_000 + b"h", b"\x1b[>" + b"7" * 50_000 + b"u")
    output.feed(b"\x1b[>4;" + b"7" * 50_000 + b"m")
    assert len(output.doing()) < 1_000
    assert len(output.undoing()) < 1_000


def test_the_longest_sequence_may_come_in_two_pieces():
    sequence = b"\x1b[?" + b";".join([b"2004"] * 12) + b";1h"
    for cut in range(len(sequence)):
        output = fed(b"\x1b[31m" * 20 + sequence[:cut], sequence[cut:])
        assert output.doing() == b"\x1b[?1h\x1b[?2004h"
