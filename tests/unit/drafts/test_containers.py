"""Drafts of lists and dicts, operation by operation."""

import copy
import heapq
import json
import pickle
from typing import Any

import orjson
import pytest
from tests.unit.drafts.zoo import Stage, Task, Work

from callboard.drafts.draft import change, view
from callboard.errors import StateError, StateInvalid, StateNotSerializable
from callboard.events.json_values import as_list


def stage_of(**values) -> Stage:
    return Stage(dict, factory=lambda: values)


LETTERS = ["a", "b", "c", "d"]

# (what is done to a list of letters, the patches that come of it)
LISTS = {
    "append": (lambda xs: xs.append("e"), [("add", "/xs/4", "e")]),
    "extend": (lambda xs: xs.extend("ef"), [("add", "/xs/4", "e"), ("add", "/xs/5", "f")]),
    "insert": (lambda xs: xs.insert(1, "x"), [("add", "/xs/1", "x")]),
    "insert before the first": (lambda xs: xs.insert(-9, "x"), [("add", "/xs/0", "x")]),
    "insert behind the last": (lambda xs: xs.insert(9, "x"), [("add", "/xs/4", "x")]),
    "pop": (lambda xs: xs.pop(), [("remove", "/xs/3")]),
    "pop the first": (lambda xs: xs.pop(0), [("remove", "/xs/0")]),
    "remove": (lambda xs: xs.remove("b"), [("remove", "/xs/1")]),
    "set": (lambda xs: xs.__setitem__(-1, "x"), [("replace", "/xs/3", "x")]),
    "set what it is": (lambda xs: xs.__setitem__(0, "a"), []),
    "delete": (lambda xs: xs.__delitem__(-2), [("remove", "/xs/2")]),
    "delete a slice": (
        lambda xs: xs.__delitem__(slice(1, 3)),
        [("remove", "/xs/2"), ("remove", "/xs/1")],
    ),
    "delete every other": (
        lambda xs: xs.__delitem__(slice(None, None, 2)),
        [("replace", "/xs/0", "b"), ("remove", "/xs/2"), ("remove", "/xs/1")],
    ),
    "set a slice": (
        lambda xs: xs.__setitem__(slice(1, 3), ["x"]),
        [("replace", "/xs/1", "x"), ("remove", "/xs/2")],
    ),
    "insert by slice": (lambda xs: xs.__setitem__(slice(2, 1), ["x"]), [("add", "/xs/2", "x")]),
    "clear": (lambda xs: xs.clear(), [("remove", f"/xs/{i}") for i in (3, 2, 1, 0)]),
    "sort": (lambda xs: xs.sort(), []),
    "reverse twice": (lambda xs: (xs.reverse(), xs.reverse()), []),
    "swap": (
        lambda xs: xs.insert(0, xs.pop()) or xs.append(xs.pop(0)),
        [],
    ),
    "add and take away": (lambda xs: (xs.append("x"), xs.pop()), []),
    "multiply by nothing": (
        lambda xs: xs.__imul__(0),
        [("remove", f"/xs/{i}") for i in (3, 2, 1, 0)],
    ),
    "double": (
        lambda xs: xs.__imul__(2),
        [("add", f"/xs/{i}", letter) for i, letter in enumerate(LETTERS, 4)],
    ),
    "one that was not text": (lambda xs: xs.__setitem__(0, True), [("replace", "/xs/0", True)]),
}


@pytest.mark.parametrize(("deed", "patches"), LISTS.values(), ids=LISTS)
def test_lists(deed, patches):
    stage = stage_of(xs=LETTERS)
    assert stage.patches(lambda state: deed(state["xs"])) == patches


def test_assigning_in_place_is_one_small_change():
    stage = Stage(Work)
    stage.change(lambda state: setattr(state, "free", [1]))

    def add(state):
        state.free += [2]
        state.free *= 1
        state.index |= {"a": [1]}

    assert stage.patches(add) == [("add", "/free/1", 2), ("add", "/index/a", [1])]


def test_booleans_and_numbers_are_told_apart():
    stage = stage_of(xs=[1, 0, 1.0])
    patches = [("replace", "/xs/0", True), ("replace", "/xs/1", False), ("replace", "/xs/2", 1)]
    assert (
        stage.patches(lambda state: state["xs"].__setitem__(slice(None), [True, False, 1]))
        == patches
    )
    assert [type(x) for x in stage.live["xs"]] == [bool, bool, int]


def test_equal_elements_are_aligned_even_when_they_are_not_the_same_objects():
    stage = stage_of(xs=["long text " + str(i) for i in range(9)])
    copied = json.loads(json.dumps(stage.live["xs"]))[1:]
    assert stage.patches(lambda state: state["xs"].__setitem__(slice(None), copied)) == [
        ("remove", "/xs/0")
    ]


