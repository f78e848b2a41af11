"""Edit the text of a JSON document, leaving everything that isn't ours unchanged, byte for byte.

`remove` is the inverse of `add`, except for whitespace in an object or array that was empty.
"""

import json
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from callboard.errors import SettingsUnusable
from callboard.events.envelope import Json
from callboard.events.json_values import Object, is_list, is_mapping, is_object
from callboard.vendors.settings.jsonc import Member, Node, comments, parse, space_before

Path = tuple[str | int, ...]
"""The keys and indexes that lead to a value."""

_LINE_END = re.compile(r"[ \t]*\r?\n")
_REST_OF_LINE = re.compile(r"(?:[ \t]*(?:/\*[^\r\n]*?\*/|//[^\r\n]*))+")


@dataclass(frozen=True, slots=True)
class Splice:
    """One change: `text[start:end]` is replaced by `said`.

    after_comment: a line comment comes before, so the line break after it must stay.
    """

    start: int
    end: int
    said: str = ""
    after_comment: bool = False


def add(text: str, wanted: Object) -> str:
    """The document with `wanted` merged in.

    Objects are merged key by key, missing items are appended to arrays, and any other value is
    replaced.
    """
    root = parse(text)
    return _apply(text, _Writer(text, root).merge(root, wanted, (), 0))


def remove(text: str, is_ours: Callable[[Path, Json], bool], keeps: Callable[[Path], bool]) -> str:
    """The document without what is ours, and without what becomes empty.

    keeps: whether an object or array stays although it is empty.
    """
    root = parse(text)
    _, splices = _Pruner(text, is_ours, keeps).prune(root, ())
    return _apply(text, splices)


def _apply(text: str, splices: Sequence[Splice]) -> str:
    parts: list[str] = []
    at, broken = 0, False
    for splice in (*sorted(splices, key=lambda one: (one.start, one.end)), None):
        end = len(text) if splice is None else splice.start
        for part in (text[at:end], "" if splice is None else splice.said):
            if part and broken:
                parts.append("" if _LINE_END.match(part) else "\n")
                broken = False
            parts.append(part)
        if splice is not None:
            at, broken = splice.end, broken or splice.after_comment
    return "".join(parts)


class _Writer:
    """Adds values in the style of the document."""

    def __init__(self, text: str, root: Node) -> None:
        self._text = text
        ends = re.search(r"\r?\n", text)
        self._newline = ends[0] if ends else "\n"
        self._unit = self._indent_of_first(root) or "  "

    def merge(self, node: Node, wanted: Json, path: Path, depth: int) -> list[Splice]:
        if is_mapping(wanted):
            return self._merge_object(node, wanted, path, depth)
        if is_list(wanted):
            return self._merge_array(node, wanted, path, depth)
        if node.value == wanted and type(node.value) is type(wanted):
            return []
        return [Splice(node.start, node.end, _dump(wanted))]

    def _merge_object(self, node: Node, wanted: Object, path: Path, depth: int) -> list[Splice]:
        if not is_object(node.value):
            raise _wrong_type(path, "an object")
        splices: list[Splice] = []
        missing: list[tuple[str | None, Json]] = []
        for key, value in wanted.items():
            found = node.member(key)
            if found is None:
                missing.append((key, value))
            else:
                splices += self.merge(found, value, (*path, key), depth + 1)
        return splices + self._append(node, missing, depth)

    def _merge_array(self, node: Node, wanted: list[Json], path: Path, depth: int) -> list[Splice]:
        if not is_list(node.value):
            raise _wrong_type(path, "an array")
        there = node.value
        return self._append(node, [(None, one) for one in wanted if one not in there], depth)

    def _append(
        self, node: Node, added: Sequence[tuple[str | None, Json]], depth: int
    ) -> list[Splice]:
        if not added:
            return []
        if not self._has_lines(node, depth):
            texts = [_named(key, _dump(value)) for key, value in added]
            return self._append_inline(node, ", ".join(texts))
        indent = self._indent_within(node)
        joint = self._newline + indent
        texts = [_named(key, self._pretty(value, indent)) for key, value in added]
        return self._append_lines(node, joint, f",{joint}".join(texts))

    def _append_inline(self, node: Node, said: str) -> list[Splice]:
        if not node.children:
            return [self._filled(node, said)]
        last = node.children[-1]
        if last.comma is not None:
            return [Splice(last.comma + 1, last.comma + 1, f" {said},")]
        return [Splice(last.end, last.end, f", {said}")]

    def _append_lines(self, node: Node, joint: str, said: str) -> list[Splice]:
        closing = self._newline + self._indent_at(node.start)
        if not node.children:
            return [self._filled(node, f"{joint}{said}", closing)]
        last = node.children[-1]
        # A comment at the end of the last value's line belongs to that value, so it stays there.
        after = last.end if last.comma is None else last.comma + 1
        note = _REST_OF_LINE.match(self._text, after)
        at = after if note is None else note.end()
        if last.comma is not None:
            return [Splice(at, at, f"{joint}{said},")]
        return [Splice(last.end, last.end, ","), Splice(at, at, joint + said)]

    def _filled(self, node: Node, said: str, closing: str = "") -> Splice:
        """An object or array that was empty, with content."""
        start, end = node.start + 1, node.end - 1
        notes = comments(self._text, start, end)
        if not notes:
            return Splice(start, end, said + closing)
        at = notes[-1][1]
        return Splice(at, at, said if _LINE_END.match(self._text, at) else said + closing)

    def _has_lines(self, node: Node, depth: int) -> bool:
        """Whether each value is on its own line."""
        if node.children:
            return "\n" in self._text[node.start : node.children[0].start]
        return depth == 0 or "\n" in self._text.strip()

    def _indent_within(self, node: Node) -> str:
        found = self._indent_of_first(node)
        return self._indent_at(node.start) + self._unit if found is None else found

    def _indent_of_first(self, node: Node) -> str | None:
        """The indentation of the first child, if nothing else is before it on its line."""
        if not node.children:
            return None
        _, line_break, before = self._text[: node.children[0].start].rpartition("\n")
        return before if line_break and not before.strip() else None

    def _indent_at(self, at: int) -> str:
        line = self._text[:at].rpartition("\n")[2]
        return line[: len(line) - len(line.lstrip(" \t"))]

    def _pretty(self, value: Json, indent: str) -> str:
        said = json.dumps(value, indent=self._unit, ensure_ascii=False)
        return said.replace("\n", self._newline + indent)


