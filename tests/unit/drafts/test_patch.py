"""JSON Patch, case by case."""

import copy

import pytest

from callboard.drafts.patch import apply, diff, same
from callboard.errors import EditInvalid
from callboard.events.json_values import as_list, as_object

# (document, patches, result): the situations of RFC 6902, appendix A, with our own values.
APPLIES = {
    "add a member": ({"a": 1}, [("add", "/b", 2)], {"a": 1, "b": 2}),
    "add a member over another": ({"a": 1}, [("add", "/a", 2)], {"a": 2}),
    "add into a list": ({"a": [1, 3]}, [("add", "/a/1", 2)], {"a": [1, 2, 3]}),
    "add before the first": ([2], [("add", "/0", 1)], [1, 2]),
    "add at the end": ([1], [("add", "/1", 2)], [1, 2]),
    "add after the last": ([1], [("add", "/-", 2)], [1, 2]),
    "add a list into a list": ([1], [("add", "/-", [2, 3])], [1, [2, 3]]),
    "add null": ({}, [("add", "/a", None)], {"a": None}),
    "add the whole": ({"a": 1}, [("add", "", [1])], [1]),
    "add in an added object": ({}, [("add", "/a", {}), ("add", "/a/b", 1)], {"a": {"b": 1}}),
    "a member named dash": ({}, [("add", "/-", 1)], {"-": 1}),
    "an empty name": ({"": 1}, [("replace", "/", 2)], {"": 2}),
    "names that are digits": ({"0": {"1": 2}}, [("replace", "/0/1", 3)], {"0": {"1": 3}}),
    "remove a member": ({"a": 1, "b": 2}, [("remove", "/b")], {"a": 1}),
    "remove from a list": ({"a": [1, 2, 3]}, [("remove", "/a/1")], {"a": [1, 3]}),
    "replace a member": ({"a": 1, "b": 2}, [("replace", "/a", [])], {"a": [], "b": 2}),
    "replace in a list": ([1, 2], [("replace", "/1", 3)], [1, 3]),
    "replace the whole": ({"a": 1}, [("replace", "", 7)], 7),
    "move a member": (
        {"a": {"x": 1, "y": 2}, "b": {}},
        [("move", "/b/z", "/a/x")],
        {"a": {"y": 2}, "b": {"z": 1}},
    ),
    "move within a list": ([1, 2, 3, 4], [("move", "/3", "/1")], [1, 3, 4, 2]),
    "move to the end": ([1, 2, 3], [("move", "/-", "/0")], [2, 3, 1]),
    "move where it is": ({"a": {"b": 1}}, [("move", "/a", "/a")], {"a": {"b": 1}}),
    "move over its parent": ({"a": {"b": 1}}, [("move", "/a", "/a/b")], {"a": 1}),
    "move to the root": ({"a": [1]}, [("move", "", "/a")], [1]),
    "a name that begins alike is no parent": (
        {"a": 1},
        [("move", "/ab", "/a")],
        {"ab": 1},
    ),
    "copy": ({"a": [1]}, [("copy", "/b", "/a")], {"a": [1], "b": [1]}),
    "copy, then change the copy": (
        {"a": [1]},
        [("add", "/a/-", 2), ("copy", "/b", "/a"), ("add", "/b/-", 3)],
        {"a": [1, 2], "b": [1, 2, 3]},
    ),
    "copy, then change the original": (
        {"a": {"c": []}},
        [("add", "/a/c/-", 1), ("copy", "/b", "/a"), ("add", "/a/c/-", 2)],
        {"a": {"c": [1, 2]}, "b": {"c": [1]}},
    ),
    "copy the whole into itself": ({"a": 1}, [("copy", "/b", "")], {"a": 1, "b": {"a": 1}}),
    "test": ({"a": ["x", 2]}, [("test", "/a/0", "x"), ("test", "/a/1", 2)], {"a": ["x", 2]}),
    "test the whole": ({"a": 1}, [("test", "", {"a": 1})], {"a": 1}),
    "test numbers as numbers": ({"a": 1}, [("test", "/a", 1.0)], {"a": 1}),
    "test with another order": (
        {"a": {"x": 1, "y": [2]}},
        [("test", "/a", {"y": [2], "x": 1})],
        {"a": {"x": 1, "y": [2]}},
    ),
    "test null": ({"a": None}, [("test", "/a", None)], {"a": None}),
    "escapes": ({"/": 9, "~1": 10}, [("test", "/~01", 10), ("remove", "/~1")], {"~1": 10}),
    "escapes in their order": ({"~/": 1}, [("replace", "/~0~1", 2)], {"~/": 2}),
    "nothing to do": ({"a": 1}, [], {"a": 1}),
}

