"""Drafts of models and dataclasses."""

import copy
import dataclasses
import json
import pickle
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import orjson
import pytest
from pydantic import (
    BaseModel,
    ConfigDict,
    Field,
    PrivateAttr,
    ValidationInfo,
    computed_field,
    field_serializer,
    field_validator,
    model_validator,
)
from pydantic.dataclasses import dataclass as pydantic_dataclass
from tests.unit.drafts.zoo import Plan, Slotted, Stage, Task, Work

from callboard.drafts.model import State
from callboard.errors import StateInvalid, StateNotSerializable


def test_a_field_is_set():
    stage = Stage(Work)
    assert stage.patches(lambda state: setattr(state, "count", 3)) == [("replace", "/count", 3)]
    assert stage.patches(lambda state: setattr(state, "count", 3)) == []


def test_a_field_is_checked_when_it_is_set():
    stage = Stage(Work, factory=lambda: Work(tasks=[Task()]))

    def wrong(state):
        with pytest.raises(StateInvalid, match=r"^/count: .*integer") as caught:
            state.count = "many"
        assert caught.value.context["path"] == "/count"
        with pytest.raises(StateInvalid, match=r"^/tasks/0/title: "):
            state.tasks[0].title = 5
        with pytest.raises(StateInvalid, match=r"^/best: "):
            state.best = 7
        state.count = "12"
        assert state.count == 12

    assert stage.patches(wrong) == [("replace", "/count", 12)]


def test_a_field_that_is_not_there():
    stage = Stage(Work, factory=lambda: Work(tasks=[Task()]))
    with pytest.raises(StateInvalid, match=r"^/conut: Work has no field 'conut', only .*count"):
        stage.change(lambda state: setattr(state, "conut", 1))
    with pytest.raises(StateInvalid, match=r"^/tasks/0/tilte: Task has no field"):
        stage.change(lambda state: setattr(state.tasks[0], "tilte", ""))
    with pytest.raises(AttributeError):
        stage.change(lambda state: state.conut)
    with pytest.raises(StateInvalid, match="/steppes: Plan has no field"):
        Stage(Plan).change(lambda state: setattr(state, "steppes", []))


@pytest.mark.parametrize("tp", [Work, Plan])
def test_a_field_cannot_be_deleted(tp):
    for deed in (
        lambda state: delattr(state, "approved"),
        lambda state: vars(state).pop("approved"),
    ):
        with pytest.raises(StateInvalid, match="/approved: a field cannot be deleted"):
            Stage(tp).change(deed)


def test_methods_and_properties_are_the_users_own():
    stage = Stage(Work, factory=lambda: Work(tasks=[Task()]))

    def use(state):
        assert state.tasks[0].note("first") == 1
        assert state.tasks[0].loud == "TASK"

    assert stage.patches(use) == [("add", "/tasks/0/notes/0", "first")]
    plan = Stage(Plan)
    assert plan.change(lambda state: state.longer()).result == 1
    assert plan.live.steps == [0]


def test_a_property_can_be_set():
    class Named(State):
        first: str = "a"
        cached: list[int] = [1]

        @property
        def shout(self) -> str:
            return self.first.upper()

        @shout.setter
        def shout(self, value: str) -> None:
            self.first = value.lower()

        @cached_property
        def total(self) -> int:
            return sum(self.cached)

    stage = Stage(Named)
    assert stage.patches(lambda state: setattr(state, "shout", "B")) == [("replace", "/first", "b")]
    assert stage.change(lambda state: (state.total, state.total)).result == (1, 1)
    assert stage.patches(lambda state: (state.total, state.cached.append(2)))
    assert stage.change(lambda state: state.total).result == 3


def test_what_is_assigned_can_be_changed_further():
    stage = Stage(Work)

    def fill(state):
        mine = Task()
        state.best = mine
        mine.title = "mine"
        tasks = state.tasks = [mine]
        tasks.append(Task(title="other"))
        state.tasks[0].note("x")

    stage.change(fill)
    expected = Task(title="mine", notes=["x"])
    assert stage.live.best == expected
    assert stage.live.tasks == [expected, Task(title="other")]


