"""What the terminal board reads and does, through any `Board`."""

from collections.abc import Callable, Collection, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Final, TypedDict

from callboard.board.conversations import before_question
from callboard.board.hook_backlog import HookBacklog
from callboard.board.messages import PlateInterrupted, PlateMessages
from callboard.board.plate import Plate
from callboard.board.protocol import Board
from callboard.board.relay_hosts import RelayHost
from callboard.board.usage_reports import MOST_DAYS
from callboard.board.usage_sums import UsageSum
from callboard.engine.sessions import SessionInfo
from callboard.errors import InteractionNotFound, PlateNotFound
from callboard.events.envelope import Event
from callboard.interactions.configs import KIND
from callboard.interactions.outcomes import Completion
from callboard.interactions.records import Interaction
from callboard.interactions.results import completion_of
from callboard.interactions.rulings import declined
from callboard.tui.dialog import Decline
from callboard.tui.rows import plate_of
from callboard.vendors.conversation import (
    ConversationItem,
    ConversationPage,
    FoundItem,
    Window,
)
from callboard.vendors.steering import When
from callboard.worktree.changes import (
    ChangedFile,
    CommentMessage,
    FileChanges,
    LineComment,
    WorktreeChanges,
)

_MOST_SESSIONS: Final = 500
_MOST_FOUND: Final = 200

Hear = Callable[[Event | None], None]
"""Called with each event; with None after connecting, when everything has to be read."""


class PlateChanges(TypedDict, total=False):
    """A person's changes to a plate."""

    name: str
    pinned: bool
    seen: bool


@dataclass(slots=True)
class Drafts:
    """What a person has written and not sent yet, by plate: messages, and comments on lines."""

    texts: dict[str, str] = field(default_factory=dict[str, str])
    comments: dict[str, list[LineComment]] = field(default_factory=dict[str, list[LineComment]])


class Source:
    """A board for the terminal. by: the name to record with answers."""

    def __init__(self, board: Board, by: str | None = None) -> None:
        self._board = board
        self._by = by
        self.drafts = Drafts()

    async def plates(self) -> Sequence[Plate]:
        """All plates on the board."""
        return await self._board.plates.all()

    async def backlog(self) -> HookBacklog:
        """What agents have reported that no plate shows yet."""
        return await self._board.plates.backlog()

    async def hosts(self) -> Sequence[RelayHost]:
        """The machines with a relay."""
        return await self._board.hosts.list()

    async def plate(self, plate_id: str) -> Plate | None:
        """One plate; None if it is no longer on the board."""
        try:
            return await self._board.plates.get(plate_id)
        except PlateNotFound:
            return None

    async def waiting(
        self, others: Collection[str] = ()
    ) -> tuple[Sequence[Interaction], Sequence[SessionInfo]]:
        """The open questions, and the sessions that wait for answers.

        others: more questions to read, open or not.
        """
        questions = await self._board.inbox()
        open_ones = {one.id for one in questions}
        for id in others:
            if id not in open_ones:
                with suppress(InteractionNotFound):
                    questions.append(await self._board.interaction(id))
        if all(plate_of(question) for question in questions):
            return questions, []
        return questions, await self._board.sessions(status="waiting", limit=_MOST_SESSIONS)

    async def follow(self, hear: Hear) -> None:
        """Report events while the connection lasts, then raise why it ended."""
        async for _, event in self._board.tail_all(on_connect=lambda: hear(None)):
            hear(event)

    async def answer(self, question: Interaction, value: object) -> Interaction:
        """Answer a question, or decline it; an interactive session is completed."""
        if isinstance(value, Decline):
            value = declined(question, value.message)
        elif question.type == KIND:
            value = completion_of(question.config, value)
        if not isinstance(value, Completion):
            return await self._board.answer(question.id, value, by=self._by)
        return await self._board.people.complete(
            question.id, value.outcome, response=value.response, error=value.error, by=self._by
        )

    async def conversation(
        self, plate_id: str, window: Window, *, subagent: str | None = None, wait: float = 0.0
    ) -> ConversationPage:
        """A part of what an agent did; wait: seconds to wait for what follows."""
        if window.after is None:
            wait = 0.0
        return await self._board.conversations.page(plate_id, window, subagent=subagent, wait=wait)

    async def used(self, plate_id: str) -> UsageSum:
        """What an agent has used."""
        report = self._board.usage.report
        return (await report(days=MOST_DAYS, by="model", stream=plate_id)).total

    async def conversation_search(
        self, plate_id: str, text: str, *, subagent: str | None = None
    ) -> list[FoundItem]:
        """The newest messages with a text."""
        found, before = dict[str, FoundItem](), None
        while len(found) < _MOST_FOUND:
            matches = await self._board.conversations.search(
                plate_id, text, before=before, subagent=subagent
            )
            found |= {one.id: one for one in matches.found if one.id not in found}
            before = matches.before
            if before is None:
                break
        return [*found.values()]

    async def conversation_item(
        self, plate_id: str, item_id: str, cursor: str, *, subagent: str | None = None
    ) -> ConversationItem:
        """All of a message."""
        return await self._board.conversations.item(plate_id, item_id, cursor, subagent=subagent)

    async def before(self, question: Interaction) -> list[ConversationItem]:
        """The messages that led to an agent's question; none if they can't be read."""
        return await before_question(self._board.conversations, question)

    async def change(self, plate_id: str, changes: PlateChanges | None) -> None:
        """Name a plate, pin it, or mark it as seen; without changes, dismiss it."""
        if changes is None:
            await self._board.plates.dismiss(plate_id)
        else:
            await self._board.plates.change(plate_id, **changes)

    # ------------------------------------------------------------------ messages

    async def messages(self, plate_id: str) -> PlateMessages:
        """The messages to an agent, and how it can be reached now."""
        return await self._board.messages.list(plate_id)

    async def say(self, plate_id: str, text: str, when: When) -> None:
        """Write to an agent."""
        await self._board.messages.say(plate_id, text, when=when)

    async def change_message(
        self,
        plate_id: str,
        message_id: str,
        *,
        text: str | None = None,
        when: When | None = None,
        before: str | None = None,
    ) -> None:
        """Change a message that is still queued, or move it before another one; "": to the end."""
        await self._board.messages.change(plate_id, message_id, text=text, when=when, before=before)

    async def withdraw(self, plate_id: str, message_id: str) -> None:
        """Take back a message that is still queued."""
        await self._board.messages.withdraw(plate_id, message_id)

    async def interrupt(self, plate_id: str) -> PlateInterrupted:
        """Stop an agent's turn."""
        return await self._board.messages.interrupt(plate_id)

    # ------------------------------------------------------------------ changes

    async def changed_files(self, plate_id: str, since: str) -> WorktreeChanges:
        """What differs in an agent's working tree."""
        return await self._board.changes.list(plate_id, since=since)

    async def diff(self, plate_id: str, file: ChangedFile, since: str) -> FileChanges:
        """The diff of one of these files."""
        return await self._board.changes.file(
            plate_id, file.path, since=since, old_path=file.old_path
        )

    async def comment_message(
        self, plate_id: str, comments: Sequence[LineComment], since: str
    ) -> CommentMessage:
        """Comments on lines as one message. It is not sent."""
        return await self._board.changes.comments(plate_id, comments, since=since)
