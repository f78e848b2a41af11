"""JSON Patch (RFC 6902): apply patches to a document, and find those between two documents.

Documents are values: `apply` copies the containers along each path and shares all others with the
original document, so neither may be changed in place afterwards.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping
from itertools import takewhile
from typing import Final

import orjson

from callboard.drafts import pointer
from callboard.errors import EditInvalid
from callboard.events.envelope import Json
from callboard.events.json_values import is_list, is_mapping, is_object
from callboard.events.payloads.workflow import PatchOperation

Patch = PatchOperation
"""One operation: `op`, `path`, and `value` or `from` if the operation has one."""

Container = dict[str, Json] | list[Json]

_NOT_SIMPLE: Final = object()
_MANY: Final = 8
_OVERHEAD: Final = 32


def apply(
    document: Json, patches: Iterable[Mapping[str, Json]], *, most: int | None = None
) -> Json:
    """Return the document after the patches; EditInvalid if one of them can't be applied.

    All or nothing. Each container is copied at most once per call, however many patches change it,
    so pass many patches at once.

    most: how much may be copied, for untrusted patches: members of containers, and bytes that
    `copy` duplicates. A few copies of copies would fill any memory.
    """
    if most is None and isinstance(patches, list) and len(patches) == 1:
        changed = _with_simple_change(document, patches[0])
        if changed is not _NOT_SIMPLE:
            return changed
    editor = _Editor(document, most)
    for index, patch in enumerate(patches):
        try:
            editor.perform(patch)
        except ValueError as wrong:
            raise _invalid(index, patch, wrong) from None
    return editor.document


def _with_simple_change(document: Json, patch: object) -> Json:
    """A shortcut for most changes: a field that is set, or an element appended to a field's list.

    Anything else, including what is invalid, is `_NOT_SIMPLE`.
    """
    if not is_object(document) or not is_object(patch):
        return _NOT_SIMPLE
    op, path, value = patch.get("op"), patch.get("path"), patch.get("value", _NOT_SIMPLE)
    if not isinstance(path, str) or "~" in path or value is _NOT_SIMPLE:
        return _NOT_SIMPLE
    root, *keys = path.split("/")
    if root or (op != "add" and op != "replace"):
        return _NOT_SIMPLE
    if len(keys) == 1 and (op == "add" or keys[0] in document):
        return {**document, keys[0]: value}
    if len(keys) == 2 and op == "add":
        elements = document.get(keys[0])
        if is_list(elements) and keys[1] == str(len(elements)):
            return {**document, keys[0]: [*elements, value]}
    return _NOT_SIMPLE


def diff(before: Json, after: Json, *, ordered: bool = False) -> list[Patch]:
    """Find patches that turn one document into another, strict about types.

    `true`, `1` and `1.0` are three different values. Keys of an object have no order, unless
    `ordered` requires that the patched document has them in the order of `after`.
    """
    patches: list[Patch] = []
    compare(before, after, "", patches, ordered=ordered)
    return patches


def same(one: Json, other: Json) -> bool:
    """Whether two values are written the same way as JSON, ignoring the order of keys."""
    if one is other:
        return True
    if type(one) is not type(other):
        return False
    if is_object(one) and is_object(other):
        return one.keys() == other.keys() and all(same(one[key], other[key]) for key in one)
    if is_list(one) and is_list(other):
        return len(one) == len(other) and all(map(same, one, other))
    # 0.0 and -0.0 are equal, but are written differently.
    return one == other and bool(one or repr(one) == repr(other))


def compare(
    before: Json, after: Json, path: str, patches: list[Patch], *, ordered: bool = True
) -> None:
    """Append the patches that turn `before` into `after` at `path`."""
    if before is after:
        return
    mark = len(patches)
    if is_object(before) and is_object(after):
        _compare_objects(before, after, path, patches, ordered)
    elif is_list(before) and is_list(after):
        if path and not before and worth_lightening(len(after), len(after)):
            # One patch per element would always be larger.
            patches.append({"op": "replace", "path": path, "value": after})
            return
        _compare_lists(before, after, path, patches, ordered)
    else:
        if not same(before, after):
            patches.append({"op": "replace", "path": path, "value": after})
        return
    if worth_lightening(len(patches) - mark, len(after)):
        lighten(patches, mark, path, after)


def worth_lightening(patches: int, length: int) -> bool:
    """Whether this many patches may be larger than a container of this length.

    With fewer, finding out would cost more than it saves.
    """
    return patches > max(_MANY, length // _MANY)


def lighten(patches: list[Patch], mark: int, path: str, after: Json) -> None:
    """Replace all of `path` at once if its patches since `mark` would be larger.

    Never the whole document: its readers want to know what has changed in it.
    """
    data = orjson.dumps(after)
    if path and _weight(patches[mark:]) > len(data):
        patches[mark:] = [{"op": "replace", "path": path, "value": orjson.loads(data)}]


def _weight(patches: list[Patch]) -> int:
    values = [patch.get("value") for patch in patches]
    return len(orjson.dumps(values)) + sum(len(patch["path"]) + _OVERHEAD for patch in patches)


def staying(before: Iterable[str], after: Iterable[str]) -> set[str]:
    """The keys that can stay where they are if the result is to have the order of `after`.

    Adding a key puts it last, so what stays must come first, in its old order.
    """
    # `in` consumes the iterator up to the key, so each key has to come after the previous one.
    old = iter(before)
    return set(takewhile(lambda key: key in old, after))


def _compare_objects(
    before: dict[str, Json], after: dict[str, Json], path: str, patches: list[Patch], ordered: bool
) -> None:
    kept = staying(before, after) if ordered else before.keys() & after.keys()
    gone = [key for key in before if key not in kept]
    patches.extend({"op": "remove", "path": pointer.join(path, key)} for key in gone)
    for key, value in after.items():
        place = pointer.join(path, key)
        if key in kept:
            compare(before[key], value, place, patches, ordered=ordered)
        else:
            patches.append({"op": "add", "path": place, "value": value})


def _compare_lists(
    before: list[Json], after: list[Json], path: str, patches: list[Patch], ordered: bool
) -> None:
    start = _common(zip(before, after, strict=False))
    rest = min(len(before), len(after)) - start
    end = min(rest, _common(zip(reversed(before), reversed(after), strict=False)))
    for index in range(start, start + rest - end):
        compare(before[index], after[index], f"{path}/{index}", patches, ordered=ordered)
    patches.extend(removals(path, len(after) - end, len(before) - end))
    patches.extend(additions(path, len(before) - end, after[len(before) - end : len(after) - end]))


def removals(path: str, start: int, stop: int) -> Iterator[Patch]:
    """Remove a range from a list, starting from the end, so that each index is still right."""
    return ({"op": "remove", "path": f"{path}/{i}"} for i in range(stop - 1, start - 1, -1))


def additions(path: str, start: int, values: Iterable[Json]) -> Iterator[Patch]:
    """Insert values into a list, one after another."""
    places = enumerate(values, start)
    return ({"op": "add", "path": f"{path}/{i}", "value": value} for i, value in places)


def _common(pairs: Iterator[tuple[Json, Json]]) -> int:
    return sum(1 for _ in takewhile(lambda pair: same(*pair), pairs))


class _Editor:
    """A document being changed, and which of its containers are already copies."""

    def __init__(self, document: Json, most: int | None) -> None:
        self.document = document
        self._left = most
        # Also holds the copies, so that their ids can't be reused in the meantime.
        self._copies: dict[int, Container] = {}

    def perform(self, patch: object) -> None:
        """Apply one operation; ValueError says what is wrong with it."""
        if not is_mapping(patch):
            raise ValueError("an operation is an object with op and path")
        name = _member(patch, "op")
        perform = _OPERATIONS.get(name) if isinstance(name, str) else None
        if perform is None:
            raise ValueError(f"op is one of {', '.join(_OPERATIONS)}")
        perform(self, patch, pointer.split(_member(patch, "path")))

    def add(self, patch: Mapping[str, Json], keys: list[str]) -> None:
        """Add a member or an element, or replace a member."""
        self._put(keys, _member(patch, "value"))

    def remove(self, _patch: Mapping[str, Json], keys: list[str]) -> None:
        """Remove a value."""
        self._take(keys)

    def replace(self, patch: Mapping[str, Json], keys: list[str]) -> None:
        """Replace a value."""
        value = _member(patch, "value")
        if not keys:
            self.document = value
            return
        holder = self._holder(keys)
        pointer.member(holder, keys[-1])
        _replace(holder, keys[-1], value)

    def move(self, patch: Mapping[str, Json], keys: list[str]) -> None:
        """Move a value."""
        source = pointer.split(_member(patch, "from"))
        if source == keys:
            pointer.find(self.document, source)
        elif keys[: len(source)] == source:
            raise ValueError("a value cannot be moved into itself")
        else:
            self._put(keys, self._take(source))

    def copy(self, patch: Mapping[str, Json], keys: list[str]) -> None:
        """Copy a value to another place."""
        value = pointer.find(self.document, pointer.split(_member(patch, "from")))
        if self._left is not None:
            self._spend(len(orjson.dumps(value)))
        # From here on, two places may share containers, so none of them is an exclusive copy.
        self._copies.clear()
        self._put(keys, value)

    def test(self, patch: Mapping[str, Json], keys: list[str]) -> None:
        """Check a value; numbers are compared as numbers, as the RFC requires."""
        if not _equal(pointer.find(self.document, keys), _member(patch, "value")):
            raise ValueError("the value is different")

    def _put(self, keys: list[str], value: Json) -> None:
        if not keys:
            self.document = value
            return
        holder, key = self._holder(keys), keys[-1]
        if isinstance(holder, list):
            holder.insert(len(holder) if key == "-" else pointer.index(key, len(holder)), value)
        else:
            holder[key] = value

    def _take(self, keys: list[str]) -> Json:
        if not keys:
            raise ValueError("the whole document cannot be removed")
        holder, key = self._holder(keys), keys[-1]
        taken = pointer.member(holder, key)
        if isinstance(holder, list):
            del holder[int(key)]
        else:
            del holder[key]
        return taken

    def _holder(self, keys: list[str]) -> Container:
        """Copy the containers along the path, and return the one with the last key."""
        holder = self.document = self._own(self.document)
        for key in keys[:-1]:
            member = pointer.member(holder, key)
            child = self._own(member)
            if child is not member:
                _replace(holder, key, child)
            holder = child
        return holder

    def _own(self, container: Json) -> Container:
        known = self._copies.get(id(container))
        if known is not None:
            return known
        if not (is_list(container) or is_object(container)):
            raise ValueError(pointer.leads_nowhere(container))
        self._spend(len(container))
        copy = container.copy()
        self._copies[id(copy)] = copy
        return copy

    def _spend(self, size: int) -> None:
        if self._left is None:
            return
        self._left -= size
        if self._left < 0:
            raise ValueError("the operations copy too much; use fewer, or smaller values")


_OPERATIONS: Final[dict[str, Callable[[_Editor, Mapping[str, Json], list[str]], None]]] = {
    "add": _Editor.add,
    "remove": _Editor.remove,
    "replace": _Editor.replace,
    "move": _Editor.move,
    "copy": _Editor.copy,
    "test": _Editor.test,
}


def _member(patch: Mapping[str, Json], name: str) -> Json:
    if name not in patch:
        raise ValueError(f"{name} is missing")
    return patch[name]


def _replace(holder: Container, key: str, value: Json) -> None:
    """Replace an existing value."""
    if isinstance(holder, list):
        holder[int(key)] = value
    else:
        holder[key] = value


def _equal(one: Json, other: Json) -> bool:
    if is_object(one) and is_object(other):
        return one.keys() == other.keys() and all(_equal(one[key], other[key]) for key in one)
    if is_list(one) and is_list(other):
        return len(one) == len(other) and all(map(_equal, one, other))
    return isinstance(one, bool) is isinstance(other, bool) and bool(one == other)


def _invalid(index: int, patch: object, reason: ValueError) -> EditInvalid:
    given: tuple[Json, Json] = (None, None)
    if is_mapping(patch):
        given = patch.get("op"), patch.get("path")
    operation, path = given
    return EditInvalid(
        f"Operation {index} ({operation} {path!r}) cannot be applied: {reason}.",
        index=index,
        path=path,
    )
