"""What a person does with the row that is selected: answer it, go there, name it, dismiss it."""

from collections.abc import Awaitable, Callable, Mapping
from typing import Any

from textual.app import App, SuspendNotSupported

from callboard.clock import Clock
from callboard.display.receipts import receipt
from callboard.errors import CallboardError, ConflictError
from callboard.interactions.declining import declined
from callboard.interactions.records import Interaction
from callboard.tui.asking import Answering, Decline
from callboard.tui.choosing import ChoicesDialog
from callboard.tui.naming import NameDialog
from callboard.tui.panes import go_to
from callboard.tui.resuming import folder_of, resume_command, run_here
from callboard.tui.rows import Row
from callboard.tui.ruling import RulingDialog
from callboard.tui.source import Source
from callboard.tui.ways import attending
from callboard.tui.whole import WholeScreen
from callboard.tui.wording import one_line

_LONGEST = 80
"""Of a prompt, in a notification."""


class ActingApp(App[None]):
    """An app with a row that is selected, and the deeds that it can be asked for."""

    def __init__(self, source: Source, clock: Clock) -> None:
        super().__init__()
        self.source = source
        self.clock = clock
        self._sent: set[str] = set()

    @property
    def selected(self) -> Row | None:
        """The row that is selected."""
        raise NotImplementedError

    def look_again(self) -> None:
        """Look at the server: something was done there."""
        raise NotImplementedError

    def mark_seen(self) -> None:
        """Mark the selected plate as seen."""
        row = self.selected
        if row is not None and row.plate is not None and row.unseen:
            self.change_plate(row, {"seen": True})

    # ------------------------------------------------------------------ answering

    def action_open(self) -> None:
        """Open the question of the row; without one, all about it."""
        row = self.selected
        if row is None:
            return
        if row.question is None:
            self.push_screen(WholeScreen(row, self.clock.now_ms()))
        elif row.wants_verdict:
            self._ask(row, RulingDialog(row.question, None, row.agent))
        elif row.has_choices:
            self._ask(row, ChoicesDialog(row.question, row.agent))
        else:
            self.notify(f"Decide it with an agent: {attending(row.question)}", markup=False)
        self.mark_seen()

    def action_rule(self, yes: bool) -> None:
        """Say yes or no, or decline to answer; what exactly, is shown before it is sent."""
        row = self.selected
        if row is None or row.question is None or (yes and not row.wants_verdict):
            return None
        try:
            declined(row.question, None)
        except CallboardError as error:
            return self._complain(error)
        return self._ask(row, RulingDialog(row.question, yes, row.agent))

    def action_number(self, number: int) -> None:
        """Open the question at that option; Enter takes it."""
        row = self.selected
        if row is not None and row.question is not None and row.has_choices:
            self._ask(row, ChoicesDialog(row.question, row.agent, number - 1))

    # ------------------------------------------------------------------ the plate itself

    def action_pin(self) -> None:
        """Pin it, or not."""
        row = self.selected
        if row is not None and row.plate is not None:
            self.change_plate(row, {"pinned": not row.pinned})

    def action_dismiss_plate(self) -> None:
        """Take it off the board."""
        row = self.selected
        if row is not None and row.plate is not None:
            self.change_plate(row, None)
            self.notify(f"Dismissed {row.title}.", markup=False)

    def action_name(self) -> None:
        """Give it a name."""
        row = self.selected
        if row is None or row.plate is None:
            return

        def named(name: str | None) -> None:
            if name is not None:
                self.change_plate(row, {"name": name})

        self.push_screen(NameDialog(row), named)

    def action_pane(self) -> None:
        """Go to its tmux pane."""
        row = self.selected
        if row is None or row.plate is None:
            return
        try:
            go_to(str(row.plate.get("tmuxTarget") or ""))
        except CallboardError as error:
            self._complain(error)

    def action_resume(self) -> None:
        """Resume a closed session in this terminal; the board comes back after it."""
        row = self.selected
        if row is None or row.plate is None or not row.closed:
            return
        try:
            command, folder = resume_command(row.plate), folder_of(row.plate)
            with self.suspend():
                run_here(command, folder)
        except CallboardError as error:
            self._complain(error)
        except SuspendNotSupported:
            self.notify("This terminal cannot be lent to another program.", severity="warning")
        self.refresh()
        self.look_again()

    def _ask(self, row: Row, dialog: Answering) -> None:
        question = dialog.question
        if question.id in self._sent:
            return self.notify("That answer is on its way.")

        def decided(value: Any) -> None:
            if isinstance(value, Decline) and not value.sent:
                self.action_rule(False)
            elif value is not None:
                self._answer(row, question, value)

        self.push_screen(dialog, decided)
        return None

    def _answer(self, row: Row, question: Interaction, value: Any) -> None:
        self._sent.add(question.id)

        async def send() -> None:
            try:
                done = await self.source.answer(question, value)
            finally:
                self._sent.discard(question.id)
            self.answered(done)
            if done.from_hook:
                self.tell_receipt(done)
            else:
                self.notify(f"Answered {row.title}.", markup=False)

        self._do(send)

    def answered(self, done: Interaction) -> None:
        """Remember an answer that was given here."""
        raise NotImplementedError

    def tell_receipt(self, done: Interaction) -> None:
        """Say what became of an answer to a coding agent."""
        said = receipt(done, f"callboard inbox {done.id}")
        trouble = done.receipt in ("overruled", "lost")
        told = f"{one_line(done.prompt)[:_LONGEST]}\n{said}"
        self.notify(told, severity="error" if trouble else "information", markup=False)

    def change_plate(self, row: Row, changes: Mapping[str, Any] | None) -> None:
        """Change something of a plate; without changes, dismiss it."""
        plate_id = str((row.plate or {})["plateId"])

        async def change() -> None:
            await self.source.change(plate_id, changes)

        self._do(change)

    def _do(self, what: Callable[[], Awaitable[None]]) -> None:
        async def doing() -> None:
            try:
                await what()
            except CallboardError as error:
                self._complain(error)
            self.look_again()

        self.run_worker(doing())

    def _complain(self, error: CallboardError) -> None:
        if isinstance(error, ConflictError):
            self.notify(f"Already answered. {error}", severity="warning", markup=False)
        else:
            self.notify(str(error), severity="error", markup=False)