def test_a_list_that_changes_nearly_everywhere_is_replaced():
    stage = stage_of(xs=list(range(50)))
    assert stage.patches(lambda state: state["xs"].reverse()) == [
        ("replace", "/xs", list(range(49, -1, -1)))
    ]
    patch = stage.change(lambda state: state["xs"].sort()).patches[0]
    as_list(patch.get("value")).append("mine")
    assert stage.live["xs"] == list(range(50))


def test_a_dict_that_changes_nearly_everywhere_is_replaced():
    stage = stage_of(numbers={str(i): 0 for i in range(50)})
    found = stage.patches(lambda state: state["numbers"].update({str(i): 1 for i in range(50)}))
    assert found == [("replace", "/numbers", {str(i): 1 for i in range(50)})]


def test_a_change_deep_inside_has_a_deep_path():
    stage = stage_of(a=[{"b/c": [{"d~": 1}]}])
    assert stage.patches(lambda state: state["a"][0]["b/c"][0].update({"d~": 2})) == [
        ("replace", "/a/0/b~1c/0/d~0", 2)
    ]


def test_an_element_is_changed_while_others_move():
    stage = Stage(Work, factory=lambda: Work(tasks=[Task(title=t) for t in "abcdef"]))

    def shuffle(state):
        first, last = state.tasks[0], state.tasks[-1]
        first.title, last.title = "A", "F"
        del state.tasks[2:4]
        state.tasks.insert(2, Task(title="new"))

    assert stage.patches(shuffle) == [
        ("replace", "/tasks/0/title", "A"),
        ("replace", "/tasks/2/title", "new"),
        ("remove", "/tasks/3"),
        ("replace", "/tasks/4/title", "F"),
    ]


def test_c_code_that_changes_a_list_past_its_methods_is_noticed():
    stage = Stage(Work, factory=lambda: Work(index={"heap": [5, 3, 8]}))
    stage.change(lambda state: heapq.heapify(state.index["heap"]))
    stage.change(lambda state: heapq.heappush(state.index["heap"], 1))
    assert stage.change(lambda state: heapq.heappop(state.index["heap"])).result == 1
    stage.change(lambda state: heapq.heapreplace(state.index["heap"], 9))
    assert stage.live.index == {"heap": [5, 9, 8]}


# (what is done to {"a": 1, "b": 2, "c": [3]}, the patches that come of it)
DICTS = {
    "set": (lambda d: d.__setitem__("b", 5), [("replace", "/d/b", 5)]),
    "set what it is": (lambda d: d.__setitem__("b", 2), []),
    "add": (lambda d: d.__setitem__("e", 5), [("add", "/d/e", 5)]),
    "delete": (lambda d: d.__delitem__("a"), [("remove", "/d/a")]),
    "pop": (lambda d: d.pop("c"), [("remove", "/d/c")]),
    "pop nothing": (lambda d: d.pop("x", 1), []),
    "pop an item": (lambda d: d.popitem(), [("remove", "/d/c")]),
    "update": (lambda d: d.update(a=0, e=1), [("replace", "/d/a", 0), ("add", "/d/e", 1)]),
    "merge": (lambda d: d.__ior__({"a": 0}), [("replace", "/d/a", 0)]),
    "set a default that is there": (lambda d: d.setdefault("a", 9), []),
    "set a default inside": (lambda d: d.setdefault("c", []).append(4), [("add", "/d/c/1", 4)]),
    "set a new default inside": (lambda d: d.setdefault("e", []).append(4), [("add", "/d/e", [4])]),
    "add and take away": (lambda d: (d.update(e=1), d.pop("e")), []),
    "take away and add": (lambda d: d.update(c=d.pop("c")), []),
    "move to the end": (
        lambda d: d.update(a=d.pop("a")),
        [("remove", "/d/a"), ("add", "/d/a", 1)],
    ),
    "clear": (lambda d: d.clear(), [("remove", "/d/a"), ("remove", "/d/b"), ("remove", "/d/c")]),
    "add two in an order": (
        lambda d: (d.update(e=1), d.pop("e"), d.update(f=1), d.update(e=2)),
        [("add", "/d/f", 1), ("add", "/d/e", 2)],
    ),
    "read": (lambda d: (d["c"], d.get("c"), list(d.values()), list(d.items()), d | {}), []),
}


@pytest.mark.parametrize(("deed", "patches"), DICTS.values(), ids=DICTS)
def test_dicts(deed, patches):
    stage = stage_of(d={"a": 1, "b": 2, "c": [3]})
    assert stage.patches(lambda state: deed(state["d"])) == patches


def test_keys_keep_the_order_they_are_given():
    stage = stage_of(votes={"b": 1, "a": 2})

    def sort(state):
        items = sorted(state["votes"].items())
        state["votes"].clear()
        state["votes"].update(items)

    stage.change(sort)
    assert list(stage.live["votes"]) == list(stage.wire["votes"]) == ["a", "b"]