def test_a_draft_moves_to_another_place():
    stage = Stage(Work, factory=lambda: Work(tasks=[Task(title="a"), Task(title="b")]))

    def promote(state):
        state.best = state.tasks.pop(0)
        state.best.parent = state.tasks[0]
        state.best.title = "best"

    stage.change(promote)
    assert stage.live.best == Task(title="best", parent=Task(title="b"))
    assert stage.live.tasks == [Task(title="b")]
    with pytest.raises(StateNotSerializable):
        stage.change(lambda state: setattr(state.best, "parent", state.best))


def test_an_object_that_changes_in_many_small_fields_is_replaced():
    class Dials(BaseModel):
        a: int = 0
        b: int = 0
        c: int = 0
        d: int = 0
        e: int = 0
        f: int = 0
        g: int = 0
        h: int = 0
        i: int = 0

    class Panel(Dials):
        dials: Dials = Dials()

    def turn(target):
        for name in "abcdefghi":
            setattr(target, name, 1)

    stage = Stage(Panel)
    turned = dict.fromkeys("abcdefghi", 1)
    assert stage.patches(lambda state: turn(state.dials)) == [("replace", "/dials", turned)]
    assert len(stage.patches(turn)) == 9


def test_writing_past_the_methods_of_an_object_is_noticed():
    stage = Stage(Work)
    found = stage.patches(lambda state: object.__setattr__(state, "count", "3"))
    assert found == [("replace", "/count", 3)]

    def empty(state):
        vars(state).pop("title")
        vars(state)
        with pytest.raises(AttributeError, match="title"):
            state.title  # noqa: B018
        state.title = "again"

    assert stage.patches(empty) == [("replace", "/title", "again")]
    assert stage.patches(lambda state: vars(state).update(count=4)) == [("replace", "/count", 4)]
    with pytest.raises(StateInvalid, match="/count"):
        stage.change(lambda state: vars(state).update(count="many"))


@pytest.mark.parametrize("tp", [Work, Plan, Slotted])
def test_how_other_code_sees_a_draft(tp):
    stage = Stage(tp)

    def read(state):
        assert isinstance(state, tp)
        assert state.__class__ is tp
        assert state == stage.live
        assert stage.live == state
        assert repr(state) == repr(stage.live)
        assert copy.deepcopy(state) == state
        assert type(copy.deepcopy(state)) is type(copy.copy(state)) is tp
        assert type(type(state)()) is tp
        assert pickle.loads(pickle.dumps(state)) == state

    assert stage.patches(read) == []


def test_how_pydantic_sees_a_draft():
    stage = Stage(Work, factory=lambda: Work(tasks=[Task()], tags={"a"}, free={"x": [1]}))

    def read(state):
        plain: Any = stage.type.read(stage.wire)
        assert state.model_dump() == plain.model_dump()
        assert json.loads(state.model_dump_json()) == json.loads(plain.model_dump_json())
        assert dict(state) == dict(plain)
        assert type(state.model_copy(update={"count": 5})) is Work
        assert state.model_copy(update={"count": 5}).count == 5
        deep = state.model_copy(deep=True)
        deep.tasks[0].title = "other"
        assert state.model_construct(count=1).count == 1
        assert type(state.model_construct()) is Work
        assert Work.model_validate(state) is state
        assert type(state).model_fields == Work.model_fields
        match state:
            case Work(tasks=[Task(title=title)]):
                assert title == "task"
            case _:
                raise AssertionError

    assert stage.patches(read) == []


@pytest.mark.parametrize("tp", [Plan, Slotted])
def test_how_dataclasses_sees_a_draft(tp):
    stage = Stage(tp)

    def read(state):
        plain: Any = stage.type.read(stage.wire)
        assert dataclasses.is_dataclass(type(state))
        assert dataclasses.asdict(state) == dataclasses.asdict(plain)
        assert dataclasses.replace(state, steps=[1]).steps == [1]
        assert type(dataclasses.replace(state)) is tp
        assert type(state).__name__ == tp.__name__
        assert orjson.dumps(state, default=dict) == orjson.dumps(plain, default=dict)

    assert stage.patches(read) == []
    assert type(stage.live) is tp


