"""What one agent changed, on the whole screen: files, a diff, and comments on its lines."""

from collections.abc import Coroutine, Sequence
from typing import ClassVar, Final, cast

from textual import on
from textual.app import App, ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Container
from textual.content import Content
from textual.screen import ModalScreen
from textual.widgets import Input, OptionList, Static
from textual.widgets.option_list import Option

from callboard.board.plate import Plate
from callboard.clock import Clock
from callboard.display.amounts import counted
from callboard.display.lines import one_line
from callboard.errors import CallboardError
from callboard.tui.diff_view import DiffView, place_of
from callboard.tui.key_bar import KeyBar
from callboard.tui.messages import MessagesScreen
from callboard.tui.source import Source
from callboard.tui.text import age
from callboard.worktree.changes import (
    ChangedFile,
    FileChanges,
    FileStatus,
    LineComment,
    WorktreeChanges,
)
from callboard.worktree.summaries import (
    branch_line,
    checks_line,
    compared,
    notes_on,
    pull_request_line,
    unfinished,
)

_WIDE: Final = 110
"""Columns from which the diff is next to the files."""
_STARTS: Final = ("session", "turn", "commit")
_LOOKS: Final[dict[FileStatus, str]] = {
    "added": "$success",
    "deleted": "$error",
    "conflicted": "bold $error",
}
_LONGEST: Final = 10_000


