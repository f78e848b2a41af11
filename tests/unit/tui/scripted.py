"""A server that a test plays: the same few methods, and everything in plain sight."""

import asyncio
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from typing import Any

from tests.interactions import interaction

from callboard.board.hook_backlog import NO_BACKLOG, HookBacklog
from callboard.board.messages import (
    MessageStatus,
    PlateInterrupted,
    PlateMessage,
    PlateMessages,
)
from callboard.board.plate import Plate
from callboard.board.relay_hosts import RelayHost
from callboard.board.usage_sums import UsageSum
from callboard.display.conversation import led_up_to
from callboard.engine.sessions import SessionInfo
from callboard.errors import (
    AlreadyAnswered,
    CallboardError,
    ServerUnreachable,
    TranscriptUnreadable,
    WorktreeUnreadable,
)
from callboard.events import plates
from callboard.events.envelope import Event
from callboard.events.json_values import as_object, as_text
from callboard.events.moments import iso, to_ms
from callboard.interactions.records import Interaction
from callboard.tui.source import Drafts, Hear, Source
from callboard.vendors.conversation import (
    ConversationItem,
    ConversationPage,
    FoundItem,
    Window,
)
from callboard.vendors.steering import Reach, When
from callboard.worktree.changes import (
    ChangedFile,
    CommentMessage,
    FileChanges,
    LineComment,
    WorktreeChanges,
)
from callboard.worktree.comments import message_of

NOON = datetime(2026, 1, 31, 12, 0, tzinfo=UTC)
"""When `FakeClock` begins."""


def ago(**how_long: float) -> datetime:
    return NOON - timedelta(**how_long)


def plate(id: str, status: str = "running", **more: Any) -> Plate:
    """A plate as the server tells it."""
    at: datetime = more.pop("at", ago(minutes=1))
    told = {
        "plateId": id,
        "agent": "claude",
        "sessionId": f"session-{id}",
        "pid": 4711,
        "procStart": "1",
        "projectPath": f"/home/ann/{id}",
        "gitBranch": "main",
        "status": status,
        "attention": status in ("awaiting_input", "awaiting_approval", "error"),
        "waitingFor": None,
        "interactionId": None,
        "lastEvent": "tool_start",
        "lastTool": None,
        "lastMessage": None,
        "prompt": None,
        "error": None,
        "ended": None,
        "todoProgress": None,
        "todos": [],
        "background": [],
        "name": None,
        "model": None,
        "interrupted": False,
        "unseen": False,
        "pinned": False,
        "dismissed": False,
        "transcriptPath": None,
        "tmuxTarget": None,
        "createdAt": iso(at - timedelta(hours=1)),
        "updatedAt": iso(at),
    }
    return Plate.from_wire(told | more)


def question(id: str, type: str = "permission", **more: Any) -> Interaction:
    """A question as the server tells it."""
    told = {"session_id": None, "prompt": "Run: make clean", "config": {}}
    return interaction(id=id, type=type, **({"created_at": ago(minutes=2)} | told | more))


def message(id: str, text: str, **more: Any) -> PlateMessage:
    """A message as the server tells it."""
    told: dict[str, Any] = {"plate_id": "shop", "when": "now", "status": "queued", "by": "ann"}
    return PlateMessage(id=id, text=text, created_at=to_ms(ago(minutes=2)), **(told | more))


def session(id: str, workflow: str) -> SessionInfo:
    return SessionInfo(
        session_id=id,
        workflow=workflow,
        version=None,
        status="waiting",
        running=False,
        phase="plan",
        position=5,
        created_at=ago(minutes=5),
        updated_at=ago(minutes=5),
        parent=None,
        fork_position=None,
        pending=(),
        error=None,
        held=None,
        source=None,
    )


