"""Finds the reader of a coding agent's conversation."""

from collections.abc import Callable, Mapping
from typing import Final

from callboard.errors import TranscriptUnreadable
from callboard.vendors.claude import conversation as claude
from callboard.vendors.codex import conversation as codex
from callboard.vendors.conversation import ConversationPlace, ConversationReader
from callboard.vendors.gemini import conversation as gemini
from callboard.vendors.opencode import conversation as opencode

_READERS: Final[Mapping[str, Callable[[ConversationPlace], ConversationReader]]] = {
    "claude": claude.conversation,
    "codex": codex.conversation,
    "gemini": gemini.conversation,
    "opencode": opencode.conversation,
}


def conversation_reader(agent: str, place: ConversationPlace) -> ConversationReader:
    """The reader of a conversation; TranscriptUnreadable if this agent has none.

    Its methods read files: call them in a thread.
    """
    find = _READERS.get(agent)
    if find is None:
        raise TranscriptUnreadable(f"Callboard can't read the conversations of {agent}.")
    return find(place)