def test_the_errors_of_lists_and_dicts_stay():
    stage = stage_of(xs=[], d={})

    def wrong(state):
        for deed in (
            lambda: state["xs"].pop(),
            lambda: state["xs"][0],
            lambda: state["xs"].__setitem__(0, 1),
            lambda: state["xs"].__delitem__(0),
        ):
            with pytest.raises(IndexError):
                deed()
        for deed in (
            lambda: state["d"]["x"],
            lambda: state["d"].pop("x"),
            lambda: state["d"].popitem(),
            lambda: state["d"].__delitem__("x"),
        ):
            with pytest.raises(KeyError):
                deed()
        with pytest.raises(ValueError, match="not in list"):
            state["xs"].remove(1)

    assert stage.patches(wrong) == []


# -- aliases, moves, and drafts that are kept ----------------------------------------------------


def test_what_is_assigned_can_be_changed_further():
    stage = stage_of(xs=[])

    def fill(state):
        mine = []
        state["xs"] = mine
        mine.append({"a": 1})
        state["xs"][0]["a"] = 2
        assert mine == [{"a": 2}]

    stage.change(fill)
    assert stage.live == {"xs": [{"a": 2}]}


def test_two_places_share_a_value_until_it_is_written():
    stage = stage_of(a=[{"n": 1}], b=None)

    def share(state):
        state["b"] = state["a"]
        state["b"][0]["n"] = 2

    assert stage.patches(share) == [("replace", "/a/0/n", 2), ("replace", "/b", [{"n": 2}])]
    assert stage.patches(lambda state: state["a"].append(3)) == [("add", "/a/1", 3)]
    assert stage.live["b"] == [{"n": 2}]


def test_a_value_moves_up_and_down():
    stage = stage_of(outer={"inner": {"n": [1]}})
    stage.change(lambda state: state.update(outer=state["outer"]["inner"]))
    assert stage.live == {"outer": {"n": [1]}}
    stage.change(lambda state: state.update(outer={"again": state["outer"]}))
    assert stage.live == {"outer": {"again": {"n": [1]}}}


def test_nothing_can_contain_itself():
    stage = stage_of(xs=[[]], d={})
    for deed in (
        lambda state: state.update(me=state),
        lambda state: state["d"].update(me=state["d"]),
        lambda state: state["xs"][0].append(state["xs"]),
    ):
        with pytest.raises(StateNotSerializable, match="contains itself"):
            stage.change(deed)


def test_a_draft_that_is_kept_is_harmless():
    stage = Stage(Work, factory=lambda: Work(tasks=[Task()]))
    kept = []

    def keep(state):
        state.free = {"a": [1]}
        state.tasks.append(Task(title="new"))
        kept.extend([state, state.tasks, state.tasks[0], state.free, state.free["a"]])

    stage.change(keep)
    wire = stage.wire
    state, tasks, task, free, values = kept
    state.title = "other"
    tasks.clear()
    task.notes.append("x")
    free.clear()
    values.append(2)
    assert stage.wire == wire


def test_a_part_of_a_view_or_of_another_draft_is_a_value_like_any():
    stage = stage_of(a=[{"n": 1}], b=None)
    whole: Any = view(stage.type, stage.live)
    lent = whole["a"]
    kept = []
    stage.change(lambda state: kept.append(state["a"]))

    def put(state, value):
        state["b"] = value
        state["b"][0]["n"] = 2

    for foreign in (lent, kept[0]):
        stage.change(lambda state, value=foreign: put(state, value))
        assert stage.live == {"a": [{"n": 1}], "b": [{"n": 2}]}


def test_untouched_parts_are_shared_with_the_state_before():
    stage = stage_of(left={"deep": [[1]]}, right={"deep": [[2]]})
    before = stage.live
    stage.change(lambda state: state["right"]["deep"][0].append(3))
    assert stage.live["left"] is before["left"]
    assert stage.live["right"] is not before["right"]
    assert stage.change(lambda state: state["left"]["deep"][0][0]).live is stage.live


def test_an_exception_passes_and_nothing_has_happened():
    stage = stage_of(xs=[1])
    error = RuntimeError("mine")

    def fail(state):
        state["xs"].append(2)
        raise error

    with pytest.raises(RuntimeError) as caught:
        stage.change(fail)
    assert caught.value is error
    assert stage.live == {"xs": [1]}


def test_the_result_is_handed_back():
    assert stage_of(xs=[1]).change(lambda state: state["xs"][0] + 1).result == 2


# -- what a container takes ----------------------------------------------------------------------


