"""Views: what is lent to agents, prompts and routing."""

import copy
import dataclasses
import heapq
import json
from typing import Any

import pytest
from tests.unit.drafts.zoo import Plan, Row, Slotted, Stage, Task, Work

from callboard.drafts.draft import view
from callboard.errors import StateError


@pytest.fixture
def stage() -> Stage:
    return Stage(
        Work,
        factory=lambda: Work(
            tasks=[Task(title="b"), Task(title="a", notes=["n"])],
            index={"x": [1]},
            tags={"t"},
            free={"rows": [{"cells": [1]}]},
        ),
    )


@pytest.fixture
def lent(stage):
    before = stage.wire
    yield view(stage.type, stage.live)
    assert stage.wire == before


CHANGES = {
    "a field": lambda state: setattr(state, "count", 1),
    "a field that is not there": lambda state: setattr(state, "conut", 1),
    "a list": lambda state: state.tasks.append(Task()),
    "an element": lambda state: state.tasks.__setitem__(0, Task()),
    "no element": lambda state: state.tasks.__delitem__(slice(0, 0)),
    "a slice": lambda state: state.tasks.__setitem__(slice(None), []),
    "the last": lambda state: state.tasks.pop(),
    "the order": lambda state: state.tasks.sort(key=lambda task: task.title),
    "the direction": lambda state: state.tasks.reverse(),
    "an empty list": lambda state: state.tasks[0].notes.clear(),
    "a list in an element": lambda state: state.tasks[1].notes.remove("n"),
    "a field of an element": lambda state: setattr(state.tasks[0], "title", "x"),
    "by a method": lambda state: state.tasks[0].note("x"),
    "a key": lambda state: state.index.__setitem__("y", []),
    "no key": lambda state: state.index.pop("y", None),
    "a default": lambda state: state.index.setdefault("y", []),
    "nothing in a dict": lambda state: state.index.update(),
    "all keys": lambda state: state.index.clear(),
    "the last key": lambda state: state.index.popitem(),
    "one key": lambda state: state.index.__delitem__("x"),
    "deep inside": lambda state: state.free["rows"][0]["cells"].extend([]),
    "in place": lambda state: state.free.__ior__({"a": 1}),
    "twice the list": lambda state: state.tasks.__imul__(2),
}


@pytest.mark.parametrize("deed", CHANGES.values(), ids=CHANGES)
def test_a_view_refuses_to_be_changed(lent, deed):
    with pytest.raises(StateError, match="read-only"):
        deed(lent)


@pytest.mark.parametrize("tp", [Plan, Slotted, dict, Row])
def test_views_of_other_types_refuse_too(tp):
    stage = Stage(tp)
    lent = view(stage.type, stage.live)
    with pytest.raises(StateError, match="read-only"):
        lent.update(name="x") if isinstance(lent, dict) else setattr(lent, "steps", [])
    assert isinstance(lent, stage.live.__class__)
    assert lent == stage.live


def test_what_else_can_be_changed_is_a_private_copy(lent):
    lent.tags.add("mine")
    assert lent.tags == {"t", "mine"}
    heapq.heappush(lent.index["x"], 0)
    assert lent.index == {"x": [0, 1]}
    vars(lent)["count"] = 7
    assert lent.count == 7


def test_a_view_behaves_as_the_users_type(stage, lent):
    assert isinstance(lent, Work)
    assert lent == stage.live
    assert lent.tasks[1].loud == "A"
    assert [task.title for task in sorted(lent.tasks, key=lambda task: task.title)] == ["a", "b"]
    assert lent.tasks[-1:] == [Task(title="a", notes=["n"])]
    assert Task(title="b") in lent.tasks
    assert f"{lent.tasks[0]}" == str(Task(title="b"))
    first, second = lent.tasks
    assert (first.title, second.title) == ("b", "a")
    assert json.dumps(lent.free) == '{"rows": [{"cells": [1]}]}'
    assert lent.model_dump() == stage.type.read(stage.wire).model_dump()


def test_a_copy_of_a_view_can_be_changed(lent):
    mine = copy.deepcopy(lent)
    mine.tasks[0].note("mine")
    mine.free["rows"].append(1)
    assert type(mine) is Work
    other = lent.model_copy(update={"count": 3})
    other.title = "other"
    assert (other.count, lent.count) == (3, 0)


def test_a_dataclass_is_replaced_and_written_as_a_dict():
    stage = Stage(Plan)
    lent: Any = view(stage.type, stage.live)
    assert dataclasses.asdict(lent) == dataclasses.asdict(Plan())
    assert dataclasses.replace(lent, name="other") == Plan(name="other")