# (document, patches, index of the operation at fault, a word of the reason)
REFUSES = {
    "remove what is not there": ({}, [("remove", "/a")], 0, "no 'a'"),
    "replace what is not there": ({"a": 1}, [("replace", "/b", 1)], 0, "no 'b'"),
    "remove the whole": ({"a": 1}, [("remove", "")], 0, "whole"),
    "the second is wrong": ([], [("add", "/0", 1), ("add", "/2", 1)], 1, "no index 2"),
    "beyond the end": ([1], [("remove", "/1")], 0, "no index 1"),
    "dash is behind the last": ([1], [("remove", "/-")], 0, "index"),
    "dash cannot be replaced": ([1], [("replace", "/-", 1)], 0, "index"),
    "dash cannot be tested": ([1], [("test", "/-", 1)], 0, "index"),
    "dash in the middle": ([[]], [("add", "/-/0", 1)], 0, "index"),
    "leading zero": ([1, 2], [("test", "/01", 2)], 0, "index"),
    "negative": ([1], [("remove", "/-1")], 0, "index"),
    "plus": ([1], [("remove", "/+0")], 0, "index"),
    "exponent": ([1, 2], [("test", "/1e0", 2)], 0, "index"),
    "other digits": ([1, 2], [("test", "/١", 2)], 0, "index"),
    "a name into a list": ([1], [("add", "/a", 2)], 0, "index"),
    "an absurd index": ([1], [("add", "/" + "9" * 100_000, 2)], 0, "no index"),
    "into a string": ({"a": "text"}, [("add", "/a/0", 1)], 0, "type str"),
    "into a number, to read": ({"a": 1}, [("test", "/a/b", 1)], 0, "type int"),
    "into nothing": ({}, [("add", "/a/b", 1)], 0, "no 'a'"),
    "into the whole, a scalar": (5, [("add", "/a", 1)], 0, "type int"),
    "no leading slash": ({}, [("add", "a", 1)], 0, "starts with /"),
    "a wrong escape": ({"~2": 1}, [("remove", "/~2")], 0, "~0"),
    "an escape cut short": ({"~": 1}, [("remove", "/~")], 0, "~0"),
    "move into itself": ({"a": {"b": 1}}, [("move", "/a/b/c", "/a")], 0, "itself"),
    "move the whole": ({"a": 1}, [("move", "/a", "")], 0, "itself"),
    "move nothing": ({}, [("move", "/a", "/b")], 0, "no 'b'"),
    "move nothing to where it is": ({}, [("move", "/a", "/a")], 0, "no 'a'"),
    "copy nothing": ({}, [("copy", "/a", "/b")], 0, "no 'b'"),
    "another value": ({"a": "x"}, [("test", "/a", "y")], 0, "different"),
    "text is no number": ({"a": "1"}, [("test", "/a", 1)], 0, "different"),
    "true is not one": ({"a": True}, [("test", "/a", 1)], 0, "different"),
    "zero is not false": ({"a": 0}, [("test", "/a", False)], 0, "different"),
    "true in a list is not one": ([[1]], [("test", "", [[True]])], 0, "different"),
    "a longer list": ([1], [("test", "", [1, 1])], 0, "different"),
    "another member": ({"a": {}}, [("test", "/a", {"b": 1})], 0, "different"),
}

# Operations that are no operations.
MALFORMED = {
    "not an object": (7, "object with op"),
    "no op": ({"path": "/a", "value": 1}, "op is missing"),
    "unknown op": ({"op": "increment", "path": "/a"}, "add, remove, replace"),
    "op in capitals": ({"op": "Add", "path": "/a", "value": 1}, "op is one of"),
    "op is a list": ({"op": ["add"], "path": "/a", "value": 1}, "op is one of"),
    "no path": ({"op": "remove"}, "path is missing"),
    "path is null": ({"op": "remove", "path": None}, "a path is a string"),
    "path is a list": ({"op": "remove", "path": ["a"]}, "a path is a string"),
    "add without value": ({"op": "add", "path": "/a"}, "value is missing"),
    "replace without value": ({"op": "replace", "path": "/a"}, "value is missing"),
    "test without value": ({"op": "test", "path": "/a"}, "value is missing"),
    "move without from": ({"op": "move", "path": "/a"}, "from is missing"),
    "copy without from": ({"op": "copy", "path": "/a"}, "from is missing"),
}


def operation(name, path, *argument):
    members = {"from" if name in ("move", "copy") else "value": argument[0]} if argument else {}
    return {"op": name, "path": path, **members}


@pytest.mark.parametrize(("document", "patches", "result"), APPLIES.values(), ids=APPLIES)
def test_applies(document, patches, result):
    before = copy.deepcopy(document)
    assert same(apply(document, [operation(*patch) for patch in patches]), result)
    assert document == before


