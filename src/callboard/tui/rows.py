"""What the board lists: plates and workflows' questions, each as one row. Pure."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from callboard.board.plate import Plate, folder_name
from callboard.board.transition import ASKS
from callboard.display.receipts import standing
from callboard.engine.sessions import SessionInfo
from callboard.events.json_values import as_object
from callboard.events.moments import to_ms
from callboard.interactions.configs import KIND, participants
from callboard.interactions.kinds import Manner, manner_of
from callboard.interactions.outcomes import form_of
from callboard.interactions.records import Interaction
from callboard.tui.text import one_line
from callboard.tui.whereabouts import HERE, Place
from callboard.vendors.fields import word

NEEDS: Final = 0
RUNNING: Final = 1
IDLE: Final = 2
CLOSED: Final = 3
GROUPS: Final = ("needs you", "running", "idle", "closed")


@dataclass(frozen=True, slots=True)
class RowStatus:
    """A status: a sign and a word for everyone, and a style for those who see colors."""

    sign: str
    word: str
    look: str


_STANDINGS: Final[Mapping[str, RowStatus]] = {
    "starting": RowStatus("○", "starting", "running"),
    "running": RowStatus("●", "running", "running"),
    "idle": RowStatus("–", "idle", "idle"),
    "awaiting_input": RowStatus("?", "asks", "needs"),
    "awaiting_approval": RowStatus("!", "approve", "needs"),
    "error": RowStatus("✗", "error", "failed"),
    "closed": RowStatus("×", "closed", "closed"),
}
_DONE: Final = RowStatus("✓", "done", "done")
_SENT: Final = RowStatus("→", "answered", "running")
_SIMPLE: Final[dict[str | None, Manner]] = {
    "approval": "verdict",
    "selection": "option",
    "freeform": "text",
}
_GROUP: Final[Mapping[str, int]] = {"starting": RUNNING, "running": RUNNING, "closed": CLOSED}


@dataclass(frozen=True, slots=True)
class Row:
    """One line of the board.

    key: identifies it, however it changes. at_ms: since when it has this status.
    asks: what it asks, otherwise what it is about. questions: those that can be answered here.
    answered: its last answer, with the receipt. place: the machine of its agent.
    """

    key: str
    group: int
    standing: RowStatus
    title: str
    asks: str
    agent: str
    at_ms: int
    born_ms: int
    tool: str = ""
    todo: str = ""
    branch: str = ""
    path: str = ""
    unseen: bool = False
    pinned: bool = False
    questions: tuple[Interaction, ...] = ()
    answered: Interaction | None = None
    plate: Plate | None = None
    place: Place = HERE

    @property
    def host(self) -> str:
        """The name of its machine; empty if the board has agents on only one."""
        return self.place.label

    @property
    def question(self) -> Interaction | None:
        """The question to answer first."""
        return self.questions[0] if self.questions else None

    @property
    def wants_verdict(self) -> bool:
        """Whether yes or no is an answer."""
        question = self.question
        return question is not None and way_of(question) in ("verdict", "ruling")

    @property
    def has_choices(self) -> bool:
        """Whether an option, or free text, is an answer."""
        question = self.question
        return question is not None and way_of(question) in ("option", "text", "answers")

    @property
    def closed(self) -> bool:
        """Whether its client has ended."""
        return self.group == CLOSED


def way_of(question: Interaction) -> Manner:
    """How to answer: by its type; for an interactive session, by its decision, if that is simple.

    What several people decide, or what has to match a schema, is decided elsewhere.
    """
    manner = manner_of(question.type)
    if question.type != KIND or participants(question.config):
        return manner
    schema = as_object(question.config).get("outcomeSchema")
    return "text" if schema is None else _SIMPLE.get(form_of(schema), manner)


def attending(question: Interaction) -> str:
    """The command that opens an interactive session."""
    which = f" --session {question.session_id}" if question.session_id else ""
    return f"callboard attend{which}"


def plate_row(
    plate: Plate,
    asked: Sequence[Interaction] = (),
    answered: Interaction | None = None,
    place: Place = HERE,
) -> Row:
    """A plate's row, with its client's questions that can be answered here.

    asked: its open questions, including those with an answer that the client hasn't confirmed.
    """
    status = plate.status
    questions = [one for one in asked if one.accepted is None]
    sent = next((one for one in asked if one.accepted is not None), None)
    needs = bool(questions or (plate.attention and sent is None)) and status != "closed"
    last = sent or answered
    return Row(
        key=f"plate:{plate.plate_id}",
        group=NEEDS if needs else RUNNING if sent else _GROUP.get(status, IDLE),
        standing=_SENT if sent and not questions else _standing(plate, status, questions),
        title=_title(plate),
        asks=_asks(plate, status, questions, None if questions else last),
        agent=one_line(plate.agent),
        at_ms=to_ms(questions[0].created_at) if questions else plate.updated_at,
        born_ms=plate.created_at,
        tool="" if sent else _tool(plate, status),
        todo=plate.todo_progress or "",
        branch=one_line(plate.git_branch or ""),
        path=plate.project_path,
        unseen=plate.unseen,
        pinned=plate.pinned,
        questions=tuple(questions),
        answered=last,
        plate=plate,
        place=place,
    )


def _tool(plate: Plate, status: str) -> str:
    """The running tool."""
    return one_line(plate.last_tool or "") if status in ("running", "starting") else ""


def question_row(question: Interaction, session: SessionInfo | None = None) -> Row:
    """The row of a workflow's question, or of a standalone one."""
    verdict = way_of(question) in ("verdict", "ruling")
    at_ms = to_ms(question.created_at)
    workflow = session.title or session.workflow if session else question.session_id or "question"
    return Row(
        key=f"question:{question.id}",
        group=NEEDS,
        standing=_STANDINGS["awaiting_approval" if verdict else "awaiting_input"],
        title=one_line(f"{workflow}/{question.phase}" if question.phase else workflow),
        asks=one_line(question.prompt),
        agent="workflow",
        at_ms=at_ms,
        born_ms=at_ms,
        todo=(session.progress if session else None) or "",
        unseen=True,
        questions=(question,),
    )