class _Pruner:
    """Finds what to remove."""

    def __init__(
        self, text: str, is_ours: Callable[[Path, Json], bool], keeps: Callable[[Path], bool]
    ) -> None:
        self._text = text
        self._is_ours = is_ours
        self._keeps = keeps

    def prune(self, node: Node, path: Path) -> tuple[bool, list[Splice]]:
        """Whether all of it is removed, and if not, which parts."""
        if path and self._is_ours(path, node.value):
            return True, []
        gone: list[int] = []
        splices: list[Splice] = []
        for index, child in enumerate(node.children):
            step = index if child.key is None else child.key
            goes, inside = self.prune(child.node, (*path, step))
            splices += inside
            if goes:
                gone.append(index)
        if gone and len(gone) == len(node.children) and path and not self._keeps(path):
            return True, []
        return False, splices + self._cut(node, gone)

    def _cut(self, node: Node, gone: Sequence[int]) -> list[Splice]:
        inner = (node.start + 1, node.end - 1)
        if not gone:
            return []
        if len(gone) == len(node.children) and not self._notes(node):
            return [Splice(*inner)]
        splices = [self._cut_child(node, index) for index in gone]
        splices += [Splice(at, at + 1) for at in self._commas(node.children, gone)]
        return splices

    def _notes(self, node: Node) -> list[tuple[int, int]]:
        """The comments directly in an object or array, not within its values."""
        found: list[tuple[int, int]] = []
        at = node.start + 1
        for child in node.children:
            found += comments(self._text, at, child.start)
            at = child.end
        return found + comments(self._text, at, node.end - 1)

    def _cut_child(self, node: Node, index: int) -> Splice:
        child = node.children[index]
        start = space_before(self._text, child.start)
        before = node.children[index - 1].end if index else node.start + 1
        notes = comments(self._text, before, child.start)
        after_comment = any(
            end == start and self._text.startswith("//", begin) for begin, end in notes
        )
        return Splice(start, child.end, "", after_comment)

    def _commas(self, children: Sequence[Member], gone: Sequence[int]) -> list[int]:
        commas = [comma for index in gone if (comma := children[index].comma) is not None]
        kept = [index for index in range(len(children)) if index not in set(gone)]
        if kept and children[-1].comma is None and kept[-1] < len(children) - 1:
            # Nothing follows the last remaining child, so it needs no comma.
            divides = children[kept[-1]].comma
            assert divides is not None
            commas.append(divides)
        return commas


def _dump(value: Json) -> str:
    return json.dumps(value, ensure_ascii=False)


def _named(key: str | None, said: str) -> str:
    return said if key is None else f"{_dump(key)}: {said}"


def _wrong_type(path: Path, wanted: str) -> SettingsUnusable:
    name = ".".join(str(step) for step in path) or "the document"
    return SettingsUnusable(f"{name} is not {wanted}", field=name)
