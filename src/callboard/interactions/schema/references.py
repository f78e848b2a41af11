"""What a JSON Schema refers to, and how large it is once every reference is followed.

A schema has to be self-contained: it may refer only to its own parts.
"""

from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from typing import Final
from urllib.parse import unquote, urldefrag, urljoin

from callboard.drafts import pointer
from callboard.events.codec import dump_json
from callboard.events.json_values import Object, is_list, is_mapping

DEEPEST: Final = 32
"""The maximum length of a chain of references."""

# Keywords with plain values, in which something like a reference isn't one.
_VALUES: Final = frozenset({"const", "default", "enum", "examples"})
_REFERENCES: Final = ("$ref", "$dynamicRef")
# Keywords with schemas for the same value ...
_SAME: Final = frozenset(
    {"allOf", "anyOf", "dependentSchemas", "else", "if", "not", "oneOf", "then"}
)
# ... and for the values inside it.
_INSIDE: Final = frozenset({
    "additionalProperties", "contains", "items", "patternProperties", "prefixItems", "properties",
    "propertyNames", "unevaluatedItems", "unevaluatedProperties",
})  # fmt: skip
_MAPS: Final = frozenset({"dependentSchemas", "patternProperties", "properties"})

Schema = Object


@dataclass(frozen=True, slots=True)
class Outline:
    """A schema with its references followed.

    weight: the bytes it would have if each reference were replaced by its target.
    recursive: whether a part refers to itself, so that the weight is unbounded.
    keywords: the keywords that apply anywhere in it.
    """

    weight: int
    recursive: bool
    keywords: frozenset[str]


def outline(schema: object) -> Outline:
    """Follow every reference; ValueError if one leads outside, in circles or too far."""
    walk = _Walk(schema)
    weight, depth = walk.visit(schema)
    if depth > DEEPEST:
        raise ValueError(f"its references are {depth} deep; {DEEPEST} is the limit")
    return Outline(weight, walk.recursive, frozenset(walk.keywords))


class _Walk:
    """One walk through a schema that visits each part once."""

    def __init__(self, schema: object) -> None:
        self.recursive = False
        self.keywords: set[str] = set()
        self._parts = _Parts(schema)
        self._known: dict[int, tuple[int, int]] = {}
        # The parts on the path to here, each with the depth in the value at which it applies.
        self._open: dict[int, int] = {}
        self._inside = 0

    def visit(self, schema: object) -> tuple[int, int]:
        """The weight of a part, and its longest chain of references."""
        if not is_mapping(schema):
            return len(dump_json(schema)), 0
        part = schema
        if id(part) in self._open:
            self.recursive = True
            if self._open[id(part)] == self._inside:
                raise ValueError("it refers to itself in a circle")
            return 0, 0
        if id(part) not in self._known:
            self._open[id(part)] = self._inside
            self._known[id(part)] = self._sum(part)
            del self._open[id(part)]
        return self._known[id(part)]

    def _sum(self, part: Schema) -> tuple[int, int]:
        weight, depth = 2, 0
        for key, value in part.items():
            self.keywords.add(key)
            weight += len(key) + 4
            found = list(self._below(part, key, value))
            weight += sum(size for size, _ in found)
            depth = max([depth, *(steps for _, steps in found)])
        return weight, depth

    def _below(self, part: Schema, key: str, value: object) -> Iterator[tuple[int, int]]:
        """The weight and depth of a keyword's content."""
        if key in _REFERENCES and isinstance(value, str):
            size, steps = self.visit(self._parts.find(part, value))
            yield len(value) + size, steps + 1
        elif key in _SAME or key in _INSIDE:
            self._inside += key in _INSIDE
            for one in _schemas(key, value):
                yield self.visit(one)
            self._inside -= key in _INSIDE
        elif key not in ("$defs", "definitions"):
            yield len(dump_json(value)), 0


def _schemas(key: str, value: object) -> Iterator[object]:
    if key in _MAPS and is_mapping(value):
        yield from value.values()
    elif is_list(value):
        yield from value
    else:
        yield value


class _Parts:
    """The parts of a schema by the addresses that references can use."""

    def __init__(self, schema: object) -> None:
        self._named: dict[str, object] = {}
        self._bases: dict[int, str] = {}
        self._index(schema, "")
        self._named.setdefault("", schema)

    def _index(self, node: object, base: str) -> None:
        if is_list(node):
            for one in node:
                self._index(one, base)
        if not is_mapping(node):
            return
        if isinstance(named := node.get("$id"), str):
            base = urldefrag(urljoin(base, named)).url
            self._named.setdefault(base, node)
        self._bases[id(node)] = base
        for key, value in node.items():
            if key in ("$anchor", "$dynamicAnchor"):
                self._named.setdefault(f"{base}#{value}", node)
            elif key not in _VALUES:
                self._index(value, base)

    def find(self, part: Schema, reference: str) -> object:
        """The target of a reference in a part; ValueError if it isn't in this schema."""
        base = self._bases.get(id(part), "")
        url, fragment = urldefrag(
            reference if reference.startswith("#") else urljoin(base, reference)
        )
        address = base if reference.startswith("#") else url
        whole = self._named.get(address)
        found = self._named.get(f"{address}#{fragment}")
        if found is None and whole is not None and fragment[:1] in ("", "/"):
            with suppress(ValueError):
                found = pointer.find(whole, pointer.split(unquote(fragment)))
        if not is_mapping(found) and not isinstance(found, bool):
            raise ValueError(f"{reference!r} is not in it; put it under $defs")
        return found
