"""A draft and a plain object agree, whatever is done to them."""

import copy
import dataclasses
from contextlib import suppress
from datetime import UTC, datetime
from enum import Enum
from typing import Any

import orjson
from hypothesis import given
from hypothesis import strategies as st
from pydantic import BaseModel, Field
from typing_extensions import TypedDict

from callboard.drafts.draft import change, view
from callboard.drafts.model import State
from callboard.drafts.patch import apply, same
from callboard.drafts.shape import StateType
from callboard.errors import StateError

KEYS = st.sampled_from(["a", "b", "c", "a/b", "~"])
SCALARS = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(-2, 2),
    st.sampled_from([0.0, -0.0, 1.0, 2.5, "", "x"]),
)
VALUES = st.recursive(
    SCALARS,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(KEYS, inner, max_size=4),
    max_leaves=12,
)
INDEXES = st.integers(-5, 5)
SLICES = st.builds(
    slice,
    st.none() | INDEXES,
    st.none() | INDEXES,
    st.sampled_from([None, None, None, 1, 2, -1]),
)


# -- any JSON ------------------------------------------------------------------------------------


def ordered(value):
    """Sorting needs one type; text is as good as any."""
    return str(value)


def read_all(target):
    return list(target.values()) if isinstance(target, dict) else list(target)


EMPTY: list[Any] = []
ON_LISTS = {
    "append": lambda xs, key, i, s, v: xs.append(v),
    "extend": lambda xs, key, i, s, v: xs.extend([v, i]),
    "insert": lambda xs, key, i, s, v: xs.insert(i, v),
    "pop": lambda xs, key, i, s, v: xs.pop(i),
    "pop the last": lambda xs, key, i, s, v: xs.pop(),
    "remove": lambda xs, key, i, s, v: xs.remove(v),
    "clear": lambda xs, key, i, s, v: xs.clear(),
    "reverse": lambda xs, key, i, s, v: xs.reverse(),
    "sort": lambda xs, key, i, s, v: xs.sort(key=ordered, reverse=i < 0),
    "set": lambda xs, key, i, s, v: xs.__setitem__(i, v),
    "delete": lambda xs, key, i, s, v: xs.__delitem__(i),
    "set a slice": lambda xs, key, i, s, v: xs.__setitem__(s, [v, v]),
    "delete a slice": lambda xs, key, i, s, v: xs.__delitem__(s),
    "double": lambda xs, key, i, s, v: xs.__imul__(2) and None,
    "add in place": lambda xs, key, i, s, v: xs.__iadd__([v]) and None,
    "swap": lambda xs, key, i, s, v: swap(xs, i),
    "move to the front": lambda xs, key, i, s, v: xs.insert(0, xs.pop(i)),
    "read": lambda xs, key, i, s, v: xs[i],
    "read a slice": lambda xs, key, i, s, v: xs[s],
    "read all": lambda xs, key, i, s, v: read_all(xs),
    "read backwards": lambda xs, key, i, s, v: list(reversed(xs)),
    "find": lambda xs, key, i, s, v: (v in xs, xs.count(v), len(xs)),
    "index": lambda xs, key, i, s, v: xs.index(v),
    "join": lambda xs, key, i, s, v: (EMPTY + xs, xs + EMPTY, xs * 2, [*xs], tuple(xs)),
    "copy": lambda xs, key, i, s, v: (xs.copy(), copy.copy(xs), copy.deepcopy(xs)),
}
ON_DICTS = {
    "set": lambda xs, key, i, s, v: xs.__setitem__(key, v),
    "delete": lambda xs, key, i, s, v: xs.__delitem__(key),
    "pop": lambda xs, key, i, s, v: xs.pop(key),
    "pop or else": lambda xs, key, i, s, v: xs.pop(key, v),
    "pop an item": lambda xs, key, i, s, v: xs.popitem(),
    "set a default": lambda xs, key, i, s, v: xs.setdefault(key, v),
    "update": lambda xs, key, i, s, v: xs.update({key: v}, b=i),
    "merge": lambda xs, key, i, s, v: xs.__ior__({key: v}) and None,
    "clear": lambda xs, key, i, s, v: xs.clear(),
    "move to the end": lambda xs, key, i, s, v: xs.update({key: xs.pop(key)}),
    "sort": lambda xs, key, i, s, v: sort_keys(xs),
    "read": lambda xs, key, i, s, v: xs[key],
    "get": lambda xs, key, i, s, v: xs.get(key, v),
    "read all": lambda xs, key, i, s, v: read_all(xs),
    "items": lambda xs, key, i, s, v: list(xs.items()),
    "keys": lambda xs, key, i, s, v: (list(xs), list(xs.keys()), list(reversed(xs)), key in xs),
    "join": lambda xs, key, i, s, v: (xs | {key: v}, {key: v} | xs, {**xs}, dict(xs)),
    "copy": lambda xs, key, i, s, v: (xs.copy(), copy.copy(xs), copy.deepcopy(xs)),
}


