"""What a state can hold, and what it refuses to."""

import datetime
import enum
import uuid
from collections import Counter, defaultdict, deque
from decimal import Decimal
from pathlib import Path
from typing import Annotated, Any, Literal, NamedTuple, NewType, NotRequired, Optional

import pytest
from pydantic import BaseModel, ConfigDict, Field, RootModel
from tests.unit.drafts.zoo import Plan, Row, Stage, Task
from typing_extensions import TypedDict

from callboard.drafts.model import State
from callboard.errors import StateInvalid, StateNotSerializable


class Shade(str, enum.Enum):  # noqa: UP042 (other than a StrEnum, it is not its own text)
    DARK = "dark"


class Colour(enum.Enum):
    RED = "red"


class Size(enum.IntEnum):
    BIG = 3


class Pair(NamedTuple):
    left: int = 0
    right: list[int] = []


class Label(str):
    __slots__ = ()


def nested(levels: int) -> Any:
    value: Any = 1
    for _ in range(levels):
        value = [value]
    return value


# -- untyped values ------------------------------------------------------------------------------

BECOMES = {
    "a tuple": ((1, (2,)), [1, [2]]),
    "a named tuple": (Pair(), [0, []]),
    "text of a subclass": (Label("x"), "x"),
    "an enum of text": (Shade.DARK, "dark"),
    "an enum of numbers": ([Size.BIG], [3]),
    "keys of a subclass": ({Shade.DARK: 1, Label("x"): 2}, {"dark": 1, "x": 2}),
    "a dict of a subclass": (Counter("aab"), {"a": 2, "b": 1}),
    "the greatest integer": (2**64 - 1, 2**64 - 1),
    "the least integer": (-(2**63), -(2**63)),
    "minus zero": (-0.0, -0.0),
    "as deep as can be": (nested(127), nested(127)),
    "wide rather than deep": ([nested(3)] * 200, [nested(3)] * 200),
}

REFUSED = {
    "nan": (float("nan"), "float is nan"),
    "infinity": ([float("-inf")], "float is -inf"),
    "a set": ({1}, "set is not JSON; store a sorted list"),
    "a number as key": ({1: 2}, "int is a key; use text as keys"),
    "a tuple as key": ({(1, 2): 3}, "tuple is a key"),
    "an object": (object(), "object is not JSON; store text"),
    "a function": (len, "not JSON"),
    "too large": (2**64, "int does not fit 64 bits; store str"),
    "too small": (-(2**63) - 1, "64 bits"),
    "a lone surrogate": ("\ud800", "lone surrogate"),
    "a lone surrogate as key": ({"\udc00": 1}, "lone surrogate"),
    "a moment": (datetime.datetime(2026, 1, 1, tzinfo=datetime.UTC), "datetime is not JSON"),
    "bytes": (b"x", "bytes is not JSON; store text, for instance base64"),
    "a decimal": (Decimal(1), "Decimal is not JSON; store str"),
    "a uuid": (uuid.UUID(int=1), "UUID is not JSON; store str"),
    "a path": (Path("x"), "Path is not JSON; store str"),
    "an enum": (Colour.RED, "Colour is not JSON; store value.value"),
    "a model": (Task(), "Task is not JSON; store value.model_dump"),
    "a dataclass": (Plan(), "Plan is not JSON; store dataclasses.asdict"),
    "too deep": (nested(128), "nested deeper than 128 levels"),
    "too deep and wide": ([nested(200)] * 200, "nested deeper than 128 levels"),
}


@pytest.mark.parametrize(("value", "expected"), BECOMES.values(), ids=BECOMES)
def test_untyped_values_become_json(value, expected):
    stage = Stage(dict)
    stage.change(lambda state: state.update(x=value))
    assert repr(stage.wire) == repr({"x": expected})
    assert stage.live == {"x": expected}


@pytest.mark.parametrize(("value", "reason"), REFUSED.values(), ids=REFUSED)
def test_untyped_values_that_are_no_json_are_refused(value, reason):
    class Free(State):
        anything: Any = None
        values: dict[str, Any] = {}
        rows: list[dict[str, Any]] = []

    stage, free = Stage(dict), Stage(Free)
    with pytest.raises(StateNotSerializable, match=reason) as caught:
        stage.change(lambda state: state.update(x={"y": [0, value]}))
    assert str(caught.value.context["path"]).startswith("/x/y/1")
    assert stage.live == {}
    for deed, path in (
        (lambda state: setattr(state, "anything", value), "/anything"),
        (lambda state: state.values.update(x=value), "/values/x"),
        (lambda state: setattr(state, "values", {"x": value}), "/values/x"),
        (lambda state: state.rows.append({"x": value}), "/rows/0/x"),
    ):
        with pytest.raises((StateNotSerializable, StateInvalid)) as caught:
            free.change(deed)
        assert str(caught.value.context["path"]).startswith(path)