def test_a_class_attribute_is_found():
    @dataclass
    class Counted:
        count: int = 7

    assert Stage(Counted).change(lambda state: type(state).count).result == 7


def test_frozen_fields_cannot_be_assigned():
    class Card(BaseModel):
        model_config = ConfigDict(frozen=True)
        marks: list[int] = []

    @dataclass(frozen=True)
    class Deck:
        cards: list[Card] = dataclasses.field(default_factory=lambda: [Card()])
        size: int = 1

    class Table(State):
        deck: Deck = Deck()
        name: str = Field(default="table", frozen=True)

    stage = Stage(Table)
    for deed, path in (
        (lambda state: setattr(state, "name", "x"), "/name"),
        (lambda state: setattr(state.deck, "size", 1), "/deck/size"),
        (lambda state: setattr(state.deck.cards[0], "marks", []), "/deck/cards/0/marks"),
    ):
        with pytest.raises(StateInvalid, match=f"^{path}: the field is frozen"):
            stage.change(deed)
    assert stage.patches(lambda state: state.deck.cards[0].marks.append(1)) == [
        ("add", "/deck/cards/0/marks/0", 1)
    ]


# -- classes that are reloaded as a whole --------------------------------------------------------


def test_validators_of_a_model_see_it_at_the_end():
    class Range(State):
        low: int = 0
        high: int = 10
        marks: list[int] = []

        @model_validator(mode="after")
        def ordered(self) -> "Range":
            if self.low > self.high:
                raise ValueError("upside down")
            return self

    stage = Stage(Range)

    def beyond(state):
        state.low = 20
        state.high = 30

    assert stage.patches(beyond) == [("replace", "/low", 20), ("replace", "/high", 30)]
    assert stage.patches(lambda state: state.marks.append("5")) == [("add", "/marks/0", 5)]
    assert stage.patches(lambda state: list(state.marks)) == []
    with pytest.raises(StateInvalid, match="upside down"):
        stage.change(lambda state: setattr(state, "low", 40))
    with pytest.raises(StateInvalid, match="/low: Input should be a valid integer"):
        stage.change(lambda state: setattr(state, "low", "x"))


def test_validators_of_a_field():
    class Person(State):
        model_config = ConfigDict(str_strip_whitespace=True)
        mail: str = "a@b"
        names: list[str] = []
        few: list[int] = Field(default=[], max_length=2)
        age: int = 0
        limit: int = 9

        @field_validator("mail")
        @classmethod
        def has_at(cls, value: str) -> str:
            if "@" not in value:
                raise ValueError("no mail address")
            return value.lower()

    class Careful(Person):
        @field_validator("limit")
        @classmethod
        def above(cls, value: int, info: ValidationInfo) -> int:
            if value <= info.data["age"]:
                raise ValueError("too low")
            return value

    stage = Stage(Person)
    assert stage.patches(lambda s: setattr(s, "mail", " X@Y ")) == [("replace", "/mail", "x@y")]
    assert stage.patches(lambda s: s.names.append(" n ")) == [("add", "/names/0", "n")]
    assert stage.patches(lambda s: s.few.append(1)) == [("add", "/few/0", 1)]
    with pytest.raises(StateInvalid, match=r"^/mail: Value error, no mail address"):
        stage.change(lambda state: setattr(state, "mail", "nobody"))
    with pytest.raises(StateInvalid, match=r"^/few: List should have at most 2"):
        stage.change(lambda state: state.few.extend([2, 3]))
    careful = Stage(Careful)
    assert careful.patches(lambda s: setattr(s, "limit", "12")) == [("replace", "/limit", 12)]
    for deed in (lambda s: setattr(s, "limit", 0), lambda s: setattr(s, "age", 50)):
        with pytest.raises(StateInvalid, match=r"^/limit: Value error, too low"):
            careful.change(deed)


