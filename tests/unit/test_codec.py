"""Payloads and bytes: what is stored comes back, and how many values JSON has."""

import base64
import json
import os
import random
import zlib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from callboard.errors import StateNotSerializable
from callboard.events import codec
from callboard.events.codec import values_so_far
from callboard.events.envelope import Json, NewEvent

JSON = st.recursive(
    st.none() | st.integers() | st.text(st.sampled_from('a\\",[{é')),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(st.sampled_from('a\\",[{')), inner),
)


def marks(value: object) -> int:
    """The commas and opening brackets that a value needs."""
    if isinstance(value, dict):
        return max(1, len(value)) + sum(marks(one) for one in value.values())
    if isinstance(value, list):
        return max(1, len(value)) + sum(marks(one) for one in value)
    return 0


@given(JSON, st.integers(1, 9), st.booleans())
def test_values_are_counted_wherever_the_stretches_end(value: object, stretch: int, plain: bool):
    data = json.dumps(value, ensure_ascii=plain).encode()
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(codec, "_STRETCH", stretch)
        assert list(values_so_far(data))[-1] == marks(value)


def test_text_may_be_long_and_lists_may_not():
    assert max(values_so_far(json.dumps(",[{" * codec.MOST_VALUES).encode())) == 0
    assert max(values_so_far(b"[" + b"1," * codec.MOST_VALUES + b"1]")) > codec.MOST_VALUES


def stored(patches: Json, outputs: dict[int, int]) -> Json:
    """The patches of an event, as they come back when position 7 holds the output "long"."""
    event = NewEvent("e", "state:intent", {"patches": patches}, 0, outputs=outputs)
    return codec.decode(codec.encode(event), {7: "long"}.__getitem__)["patches"]


REFERRING: dict[str, Json] = {"op": "add", "path": "/a", "value": "long"}


@pytest.mark.parametrize(
    "odd",
    ["text", None, 1, ["op"], {}, {"op": "add"}, {"path": "/b", "value": 1, "outputAt": 7}],
)
def test_a_patch_of_another_shape_is_kept(odd: Json):
    assert stored([odd, REFERRING], {1: 7}) == [odd, REFERRING]
    assert stored([odd, REFERRING], {}) == [odd, REFERRING]


def test_a_patch_that_refers_to_an_output_keeps_its_other_members():
    patch = {"op": "move", "path": "/a", "from": "/b", "value": "long"}
    assert stored([patch], {0: 7}) == [patch]


def test_patches_may_be_a_tuple():
    assert stored((REFERRING,), {0: 7}) == [REFERRING]


@pytest.mark.parametrize("patches", [None, "text", {"op": "add"}])
def test_patches_that_are_no_list_cannot_refer(patches: Json):
    with pytest.raises(StateNotSerializable, match="patches"):
        stored(patches, {0: 7})


def test_what_is_no_object_cannot_refer():
    with pytest.raises(StateNotSerializable, match="patches"):
        stored(["text"], {0: 7})


@pytest.mark.parametrize("payload", [{"referring": True}, {"referring": "x", "patches": [1]}])
def test_a_payload_with_a_word_of_ours_is_kept(payload: dict[str, Json]):
    event = NewEvent("e", "of:others", payload, 0)
    assert codec.decode(codec.encode(event), {}.__getitem__) == payload


def prose(size: int) -> bytes:
    """JSON as it is most often: the same names again and again."""
    one = b'{"role": "user", "content": "What is the weather like?"},'
    return b'{"messages":[%b{}]}' % (one * (size // len(one)))


@given(st.binary(max_size=2_000), st.sampled_from([1, 500, 70_000, 300_000]), st.booleans())
def test_what_is_packed_comes_back(piece: bytes, size: int, repeated: bool):
    data = b"{" + (piece * (size // max(len(piece), 1) + 1) if repeated else piece)
    assert codec.unpack(codec.pack(data)) == data


@pytest.mark.parametrize("size", [1_500, 60_000, 70_000, 2_000_000])
def test_what_repeats_itself_is_compressed_whatever_its_size(size: int):
    data = prose(size)
    assert len(codec.pack(data)) < len(data) / 4
    assert codec.unpack(codec.pack(data)) == data


def test_a_sample_spares_compressing_a_megabyte_in_vain(monkeypatch: pytest.MonkeyPatch):
    compressed: list[int] = []
    compress = codec.zlib.compress

    def counted(data: bytes, level: int) -> bytes:
        compressed.append(len(data))
        return compress(data, level)

    monkeypatch.setattr(codec.zlib, "compress", counted)
    data = b'{"image":"%b"}' % base64.b64encode(random.Random(1).randbytes(1_000_000))
    assert codec.pack(data) == data
    assert sum(compressed) < 20_000


def test_a_beginning_that_repeats_itself_does_not_decide_for_the_rest():
    noise = base64.b64encode(random.Random(2).randbytes(1_000_000))
    assert codec.pack(prose(100_000) + noise)[:1] == b"{"
    assert codec.pack(noise[:100_000] + prose(1_000_000))[:1] == b"\x01"


@given(st.lists(st.sampled_from(["short", "long"])), st.integers(1, 3))
def test_a_parsed_payload_says_which_outputs_it_refers_to(values: list[str], step: int):
    patches = [{"op": "add", "path": "/a/-", "value": value} for value in values]
    outputs = {i: 7 + i % step for i, value in enumerate(values) if value == "long"}
    event = NewEvent("e", "state:intent", {"patches": patches}, 0, outputs=outputs)
    parsed = codec.parse(codec.encode(event))
    assert codec.references(parsed) == set(outputs.values())
    assert codec.resolve(parsed, lambda position: "long") == event.payload


@pytest.mark.parametrize("payload", [{}, {"referring": True}, {"patches": [REFERRING]}])
def test_other_payloads_refer_to_nothing(payload: dict[str, Json]):
    assert codec.references(payload) == set()


@pytest.mark.parametrize("data", [b"{}" * 600, os.urandom(800)])
def test_what_is_too_large_is_not_unpacked(data: bytes):
    packed = codec.pack(b"{" + data)
    size = 1 + len(data)
    assert codec.unpack(packed, size) == codec.unpack(packed) == b"{" + data
    with pytest.raises(codec.Oversized):
        codec.unpack(packed, size - 1)


def test_a_payload_that_was_cut_off_is_an_error():
    packed = codec.pack(b"{" * 5000)
    for most in (None, 10_000):
        with pytest.raises(zlib.error):
            codec.unpack(packed[:-3], most)
