"""JSON with comments, as used in settings files, with the position of each value in the text.

Comments and trailing commas are accepted, because clients accept them. No maintained library edits
such a text in place, so `jsonc_editing` does, based on this module.
"""

import json
import re
from dataclasses import dataclass
from typing import Final

from callboard.errors import SettingsUnusable
from callboard.events.envelope import Json

DEEPEST: Final = 200
"""Maximum nesting depth; no settings file comes near."""

_SPACE = " \t\r\n"
_COMMENT = re.compile(r"//[^\r\n]*|/\*(?s:.*?)\*/")
_TRIVIA = re.compile(rf"(?:[ \t\r\n]+|{_COMMENT.pattern})*")
_NUMBER = re.compile(r"-?(?:0|[1-9][0-9]*)(\.[0-9]+)?([eE][+-]?[0-9]+)?")
_WORDS: Final[dict[str, Json]] = {"true": True, "false": False, "null": None}
_CLOSES: Final = {"{": "}", "[": "]"}
_LONGEST_INTEGER = 300
_DECODER = json.JSONDecoder()


@dataclass(frozen=True, slots=True)
class Node:
    """A value and its position: `text[start:end]`.

    children: its members or items, in order.
    """

    start: int
    end: int
    value: Json
    children: "tuple[Member, ...]" = ()

    def member(self, key: str) -> "Node | None":
        """The value of a key; the last one if there are several, as in every parser."""
        found = [one.node for one in self.children if one.key == key]
        return found[-1] if found else None


@dataclass(frozen=True, slots=True)
class Member:
    """A member of an object, or an item of an array, which has no key.

    start: where its key starts, or the value itself. comma: the position of the comma after it.
    """

    start: int
    node: Node
    key: str | None = None
    comma: int | None = None

    @property
    def end(self) -> int:
        """Where its value ends."""
        return self.node.end


def parse(text: str) -> Node:
    """Parse a text; errors name the line and the column."""
    reader = _Reader(text)
    node = reader.value(reader.skip(0), 0)
    after = reader.skip(node.end)
    if after != len(text):
        raise reader.wrong(after, "nothing more was expected")
    return node


class _Reader:
    def __init__(self, text: str) -> None:
        self._text = text

    def wrong(self, at: int, said: str) -> SettingsUnusable:
        before = self._text[:at]
        line = before.count("\n") + 1
        column = at - (before.rfind("\n") + 1) + 1
        return SettingsUnusable(f"line {line}, column {column}: {said}", line=line, column=column)

    def skip(self, at: int) -> int:
        """The end of whitespace and comments from here."""
        found = _TRIVIA.match(self._text, at)
        assert found is not None
        end = found.end()
        if self._text.startswith("/*", end):
            raise self.wrong(end, "this comment has no end")
        return end

    def value(self, at: int, depth: int) -> Node:
        if depth > DEEPEST:
            raise self.wrong(at, f"values are nested deeper than {DEEPEST} levels")
        first = self._text[at : at + 1]
        if first in _CLOSES:
            return self._container(at, depth, _CLOSES[first])
        if first == '"':
            said, end = self._string(at)
            return Node(at, end, said)
        return self._plain(at)

    def _string(self, at: int) -> tuple[str, int]:
        try:
            return _DECODER.raw_decode(self._text, at)
        except json.JSONDecodeError as error:
            raise self.wrong(error.pos, error.msg.lower()) from error

    def _plain(self, at: int) -> Node:
        number = _NUMBER.match(self._text, at)
        if number is not None:
            return Node(at, number.end(), _number(number))
        for word, value in _WORDS.items():
            if self._text.startswith(word, at):
                return Node(at, at + len(word), value)
        raise self.wrong(at, "a value was expected")

    def _container(self, at: int, depth: int, close: str) -> Node:
        children: list[Member] = []
        end = self.skip(at + 1)
        while not self._text.startswith(close, end):
            key, start = self._key(end) if close == "}" else (None, end)
            node = self.value(start, depth + 1)
            comma, after = self._comma(node.end, close)
            children.append(Member(end, node, key, comma))
            end = after
        value: Json = [child.node.value for child in children]
        if close == "}":
            value = {child.key: child.node.value for child in children}
        return Node(at, end + 1, value, tuple(children))

    def _key(self, at: int) -> tuple[str, int]:
        """A member's name, and where its value starts."""
        if not self._text.startswith('"', at):
            raise self.wrong(at, 'a name in "quotes" or } was expected')
        key, after = self._string(at)
        colon = self.skip(after)
        if not self._text.startswith(":", colon):
            raise self.wrong(colon, "a colon was expected")
        return key, self.skip(colon + 1)

    def _comma(self, at: int, close: str) -> tuple[int | None, int]:
        """The position of the comma after a child, and where what follows starts."""
        end = self.skip(at)
        if self._text.startswith(",", end):
            return end, self.skip(end + 1)
        if self._text.startswith(close, end):
            return None, end
        raise self.wrong(end, f"a comma or {close} was expected")


def _number(found: re.Match[str]) -> int | float:
    said = found[0]
    whole = found[1] is None and found[2] is None and len(said) <= _LONGEST_INTEGER
    return int(said) if whole else float(said)


def space_before(text: str, at: int) -> int:
    """The start of the whitespace that ends here."""
    return len(text[:at].rstrip(_SPACE))


def comments(text: str, start: int, end: int) -> list[tuple[int, int]]:
    """The positions of comments in a range that otherwise has only whitespace and commas."""
    return [found.span() for found in _COMMENT.finditer(text, start, end)]
