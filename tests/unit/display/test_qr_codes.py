"""QR codes as squares, and as lines for a terminal."""

from callboard.display.qr_codes import half_blocks, qr_code


def test_a_code_is_a_square_with_a_finder_in_three_corners():
    code = qr_code("callboard relay --server URL --pair 7K2QD-M4XWP")
    assert {len(row) for row in code} == {len(code)}
    for row in (code[0], code[-1]):
        assert row.startswith("1111111")
    assert code[0].endswith("1111111")


def test_the_same_text_makes_the_same_code():
    assert qr_code("a") == qr_code("a") != qr_code("b")


def test_two_rows_share_a_line_and_light_squares_surround_them():
    assert half_blocks(["10", "01", "11"]) == [
        "██████",
        "██▄▀██",
        "██▄▄██",
        "▀▀▀▀▀▀",
    ]
