"""The type of a state: its first value, and its way to JSON and back."""

import dataclasses
import typing
from dataclasses import dataclass
from typing import Any

import pytest
from pydantic import BaseModel, ConfigDict, Field, RootModel, model_serializer
from tests.unit.drafts.zoo import Plan, Row, Slotted, Stage, Task, Work
from typing_extensions import TypedDict

from callboard.drafts.model import State
from callboard.drafts.response import HumanResponse
from callboard.drafts.shape import StateType
from callboard.errors import DefinitionError, StateInvalid, StateNotSerializable
from callboard.events.json_values import as_object


def state_type(tp):
    return StateType(tp, name="test")


class Needy(State):
    city: str
    street: str


@dataclass
class NeedyPlan:
    city: str
    rooms: list[int] = dataclasses.field(default_factory=list[int])


# -- the first state -----------------------------------------------------------------------------


@pytest.mark.parametrize("tp", [Work, Plan, Slotted])
def test_a_state_begins_with_its_defaults(tp):
    assert state_type(tp).initial()[0] == tp()


@pytest.mark.parametrize("tp", [dict, dict[str, int], Row])
def test_a_dict_begins_empty(tp):
    assert state_type(tp).initial()[0] == {}


@pytest.mark.parametrize("tp", [Needy, NeedyPlan])
def test_a_field_without_default_is_a_wrong_definition(tp):
    with pytest.raises(DefinitionError, match=r"'test'.*default for 'city'") as caught:
        state_type(tp).initial()
    assert caught.value.context["field"] == "city"


class Numbers(RootModel[list[int]]):
    root: list[int] = [1, 2]


class Worded(BaseModel):
    city: str = "Bern"

    @model_serializer
    def word(self) -> str:
        return self.city


@pytest.mark.parametrize("tp", [Numbers, Worded])
def test_a_state_that_is_written_as_no_object_is_a_wrong_definition(tp):
    with pytest.raises(DefinitionError, match=r"/: the state is an object, not"):
        state_type(tp).initial()
    with pytest.raises(StateInvalid, match=r"the state is an object, not"):
        state_type(tp).dump(tp())


@pytest.mark.parametrize("tp", [dict, dict[str, int], Row])
@pytest.mark.parametrize("first", [[1, 2], "text", None])
def test_a_state_that_is_no_dict_is_refused(tp, first):
    with pytest.raises(StateInvalid, match=r"/: the state is an object, not"):
        state_type(tp).kind.renew(first, "", inside=False)


def test_a_default_that_does_not_fit_is_a_wrong_definition():
    class Wrong(State):
        count: int = None  # pyright: ignore[reportAssignmentType]

    class Validated(State):
        model_config = ConfigDict(validate_default=True)
        count: int = "many"  # pyright: ignore[reportAssignmentType]

    for tp in (Wrong, Validated):
        with pytest.raises(DefinitionError, match="/count: Input should be a valid integer"):
            state_type(tp).initial()


def test_two_sessions_do_not_share_their_first_state():
    shared: list[int] = []

    class Careless(State):
        items: list[int] = Field(default_factory=lambda: shared)

    stage = Stage(Careless)
    stage.change(lambda state: state.items.append(1))
    assert shared == []
    assert Stage(Careless).live.items == []


@pytest.mark.parametrize("tp", [int, list, list[int], dict[int, str], "Work", {"a": 1}, Work()])
def test_other_types_are_wrong_definitions(tp):
    with pytest.raises(DefinitionError, match="a pydantic model, a dataclass, a Typed"):
        state_type(tp)


def test_what_pydantic_cannot_describe_is_a_wrong_definition():
    class Strange:
        pass

    @dataclass
    class Holder:
        strange: Strange | None = None

    class Keys(TypedDict):
        strange: Strange

    class Unheard(BaseModel):
        pass

    @dataclass
    class Forward:
        unheard: "Unheard | None" = None

    class Nested(State):
        forward: list[Forward] = []

    for tp in (Holder, Keys, Forward, Nested):
        with pytest.raises(DefinitionError, match="pydantic cannot use the state"):
            state_type(tp)


def test_the_name_on_the_wire_is_taken():
    class Clash(BaseModel):
        humanResponse: str = ""  # noqa: N815

    with pytest.raises(DefinitionError, match="name the field 'human_response'"):
        state_type(Clash)


# -- the wire ------------------------------------------------------------------------------------


def test_fields_keep_their_names():
    class Aliased(State):
        model_config = ConfigDict(alias_generator=str.upper, serialize_by_alias=True)
        some_value: int = Field(default=1, alias="someValue")
        plain: int = 2

    aliased = state_type(Aliased)
    wire = as_object(aliased.initial()[1])
    assert wire == {"humanResponse": None, "approved": None, "some_value": 1, "plain": 2}
    assert vars(aliased.load({**wire, "some_value": 5}))["some_value"] == 5


def test_dumping_gives_fresh_json():
    stage = Stage(dict, factory=lambda: {"a": [{"b": 1}]})
    stage.wire["a"][0]["b"] = 2
    assert stage.wire == {"a": [{"b": 1}]}
    assert type(stage.wire["a"][0]) is dict