class ChangesScreen(ModalScreen[None]):
    """The files that differ. Enter opens a diff; `c` comments on a line of it."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("j,down", "file(1)", "Next file", show=False),
        Binding("k,up", "file(-1)", "Previous file", show=False),
        Binding("n", "file(1)", "Next file"),
        Binding("N", "file(-1)", "Previous file", show=False),
        Binding("c", "comment", "Comment"),
        Binding("u", "uncomment", "Remove comment"),
        Binding("s", "send", "Send comments"),
        Binding("x", "send_check", "Send failed check"),
        Binding("o", "since", "Compare with"),
        Binding("ctrl+l", "look", "Reload"),
        Binding("escape,q", "leave", "Back", key_display="Esc"),
    ]

    def __init__(self, source: Source, plate: Plate, title: str, clock: Clock) -> None:
        super().__init__()
        self._source = source
        self._plate = plate
        self._whose = title
        self._clock = clock
        self._since = _STARTS[0]
        self._told: WorktreeChanges | None = None
        self._diff: FileChanges | None = None
        self._problem = ""

    def compose(self) -> ComposeResult:
        """A title, the branch, the files and a diff, a field for a comment, and the keys."""
        yield Static(id="talk-title")
        yield Static(id="changes-about")
        with Container(id="changes"):
            yield OptionList(id="files", markup=False)
            yield DiffView(id="diff")
        yield Input(id="talk-search", placeholder="Comment on this line", max_length=_LONGEST)
        yield KeyBar(compact=True, show_command_palette=False)

    def on_mount(self) -> None:
        """Start reading."""
        self._files.focus()
        self._show()
        self.action_look()

    def on_resize(self) -> None:
        """Put the diff where there is room."""
        self.query_one("#changes").set_class(self.size.width >= _WIDE, "wide")

    @property
    def _files(self) -> OptionList:
        return self.query_one("#files", OptionList)

    @property
    def _view(self) -> DiffView:
        return self.query_one("#diff", DiffView)

    @property
    def _field(self) -> Input:
        return self.query_one("#talk-search", Input)

    @property
    def _is_wide(self) -> bool:
        return self.query_one("#changes").has_class("wide")

    @property
    def _is_reading(self) -> bool:
        return self.query_one("#changes").has_class("reading")

    @property
    def _terminal(self) -> App[None]:
        return cast("App[None]", self.app)  # pyright: ignore[reportUnknownMemberType]

    @property
    def _listed(self) -> Sequence[ChangedFile]:
        return () if self._told is None else self._told.files

    @property
    def _comments(self) -> list[LineComment]:
        return self._source.drafts.comments.setdefault(self._plate.plate_id, [])

    # ------------------------------------------------------------------ reading

    def action_look(self) -> None:
        """Read everything again."""
        self._do(self._look(), group="list")

    async def _look(self) -> None:
        self._problem = ""
        try:
            self._told = await self._source.changed_files(self._plate.plate_id, self._since)
        except CallboardError as error:
            self._problem = error.message
        if self.query("#files"):
            self._list_files()
            self._show()

    def _list_files(self) -> None:
        shown, at = self._files, self._files.highlighted
        known = None if at is None else shown.get_option_at_index(at).id
        shown.set_options(
            Option(_row(one), id=f"f{index}") for index, one in enumerate(self._listed)
        )
        if self._listed:
            shown.highlighted = min(int((known or "f0")[1:]), len(self._listed) - 1)
            if self._is_wide or self._is_reading:
                self._open()

    @on(OptionList.OptionHighlighted)
    def _on_highlighted(self) -> None:
        if self._is_wide or self._is_reading:
            self._open()

    @on(OptionList.OptionSelected)
    def _on_opened(self) -> None:
        self.query_one("#changes").add_class("reading")
        self._view.focus()
        self._open()
        self.refresh_bindings()

    def _open(self) -> None:
        at = self._files.highlighted
        if at is not None and at < len(self._listed):
            self._do(self._read(self._listed[at]), group="diff")

    async def _read(self, file: ChangedFile) -> None:
        self._diff = await self._source.diff(self._plate.plate_id, file, self._since)
        self._show_diff()

    # ------------------------------------------------------------------ showing

    def _show(self) -> None:
        told = self._told
        count = "reading …" if told is None else counted(len(told.files) + told.more, "file")
        said = one_line(self._problem) if self._problem else count
        if self._comments:
            said += f" · {counted(len(self._comments), 'comment')} not sent"
        title = Content.assemble((one_line(self._whose), "bold"), "  ", (said, "$faint"))
        self.query_one("#talk-title", Static).update(title)
        self.query_one("#changes-about", Static).update(self._about())
        self.refresh_bindings()

    def _about(self) -> Content:
        told = self._told
        if told is None:
            return Content("")
        at, now_ms = told.base.at, self._clock.now_ms()
        when = None if at is None else f"{age(at, now_ms)} ago"
        parts = [(f"{branch_line(told)} ", "bold"), (compared(told.base, when), "$faint")]
        if note := unfinished(told):
            parts.append((f"\n{note}", "$needs"))
        if told.base.note:
            parts.append((f"\n{one_line(told.base.note)}", "$needs"))
        if told.pull_request is not None:
            chip = told.pull_request
            is_red = any(one.state == "failed" for one in chip.checks)
            parts.append((f"\n{pull_request_line(chip)}  ", "$faint"))
            parts.append((checks_line(chip), "bold $error" if is_red else "$faint"))
        if not told.files:
            parts.append(("\nNo files changed.", ""))
        return Content.assemble(*parts)

    def _show_diff(self) -> None:
        if self._diff is None or not self.query("#diff"):
            return
        notes: dict[tuple[str, int], list[str]] = {}
        for one in self._comments:
            if one.path == self._diff.file.path:
                notes.setdefault((one.side, one.line), []).append(one.text)
        self._view.show(self._diff, notes)

    # ------------------------------------------------------------------ keys

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """Which keys work at the moment."""
        if not self.query("#diff"):
            return action == "leave"
        match action:
            case "comment" | "uncomment":
                return self._view.has_focus and (action == "comment" or self._here() is not None)
            case "send":
                return bool(self._comments)
            case "send_check":
                return self._failed_check() is not None
            case _:
                return True

    def action_file(self, by: int) -> None:
        """Go to the next or the previous file."""
        at = self._files.highlighted
        if at is not None and 0 <= at + by < len(self._listed):
            self._files.highlighted = at + by

    def action_since(self) -> None:
        """Compare with the start of the session, of the last turn, or with the last commit."""
        at = _STARTS.index(self._since) + 1
        self._since = _STARTS[at % len(_STARTS)]
        self.action_look()

    def action_leave(self) -> None:
        """Leave the field, the diff, or the screen. Comments are kept."""
        if self._field.has_focus:
            self._stop_writing()
        elif self._view.has_focus:
            self.query_one("#changes").remove_class("reading")
            self._files.focus()
            self.refresh_bindings()
        else:
            self.dismiss(None)

    # ------------------------------------------------------------------ comments

    def _here(self) -> LineComment | None:
        """The last comment on the selected line."""
        line = self._view.selected
        if line is None or self._diff is None:
            return None
        path, place = self._diff.file.path, place_of(line)
        found = [one for one in self._comments if (one.path, (one.side, one.line)) == (path, place)]
        return found[-1] if found else None

    def action_comment(self) -> None:
        """Write a comment on the selected line."""
        if self._view.selected is not None:
            self._field.add_class("shown")
            self._field.focus()

    @on(Input.Submitted, "#talk-search")
    def _on_comment(self, event: Input.Submitted) -> None:
        line, text = self._view.selected, event.value.strip()
        if line is not None and self._diff is not None and text:
            side, number = place_of(line)
            path = self._diff.file.path
            self._comments.append(
                LineComment(path, "old" if side == "old" else "new", number, text, line.text)
            )
        self._stop_writing()

    def _stop_writing(self) -> None:
        self._field.value = ""
        self._field.remove_class("shown")
        self._view.focus()
        self._show_diff()
        self._show()

    def action_uncomment(self) -> None:
        """Remove the last comment on the selected line."""
        if (one := self._here()) is not None:
            self._comments.remove(one)
            self._show_diff()
            self._show()

    def action_send(self) -> None:
        """Write all comments into one message, which the person then sends."""
        self._do(self._compose_message(), group="send")

    async def _compose_message(self) -> None:
        made = await self._source.comment_message(self._plate.plate_id, self._comments, self._since)
        outdated = sum(one.outdated for one in made.comments)
        if outdated:
            said = f"{outdated} of these lines have changed since. The message says so."
            self.notify(said, severity="warning", markup=False)
        self._write(made.text, comments=True)

    def _failed_check(self) -> str | None:
        pull_request = None if self._told is None else self._told.pull_request
        checks = () if pull_request is None else pull_request.checks
        found = (one.message for one in checks if one.state == "failed" and one.message)
        return next(found, None)

    def action_send_check(self) -> None:
        """Write to the agent about the first check that failed."""
        if (message := self._failed_check()) is not None:
            self._write(message)

    def _write(self, draft: str, *, comments: bool = False) -> None:
        def sent(was_sent: bool | None) -> None:
            if was_sent and comments:
                self._comments.clear()
            self._show_diff()
            self._show()

        screen = MessagesScreen(self._source, self._plate, self._whose, self._clock, draft)
        self._terminal.push_screen(screen, sent)

    def _do(self, what: Coroutine[object, object, None], group: str) -> None:
        async def doing() -> None:
            try:
                await what
            except CallboardError as error:
                self.notify(one_line(error.message), severity="error", markup=False)

        self.run_worker(doing(), group=group, exclusive=True)


def _row(file: ChangedFile) -> Content:
    old = "" if file.old_path is None else f"{one_line(file.old_path)} → "
    parts = [(old + one_line(file.path), _LOOKS.get(file.status, ""))]
    if file.added is not None:
        parts += [(f"  +{file.added}", "$success"), (f" -{file.removed}", "$error")]
    status = () if file.status == "modified" else (file.status.replace("_", " "),)
    about = ", ".join([*status, *notes_on(file)])
    return Content.assemble(*parts, (f"  {about}", "$faint"))