def swap(xs, i):
    xs[i], xs[0] = xs[0], xs[i]


def sort_keys(mapping):
    items = sorted(mapping.items(), key=lambda item: item[0])
    mapping.clear()
    mapping.update(items)


STEPS = st.fixed_dictionaries(
    {
        "on": st.integers(0, 7),
        "list": st.sampled_from(sorted(ON_LISTS)),
        "dict": st.sampled_from(sorted(ON_DICTS)),
        "key": KEYS,
        "index": INDEXES,
        "slice": SLICES,
        "value": VALUES,
        "of": st.none() | st.integers(0, 7),
    }
)


def contains(value, target):
    if value is target:
        return True
    parts = value.values() if isinstance(value, dict) else value
    return isinstance(value, dict | list | tuple) and any(contains(part, target) for part in parts)


def perform(step, target, value):
    table = ON_DICTS[step["dict"]] if isinstance(target, dict) else ON_LISTS[step["list"]]
    try:
        return table(target, step["key"], step["index"], step["slice"], value)
    except (IndexError, KeyError, ValueError, TypeError) as error:
        return type(error).__name__


def written(value):
    return orjson.dumps(value)


def run_both(steps, plain, draft):
    """Do the same to a plain value and a draft, reading as it goes; keep what was read."""
    plains, drafts = [plain], [draft]
    for step in steps:
        which = step["on"] % len(plains)
        value, other = copy.deepcopy(step["value"]), copy.deepcopy(step["value"])
        if step["of"] is not None:
            of = step["of"] % len(plains)
            # What would contain itself is no JSON.
            if not contains(plains[of], plains[which]):
                value, other = plains[of], drafts[of]
        found = perform(step, plains[which], value)
        met = perform(step, drafts[which], other)
        assert written(met) == written(found)
        assert written(drafts[0]) == written(plains[0])
        for one, two in zip(parts_of(found), parts_of(met), strict=True):
            plains.append(one)
            drafts.append(two)


def parts_of(found):
    if isinstance(found, dict):
        return [found]
    if isinstance(found, list) and any(isinstance(part, dict | list) for part in found):
        return [part for part in found if isinstance(part, dict | list)]
    return [found] if isinstance(found, list) else []


@given(st.dictionaries(KEYS, VALUES, max_size=5), st.lists(STEPS, max_size=8))
def test_a_draft_of_json_behaves_as_the_plain_value(document, steps):
    state_type = StateType(dict, name="any")
    live = state_type.load(document)
    before, plain = written(live), copy.deepcopy(document)

    changed = change(state_type, live, lambda draft: run_both(steps, plain, draft))

    assert written(changed.live) == written(plain)
    assert written(apply(state_type.dump(live), changed.patches)) == written(plain)
    assert written(live) == before
    assert changed.patches or written(plain) == before
    assert not changed.patches or written(plain) != before
    assert plain_types(state_type.dump(changed.live))


def plain_types(value):
    if isinstance(value, dict):
        return type(value) is dict and all(plain_types(part) for part in value.values())
    return not isinstance(value, list) or (type(value) is list and all(map(plain_types, value)))


@given(
    st.dictionaries(KEYS, VALUES, max_size=5),
    st.lists(STEPS, max_size=4),
    st.lists(STEPS, max_size=4),
)
def test_changes_can_be_made_one_after_the_other(document, first, second):
    state_type = StateType(dict, name="any")
    live = state_type.load(document)
    wire, kept = state_type.dump(live), []
    for steps in (first, second):
        # Read anew: two places that share a list share it only until it is written.
        plain = orjson.loads(written(wire))

        def run(draft, todo=steps, plain=plain):
            kept.append(draft)
            run_both(todo, plain, draft)

        changed = change(state_type, live, run)
        live, wire = changed.live, apply(wire, changed.patches)
        assert written(live) == written(wire) == written(plain)
    for draft in kept:
        draft.clear()
    assert written(live) == written(wire)