def test_loading_names_the_path_that_does_not_fit():
    with pytest.raises(StateInvalid, match=r"^/tasks/1/title: .*string \(got 5\)") as caught:
        state_type(Work).load({"tasks": [{}, {"title": 5}]})
    assert caught.value.context["path"] == "/tasks/1/title"
    with pytest.raises(StateInvalid, match=r"^/cells/0: .*, and 1 more"):
        state_type(Row).load({"cells": ["x", "y"]})
    with pytest.raises(StateInvalid, match=r"^/: the state is an object"):
        state_type(dict).load([1])
    with pytest.raises(StateInvalid, match=r"^/: "):
        state_type(Work).load(7)


def test_loading_takes_json_only():
    with pytest.raises(StateNotSerializable, match=r"^/when: a value of type object"):
        state_type(dict).load({"when": object()})


def test_a_field_that_was_added_later_gets_its_default():
    assert vars(state_type(Work).load({"title": "old"}))["count"] == 0


def test_a_field_that_was_removed_is_left_out():
    assert state_type(Row).load({"name": "x", "gone": 1}) == {"name": "x"}
    assert vars(state_type(Work).load({"title": "x", "gone": 1}))["title"] == "x"


def test_what_is_read_is_ones_own():
    wire = {"tasks": [{"notes": ["a"]}]}
    own: Any = state_type(Work).read(wire)
    own.tasks[0].notes.append("b")
    own.tasks[0].title = "mine"
    assert type(own.tasks[0]) is Task
    assert wire == {"tasks": [{"notes": ["a"]}]}


def test_has():
    assert state_type(Work).has("count")
    assert state_type(Work).has("human_response")
    assert not state_type(Work).has("colour")
    assert not state_type(Slotted).has("human_response")
    assert state_type(Plan).has("approved")
    assert state_type(Row).has("cells")
    assert not state_type(Row).has("colour")
    assert state_type(dict).has("anything")
    assert state_type(dict[str, int]).has("anything")


def test_typed_dicts_of_either_module_work():
    class Old(typing.TypedDict):
        name: str
        count: typing.NotRequired[int]

    stage = Stage(Old)
    assert stage.patches(lambda state: state.update(name="x")) == [("add", "/name", "x")]
    assert stage.patches(lambda state: state.update(count="3")) == [("add", "/count", 3)]


# -- the person's answer -------------------------------------------------------------------------

ANSWER = HumanResponse(value="yes", approved=True)
LATE = HumanResponse(value=None, timed_out=True, outcome="rejected")
LATE_WIRE = {"value": None, "approved": None, "timedOut": True, "outcome": "rejected"}


def assign(state: Any, answer: Any) -> None:
    if isinstance(state, dict):
        state["human_response"] = answer
    else:
        state.human_response = answer


@pytest.mark.parametrize("tp", [Work, Plan, dict, dict[str, int], Row])
def test_the_answer_has_other_names_on_the_wire(tp):
    stage = Stage(tp)
    stage.change(lambda state: assign(state, ANSWER))
    assert stage.wire["humanResponse"] == {"value": "yes", "approved": True}
    stage.change(lambda state: assign(state, LATE))
    assert stage.wire["humanResponse"] == LATE_WIRE
    stage.change(lambda state: assign(state, None))
    assert stage.wire["humanResponse"] is None


def test_the_answer_is_what_the_state_declares():
    class Own(BaseModel):
        human_response: HumanResponse | None = None

    for tp in (Work, Own):
        stage = Stage(tp)
        stage.change(lambda state: assign(state, {"value": 1, "approved": None}))
        assert stage.live.human_response == HumanResponse(value=1)
    for tp in (Plan, dict, Row):
        stage = Stage(tp)
        stage.change(lambda state: assign(state, LATE))
        live = stage.live if isinstance(stage.live, dict) else vars(stage.live)
        assert live["human_response"] == {
            "value": None,
            "approved": None,
            "timed_out": True,
            "outcome": "rejected",
        }
        stage.change(lambda state: assign(state, ANSWER))
        live = stage.live if isinstance(stage.live, dict) else vars(stage.live)
        assert live["human_response"] == {"value": "yes", "approved": True}


def test_the_answer_can_be_changed_in_place():
    for tp in (dict, Row):
        stage = Stage(tp)
        stage.change(lambda state: assign(state, HumanResponse(value=["a"])))
        found = stage.patches(lambda state: state["human_response"]["value"].append("b"))
        assert found == [("add", "/humanResponse/value/1", "b")]
        assert stage.patches(lambda state: state["human_response"]["approved"]) == []
    work = Stage(Work)
    work.change(lambda state: assign(state, HumanResponse(value=["a"])))
    assert work.patches(lambda state: state.human_response.value.append("b"))


def test_a_nested_state_keeps_its_names():
    class Outer(State):
        inner: Work = Work()

    assert "human_response" in Stage(Outer).wire["inner"]


def test_the_answer_can_be_any_json():
    stage = Stage(dict)
    stage.change(lambda state: state.update(human_response="just text"))
    assert stage.wire == {"humanResponse": "just text"}


def test_a_dict_cannot_have_the_name_of_the_wire():
    with pytest.raises(StateInvalid, match="write the key 'human_response'"):
        Stage(dict).change(lambda state: state.update(humanResponse=1))