def test_untyped_parts_of_typed_values_are_refused_too():
    class Node(BaseModel):
        data: dict[str, Any] = {}
        nodes: "list[Node]" = []
        more: "Node | None" = None

    class Sheet(TypedDict, total=False):
        cells: list[Any]

    class Cat(BaseModel):
        lives: int = 9

    class Dog(BaseModel):
        toys: Any = None

    class Tree(State):
        node: Node = Node()
        nodes: list[Node] = []
        named: dict[str, Node] = {}
        sheet: Sheet = {}
        pets: list[Cat | Dog] = []

    stage, when = Stage(Tree), datetime.date(2026, 1, 1)
    bad = Node(data={"x": when})
    for deed, path in (
        (lambda state: setattr(state, "node", bad), "/node/data/x"),
        (lambda state: state.nodes.append(Node(nodes=[bad])), "/nodes/0/nodes/0/data/x"),
        (lambda state: setattr(state, "node", Node(more=bad)), "/node/more/data/x"),
        (lambda state: state.named.update(a=bad), "/named/a/data/x"),
        (lambda state: setattr(state, "named", {"a": bad}), "/named/a/data/x"),
        (lambda state: state.sheet.update(cells=[{1}]), "/sheet/cells/0"),
        (lambda state: setattr(state, "sheet", {"cells": [{1}]}), "/sheet/cells/0"),
        (lambda state: state.pets.append(Dog(toys={1})), "/pets/0/toys"),
    ):
        with pytest.raises(StateNotSerializable) as caught:
            stage.change(deed)
        assert caught.value.context["path"] == path
    for unchecked, path in (
        (Node.model_construct(nodes=5), "/node/nodes"),
        (Node.model_construct(data=5), "/node/data"),
        (Node.model_construct(more=5), "/node/more"),
    ):
        with pytest.raises(StateInvalid) as caught:
            stage.change(lambda state, value=unchecked: setattr(state, "node", value))
        assert caught.value.context["path"] == path
    with pytest.raises(StateInvalid, match=r"^/pets/0"):
        stage.change(lambda state: state.pets.append(5))
    stage.change(lambda state: setattr(state, "sheet", {}))
    with pytest.raises(StateNotSerializable, match="contains itself"):
        stage.change(lambda state: state.node.nodes.append(state.node))

    class Puppy(Dog):
        weeks: int = 0

    stage.change(lambda state: state.pets.extend([Cat(), Dog(toys=[1]), Puppy(toys=[2])]))
    assert stage.live.pets == [Cat(), Dog(toys=[1]), Dog(toys=[2])]


def test_numbers_that_are_no_json_are_refused_in_typed_fields():
    class Measured(State):
        value: float | None = None
        count: int = 0

    stage = Stage(Measured)
    with pytest.raises(StateNotSerializable, match="/value: a value of type float is nan"):
        stage.change(lambda state: setattr(state, "value", float("nan")))
    with pytest.raises(StateNotSerializable, match="/count: a value of type int does not fit"):
        stage.change(lambda state: setattr(state, "count", 2**70))


def test_deepening_step_by_step_ends_at_the_same_depth():
    stage = Stage(dict, factory=lambda: {"x": nested(127)})

    def deepen(state):
        inside = state["x"]
        while inside != [1]:
            inside = inside[0]
        inside[0] = [1]

    with pytest.raises(StateNotSerializable, match="nested deeper than 128 levels"):
        stage.change(deepen)


# -- typed values --------------------------------------------------------------------------------


class Cat(BaseModel):
    kind: Literal["cat"] = "cat"
    lives: int = 9


class Dog(BaseModel):
    kind: Literal["dog"] = "dog"
    tricks: list[str] = []


class Puppy(Dog):
    weeks: int = 0


class Numbers(RootModel[list[int]]):
    pass


Name = NewType("Name", str)


