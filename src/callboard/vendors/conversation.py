"""A coding agent's conversation, as its client's own transcript has it: the same for every client.

Each client's reader is in `vendors/<agent>/conversation.py`. Transcripts contain people's prompts
and files, so conversations are read where they are, a page at a time, and never stored.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final, Literal, Protocol

from callboard.events.envelope import Json
from callboard.events.shapes import Millis, Omitted, Shape

ItemKind = Literal["prompt", "reply", "thinking", "tool", "compaction", "notice", "usage"]
"""What a person or program asked, what the model said, thought or called, where the client made the
context shorter, what the client says itself, such as that a person pressed Esc, and what a call of
the model took if its transcript has that apart. The last has only `usage`, and no text to show."""
Author = Literal["person", "program", "model", "client"]
ToolStatus = Literal["running", "done", "failed", "denied"]

LONGEST_ITEM_TEXT: Final = 20_000
"""Characters of a text in a page. `full` of a reader has all of an item."""
MOST_ITEMS: Final = 200


@dataclass(frozen=True, slots=True)
class TokenUsage(Shape):
    """What one call of a model took. cost: in US dollars, if the client says.

    long_cache_write_tokens: those of cache_write_tokens that the provider keeps for an hour.
    call: the call's id. A page has the usage of a call once, with the call's last item; where a
    later page has it again, that is what counts.
    """

    model: str | None
    input_tokens: int = 0
    output_tokens: int = 0
    cache_read_tokens: int = 0
    cache_write_tokens: int = 0
    cost: float | None = None
    call: str | None = None
    long_cache_write_tokens: int = 0


@dataclass(frozen=True, slots=True)
class FileEdit(Shape):
    """What a tool changed in a file: a unified diff without its header, or "" if it is unknown."""

    path: str
    diff: str


@dataclass(frozen=True, slots=True)
class ItemImage(Shape):
    """An image in a conversation. data: Base64, or None if it is too large for a page."""

    media_type: str
    data: str | None


@dataclass(frozen=True, slots=True)
class ToolRun(Shape):
    """A tool call and its result.

    name: empty if the item only has the result of a call that is on another page: join them by the
    item's id. command: of a tool that runs one. subagent: the conversation that this call started.
    """

    name: str
    input: Json
    command: str | None
    result: str | None
    status: ToolStatus
    edits: list[FileEdit]
    subagent: str | None = None


@dataclass(frozen=True, slots=True)
class ConversationItem(Shape):
    """One step of a conversation. id: the same whenever it is read, and unique in its conversation.

    cut: whether the page has only the start of its texts.
    """

    id: str
    at: Millis | None
    kind: ItemKind
    author: Author
    text: str
    tool: Omitted[ToolRun] = None
    usage: Omitted[TokenUsage] = None
    images: Sequence[ItemImage] = ()
    cut: bool = False


@dataclass(frozen=True, slots=True)
class ConversationPage(Shape):
    """A part of a conversation, in order. An item that is known already replaces or completes it.

    before: where the part before this ends; None at the start. after: where the part after this
    starts, for reading what comes later. restarted: whether the transcript was rewritten, so that
    the cursor that was given means nothing anymore and this is its end.
    """

    items: list[ConversationItem]
    before: str | None
    after: str
    restarted: bool = False


@dataclass(frozen=True, slots=True)
class FoundItem(Shape):
    """An item that has what was searched for. at_cursor: `before` of a page that ends with it."""

    id: str
    kind: ItemKind
    at: Millis | None
    excerpt: str
    at_cursor: str


@dataclass(frozen=True, slots=True)
class ConversationMatches(Shape):
    """Items with the searched text, newest first. before: where to continue; None: all."""

    found: list[FoundItem]
    before: str | None


@dataclass(frozen=True, slots=True)
class ConversationPlace:
    """Where a conversation is. path: the transcript that hooks named. folder: the project's.

    subagent: a nested conversation, as `ToolRun.subagent` names it.
    """

    session_id: str
    path: str | None
    folder: str
    subagent: str | None = None


@dataclass(frozen=True, slots=True)
class Window:
    """Which part to read: what ends at `before`, or starts at `after`; with neither, the end."""

    before: str | None = None
    after: str | None = None
    most: int = 100


class ConversationReader(Protocol):
    """Reads one conversation. TranscriptUnreadable if it isn't there, or nothing can be read."""

    def page(self, window: Window) -> ConversationPage:
        """A part of it."""
        ...

    def search(self, text: str, window: Window) -> ConversationMatches:
        """The newest items before `window.before` that contain a text, ignoring case."""
        ...

    def full(self, item_id: str, cursor: str) -> ConversationItem | None:
        """All of an item that a page has cut. cursor: `after` of a page that has it."""
        ...

    def watched(self) -> list[str]:
        """The files that change when the conversation grows."""
        ...