@pytest.mark.parametrize(("document", "patches", "index", "reason"), REFUSES.values(), ids=REFUSES)
def test_refuses(document, patches, index, reason):
    before = copy.deepcopy(document)
    with pytest.raises(EditInvalid) as caught:
        apply(document, [operation(*patch) for patch in patches])
    assert caught.value.context["index"] == index
    assert caught.value.context["path"] == patches[index][1]
    assert f"Operation {index}" in str(caught.value)
    assert reason in str(caught.value)
    assert document == before


@pytest.mark.parametrize(("patch", "reason"), MALFORMED.values(), ids=MALFORMED)
def test_refuses_what_is_no_operation(patch, reason):
    with pytest.raises(EditInvalid, match=reason):
        apply({"a": 1}, [patch])


def test_unknown_members_are_ignored():
    assert apply({}, [{"op": "add", "path": "/a", "value": 1, "from": "/b", "note": 2}]) == {"a": 1}


def test_what_no_path_touches_is_shared():
    document = {"left": {"deep": [1]}, "right": {"deep": [2]}}
    after = as_object(apply(document, [operation("add", "/right/deep/-", 3)]))
    assert after["left"] is document["left"]
    assert after["right"] is not document["right"]
    assert document["right"]["deep"] == [2]


def test_the_value_of_a_patch_is_never_changed():
    value = {"items": []}
    after = apply({}, [operation("add", "/a", value), operation("add", "/a/items/-", 1)])
    assert after == {"a": {"items": [1]}}
    assert value == {"items": []}


@pytest.mark.parametrize(
    ("before", "after", "patches"),
    [
        ({"a": 1}, {"a": 1}, []),
        ({"a": 1}, {"a": True}, [("replace", "/a", True)]),
        ({"a": 1}, {"a": 1.0}, [("replace", "/a", 1.0)]),
        ({"a": 0.0}, {"a": -0.0}, [("replace", "/a", -0.0)]),
        ({"a": None}, {}, [("remove", "/a")]),
        ({}, {"a/b~": 1}, [("add", "/a~1b~0", 1)]),
        ([1, 2, 3], [1, 2, 3, 4], [("add", "/3", 4)]),
        ([1, 2, 3], [2, 3], [("remove", "/0")]),
        ([1, 2, 3, 4], [1, 4], [("remove", "/2"), ("remove", "/1")]),
        ([1, 4], [1, 2, 3, 4], [("add", "/1", 2), ("add", "/2", 3)]),
        ([1, 1], [1, 1, 1], [("add", "/2", 1)]),
        ([1, 2, 3], [1, 9, 3], [("replace", "/1", 9)]),
        ({"a": [{"b": 1, "c": 2}]}, {"a": [{"b": 1, "c": 3}]}, [("replace", "/a/0/c", 3)]),
        ({"a": []}, {"a": {}}, [("replace", "/a", {})]),
        ({"a": 1}, [1], [("replace", "", [1])]),
        ({"a": 1, "b": 2}, {"b": 2, "a": 1}, []),
    ],
)
def test_diff(before, after, patches):
    found = diff(before, after)
    assert same(found, [operation(*patch) for patch in patches])
    assert same(apply(before, found), after)


def test_diff_keeps_the_order_of_keys_when_asked():
    before, after = {"a": 1, "b": 2, "c": 3}, {"b": 2, "c": 3, "a": 1}
    found = diff(before, after, ordered=True)
    assert found == [operation("remove", "/a"), operation("add", "/a", 1)]
    assert list(as_object(apply(before, found))) == ["b", "c", "a"]


def test_diff_replaces_what_would_take_more_words_to_change():
    before, after = {"a": list(range(100))}, {"a": list(range(100, 0, -1))}
    assert diff(before, after) == [operation("replace", "/a", after["a"])]
    long = ["some long text that stays as it is"] * 20
    assert len(diff({"a": [[1], *long] * 9}, {"a": [[2], *long] * 9})) == 9


def test_diff_never_replaces_the_whole_document():
    before, after = {str(i): 0 for i in range(20)}, {str(i): 1 for i in range(20)}
    assert len(diff(before, after)) == 20


def test_copies_of_copies_end_before_they_fill_the_memory():
    doubling = [{"op": "copy", "from": "", "path": f"/{n}"} for n in range(60)]
    with pytest.raises(EditInvalid, match="copy too much") as caught:
        apply({"text": "x" * 100}, doubling, most=1_000_000)
    assert caught.value.index == 13


def test_what_is_copied_on_the_way_counts_too():
    patches = [{"op": "copy", "from": "/1", "path": "/0"}] * 500
    with pytest.raises(EditInvalid, match="copy too much"):
        apply(list(range(10_000)), patches, most=1_000_000)
    assert len(as_list(apply(list(range(10_000)), patches))) == 10_500