class Everything(State):
    moment: datetime.datetime | None = None
    money: Decimal = Decimal("1.50")
    data: bytes = b""
    place: Path = Path()
    colour: Colour = Colour.RED
    word: Literal["a", "b"] = "a"
    name: Name = Name("")
    pair: Pair = Pair()
    fixed: tuple[int, Cat] = (0, Cat())
    letters: set[str] = set()
    frozen: frozenset[int] = frozenset()
    groups: list[set[int]] = []
    queue: deque[int] = Field(default_factory=deque[int])
    counts: Counter[str] = Field(default_factory=Counter[str])
    lists: defaultdict[str, list[int]] = Field(default_factory=lambda: defaultdict(list))
    by_number: dict[int, set[str]] = {}
    numbers: Numbers = Numbers([])
    maybe: Optional[list[int]] = None  # noqa: UP045
    pet: Cat | Dog = Cat()
    pets: list[Annotated[Cat | Dog, Field(discriminator="kind")]] = []
    dogs: list[Dog | Puppy] = []
    chosen: Cat | Dog | None = Field(default=None, discriminator="kind")
    either: list[int] | list[str] = []
    row: Row = {}
    bare: list = []  # pyright: ignore[reportMissingTypeArgument]
    mapping: dict = {}  # pyright: ignore[reportMissingTypeArgument]
    short: Annotated[str, Field(max_length=3)] = ""
    days: list[datetime.date] = [datetime.date(2026, 1, 1)]
    by_name: dict[str, datetime.date] = {"first": datetime.date(2026, 1, 1)}
    named: list[dict[str, int]] = [{"a": 1}]
    fixed_numbers: tuple[int, ...] = (1, 2)


TYPED = {
    "moment": (
        lambda s: setattr(s, "moment", datetime.datetime(2026, 1, 1, tzinfo=datetime.UTC)),
        [("replace", "/moment", "2026-01-01T00:00:00Z")],
    ),
    "money": (lambda s: setattr(s, "money", Decimal("2.50")), [("replace", "/money", "2.50")]),
    "data": (lambda s: setattr(s, "data", b"x"), [("replace", "/data", "x")]),
    "place": (lambda s: setattr(s, "place", "a/b"), [("replace", "/place", "a/b")]),
    "word": (lambda s: setattr(s, "word", "b"), [("replace", "/word", "b")]),
    "name": (lambda s: setattr(s, "name", "x"), [("replace", "/name", "x")]),
    "pair": (lambda s: s.pair.right.append(1), [("add", "/pair/1/0", 1)]),
    "fixed": (lambda s: setattr(s.fixed[1], "lives", 1), [("replace", "/fixed/1/lives", 1)]),
    "letters": (
        lambda s: s.letters.update("cab"),
        [("add", "/letters/0", "a"), ("add", "/letters/1", "b"), ("add", "/letters/2", "c")],
    ),
    "letters read": (lambda s: sorted(s.letters), []),
    "frozen": (
        lambda s: setattr(s, "frozen", [3, 1]),
        [("add", "/frozen/0", 1), ("add", "/frozen/1", 3)],
    ),
    "groups": (lambda s: s.groups.append({2, 1}), [("add", "/groups/0", [1, 2])]),
    "queue": (lambda s: s.queue.append(1), [("add", "/queue/0", 1)]),
    "counts": (lambda s: s.counts.update("a"), [("add", "/counts/a", 1)]),
    "lists": (lambda s: s.lists["a"].append(1), [("add", "/lists/a", [1])]),
    "by number": (
        lambda s: s.by_number.setdefault(1, set()).update("ba"),
        [("add", "/by_number/1", ["a", "b"])],
    ),
    "numbers": (lambda s: s.numbers.root.append(1), [("add", "/numbers/0", 1)]),
    "maybe": (lambda s: setattr(s, "maybe", [1]), [("replace", "/maybe", [1])]),
    "pet": (
        lambda s: setattr(s, "pet", Dog()),
        [("replace", "/pet/kind", "dog"), ("remove", "/pet/lives"), ("add", "/pet/tricks", [])],
    ),
    "pet inside": (lambda s: setattr(s.pet, "lives", 8), [("replace", "/pet/lives", 8)]),
    "chosen": (
        lambda s: setattr(s, "chosen", {"kind": "cat"}),
        [("replace", "/chosen", {"kind": "cat", "lives": 9})],
    ),
    "dogs": (
        lambda s: s.dogs.append(Puppy(weeks=3)),
        [("add", "/dogs/0", {"kind": "dog", "tricks": [], "weeks": 3})],
    ),
    "either": (lambda s: setattr(s, "either", ["a"]), [("add", "/either/0", "a")]),
    "row": (lambda s: s.row.update(cells=["1"]), [("add", "/row/cells", [1])]),
    "bare": (lambda s: s.bare.append((1,)), [("add", "/bare/0", [1])]),
    "days": (lambda s: s.days.append(s.days[0]), [("add", "/days/1", "2026-01-01")]),
    "by name": (
        lambda s: s.by_name.update(next=s.by_name["first"]),
        [("add", "/by_name/next", "2026-01-01")],
    ),
    "named": (lambda s: s.named[0].update(a=2), [("replace", "/named/0/a", 2)]),
    "fixed numbers": (lambda s: sum(s.fixed_numbers), []),
    "mapping": (lambda s: setattr(s, "mapping", {"a": (1,)}), [("add", "/mapping/a", [1])]),
}


