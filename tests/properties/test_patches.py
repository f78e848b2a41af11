"""Whatever the documents, their difference turns one into the other."""

import copy

import orjson
from hypothesis import given
from hypothesis import strategies as st

from callboard.drafts import patch
from callboard.drafts.patch import apply, diff, same
from callboard.errors import EditInvalid

KEYS = st.sampled_from(["a", "b", "c", "a/b", "~", "", "0", "-"])
SCALARS = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(-2, 2),
    st.sampled_from([0.0, -0.0, 1.0, 2.5]),
    st.sampled_from(["", "x", "1"]),
)
DOCUMENTS = st.recursive(
    SCALARS,
    lambda inner: st.lists(inner, max_size=6) | st.dictionaries(KEYS, inner, max_size=5),
    max_leaves=30,
)


@st.composite
def relatives(draw):
    """Two documents, the second often a variation of the first."""
    before = draw(DOCUMENTS)
    after = draw(st.one_of(DOCUMENTS, st.just(before).flatmap(variations)))
    return before, after


def variations(value):
    if isinstance(value, list):
        return st.one_of(
            st.permutations(value),
            st.lists(st.sampled_from(value) if value else SCALARS, max_size=8),
            st.tuples(*(st.just(x) | variations(x) for x in value)).map(list),
            st.tuples(st.just(value), st.lists(DOCUMENTS, max_size=2)).map(lambda p: p[0] + p[1]),
        )
    if isinstance(value, dict):
        return st.one_of(
            st.permutations(list(value.items())).map(dict),
            st.fixed_dictionaries({k: st.just(v) | variations(v) for k, v in value.items()}),
            st.dictionaries(KEYS, DOCUMENTS, max_size=2).map(lambda more: {**value, **more}),
        )
    return SCALARS


@given(relatives())
def test_the_difference_leads_there(pair):
    before, after = pair
    kept = copy.deepcopy(pair)
    assert same(apply(before, diff(before, after)), after)
    assert same(list(pair), list(kept))


@given(relatives())
def test_the_ordered_difference_leads_to_the_very_same_text(pair):
    before, after = pair
    result = apply(before, diff(before, after, ordered=True))
    assert orjson.dumps(result) == orjson.dumps(after)


@given(relatives())
def test_there_is_no_difference_exactly_between_the_same(pair):
    before, after = pair
    assert (diff(before, after) == []) is same(before, after)
    sort = orjson.OPT_SORT_KEYS
    written_alike = orjson.dumps(before, option=sort) == orjson.dumps(after, option=sort)
    assert same(before, after) is written_alike


@given(relatives(), relatives())
def test_patches_can_be_applied_together_or_one_by_one(pair, other):
    document, patches = pair[0], diff(*pair) + diff(pair[1], other[1])
    one_by_one = document
    for one in patches:
        one_by_one = apply(one_by_one, [one])
    assert same(apply(document, patches), one_by_one)


@given(st.lists(DOCUMENTS, max_size=40))
def test_a_list_that_was_empty_is_written_as_comparing_would_write_it(values: list[object]):
    slow: list[patch.Patch] = []
    compare_lists = patch._compare_lists  # pyright: ignore[reportPrivateUsage]
    compare_lists([], values, "/a", slow, ordered=False)
    if patch.worth_lightening(len(slow), len(values)):
        patch.lighten(slow, 0, "/a", values)
    assert patch.diff({"a": []}, {"a": values}) == slow


PATHS = st.lists(KEYS | st.sampled_from(["1", "2", "01"]), max_size=3).map(
    lambda keys: "".join(f"/{key.replace('~', '~0').replace('/', '~1')}" for key in keys)
)


@given(relatives(), st.sampled_from(["add", "replace", "remove", "test", "no"]), PATHS, DOCUMENTS)
def test_one_patch_is_applied_as_one_of_several_would_be(pair, op, path, value):
    one = {"op": op, "path": path, "value": value}
    assert outcome(pair[0], [one]) == outcome(pair[0], iter([one]))
    del one["value"]
    assert outcome(pair[0], [one]) == outcome(pair[0], iter([one]))


def outcome(document, patches):
    kept = orjson.dumps(document)
    try:
        found = orjson.dumps(apply(document, patches))
    except EditInvalid as refused:
        found = str(refused)
    assert orjson.dumps(document) == kept
    return found