def test_elements_are_checked_at_the_end():
    stage = Stage(Work)
    for deed, path in (
        (lambda state: state.tasks.append(5), "/tasks/0"),
        (lambda state: state.tasks.append({"title": 5}), "/tasks/0/title"),
        (lambda state: state.tasks.append(Task.model_construct(title=[])), "/tasks/0/title"),
        (lambda state: state.index.update(a=["x"]), "/index/a/0"),
        (lambda state: state.index.update(a=3), "/index/a"),
        (lambda state: state.index.setdefault("a", []).append(None), "/index/a/0"),
    ):
        with pytest.raises(StateInvalid) as caught:
            stage.change(deed)
        assert caught.value.context["path"] == path
        assert path in str(caught.value)


def test_elements_become_what_the_annotation_says():
    stage = Stage(Work)
    stage.change(lambda state: state.tasks.extend([{"title": "a"}, Task(title="b")]))
    stage.change(lambda state: state.index.update(a=("1", 2.0)))
    assert stage.live.tasks == [Task(title="a"), Task(title="b")]
    assert stage.live.index == {"a": [1, 2]}


# -- how other code sees a draft -----------------------------------------------------------------


def test_a_draft_is_read_as_what_it_is():
    stage = stage_of(xs=[{"n": 3}, {"n": 1}, 2], d={"a": {"b": 1}})

    def read(state):
        xs, d = state["xs"], state["d"]
        assert isinstance(xs, list)
        assert isinstance(d, dict)
        assert json.dumps(state) == json.dumps(stage.live)
        assert orjson.dumps(state) == orjson.dumps(stage.live)
        assert f"{xs} {d}" == "[{'n': 3}, {'n': 1}, 2] {'a': {'b': 1}}"
        assert state == stage.live
        assert sorted(xs[:2], key=lambda x: x["n"]) == [{"n": 1}, {"n": 3}]
        first, *rest = xs
        assert (first, len(rest)) == ({"n": 3}, 2)
        assert {"n": 1} in xs
        assert next(reversed(xs)) == 2
        assert [0].__add__(xs) == [0, *xs] == [0] + xs  # noqa: RUF005
        assert xs + [0] == [*xs, 0]  # noqa: RUF005
        assert xs * 2 == 2 * xs == [*xs, *xs]
        assert {**d} == dict(d) == d | {} == {} | d == d.copy()
        assert type(xs)([1]) == [1]
        assert type(type(xs)([1])) is list
        assert type(type(d)(a=1)) is dict
        match state:
            case {"d": {"a": {"b": found}}}:
                assert found == 1
            case _:
                raise AssertionError

    assert stage.patches(read) == []


def test_copies_of_a_draft_are_plain():
    stage = stage_of(xs=[[1]], d={"a": {}})

    def copies(state):
        for part in (state["xs"], state["d"]):
            for made in (copy.copy(part), part.copy(), copy.deepcopy(part)):
                assert made == part
                assert type(made) in (list, dict)
            assert pickle.loads(pickle.dumps(part)) == part
        copy.deepcopy(state)["xs"][0].append(2)

    assert stage.patches(copies) == []


def test_what_c_code_takes_out_of_a_list_is_read_only():
    stage = Stage(Work, factory=lambda: Work(tasks=[Task(notes=["a"])], free=[{"a": [1]}, [2]]))
    wire = stage.wire
    lent: Any = view(stage.type, stage.live)
    taken = Work(tasks=lent.tasks, free=[1])
    inside = stage.live.free
    for deed in (
        lambda: setattr(taken.tasks[0], "title", "x"),
        lambda: delattr(taken.tasks[0], "title"),
        lambda: taken.tasks[0].notes.append("b"),
        lambda: inside[0].update(a=1),
        lambda: inside[0]["a"].clear(),
        lambda: inside[1].__setitem__(0, 1),
    ):
        with pytest.raises(StateError, match="read-only"):
            deed()
    mine = copy.deepcopy(taken.tasks[0])
    mine.note("b")
    assert type(mine) is Task
    assert type(copy.copy(taken.tasks[0])) is Task
    assert copy.deepcopy(inside) == inside
    assert pickle.loads(pickle.dumps([inside, stage.live.tasks])) == [inside, stage.live.tasks]
    with pytest.raises(StateError):
        taken.tasks[0].__class__ = Task
    assert stage.wire == wire


def test_changing_again_shares_what_is_read_only():
    stage = stage_of(rows=[{"cells": [1, 2]}, {"cells": [3]}])
    stage.change(lambda state: state["rows"][0]["cells"].append(9))
    stage.change(lambda state: state["rows"].append(state["rows"][0]))
    changed = change(stage.type, stage.live, lambda state: state["rows"][2]["cells"].pop())
    live: Any = changed.live
    assert changed.patches == [{"op": "remove", "path": "/rows/2/cells/2"}]
    assert live["rows"][0] is stage.live["rows"][0]