@pytest.mark.parametrize(("deed", "patches"), TYPED.values(), ids=TYPED)
def test_typed_values(deed, patches):
    stage = Stage(Everything)
    found = stage.patches(deed)
    assert sorted(found, key=str) == sorted(patches, key=str)


def test_reading_everything_changes_nothing():
    stage = Stage(Everything)
    stage.change(
        lambda s: (s.letters.update("dcab"), s.groups.append({3, 1}), s.pets.append(Dog()))
    )
    assert stage.patches(lambda s: [getattr(s, name) for name in Everything.model_fields]) == []
    assert stage.patches(lambda s: [list(s.groups), [p.kind for p in s.pets]]) == []


def test_objects_of_several_classes():
    stage = Stage(Everything)
    stage.change(lambda s: s.pets.extend([Cat(), Dog(), Dog()]))
    assert stage.patches(lambda s: s.pets[1].tricks.append("sit")) == [
        ("add", "/pets/1/tricks/0", "sit")
    ]
    assert stage.patches(lambda s: [pet.kind for pet in s.pets] and s.pets.pop(0)) == [
        ("remove", "/pets/0")
    ]
    stage.change(lambda s: s.dogs.extend([Puppy(), Dog()]))
    assert stage.patches(lambda s: setattr(s.dogs[0], "weeks", 3)) == [
        ("replace", "/dogs/0/weeks", 3)
    ]
    with pytest.raises(StateInvalid, match=r"^/pets/0/tricks/1: "):
        stage.change(lambda s: s.pets[0].tricks.append(5))
    with pytest.raises(StateInvalid, match=r"^/pets/2"):
        stage.change(lambda s: s.pets.append({"kind": "cow"}))


def test_keys_of_a_typed_dict():
    stage = Stage(Everything)

    class Strict(TypedDict):
        name: str
        note: NotRequired[str]

    class Holder(State):
        strict: Strict = {"name": "x"}

    with pytest.raises(StateInvalid, match=r"^/row/colour: Row has no key 'colour', only name"):
        stage.change(lambda s: s.row.update(colour=1))
    with pytest.raises(StateInvalid, match=r"^/row/name: "):
        stage.change(lambda s: s.row.update(name=1))
    with pytest.raises(StateInvalid, match=r"^/strict/name: Strict requires the key 'name'"):
        Stage(Holder).change(lambda s: s.strict.pop("name"))
    holder = Stage(Holder)
    assert holder.patches(lambda s: s.strict.update(name="y")) == [("replace", "/strict/name", "y")]
    assert holder.patches(lambda s: s.strict.update(note="n")) == [("add", "/strict/note", "n")]
    assert holder.patches(lambda s: s.strict.pop("note")) == [("remove", "/strict/note")]


def test_a_strict_model_is_read_strictly():
    class Strict(State):
        model_config = ConfigDict(strict=True)
        day: datetime.date | None = None
        count: int = 0
        days: list[datetime.date] = []

    stage = Stage(Strict)
    stage.change(lambda s: setattr(s, "day", datetime.date(2026, 1, 1)))
    stage.change(lambda s: s.days.append(datetime.date(2026, 1, 2)))
    assert stage.wire["days"] == ["2026-01-02"]
    with pytest.raises(StateInvalid, match="/count"):
        stage.change(lambda s: setattr(s, "count", "1"))