@given(st.dictionaries(KEYS, VALUES, max_size=5), st.lists(STEPS, max_size=8))
def test_nothing_done_to_a_view_reaches_the_live_state(document, steps):
    state_type = StateType(dict, name="any")
    live = state_type.load(document)
    before = written(live)
    lent = [view(state_type, live)]
    for step in steps:
        target = lent[step["on"] % len(lent)]
        with suppress(StateError):
            lent.extend(parts_of(perform(step, target, copy.deepcopy(step["value"]))))
        assert written(live) == before


# -- a zoo of types ------------------------------------------------------------------------------


class Level(Enum):
    LOW = "low"
    HIGH = "high"


class Item(BaseModel):
    name: str = "item"
    tags: list[str] = []
    parts: "list[Item]" = []
    level: Level = Level.LOW


class Cat(BaseModel):
    lives: int = 9


class Dog(BaseModel):
    tricks: list[str] = []
    home: Item | None = None


@dataclasses.dataclass
class Point:
    x: int = 0
    trail: list[int] = dataclasses.field(default_factory=list)


@dataclasses.dataclass(slots=True)
class Box:
    points: list[Point] = dataclasses.field(default_factory=list)


class Row(TypedDict, total=False):
    cells: list[int]
    note: str


class Zoo(State):
    title: str = ""
    count: int = 0
    ratio: float = 0.5
    when: datetime | None = None
    level: Level = Level.LOW
    tags: set[str] = set()
    pair: tuple[int, list[str]] = (0, [])
    items: list[Item] = []
    index: dict[str, list[int]] = {}
    best: Item | None = None
    pet: Cat | Dog = Cat()
    pets: list[Cat | Dog] = []
    either: list[int] | list[str] = []
    free: Any = None
    row: Row = {}
    point: Point = Field(default_factory=Point)
    box: Box = Field(default_factory=Box)
    codes: dict[int, set[int]] = {}


TEXT = st.sampled_from(["", "a", "b", "é"])
ITEMS = st.builds(
    Item, name=TEXT, tags=st.lists(TEXT, max_size=3), level=st.sampled_from(list(Level))
)
PETS = st.builds(Cat, lives=st.integers(0, 9)) | st.builds(
    Dog, tricks=st.lists(TEXT, max_size=2), home=st.none() | ITEMS
)


def first(values, default):
    return values[0] if values else default


