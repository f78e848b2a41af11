"""Patches that store an agent's output refer to it instead, so that it is stored only once."""

from collections.abc import Collection, Iterator, Mapping

from callboard.drafts import patch, pointer
from callboard.drafts.patch import Patch
from callboard.events.codec import dump_json
from callboard.events.json_values import is_list, is_object

Patches = list[Patch]

# A reference costs about as much as a value of this size.
_WORTH_REFERRING = 64


def refer(
    patches: Patches, state: object, outputs: Mapping[int, object]
) -> tuple[Patches, dict[int, int] | None]:
    """The patches to record, and which of them has which output as its value.

    `state` is what the patches apply to; `outputs` are agent outputs by event position.
    """
    written = _written(outputs)
    if not written:
        return patches, None
    patches = _taken_over(patches, state, outputs, written)
    found = {
        index: written[data]
        for index, one in enumerate(patches)
        if "value" in one and (data := dump_json(one["value"])) in written
    }
    return patches, found or None


def _written(outputs: Mapping[int, object]) -> dict[bytes, int]:
    """The outputs that are worth a reference, as JSON, with their positions."""
    written: dict[bytes, int] = {}
    for at, output in outputs.items():
        if not _is_short(output) and len(data := dump_json(output)) > _WORTH_REFERRING:
            written[data] = at
    return written


def _is_short(output: object) -> bool:
    """Whether an output is obviously short, without serializing it."""
    if isinstance(output, str):
        return len(output) * 6 < _WORTH_REFERRING
    return not isinstance(output, list | dict)


def _taken_over(
    patches: Patches, state: object, outputs: Mapping[int, object], written: Collection[bytes]
) -> Patches:
    """Replace the patches inside a value that became an output with a single patch."""
    alike = {_size(output) for output in outputs.values()} - {None}
    if not alike:
        return patches
    after = patch.apply(state, patches)
    replaced: dict[str, object] = {}
    for path in _ancestors(patches):
        if _is_within(path, replaced):
            continue
        try:
            value = pointer.find(after, pointer.split(path))
        except ValueError:
            continue  # The value no longer exists.
        # Compare lengths first: the value may be a long list that only grew a little.
        if _size(value) in alike and dump_json(value) in written:
            replaced[path] = value
    if not replaced:
        return patches
    rest = [one for one in patches if not _is_within(one["path"], replaced)]
    whole: Patches = [
        {"op": "replace", "path": path, "value": value} for path, value in replaced.items()
    ]
    return [*rest, *whole]


def _size(value: object) -> tuple[type, int] | None:
    return (type(value), len(value)) if is_object(value) or is_list(value) else None


def _is_within(path: str, places: Collection[str]) -> bool:
    """Whether a path is inside one of the others."""
    keys = path.split("/")
    return any("/".join(keys[:depth]) in places for depth in range(2, len(keys)))


def _ancestors(patches: Patches) -> Iterator[str]:
    """The paths that contain changes, outermost first."""
    seen: dict[str, None] = {}
    for one in patches:
        keys = one["path"].split("/")
        seen.update(dict.fromkeys("/".join(keys[:depth]) for depth in range(2, len(keys))))
    return iter(sorted(seen, key=len))
