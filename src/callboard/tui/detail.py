"""Everything about one row: what it asks in full, what it said, what it has to do."""

from collections.abc import Iterator
from typing import Final

import orjson
from textual import events
from textual.app import ComposeResult
from textual.containers import VerticalScroll
from textual.content import Content
from textual.widgets import Static

from callboard.interactions.configs import KIND
from callboard.interactions.records import Interaction
from callboard.tui.laying_out import BLANK, Line, laid_out
from callboard.tui.rows import Plate, Row
from callboard.tui.tool_input import tool_lines
from callboard.tui.ways import attending, options_of
from callboard.tui.wording import age, clipped, home_path, lines, one_line
from callboard.vendors.fields import Object, as_object, objects

_FAINT: Final = "$faint"
_INDENT: Final = "  "
_TODO: Final = {"completed": ("✓", "$faint"), "in_progress": ("▸", "bold")}
_MOST_LINES: Final = 30
"""Of a message. What is to be decided upon is shown whole."""
_MOST_BYTES: Final = 8_000
"""Of a context, which may be anything and of any size."""
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
        yield asked(question)
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


def asked(question: Interaction) -> Iterator[Line]:
    """A question in full: what is asked, what exactly would be done, what can be chosen."""
    config = as_object(question.config)
    if questions := objects(config.get("questions")):
        for one in questions:
            yield from _choices(one)
        return
    if isinstance(config.get("plan"), str):
        yield Line("The plan", "bold")
        yield from (Line(line, "", _INDENT) for line in lines(config["plan"]))
        yield from _warning(config)
    elif question.type == "permission" and config.get("toolInput"):
        yield from _wanted(config)
    else:
        yield from (Line(line, "bold") for line in lines(question.prompt))
    for number, option in enumerate(options_of(question), 1):
        yield Line(one_line(option), "", f"  {number} ", "$primary")
    if question.type == KIND:
        yield from _session(question, config)


def _session(question: Interaction, config: Object) -> Iterator[Line]:
    """What an interactive session is about, and how to have an agent for it."""
    yield Line(f"With an agent: {attending(question)}", _FAINT)
    if context := as_object(config.get("context")):
        written = orjson.dumps(context, option=orjson.OPT_INDENT_2)
        yield from _said("Context", written[:_MOST_BYTES].decode("utf-8", "replace"))


def _wanted(config: Object) -> Iterator[Line]:
    """What an agent wants to do, with nothing left out that we were told."""
    yield Line(f"Use {one_line(str(config.get('toolName') or 'a tool'))}", "bold")
    yield from tool_lines(config["toolInput"])
    yield from _warning(config)


def _warning(config: Object) -> Iterator[Line]:
    if config.get("truncated"):
        yield Line("This is not all of it: see the rest in its own terminal.", "bold $error")


def _choices(told: Object) -> Iterator[Line]:
    for line in lines(str(told.get("question", ""))):
        yield Line(line, "bold")
    if told.get("multiSelect"):
        yield Line("more than one can be chosen", _FAINT, _INDENT)
    for number, choice in enumerate(objects(told.get("options")), 1):
        yield Line(one_line(str(choice.get("label", ""))), "", f"  {number} ", "$primary")
        if choice.get("description"):
            yield Line(one_line(str(choice["description"])), _FAINT, "    ")


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
