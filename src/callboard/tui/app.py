"""`callboard board`: the list, the selection, and the display settings."""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import ClassVar, Final

from rich.cells import cell_len
from textual import on, work
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Container
from textual.content import Content
from textual.screen import Screen
from textual.widgets import Input, Static

from callboard.board.hook_backlog import HookBacklog
from callboard.clock import Clock
from callboard.events.moments import from_ms
from callboard.systems.sounds import OFF
from callboard.tui import alerts
from callboard.tui.actions import ActingApp
from callboard.tui.detail import Detail
from callboard.tui.dialog import AnswerDialog
from callboard.tui.interrupting import AT_WORK
from callboard.tui.key_bar import KeyBar
from callboard.tui.listing import Listing
from callboard.tui.rows import NEEDS, ORDERS, Row, counted, matches, ordered, summary
from callboard.tui.settings import SOUNDS, BoardSettings, read_settings, write_settings
from callboard.tui.source import Source
from callboard.tui.text import age, one_line
from callboard.tui.text_screen import TextScreen, help_text
from callboard.tui.themes import THEMES

_WIDE: Final = 150
"""Columns from which the panel is next to the list instead of below it."""
_LOW: Final = 16
"""Lines below which there is no room for the panel."""
_BEHIND_MS: Final = 2_000
"""Unread reports that are older than this are mentioned."""
_DWELL: Final = 0.5
"""Seconds after which a row that a person has moved to counts as seen."""


def head(counts: Sequence[int], settings: BoardSettings, where: str, width: int) -> Content:
    """The header: the title, the counts, and the display settings."""
    told = summary(counts) or "no agents"
    needs, _, rest = told.partition(" · ") if counts[NEEDS] else ("", "", told)
    left = [("Callboard  ", "bold"), (needs, "bold $needs")]
    left.append((f" · {rest}" if needs and rest else rest, "$foreground"))
    right = one_line(_ways(settings, where))
    space = width - 2 - sum(cell_len(text) for text, _ in left) - cell_len(right)
    if space < 2:
        return Content.assemble(*left)
    return Content.assemble(*left, " " * space, (right, "$faint"))


def _ways(settings: BoardSettings, where: str) -> str:
    ways = [f"by {settings.order}"] if settings.order != ORDERS[0] else []
    ways += ["with closed"] if settings.closed else []
    ways += ["sound"] if settings.sound != OFF else []
    ways += ["desktop"] if settings.desktop else []
    return " · ".join([*ways, where])


def warning(problem: str, since_ms: int, now_ms: int) -> Content:
    """A warning that the data may be outdated, since when, and why."""
    clock = from_ms(since_ms).astimezone().strftime("%H:%M")
    stale = f"Stale since {clock} ({age(since_ms, now_ms)}), reconnecting …  "
    return Content.assemble((stale, "bold"), one_line(problem))


def catching_up(backlog: HookBacklog, now_ms: int) -> Content:
    """A note that agents have reported more than is shown."""
    oldest = age(backlog.oldest_at or now_ms, now_ms)
    reports = "report" if backlog.hooks == 1 else "reports"
    return Content.assemble(
        ("Catching up.  ", "bold"),
        f"{backlog.hooks:,} {reports} from agents not shown yet; the oldest arrived {oldest} ago.",
    )


def nothing(*, loaded: bool, hidden: int) -> Content:
    """The text for an empty list."""
    if not loaded:
        return Content("Looking …")
    if hidden:
        return Content.assemble(
            ("Nothing to show.\n\n", "bold $foreground"),
            f"{hidden} hidden. Press c to show closed sessions, Escape to clear the filter.",
        )
    return Content.assemble(
        ("No agents yet.\n\n", "bold $foreground"),
        "Connect your coding agents:  callboard hooks install\n"
        "Then start one as usual; it appears here.\n\n"
        "To see a live board without any agent:  callboard demo board",
    )


_PARTS: Final = "#head, #warning, #filter, #empty, #main, #list, #detail"


