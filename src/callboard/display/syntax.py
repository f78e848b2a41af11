"""Syntax colors for lines of source code, by the name of their file; pure, and bounded."""

from collections.abc import Iterator, Sequence
from functools import lru_cache
from typing import TYPE_CHECKING, Final, Literal, NamedTuple

if TYPE_CHECKING:
    from pygments.lexer import Lexer

TokenKind = Literal["plain", "keyword", "string", "comment", "literal", "name"]

_MOST: Final = 60_000
"""Characters that are looked at. In a terminal, others wait while that happens."""
_LONGEST_LINE: Final = 500
"""Characters of a line. A longer one is hardly written by hand."""
_KINDS: Final[Sequence[tuple[str, TokenKind]]] = (
    ("Token.Comment", "comment"),
    ("Token.Literal.String", "string"),
    ("Token.Literal.Number", "literal"),
    ("Token.Keyword.Constant", "literal"),
    ("Token.Keyword", "keyword"),
    ("Token.Operator.Word", "keyword"),
    ("Token.Name.Function", "name"),
    ("Token.Name.Class", "name"),
    ("Token.Name.Decorator", "name"),
    ("Token.Name.Tag", "name"),
    ("Token.Name.Attribute", "name"),
)


class Piece(NamedTuple):
    """A part of a line that has one color."""

    text: str
    kind: TokenKind = "plain"


def colored(path: str, lines: Sequence[str]) -> list[list[Piece]]:
    """The same lines in pieces. Of a language that is unknown, and of long lines, all is plain."""
    whole = [[Piece(line)] for line in lines]
    shown = [line if len(line) <= _LONGEST_LINE else "" for line in lines]
    count = _fitting(shown)
    found = list(_tokens(path, "\n".join(shown[:count]) + "\n")) if any(shown[:count]) else []
    for at, pieces in enumerate(_by_line(found)):
        # What isn't the line itself would hide a part of it.
        if at < count and "".join(piece.text for piece in pieces) == lines[at] and pieces:
            whole[at] = pieces
    return whole


def sliced(pieces: Sequence[Piece], start: int, end: int) -> list[Piece]:
    """What is between two places of a line."""
    found, at = list[Piece](), 0
    for text, kind in pieces:
        part = text[max(0, start - at) : max(0, end - at)]
        if part:
            found.append(Piece(part, kind))
        at += len(text)
    return found


def _fitting(lines: Sequence[str]) -> int:
    left = _MOST
    for at, line in enumerate(lines):
        left -= len(line) + 1
        if left < 0:
            return at
    return len(lines)


def _tokens(path: str, text: str) -> Iterator[Piece]:
    lexer = _lexer(path.rpartition("/")[2])
    if lexer is not None:
        for _, token, value in lexer.get_tokens_unprocessed(text):
            yield Piece(value, _kind(str(token)))


@lru_cache(maxsize=64)
def _lexer(name: str) -> "Lexer | None":
    # Imported with the first diff: it takes longer than most commands.
    from pygments import lexers
    from pygments.util import ClassNotFound

    try:
        return lexers.get_lexer_for_filename(name)  # pyright: ignore[reportUnknownMemberType]
    except ClassNotFound:
        return None


def _kind(token: str) -> TokenKind:
    for start, kind in _KINDS:
        if token == start or token.startswith(f"{start}."):
            return kind
    return "plain"


def _by_line(pieces: Sequence[Piece]) -> Iterator[list[Piece]]:
    line = list[Piece]()
    for text, kind in pieces:
        first, *others = text.split("\n")
        if first:
            line.append(Piece(first, kind))
        for other in others:
            yield line
            line = [Piece(other, kind)] if other else []
    if line:
        yield line
