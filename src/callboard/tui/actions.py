"""Actions on the selected row: answer it, go to its terminal, name it, dismiss it."""

from collections.abc import Awaitable, Sequence
from functools import partial

from textual.app import App, SuspendNotSupported

from callboard.board.plate import Plate
from callboard.clock import Clock
from callboard.display.receipts import ending, receipt
from callboard.errors import CallboardError, ConflictError
from callboard.interactions.excerpts import excerpt
from callboard.interactions.records import Interaction
from callboard.interactions.rulings import declined
from callboard.tui.changes import ChangesScreen
from callboard.tui.choices import ChoicesDialog
from callboard.tui.conversation import ConversationScreen
from callboard.tui.detail import told
from callboard.tui.dialog import AnswerDialog, Decline, NameDialog
from callboard.tui.interrupting import ask_to_interrupt
from callboard.tui.messages import MessagesScreen
from callboard.tui.mirror import Mirror
from callboard.tui.rows import Row, attending
from callboard.tui.source import PlateChanges, Source
from callboard.tui.terminals import (
    BackgroundTerminals,
    attach_here,
    folder_of,
    go_to,
    resume_command,
    run_here,
)
from callboard.tui.text import laid_out, one_line
from callboard.tui.text_screen import TextScreen
from callboard.tui.verdict_dialog import RulingDialog
from callboard.tui.whereabouts import ANSWERS_WAIT
from callboard.vendors.conversation import ConversationItem

_MOST_LED_UP = 100
_LONGEST = 300
"""Characters of a prompt in a notification, from its start and end."""


