"""The stream's format: whatever the cuts, the same frames."""

from itertools import pairwise

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from callboard.client.frames import Frame, FrameParser


def parsed(*pieces: bytes) -> list[Frame]:
    parser = FrameParser()
    return [frame for piece in pieces for frame in parser.feed(piece)]


@pytest.mark.parametrize(
    ("stream", "frames"),
    [
        (b"data: a\n\n", [Frame("a")]),
        (b"data: a\r\n\r\n", [Frame("a")]),
        (b"data: a\r\rdata: b\r\r", [Frame("a"), Frame("b")]),
        (b"data:a\ndata:  b\ndata\ndata:\n\n", [Frame("a\n b\n\n")]),
        (b": comment\n\nretry: 1000\n\n:\n\n", []),
        (b"id: 7\ndata: a\n\ndata: b\n\n", [Frame("a", "7"), Frame("b", "7")]),
        (b"id: 7\n\ndata: a\n\n", [Frame("a", "7")]),
        (b"id: 7\nid\ndata: a\n\n", [Frame("a", "")]),
        (b"id: 1\x002\ndata: a\n\n", [Frame("a")]),
        (b"event: news\ndata: a\n\ndata: b\n\n", [Frame("a", None, "news"), Frame("b")]),
        (b"event: news\n\ndata: b\n\n", [Frame("b")]),
        (b"unknown: x\ndata: a: b\n\n", [Frame("a: b")]),
        (b"\xef\xbb\xbfdata: a\n\n", [Frame("a")]),
        (b"data: a\n\ndata: lost\n", [Frame("a")]),
        (b"data: a\n\ndata: lost", [Frame("a")]),
        ("data: Grüße ☕\n\n".encode(), [Frame("Grüße ☕")]),
        (b"data: \xff\n\n", [Frame("�")]),
    ],
)
def test_a_stream_is_its_frames(stream: bytes, frames: list[Frame]):
    assert parsed(stream) == frames


LINES = st.sampled_from(
    [
        b"data: a",
        b"data:b",
        "data: ☕".encode(),
        b"data",
        b"id: 1",
        b"id: 2",
        b": hm",
        b"",
        b"event: x",
    ]
)
STREAMS = st.lists(st.tuples(LINES, st.sampled_from([b"\n", b"\r", b"\r\n"]))).map(
    lambda lines: b"".join(line + end for line, end in lines)
)


@given(STREAMS, st.data())
@example(b"data: a\r\n\r\n", None)
def test_any_cut_gives_the_same_frames(stream: bytes, data: st.DataObject | None):
    whole = parsed(stream)
    assert parsed(*(bytes([byte]) for byte in stream)) == whole
    if data is not None:
        cuts = sorted(data.draw(st.lists(st.integers(0, len(stream)), max_size=8)))
        pieces = [stream[a:b] for a, b in pairwise([0, *cuts, len(stream)])]
        assert parsed(*pieces) == whole


def test_the_last_id_is_known_without_a_frame():
    parser = FrameParser()
    assert parser.feed(b"id: 41\n\n") == []
    assert parser.last_id == "41"