@dataclass
class ScriptedConversation:
    """A conversation that a test writes. whole: items in full, where pages have less."""

    items: list[ConversationItem] = field(default_factory=list[ConversationItem])
    whole: dict[str, ConversationItem] = field(default_factory=dict[str, ConversationItem])
    grown: asyncio.Event = field(default_factory=asyncio.Event)

    async def page(self, window: Window, wait: float) -> ConversationPage:
        if wait and window.after == str(len(self.items)):
            self.grown.clear()
            await self.grown.wait()
        if window.after is not None:
            start = int(window.after)
            end = min(len(self.items), start + window.most)
        else:
            end = len(self.items) if window.before is None else int(window.before)
            start = max(0, end - window.most)
        return ConversationPage(self.items[start:end], str(start) if start else None, str(end))

    def search(self, text: str) -> list[FoundItem]:
        found = [one for one in self.items if text.lower() in one.text.lower()]
        return [FoundItem(one.id, one.kind, one.at, one.text, "1") for one in reversed(found)]

    def add(self, *items: ConversationItem) -> None:
        """The client writes more."""
        self.items += items
        self.grown.set()


NOT_USED = UsageSum(0, 0, 0, 0, 0, None, 0)


class ScriptedSource(Source):
    """Has what the test gives it, and remembers what was done."""

    def __init__(
        self,
        plates: Sequence[Plate] = (),
        questions: Sequence[Interaction] = (),
        sessions: Sequence[SessionInfo] = (),
    ) -> None:
        self.on_board = {one.plate_id: one for one in plates}
        self.cursors: list[str] = []
        self.questions = {one.id: one for one in questions}
        self.sessions = list(sessions)
        self.unread = NO_BACKLOG
        self.relay_hosts: list[RelayHost] = []
        self.answers: list[tuple[str, Any]] = []
        self.changes: list[tuple[str, Any]] = []
        self.looks: list[str] = []
        self.settled: dict[str, Interaction] = {}
        self.confirms = True
        self.connections = 0
        self.away: CallboardError | None = None
        self.conversations: dict[tuple[str, str | None], ScriptedConversation] = {}
        self.usage: dict[str, UsageSum] = {}
        self.drafts = Drafts()
        self.written: dict[str, list[PlateMessage]] = {}
        self.reach = Reach("inbox", authority=False)
        self.interrupted: list[str] = []
        self.differing: WorktreeChanges | None = None
        self.diffs: dict[str, FileChanges] = {}
        self.since: list[str] = []
        self._lost: asyncio.Future[None] | None = None
        self._hear: Hear | None = None

    async def plates(self) -> list[Plate]:
        self._look("plates")
        return list(self.on_board.values())

    async def used(self, plate_id: str) -> UsageSum:
        return self.usage.get(plate_id, NOT_USED)

    async def backlog(self) -> HookBacklog:
        return self.unread

    async def hosts(self) -> list[RelayHost]:
        return list(self.relay_hosts)

    async def plate(self, plate_id: str) -> Plate | None:
        self._look(plate_id)
        return self.on_board.get(plate_id)

    async def waiting(
        self, others: Collection[str] = ()
    ) -> tuple[list[Interaction], list[SessionInfo]]:
        self._look("waiting")
        more = [self.settled[id] for id in others if id in self.settled]
        return [*self.questions.values(), *more], self.sessions

    async def follow(self, hear: Hear) -> None:
        if self.away is not None:
            raise self.away
        self.connections += 1
        self._hear = hear
        self._lost = asyncio.get_running_loop().create_future()
        hear(None)
        await self._lost

    async def answer(self, question: Interaction, value: Any) -> Interaction:
        self._look("answer")
        if question.id not in self.questions:
            raise AlreadyAnswered("bob has answered this already: yes.")
        self.answers.append((question.id, value))
        if self.confirms or not question.from_hook:
            done = replace(question, status="completed", accepted=value, receipt="delivered")
            self.settled[question.id] = done
            self.close(question.id)
            return done
        done = replace(question, accepted=value, receipt="pending", answered_by="ann")
        self.questions[question.id] = done
        self.tell("input:accepted", question.id)
        return done

    async def conversation(
        self, plate_id: str, window: Window, *, subagent: str | None = None, wait: float = 0.0
    ) -> ConversationPage:
        self._look("conversation")
        return await self._told(plate_id, subagent).page(window, wait)

    async def conversation_search(
        self, plate_id: str, text: str, *, subagent: str | None = None
    ) -> list[FoundItem]:
        return self._told(plate_id, subagent).search(text)

    async def conversation_item(
        self, plate_id: str, item_id: str, cursor: str, *, subagent: str | None = None
    ) -> ConversationItem:
        self.cursors.append(cursor)
        return self._told(plate_id, subagent).whole[item_id]

    async def before(self, question: Interaction) -> list[ConversationItem]:
        plate_id = as_text(as_object(question.config).get("plateId"))
        told = self.conversations.get((plate_id, None))
        return [] if told is None else led_up_to(told.items)

    def _told(self, plate_id: str, subagent: str | None) -> "ScriptedConversation":
        found = self.conversations.get((plate_id, subagent))
        if found is None:
            raise TranscriptUnreadable("The transcript isn't there.")
        return found

    async def change(self, plate_id: str, changes: Mapping[str, Any] | None) -> None:
        self.changes.append((plate_id, changes))
        if changes is None:
            self.on_board.pop(plate_id)
            return self.tell(plates.DISMISSED, plate_id)
        told = {key: value for key, value in changes.items() if key != "seen"}
        if changes.get("seen"):
            told |= {"unseen": False}
        return self.put(replace(self.on_board[plate_id], **told))

    async def messages(self, plate_id: str) -> PlateMessages:
        self._look("messages")
        return PlateMessages(list(self.written.get(plate_id, ())), self.reach)

    async def say(self, plate_id: str, text: str, when: When) -> None:
        told = self.written.setdefault(plate_id, [])
        told.append(message(f"m{len(told) + 1}", text, when=when, plate_id=plate_id))

    async def change_message(
        self,
        plate_id: str,
        message_id: str,
        *,
        text: str | None = None,
        when: When | None = None,
        before: str | None = None,
    ) -> None:
        told = self.written[plate_id]
        at = next(index for index, one in enumerate(told) if one.id == message_id)
        one = told.pop(at)
        changed = replace(one, text=text or one.text, when=when or one.when)
        ids = [other.id for other in told]
        to = at if before is None else ids.index(before) if before else len(told)
        told.insert(to, changed)

    async def withdraw(self, plate_id: str, message_id: str) -> None:
        self.receive(plate_id, message_id, "withdrawn")

    async def interrupt(self, plate_id: str) -> PlateInterrupted:
        self.interrupted.append(plate_id)
        return PlateInterrupted(was_interrupted=True)

    async def changed_files(self, plate_id: str, since: str) -> WorktreeChanges:
        self.since.append(since)
        if self.differing is None:
            raise WorktreeUnreadable("There is no git repository.")
        return self.differing

    async def diff(self, plate_id: str, file: ChangedFile, since: str) -> FileChanges:
        return self.diffs[file.path]

    async def comment_message(
        self, plate_id: str, comments: Sequence[LineComment], since: str
    ) -> CommentMessage:
        return message_of(comments, lambda _: None)

    # ------------------------------------------------------------------ what the test does

    def receive(self, plate_id: str, message_id: str, status: MessageStatus, **how: Any) -> None:
        """What became of a message is known."""
        told = self.written[plate_id]
        at = next(index for index, one in enumerate(told) if one.id == message_id)
        told[at] = replace(told[at], status=status, **how)

    def put(self, told: Plate) -> None:
        """A plate is new, or has changed."""
        self.on_board[told.plate_id] = told
        self.tell(plates.TOOL_START, told.plate_id)

    def ask(self, one: Interaction) -> None:
        """A question is asked."""
        self.questions[one.id] = one
        self.tell("input:requested", one.id)

    def close(self, interaction_id: str) -> None:
        """A question is closed, by whomever."""
        del self.questions[interaction_id]
        self.tell("input:received", interaction_id)

    def settle(self, interaction_id: str, **how: Any) -> None:
        """What became of an answer is known."""
        asked = self.questions.pop(interaction_id, None) or self.settled[interaction_id]
        self.settled[interaction_id] = replace(asked, **{"status": "completed", **how})
        self.tell("input:received", interaction_id)

    def tell(self, name: str, stream: str, payload: Mapping[str, Any] | None = None) -> None:
        if self._hear is not None:
            self._hear(Event("e", stream, 1, name, 1, dict(payload or {}), 0))

    def go_away(self) -> None:
        """The server is gone."""
        self.away = ServerUnreachable("No server is running at http://127.0.0.1:2255.")
        if self._lost is not None and not self._lost.done():
            self._lost.set_exception(self.away)

    def come_back(self) -> None:
        self.away = None

    def _look(self, at: str) -> None:
        if self.away is not None:
            raise self.away
        self.looks.append(at)