class ActingApp(App[None]):
    """An app with a selected row, and actions on it."""

    def __init__(self, source: Source, clock: Clock) -> None:
        super().__init__()
        self.source = source
        self.clock = clock
        self.mirror = Mirror(source, clock, self.show_changes, self.tell_receipt)
        self._sent: set[str] = set()
        self._terminals = BackgroundTerminals(clock)
        self._led_up: dict[str, list[ConversationItem]] = {}

    @property
    def selected(self) -> Row | None:
        """The selected row."""
        raise NotImplementedError

    @property
    def selected_plate(self) -> Plate | None:
        """The plate of that row; a workflow's question has none."""
        return self.selected.plate if self.selected is not None else None

    def show_changes(self) -> None:
        """Show the current data."""
        raise NotImplementedError

    def mark_seen(self) -> None:
        """Mark the selected plate as seen."""
        plate = self.selected_plate
        if plate is not None and plate.unseen:
            self._change(plate, {"seen": True})

    def led_up(self, row: Row | None) -> Sequence[ConversationItem]:
        """The messages that led to an agent's question, as soon as they are known."""
        question = None if row is None or row.plate is None else row.question
        if question is None:
            return ()
        known = self._led_up.get(question.id)
        if known is None:
            if len(self._led_up) >= _MOST_LED_UP:
                self._led_up.clear()
            self._led_up[question.id] = []
            self.run_worker(self._look_before(question))
        return known or ()

    async def _look_before(self, question: Interaction) -> None:
        found = await self.source.before(question)
        if found:
            self._led_up[question.id] = found
            self.show_changes()

    # ------------------------------------------------------------------ answering

    def action_open(self) -> None:
        """Open the row's question; without one, its details."""
        row = self.selected
        if row is None:
            return
        if row.question is None:
            about = told(row, self.clock.now_ms())
            self.push_screen(TextScreen(partial(laid_out, about)))
        elif row.wants_verdict:
            self._ask(row, RulingDialog(row.question, None, row.agent))
        elif row.has_choices:
            self._ask(row, ChoicesDialog(row.question, row.agent))
        else:
            self.notify(f"Decide with an agent: {attending(row.question)}", markup=False)
        self.mark_seen()

    def action_rule(self, yes: bool) -> None:
        """Approve, reject or decline; a dialog shows the details before it is sent."""
        row = self.selected
        if row is not None and row.question is not None and (row.wants_verdict or not yes):
            self._rule(row, row.question, yes)

    def _rule(self, row: Row, question: Interaction, yes: bool) -> None:
        try:
            declined(question, None)
        except CallboardError as error:
            return self._complain(error)
        return self._ask(row, RulingDialog(question, yes, row.agent))

    def action_number(self, number: int) -> None:
        """Open the question at that option; Enter selects it."""
        row = self.selected
        if row is not None and row.question is not None and row.has_choices:
            self._ask(row, ChoicesDialog(row.question, row.agent, number - 1))

    # ------------------------------------------------------------------ the plate itself

    def action_pin(self) -> None:
        """Pin or unpin it."""
        plate = self.selected_plate
        if plate is not None:
            self._change(plate, {"pinned": not plate.pinned})

    def action_toggle_seen(self) -> None:
        """Mark it as seen or unseen."""
        plate = self.selected_plate
        if plate is not None:
            self._change(plate, {"seen": plate.unseen})

    def action_dismiss_plate(self) -> None:
        """Dismiss it from the board."""
        row = self.selected
        if row is not None and row.plate is not None:
            self._change(row.plate, None)
            self.notify(f"Dismissed {row.title}.", markup=False)

    def action_name(self) -> None:
        """Give it a name."""
        row = self.selected
        if row is None or (plate := row.plate) is None:
            return

        def named(name: str | None) -> None:
            if name is not None:
                self._change(plate, {"name": name})

        self.push_screen(NameDialog(row.title, plate.name or ""), named)

    def action_conversation(self) -> None:
        """Show what it did."""
        row = self.selected
        if row is not None and row.plate is not None:
            self.push_screen(ConversationScreen(self.source, row.plate, row.title, self.clock))
            self.mark_seen()

    def action_say(self) -> None:
        """Write to it."""
        row = self.selected
        if row is not None and row.plate is not None:
            self.push_screen(MessagesScreen(self.source, row.plate, row.title, self.clock))
            self.mark_seen()

    def action_files(self) -> None:
        """Show what it changed."""
        row = self.selected
        if row is not None and row.plate is not None:
            self.push_screen(ChangesScreen(self.source, row.plate, row.title, self.clock))
            self.mark_seen()

    def action_interrupt(self) -> None:
        """Stop its turn."""
        row = self.selected
        if row is not None and row.plate is not None:
            ask_to_interrupt(self, self.source, row.plate, row.title)

    def has_terminal(self, plate: Plate) -> bool:
        """Whether `t` leads anywhere."""
        return bool(plate.tmux_target) or self.is_attachable(plate)

    def is_attachable(self, plate: Plate) -> bool:
        """Whether it runs in a terminal of Callboard on this machine."""
        return self._terminals.runs(plate)

    def action_pane(self) -> None:
        """Go to its tmux pane, or attach to its own terminal."""
        plate = self.selected_plate
        if plate is None:
            return
        try:
            if plate.tmux_target:
                go_to(plate.tmux_target)
            else:
                with self.suspend():
                    said = attach_here(plate)
                self.notify(said, markup=False)
        except CallboardError as error:
            self._complain(error)
        except SuspendNotSupported:
            self.notify("This terminal cannot run another program.", severity="warning")
        self.refresh()

    def action_resume(self) -> None:
        """Resume a closed session in this terminal; the board returns afterwards."""
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
            self.notify("This terminal cannot run another program.", severity="warning")
        self.refresh()
        self.mirror.look_again()

    def _ask(self, row: Row, dialog: AnswerDialog) -> None:
        question = dialog.question
        if question.id in self._sent:
            return self.notify("That answer is being sent.")

        def decided(value: object) -> None:
            if isinstance(value, Decline) and not value.sent:
                self._rule(row, question, False)
            elif value is not None:
                self._answer(question, value)

        self.push_screen(dialog, decided)
        if row.place.is_lost:
            said = f"{row.place.name} is unreachable. {ANSWERS_WAIT}"
            self.notify(said, severity="warning", markup=False)
        return None

    def _answer(self, question: Interaction, value: object) -> None:
        self._sent.add(question.id)

        async def send() -> None:
            try:
                done = await self.source.answer(question, value)
            finally:
                self._sent.discard(question.id)
            self.mirror.note(done)
            if done.from_hook:
                self.tell_receipt(done)
            else:
                self._confirm(done, f"Answered: {one_line(ending(done))}")

        self._do(send())

    def tell_receipt(self, done: Interaction) -> None:
        """Show the receipt of an answer to a coding agent."""
        said = receipt(done, f"callboard inbox {done.id}")
        self._confirm(done, said, trouble=done.receipt in ("overruled", "lost"))

    def _confirm(self, done: Interaction, said: str, *, trouble: bool = False) -> None:
        """Show what happened to an answer, with the question: the command, including its end."""
        told = f"{excerpt(one_line(done.prompt), _LONGEST)}\n{said}"
        self.notify(told, severity="error" if trouble else "information", markup=False)

    def _change(self, plate: Plate, changes: PlateChanges | None) -> None:
        """Change a plate; without changes, dismiss it."""
        self._do(self.source.change(plate.plate_id, changes))

    def _do(self, what: Awaitable[None]) -> None:
        async def doing() -> None:
            try:
                await what
            except CallboardError as error:
                self._complain(error)
            self.mirror.look_again()

        self.run_worker(doing())

    def _complain(self, error: CallboardError) -> None:
        if isinstance(error, ConflictError):
            told = one_line(f"Already answered. {error}")
            self.notify(told, severity="warning", markup=False)
        else:
            self.notify(one_line(str(error)), severity="error", markup=False)