def plate_of(question: Interaction) -> str | None:
    """The plate whose client asks this; None for workflows' questions."""
    return word(as_object(question.config).get("plateId"))


def _standing(plate: Plate, status: str, questions: Sequence[Interaction]) -> RowStatus:
    if status in ("running", "idle", "starting") and (questions or plate.pending):
        # One of its subagents asks, possibly only in the terminal.
        asks = questions[0].type == "question" if questions else plate.pending[0].tool == ASKS
        return _STANDINGS["awaiting_input" if asks else "awaiting_approval"]
    if status == "idle" and plate.unseen:
        return _DONE
    return _STANDINGS.get(status, RowStatus("·", one_line(status), "idle"))


def _title(plate: Plate) -> str:
    project = folder_name(plate.project_path) or "?"
    return one_line(f"{project}/{plate.name}" if plate.name else project)


def _asks(
    plate: Plate, status: str, questions: Sequence[Interaction], answered: Interaction | None
) -> str:
    """What it asks; otherwise what went wrong, its last message, or its prompt."""
    if answered is not None and answered.receipt not in (None, "delivered"):
        return one_line(standing(answered))
    if status == "closed":
        return one_line(_ENDED.get(plate.ended or "", plate.last_message or ""))
    said = plate.waiting_for or (questions[0].prompt if questions else None)
    if said is None and status == "error":
        said = plate.error
    if said is None and status == "idle":
        said = "interrupted" if plate.interrupted else plate.last_message
    return one_line(said or plate.prompt or "")


_ENDED: Final[Mapping[str, str]] = {"process_exit": "its process ended"}


# ---------------------------------------------------------------------- order and filter

ORDERS: Final = ("waiting", "latest", "project")
"""Within a group: longest waiting, latest change, or by name. Groups come first."""


def as_held(row: Row, held: Row | None) -> Row:
    """The row for sorting: the one a person looks at counts as it was when they moved there.

    It keeps its place, even if it has become less urgent.
    """
    if held is not None and row.key == held.key and row.group > held.group:
        return held
    return row


def ordered(rows: Iterable[Row], order: str = "waiting", held: Row | None = None) -> list[Row]:
    """Those that need a person first; pinned ones at the top of their group."""

    def place(row: Row) -> tuple[int | str, ...]:
        shown = as_held(row, held)
        return (shown.group, not shown.pinned, *_within(shown, order), shown.key)

    return sorted(rows, key=place)


def _within(row: Row, order: str) -> tuple[int | str, ...]:
    if order == "project":
        return (row.title.casefold(), row.born_ms)
    if order == "latest" or row.group in (IDLE, CLOSED):
        return (-row.at_ms,)
    if row.group == NEEDS:
        return (_PRESSING.get(row.standing.look, 0), row.at_ms)
    # Running ones change all the time; sorted by creation, they stay in place.
    return (row.born_ms,)


_PRESSING: Final = {"needs": 0, "failed": 1, "done": 2}
"""Blocked without an answer comes before finished."""


def matches(row: Row, sought: str) -> bool:
    """Whether the row contains every word of the filter."""
    text = " ".join(
        (
            *(row.title, row.path, row.branch, row.agent, row.standing.word, row.asks, row.tool),
            row.place.name,
        )
    ).casefold()
    return all(word in text for word in sought.casefold().split())


def counted(rows: Iterable[Row]) -> list[int]:
    """The number of rows in each group."""
    counts = [0] * len(GROUPS)
    for row in rows:
        counts[row.group] += 1
    return counts


def summary(counts: Sequence[int]) -> str:
    """`2 need you · 3 running · 1 idle`; empty for an empty board. Closed ones don't count."""
    words = ("needs you" if counts[NEEDS] == 1 else "need you", "running", "idle")
    shown = zip(counts, words, strict=False)
    return " · ".join(f"{count} {word}" for count, word in shown if count)
