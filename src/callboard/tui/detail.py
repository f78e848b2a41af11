"""The details of one row, next to the list or on the whole screen."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Final

from textual import events
from textual.app import ComposeResult
from textual.containers import VerticalScroll
from textual.content import Content
from textual.widgets import Static

from callboard.board.plate import Plate
from callboard.display.assignments import assignment, restriction
from callboard.display.conversation import item_lines
from callboard.display.lines import Bounds, Look
from callboard.display.questions import show
from callboard.display.receipts import answerer, receipt
from callboard.interactions.configs import KIND
from callboard.interactions.records import Interaction, Receipt
from callboard.tui.rows import Row, attending
from callboard.tui.text import BLANK, StyledLine, age, clipped, home_path, laid_out, lines, one_line
from callboard.tui.whereabouts import ANSWERS_WAIT, unreachable
from callboard.vendors.conversation import ConversationItem

_FAINT: Final = "$faint"
_INDENT: Final = "  "
_TODO: Final = {"completed": ("✓", "$faint"), "in_progress": ("▸", "bold")}
_MOST_LINES: Final = 30
"""Maximum lines of a message."""
_BOUNDS: Final = Bounds(40, 400, "press Enter")
"""Limits for a question next to the list. Its dialog shows all of it."""
_FEW: Final = Bounds(4, 400, "press h")
_LOOKS: Final = {
    "needs": "bold $needs",
    "failed": "bold $error",
    "done": "$success",
    "running": "$primary",
    "idle": "$foreground",
    "closed": "$faint",
}


class Detail(VerticalScroll):
    """The panel next to or below the list."""

    def __init__(self, id: str) -> None:
        super().__init__(id=id)
        self._row: Row | None = None
        self._now_ms = 0
        self._before: Sequence[ConversationItem] = ()
        self._attachable = False
        self._shown: object = None

    def compose(self) -> ComposeResult:
        """One scrolling text."""
        yield Static("", classes="detail-text")

    def show(
        self,
        row: Row | None,
        now_ms: int,
        led_up: Sequence[ConversationItem] = (),
        *,
        attachable: bool = False,
    ) -> None:
        """Show a row; a different one from its top.

        led_up: what led to its question. attachable: whether it runs in a terminal of Callboard.
        """
        before, self._row, self._now_ms = self._row, row, now_ms
        self._before, self._attachable = led_up, attachable
        self._draw()
        if row is None or before is None or before.key != row.key:
            self.scroll_home(animate=False)

    def on_resize(self, event: events.Resize) -> None:
        """Rewrap the lines."""
        self._draw()

    def _draw(self) -> None:
        row, width = self._row, self.scrollable_content_region.width
        ages = "" if row is None else _ages(row, self._now_ms)
        shown = (row, ages, width, self._before, self._attachable)
        if shown == self._shown or not width:
            return
        self._shown = shown
        text = Content("") if row is None else laid_out(self._told(row), width)
        self.query_one(Static).update(text)

    def _told(self, row: Row) -> list[StyledLine]:
        found = told(row, self._now_ms, self._before)
        if self._attachable and row.plate is not None:
            how = f"callboard attach {row.plate.plate_id}"
            found.append(StyledLine(f"in the background (t attaches, or: {how})", "", "Terminal "))
        return found


def _ages(row: Row, now_ms: int) -> str:
    """What changes with time."""
    lost_at = row.place.lost_at_ms
    return f"{age(row.at_ms, now_ms)} {'' if lost_at is None else age(lost_at, now_ms)}"


def told(row: Row, now_ms: int, led_up: Sequence[ConversationItem] = ()) -> list[StyledLine]:
    """A row in full. led_up: the messages that led to its question."""
    found = [_heading(row, now_ms), *_lost(row, now_ms)]
    for section in _sections(row, led_up):
        if lines_of := list(section):
            found += [BLANK, *lines_of]
    return found


def _sections(row: Row, led_up: Sequence[ConversationItem]) -> Iterator[Iterator[StyledLine]]:
    for question in row.questions:
        yield asked(question, _BOUNDS)
    yield before_it(led_up)
    if row.answered is not None:
        yield _answer(row.answered)
    if row.plate is None:
        return
    plate = row.plate
    if not row.questions and plate.waiting_for:
        yield _in_terminal(plate)
    if plate.error:
        yield _said("Error", plate.error, "$error")
    yield _todos(plate)
    yield _background(plate)
    if plate.last_message:
        yield _said("Last message", plate.last_message)
    if plate.prompt:
        yield _said("Asked", plate.prompt)
    yield _facts(plate, row.host)


def _heading(row: Row, now_ms: int) -> StyledLine:
    standing = f"{row.standing.sign} {row.standing.word}  "
    title = f"{row.title}  {age(row.at_ms, now_ms)}"
    return StyledLine(title, "bold", standing, _LOOKS[row.standing.look])


def _lost(row: Row, now_ms: int) -> Iterator[StyledLine]:
    """That its machine can't be reached, so that all of this is how it was then."""
    if row.place.lost_at_ms is None:
        return
    yield StyledLine(unreachable(f"{age(row.place.lost_at_ms, now_ms)} ago"), "bold $error")
    if row.questions or (row.answered is not None and row.answered.receipt == "pending"):
        yield StyledLine(ANSWERS_WAIT, _FAINT)


