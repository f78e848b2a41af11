"""Search in conversations: what is found, and which records cannot have it."""

from typing import Final

from callboard.errors import ValidationError
from callboard.vendors.conversation import ConversationItem, FoundItem
from callboard.vendors.conversation_items import texts
from callboard.vendors.fields import encodable

_LONGEST: Final = 1000
_AROUND: Final = 80
"""Characters of an excerpt on each side of what was found."""


class Needle:
    """A text that is searched for, ignoring case."""

    def __init__(self, text: str) -> None:
        if not text.strip() or len(text) > _LONGEST:
            raise ValidationError(f"text: Search for 1 to {_LONGEST} characters.")
        self._text = text.lower()
        is_plain = text.isascii() and text.isprintable() and not set(text) & set('"\\/')
        # Records may have the words of a command apart.
        self._words = self._text.encode().split() if is_plain else None

    def may_be_in(self, record: bytes) -> bool:
        """Whether a record in JSON can contain the text; fast, because nothing is parsed."""
        if self._words is None:
            return True
        lower = record.lower()
        if any(one in lower for one in self._words):
            return True
        # Some letters outside of ASCII are ASCII in lower case.
        return not record.isascii() or b"\\u" in record

    def found(self, item: ConversationItem, cursor: str) -> FoundItem | None:
        """The item, if it has the text."""
        for text in texts(item):
            at = text.lower().find(self._text)
            if at >= 0:
                excerpt = text[max(0, at - _AROUND) : at + len(self._text) + _AROUND]
                return FoundItem(item.id, item.kind, item.at, encodable(excerpt), cursor)
        return None