DEEDS = {
    "title": lambda s, n, t, i, p, v: setattr(s, "title", t),
    "count": lambda s, n, t, i, p, v: setattr(s, "count", s.count + n),
    "ratio": lambda s, n, t, i, p, v: setattr(s, "ratio", float(n)),
    "when": lambda s, n, t, i, p, v: setattr(s, "when", datetime(2026, 1, 1 + n % 9, tzinfo=UTC)),
    "level": lambda s, n, t, i, p, v: setattr(s, "level", i.level),
    "tags add": lambda s, n, t, i, p, v: s.tags.add(t),
    "tags set": lambda s, n, t, i, p, v: setattr(s, "tags", {t, "z"}),
    "tags read": lambda s, n, t, i, p, v: sorted(s.tags),
    "pair": lambda s, n, t, i, p, v: setattr(s, "pair", (n, [t])),
    "pair inside": lambda s, n, t, i, p, v: s.pair[1].append(t),
    "items append": lambda s, n, t, i, p, v: s.items.append(i),
    "items add": lambda s, n, t, i, p, v: setattr(s, "items", [*s.items, i]),
    "items keep": lambda s, n, t, i, p, v: setattr(s, "items", [x for x in s.items if x.name != t]),
    "items pop": lambda s, n, t, i, p, v: s.items and s.items.pop(n % len(s.items)).name,
    "items sort": lambda s, n, t, i, p, v: s.items.sort(key=lambda x: x.name),
    "items all": lambda s, n, t, i, p, v: [x.tags.append(t) for x in s.items],
    "items read": lambda s, n, t, i, p, v: [x.model_dump(mode="json") for x in s.items],
    "items nest": lambda s, n, t, i, p, v: first(s.items, i).parts.append(i),
    "items rename": lambda s, n, t, i, p, v: setattr(first(s.items, i), "name", t),
    "index set": lambda s, n, t, i, p, v: s.index.setdefault(t, []).append(n),
    "index pop": lambda s, n, t, i, p, v: s.index.pop(t, None),
    "index read": lambda s, n, t, i, p, v: list(s.index.items()),
    "best": lambda s, n, t, i, p, v: setattr(s, "best", first(s.items, i)),
    "best rename": lambda s, n, t, i, p, v: s.best and setattr(s.best, "name", t),
    "best none": lambda s, n, t, i, p, v: setattr(s, "best", None),
    "best twice": lambda s, n, t, i, p, v: s.best and s.items.append(s.best),
    "pet": lambda s, n, t, i, p, v: setattr(s, "pet", p),
    "pet teach": lambda s, n, t, i, p, v: isinstance(s.pet, Dog) and s.pet.tricks.append(t),
    "pets": lambda s, n, t, i, p, v: s.pets.append(p),
    "pets teach": lambda s, n, t, i, p, v: [
        x.tricks.append(t) for x in s.pets if hasattr(x, "tricks")
    ],
    "pets pop": lambda s, n, t, i, p, v: s.pets and s.pets.pop(0).model_dump(),
    "either": lambda s, n, t, i, p, v: setattr(s, "either", [n] if n % 2 else [t]),
    "either more": lambda s, n, t, i, p, v: s.either.extend(s.either[:1]),
    "free": lambda s, n, t, i, p, v: setattr(s, "free", v),
    "free inside": lambda s, n, t, i, p, v: isinstance(s.free, list) and s.free.append(v),
    "row": lambda s, n, t, i, p, v: s.row.setdefault("cells", []).append(n),
    "row note": lambda s, n, t, i, p, v: s.row.update(note=t),
    "row less": lambda s, n, t, i, p, v: s.row.pop("note", None),
    "point": lambda s, n, t, i, p, v: setattr(s.point, "x", n),
    "point trail": lambda s, n, t, i, p, v: s.point.trail.append(s.point.x),
    "point read": lambda s, n, t, i, p, v: dataclasses.asdict(s.point),
    "box": lambda s, n, t, i, p, v: s.box.points.append(Point(n)),
    "box move": lambda s, n, t, i, p, v: setattr(first(s.box.points, Point()), "x", n),
    "box share": lambda s, n, t, i, p, v: s.box.points.append(s.point),
    "codes": lambda s, n, t, i, p, v: s.codes.setdefault(n, set()).add(n),
    "dump": lambda s, n, t, i, p, v: s.model_dump(),
    "equal": lambda s, n, t, i, p, v: (s == s.model_copy(), s == s.model_copy(deep=True)),
}
ACTS = st.fixed_dictionaries(
    {
        "deed": st.sampled_from(sorted(DEEDS)),
        "n": st.integers(-2, 12),
        "t": TEXT,
        "i": ITEMS,
        "p": PETS,
        "v": VALUES,
    }
)


def act(acts, state):
    results = []
    for given_act in acts:
        own = copy.deepcopy(given_act)
        deed = DEEDS[own.pop("deed")]
        results.append(copy.deepcopy(deed(state, **own)))
    return results


@given(st.lists(ACTS, max_size=8), st.lists(ACTS, max_size=8))
def test_a_draft_of_a_model_behaves_as_the_plain_model(first_acts, second_acts):
    state_type = StateType(Zoo, name="zoo")
    live = state_type.initial()[0]
    for acts in (first_acts, second_acts):
        wire = state_type.dump(live)
        plain = state_type.read(wire)

        changed = change(state_type, live, lambda draft, todo=acts: act(todo, draft))

        assert changed.result == act(acts, plain)
        assert same(state_type.dump(live), wire)
        after = state_type.dump(changed.live)
        assert same(apply(wire, changed.patches), after)
        assert same(after, state_type.dump(state_type.load(after)))
        reloaded = state_type.load(state_type.dump(plain))
        assert changed.live == reloaded
        assert same(after, state_type.dump(reloaded))
        assert bool(changed.patches) is not same(wire, after)
        live = changed.live


@given(st.lists(ACTS, max_size=8), st.lists(ACTS, max_size=8))
def test_nothing_done_to_a_view_of_a_model_reaches_the_live_one(first_acts, second_acts):
    state_type = StateType(Zoo, name="zoo")
    live = change(state_type, state_type.initial()[0], lambda draft: act(first_acts, draft)).live
    wire = state_type.dump(live)
    lent = view(state_type, live)
    for one in second_acts:
        with suppress(StateError):
            act([one], lent)
        assert same(state_type.dump(live), wire)