def asked(question: Interaction, bounds: Bounds | None = None) -> Iterator[StyledLine]:
    """A question in full, or within limits."""
    for text, look, lead, lead_look, *_ in show(question, bounds).lines:
        yield StyledLine(text, _SHOWN[look], lead, _SHOWN[lead_look])
    if question.assigned_to:
        yield StyledLine(one_line(assignment(question)), _FAINT)
    if only := restriction(question.assignees):
        yield StyledLine(one_line(only), _FAINT)
    if question.type == KIND:
        yield StyledLine(f"With an agent: {attending(question)}", _FAINT)


def before_it(items: Sequence[ConversationItem]) -> Iterator[StyledLine]:
    """The messages that led to a question, shortened."""
    if items:
        yield StyledLine("Before it asked (h shows all)", _FAINT)
    for item in items:
        lead = "> " if item.author == "person" else ""
        for text, look, before, lead_look, *_ in item_lines(item, bounds=_FEW):
            yield StyledLine(text, _SHOWN[look], before + lead, _SHOWN[lead_look])


_SHOWN: Final[Mapping[Look, str]] = {
    "plain": "",
    "faint": "$faint",
    "heading": "bold",
    "command": "bold $foreground",
    "added": "$success",
    "removed": "$error",
    "path": "$primary",
    "number": "$primary",
    "notice": "italic $needs",
}


def _answer(question: Interaction) -> Iterator[StyledLine]:
    """What happened to the last answer."""
    yield StyledLine("Last answer", _FAINT)
    yield StyledLine(one_line(question.prompt), "", _INDENT)
    yield StyledLine(
        receipt(question, f"callboard inbox {question.id}"), _RECEIPTS[question.receipt], _INDENT
    )
    if who := answerer(question):
        yield StyledLine(who, _FAINT, _INDENT)


_RECEIPTS: Final[Mapping[Receipt | None, str]] = {
    "pending": "$needs",
    "delivered": "$success",
    "overruled": "bold $error",
    "lost": "bold $error",
    None: "$faint",
}


def _in_terminal(plate: Plate) -> Iterator[StyledLine]:
    for line in lines(plate.waiting_for or ""):
        yield StyledLine(line, "bold")
    jump = " (t goes there)" if plate.tmux_target else ""
    yield StyledLine(f"Can only be answered in its own terminal{jump}.", _FAINT)


def _said(title: str, text: str, look: str = "") -> Iterator[StyledLine]:
    yield StyledLine(title, _FAINT)
    for line in clipped(str(text), _MOST_LINES):
        yield StyledLine(line, look, _INDENT)


def _todos(plate: Plate) -> Iterator[StyledLine]:
    if plate.todos:
        yield StyledLine(f"To do  {plate.todo_progress or ''}", _FAINT)
    for todo in plate.todos:
        sign, look = _TODO.get(todo.status, ("○", ""))
        yield StyledLine(one_line(todo.text), look, f"  {sign} ")


def _background(plate: Plate) -> Iterator[StyledLine]:
    tasks = plate.in_background
    if tasks:
        yield StyledLine("In the background", _FAINT)
    for task in tasks:
        kind = one_line(str(task.get("kind") or "task"))
        about = one_line(str(task.get("description") or task.get("id") or ""))
        yield StyledLine(about, "", f"  ● {kind}  ", "$primary")


def _facts(plate: Plate, host: str) -> Iterator[StyledLine]:
    """Facts about the agent and where it runs."""
    told = {
        "Folder": home_path(plate.project_path),
        "Branch": plate.git_branch,
        "Agent": " · ".join(one for one in (plate.agent, plate.model) if one),
        "Host": host,
        "Pane": plate.tmux_target,
        "Session": plate.session_id,
    }
    for name, value in told.items():
        if value:
            yield StyledLine(one_line(str(value)), "", f"{name:<9}")