class BoardApp(ActingApp):
    """The board. `where`: the server's name for people."""

    TITLE = "Callboard"
    CSS_PATH = "board.tcss"
    ENABLE_COMMAND_PALETTE = False
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("y", "rule(True)", "Yes"),
        Binding("n", "rule(False)", "No"),
        Binding("enter", "open", "Open"),
        Binding("s", "say", "Say"),
        Binding("h", "conversation", "History"),
        Binding("f", "files", "Files"),
        Binding("i", "interrupt", "Interrupt", show=False),
        Binding("t", "pane", "Terminal"),
        Binding("r", "resume", "Resume"),
        Binding("slash", "filter", "Filter", key_display="/"),
        Binding("question_mark", "help", "Help", key_display="?"),
        Binding("q,ctrl+c", "quit", "Quit", key_display="q"),
        Binding("o", "order", "Order"),
        Binding("n", "name", "Name"),  # If there is nothing to reject.
        Binding("p", "pin", "Pin"),
        Binding("d", "dismiss_plate", "Dismiss"),
        Binding("c", "closed", "Closed"),
        Binding("N", "name", "Name", show=False),
        Binding("m", "toggle_seen", "Seen", show=False),
        Binding("T", "theme", "Theme", show=False),
        Binding("b", "sound", "Sound", show=False),
        Binding("w", "desktop", "Desktop", show=False),
        Binding("ctrl+l", "look", "Refresh", show=False),
        Binding("escape", "all_rows", "All", show=False),
        *(Binding(str(n), f"number({n})", show=False) for n in range(1, 10)),
    ]

    def __init__(self, source: Source, clock: Clock, settings_file: Path, where: str = "") -> None:
        super().__init__(source, clock)
        self.settings = read_settings(settings_file)
        self._settings_file = settings_file
        self._where = where
        self._needs = alerts.Needs()
        self._held: Row | None = None
        self._head = Content("")
        for theme in THEMES.values():
            self.register_theme(theme)
        self.theme = self.settings.theme

    def compose(self) -> ComposeResult:
        """Header, list, panel, keys."""
        yield Static(id="head")
        yield Static(id="warning")
        yield Input(id="filter", placeholder="Filter rows")
        yield Static(id="empty")
        with Container(id="main"):
            yield Listing(self.clock, id="list")
            yield Detail(id="detail")
        yield KeyBar(compact=True, show_command_palette=False)

    def on_mount(self) -> None:
        """Start updating."""
        self._list.focus()
        self.show_changes()
        self.run_worker(self.mirror.run())
        self.set_interval(1.0, self._tick)

    # ------------------------------------------------------------------ showing

    @property
    def _base(self) -> Screen[object]:
        """The screen below all dialogs."""
        return self.screen_stack[0]

    @property
    def _list(self) -> Listing:
        return self._base.query_one("#list", Listing)

    @property
    def _sought(self) -> Input:
        return self._base.query_one("#filter", Input)

    @property
    def selected(self) -> Row | None:
        """The selected row."""
        # Read for each key on every change, so it must not search the whole screen.
        found = self._base.query_one_optional("#list", Listing) if self.screen_stack else None
        return None if found is None else found.selected

    def on_resize(self) -> None:
        """Put the panel where there is room."""
        main = self._base.query_one("#main")
        main.set_class(self.size.width >= _WIDE, "wide")
        main.set_class(self.size.height < _LOW, "low")

    def show_changes(self) -> None:
        """Show the current data."""
        if not self.is_running or not self._is_composed():
            return
        rows = self.mirror.rows
        if self.mirror.loaded:
            alerts.call(self._needs.new(rows), self.settings, self._needs.ended(rows))
        sought, closed = self._sought.value, self.settings.closed
        shown = [row for row in rows if (closed or not row.closed) and matches(row, sought)]
        self._list.show(ordered(shown, self.settings.order, self._held), self._held)
        self._show_head(rows)
        self._show_empty(shown, rows)
        self._show_detail()
        self._leave_what_is_over()
        self.refresh_bindings()

    def _is_composed(self) -> bool:
        """Whether all widgets exist: timers may fire before that, and during shutdown."""
        return bool(self.screen_stack) and len(self._base.query(_PARTS)) == _PARTS.count("#")

    def _tick(self) -> None:
        """Update ages every second."""
        if len(self.screen_stack) == 1 and self._is_composed():
            self._list.refresh()
            self._show_head(self.mirror.rows)
            self._show_detail()

    def _show_head(self, rows: list[Row]) -> None:
        counts = counted(rows)
        told = head(counts, self.settings, self._where, self.size.width)
        if told != self._head:
            self._head = told
            self._base.query_one("#head", Static).update(told)
        now, backlog = self.clock.now_ms(), self.mirror.backlog
        problem = self._base.query_one("#warning", Static)
        is_behind = backlog.age_ms(now) > _BEHIND_MS
        problem.display = self.mirror.stale_since is not None or is_behind
        if self.mirror.stale_since is not None:
            problem.update(warning(self.mirror.problem, self.mirror.stale_since, now))
        elif is_behind:
            problem.update(catching_up(backlog, now))

    def _show_empty(self, shown: list[Row], rows: list[Row]) -> None:
        empty = self._base.query_one("#empty", Static)
        empty.display = not shown
        self._base.query_one("#main").display = bool(shown)
        if not shown:
            empty.update(nothing(loaded=self.mirror.loaded, hidden=len(rows)))

    def _show_detail(self) -> None:
        detail = self._base.query_one("#detail", Detail)
        row = self.selected
        is_ours = row is not None and row.plate is not None and self.is_attachable(row.plate)
        detail.show(row, self.clock.now_ms(), self.led_up(row), attachable=is_ours)

    def _leave_what_is_over(self) -> None:
        """Close a dialog whose question was answered elsewhere."""
        top = self.screen
        if not isinstance(top, AnswerDialog) or not self.mirror.loaded:
            return
        if not self.mirror.is_open(top.question.id):
            top.dismiss(None)
            self.notify("Already answered: this question is no longer open.")

    # ------------------------------------------------------------------ selecting

    @on(Listing.Selected)
    def _on_selected(self, message: Listing.Selected) -> None:
        """Mark a row as seen when a person stays on it. Meanwhile, it keeps its place."""
        self._show_detail()
        self.refresh_bindings()
        if not message.by_person:
            return
        self._held = message.row
        self._dwell()

    @work(exclusive=True, group="dwelling")
    async def _dwell(self) -> None:
        await self.clock.sleep(_DWELL)
        self.mark_seen()

    @on(Listing.Opened)
    def _on_opened(self, message: Listing.Opened) -> None:
        self.action_open()

    # ------------------------------------------------------------------ keys

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """Which keys work on the selected row."""
        row, plate = self.selected, self.selected_plate
        match action:
            case "rule":
                return row is not None and (
                    row.wants_verdict or (row.question is not None and parameters == (False,))
                )
            case "open":
                return row is not None
            case "pane":
                return plate is not None and self.has_terminal(plate)
            case "resume":
                return row is not None and row.closed
            case "interrupt":
                return plate is not None and plate.status in AT_WORK
            case (
                "say" | "files" | "conversation" | "pin" | "dismiss_plate" | "name" | "toggle_seen"
            ):
                return plate is not None
            case _:
                return True

    def action_filter(self) -> None:
        """Start typing a filter."""
        field = self._sought
        field.add_class("shown")
        field.focus()

    @on(Input.Changed, "#filter")
    def _on_filter(self) -> None:
        self.show_changes()

    @on(Input.Submitted, "#filter")
    def _on_filtered(self) -> None:
        field = self._sought
        field.set_class(bool(field.value), "shown")
        self._list.focus()

    def action_all_rows(self) -> None:
        """Clear the filter."""
        field = self._sought
        field.value = ""
        field.remove_class("shown")
        self._list.focus()

    def action_order(self) -> None:
        """Switch to the next order."""
        self._set(replace(self.settings, order=_next(ORDERS, self.settings.order)))
        self._held = None
        self.show_changes()

    def action_closed(self) -> None:
        """Show or hide closed sessions."""
        self._set(replace(self.settings, closed=not self.settings.closed))
        self.show_changes()

    def action_theme(self) -> None:
        """Switch to the next theme."""
        self._set(replace(self.settings, theme=_next(tuple(THEMES), self.settings.theme)))
        self.theme = self.settings.theme
        self._list.refresh()

    def action_sound(self) -> None:
        """Switch sounds: off, the bell, or a tone for each state."""
        self._set(replace(self.settings, sound=_next(SOUNDS, self.settings.sound)))
        self.notify(f"Sound: {self.settings.sound}")

    def action_desktop(self) -> None:
        """Turn desktop notifications on or off."""
        self._set(replace(self.settings, desktop=not self.settings.desktop))
        self.notify(f"Desktop notifications: {'on' if self.settings.desktop else 'off'}")

    def action_look(self) -> None:
        """Refresh everything."""
        self.mirror.look_again()

    def action_help(self) -> None:
        """Show all keys."""
        self.push_screen(TextScreen(lambda width: help_text(), "Keys"))

    def _set(self, settings: BoardSettings) -> None:
        self.settings = settings
        write_settings(self._settings_file, settings)


def _next(of: tuple[str, ...], now: str) -> str:
    return of[(of.index(now) + 1) % len(of)] if now in of else of[0]