def test_private_attributes_are_as_after_a_reload():
    class Summed(State):
        numbers: list[int] = []
        _sum: int = PrivateAttr(default=0)

        def model_post_init(self, context: Any) -> None:
            self._sum = sum(self.numbers)

    stage = Stage(Summed)
    stage.change(lambda state: state.numbers.extend([1, 2]))
    assert stage.live._sum == 3

    def scribble(state):
        state._sum = 99
        return state._sum

    assert stage.change(scribble).result == 99
    assert stage.live._sum == 3


def test_other_things_that_models_do():
    class Busy(State):
        model_config = ConfigDict(extra="allow")
        seconds: float = 1.0
        secret: int = Field(default=1, exclude=True)

        @field_serializer("seconds")
        def short(self, value: float) -> str:
            return f"{value:g} s"

        @field_validator("seconds", mode="before")
        @classmethod
        def long(cls, value: Any) -> Any:
            return value.removesuffix(" s") if isinstance(value, str) else value

        @computed_field
        @property
        def minutes(self) -> float:
            return self.seconds / 60

    stage = Stage(Busy)
    assert stage.patches(lambda s: setattr(s, "seconds", 30)) == [("replace", "/seconds", "30 s")]
    assert stage.change(lambda s: s.minutes).result == 0.5
    assert stage.patches(lambda s: setattr(s, "more", [1])) == [("add", "/more", [1])]
    assert stage.patches(lambda s: s.more.append(2)) == [("add", "/more/1", 2)]
    assert stage.patches(lambda s: setattr(s, "secret", 5)) == []
    assert stage.live.secret == 1


def test_what_is_never_the_same_twice_is_refused():
    class Growing(State):
        count: int = 0

        @field_validator("count")
        @classmethod
        def grow(cls, value: int) -> int:
            return value + 1 if value else 0

    with pytest.raises(StateInvalid, match="/count: the value changes each time"):
        Stage(Growing).change(lambda state: setattr(state, "count", 1))


def test_dataclasses_that_compute_fields():
    @dataclass
    class Doubled:
        single: int = 1
        double: int = 0
        _scratch = 0

        def __post_init__(self) -> None:
            self.double = self.single * 2

    @pydantic_dataclass
    class Small:
        size: int = 1
        parts: list[int] = dataclasses.field(default_factory=list[int])

        @field_validator("size")
        @classmethod
        def small(cls, value: int) -> int:
            if value > 9:
                raise ValueError("too big")
            return value

    stage = Stage(Doubled)
    assert stage.patches(lambda s: setattr(s, "single", 4)) == [
        ("replace", "/single", 4),
        ("replace", "/double", 8),
    ]
    assert stage.patches(lambda s: setattr(s, "_scratch", 4)) == []
    small = Stage(Small)
    assert small.patches(lambda s: s.parts.append("3")) == [("add", "/parts/0", 3)]
    with pytest.raises(StateInvalid, match="too big"):
        small.change(lambda state: setattr(state, "size", 10))


def test_classes_that_cannot_be_stood_in_for_are_copied():
    class Watched(State):
        count: int = 0
        parts: list[int] = []

        def __setattr__(self, name: str, value: Any) -> None:
            super().__setattr__(name, value * 2 if name == "count" else value)

    class Kinds(BaseModel):
        kind: str = "k"

        def __init_subclass__(cls, *, label: str, **options: Any) -> None:
            super().__init_subclass__(**options)

    class Shelf(State):
        kinds: list[Kinds] = [Kinds()]

    stage = Stage(Watched)
    assert stage.patches(lambda s: setattr(s, "count", 2)) == [("replace", "/count", 4)]
    assert stage.patches(lambda s: s.parts.append(1)) == [("add", "/parts/0", 1)]
    assert stage.patches(lambda s: s.parts[0]) == []
    shelf = Stage(Shelf)
    assert shelf.patches(lambda s: setattr(s.kinds[0], "kind", "x")) == [
        ("replace", "/kinds/0/kind", "x")
    ]
