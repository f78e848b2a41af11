"""Patches that take over an agent's output refer to it, so that it is stored once."""

from collections.abc import Iterator, Mapping
from typing import Any

from callboard.events.codec import dump_json
from callboard.state import patch, pointer

Patches = list[dict[str, Any]]

# A reference costs about as much as a value of this size.
_WORTH_REFERRING = 64


def refer(
    patches: Patches, state: Any, outputs: Mapping[int, Any]
) -> tuple[Patches, dict[int, int] | None]:
    """The patches as they are recorded, and which of them has which output as its value.

    `state` is what the patches apply to, `outputs` what agents made, by the event's position.
    """
    written = {dump_json(output): at for at, output in outputs.items() if not _is_short(output)}
    written = {data: at for data, at in written.items() if len(data) > _WORTH_REFERRING}
    if not written:
        return patches, None
    for output in outputs.values():
        if isinstance(output, list | dict):
            patches = _taken_over(patches, state, output)
    found = {
        index: written[data]
        for index, one in enumerate(patches)
        if "value" in one and (data := dump_json(one["value"])) in written
    }
    return patches, found or None


def _is_short(output: Any) -> bool:
    """Whether there is no need to write the output down to see that it is short."""
    return output is None or (isinstance(output, str) and len(output) * 6 < _WORTH_REFERRING)


def _taken_over(patches: Patches, state: Any, output: Any) -> Patches:
    """One patch for a place that became the output, where a difference has one per element."""
    after = patch.apply(state, patches)
    for path in _ancestors(patches):
        value = _at(after, path)
        # Lengths first: the value may be a long list to which little was added.
        alike = type(value) is type(output) and len(value) == len(output)
        if alike and dump_json(value) == dump_json(output):
            rest = [one for one in patches if not one["path"].startswith(path + "/")]
            return [*rest, {"op": "replace", "path": path, "value": value}]
    return patches


def _ancestors(patches: Patches) -> Iterator[str]:
    """The places inside of which something changes, outermost first."""
    seen: set[str] = set()
    for one in patches:
        keys = one["path"].split("/")
        seen.update("/".join(keys[:depth]) for depth in range(2, len(keys)))
    return iter(sorted(seen, key=len))


def _at(document: Any, path: str) -> Any:
    for key in pointer.split(path):
        if patch.is_object(document):
            document = document.get(key)
        elif patch.is_list(document) and key.isdigit() and int(key) < len(document):
            document = document[int(key)]
        else:
            return None
    return document
