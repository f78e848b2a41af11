"""Everything about one row: what it asks in full, what it said, what it has to do."""

from collections.abc import Iterator, Mapping
from typing import Final

from textual import events
from textual.app import ComposeResult
from textual.containers import VerticalScroll
from textual.content import Content
from textual.widgets import Static

from callboard.display.lines import Bounds, Look
from callboard.display.questions import show
from callboard.display.receipts import answerer, receipt
from callboard.interactions.configs import KIND
from callboard.interactions.records import Interaction, Receipt
from callboard.tui.laying_out import BLANK, Line, laid_out
from callboard.tui.rows import Plate, Row
from callboard.tui.ways import attending
from callboard.tui.wording import age, clipped, home_path, lines, one_line
from callboard.vendors.fields import objects

_FAINT: Final = "$faint"
_INDENT: Final = "  "
_TODO: Final = {"completed": ("✓", "$faint"), "in_progress": ("▸", "bold")}
_MOST_LINES: Final = 30
"""Of a message."""
_BOUNDS: Final = Bounds(40, 400, "press Enter")
"""Of a question, beside the list. Its dialog shows all of it."""
_LOOKS: Final = {
    "needs": "bold $needs",
    "failed": "bold $error",
    "done": "$success",
    "running": "$primary",
    "idle": "$foreground",
    "closed": "$faint",
}


class Detail(VerticalScroll):
    """The panel beside or below the list."""

    def __init__(self, id: str) -> None:
        super().__init__(id=id)
        self._row: Row | None = None
        self._now_ms = 0
        self._shown: tuple[Row | None, str, int] | None = None

    def compose(self) -> ComposeResult:
        """One text, which scrolls."""
        yield Static("", classes="detail-text")

    def show(self, row: Row | None, now_ms: int) -> None:
        """Show a row; another one from its top."""
        before, self._row, self._now_ms = self._row, row, now_ms
        self._draw()
        if row is None or before is None or before.key != row.key:
            self.scroll_home(animate=False)

    def on_resize(self, event: events.Resize) -> None:
        """Break the lines anew."""
        self._draw()

    def _draw(self) -> None:
        row, width = self._row, self.scrollable_content_region.width
        shown = (row, "" if row is None else age(row.at_ms, self._now_ms), width)
        if shown == self._shown or not width:
            return
        self._shown = shown
        text = Content("") if row is None else laid_out(told(row, self._now_ms), width)
        self.query_one(Static).update(text)


def told(row: Row, now_ms: int) -> list[Line]:
    """A row in full."""
    found = [_heading(row, now_ms)]
    for section in _sections(row):
        if lines_of := list(section):
            found += [BLANK, *lines_of]
    return found


def _sections(row: Row) -> Iterator[Iterator[Line]]:
    for question in row.questions:
        yield asked(question, _BOUNDS)
    if row.answered is not None:
        yield _answer(row.answered)
    if row.plate is None:
        return
    plate = row.plate
    if not row.questions and plate.get("waitingFor"):
        yield _in_terminal(plate)
    if plate.get("error"):
        yield _said("Error", plate["error"], "$error")
    yield _todos(plate)
    yield _background(plate)
    if plate.get("lastMessage"):
        yield _said("Last said", plate["lastMessage"])
    if plate.get("prompt"):
        yield _said("Was asked", plate["prompt"])
    yield _facts(plate)


def _heading(row: Row, now_ms: int) -> Line:
    standing = f"{row.standing.sign} {row.standing.word}  "
    title = f"{row.title}  {age(row.at_ms, now_ms)}"
    return Line(title, "bold", standing, _LOOKS[row.standing.look])


def asked(question: Interaction, bounds: Bounds | None = None) -> Iterator[Line]:
    """A question: all of it, or within bounds."""
    for text, look, lead, lead_look, *_ in show(question, bounds).lines:
        yield Line(text, _SHOWN[look], lead, _SHOWN[lead_look])
    if question.type == KIND:
        yield Line(f"With an agent: {attending(question)}", _FAINT)


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


def _answer(question: Interaction) -> Iterator[Line]:
    """What became of the last answer to it."""
    yield Line("Last answer", _FAINT)
    yield Line(one_line(question.prompt), "", _INDENT)
    yield Line(
        receipt(question, f"callboard inbox {question.id}"), _RECEIPTS[question.receipt], _INDENT
    )
    if who := answerer(question):
        yield Line(who, _FAINT, _INDENT)


_RECEIPTS: Final[Mapping[Receipt | None, str]] = {
    "pending": "$needs",
    "delivered": "$success",
    "overruled": "bold $error",
    "lost": "bold $error",
    None: "$faint",
}


def _in_terminal(plate: Plate) -> Iterator[Line]:
    for line in lines(plate["waitingFor"]):
        yield Line(line, "bold")
    jump = " (t goes there)" if plate.get("tmuxTarget") else ""
    yield Line(f"It can only be answered in its own terminal{jump}.", _FAINT)


def _said(title: str, text: str, look: str = "") -> Iterator[Line]:
    yield Line(title, _FAINT)
    for line in clipped(str(text), _MOST_LINES):
        yield Line(line, look, _INDENT)


def _todos(plate: Plate) -> Iterator[Line]:
    todos = objects(plate.get("todos"))
    if todos:
        yield Line(f"To do  {plate.get('todoProgress') or ''}", _FAINT)
    for todo in todos:
        sign, look = _TODO.get(str(todo.get("status")), ("○", ""))
        yield Line(one_line(str(todo.get("text", ""))), look, f"  {sign} ")


def _background(plate: Plate) -> Iterator[Line]:
    tasks = objects(plate.get("background"))
    if tasks:
        yield Line("In the background", _FAINT)
    for task in tasks:
        kind = one_line(str(task.get("kind") or "task"))
        about = one_line(str(task.get("description") or task.get("id") or ""))
        yield Line(about, "", f"  ● {kind}  ", "$primary")


def _facts(plate: Plate) -> Iterator[Line]:
    """Who and where it is."""
    told = {
        "Folder": home_path(str(plate.get("projectPath") or "")),
        "Branch": plate.get("gitBranch"),
        "Agent": " · ".join(str(plate[one]) for one in ("agent", "model") if plate.get(one)),
        "Pane": plate.get("tmuxTarget"),
        "Session": plate.get("sessionId"),
    }
    for name, value in told.items():
        if value:
            yield Line(one_line(str(value)), "", f"{name:<9}")
