"""Choices by number, one or several, or an answer in the person's own words."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar, Final

from textual import events
from textual.binding import Binding, BindingType
from textual.content import Content
from textual.widgets import Input

from callboard.display.lines import Line, collapsed
from callboard.display.questions import details_of, omitted_from, options_of, titled
from callboard.events.json_values import Object, as_object, objects
from callboard.interactions.kinds import manner_of
from callboard.interactions.records import Interaction
from callboard.tui.dialog import AnswerDialog, Decline
from callboard.tui.rows import way_of
from callboard.tui.text import StyledLine, lines, one_line

_OWN: Final = "Something else …"
_MOST_KEYS: Final = 9


@dataclass(frozen=True, slots=True)
class Ask:
    """One question: its options, whether several can be chosen, whether free text is allowed.

    options: labels, each with its description. title: the text to show.
    """

    text: str
    options: Sequence[tuple[str, Sequence[str]]]
    several: bool = False
    own: bool = True
    title: str = ""
    notices: Sequence[str] = ()


def asks_of(question: Interaction) -> list[Ask]:
    """The questions to answer; a coding agent may ask several at once."""
    if manner_of(question.type) != "answers":
        options = [(option, ()) for option in options_of(question)]
        own = question.other or way_of(question) == "text"
        return [Ask(question.prompt, options, own=own, title=question.prompt)]
    config = as_object(question.config)
    more = omitted_from(config, "question")
    return [_ask(one, more) for one in objects(config.get("questions"))]


def _ask(told: Object, more: Sequence[Line]) -> Ask:
    options = [
        (str(one.get("label", "")), [line.text for line in collapsed(details_of(one))])
        for one in objects(told.get("options"))
    ]
    return Ask(
        str(told.get("question", "")),
        options,
        several=bool(told.get("multiSelect")),
        title=titled(told),
        notices=[line.text for line in (*omitted_from(told, "option"), *more)],
    )


class ChoicesDialog(AnswerDialog):
    """Asks one question after the other; the last answer sends them all."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("up,k", "move(-1)", "Up", show=False),
        Binding("down,j", "move(1)", "Down", show=False),
        Binding("space", "choose", "Choose"),
        Binding("enter", "take", "Take"),
        Binding("backspace,left", "before", "Before"),
        Binding("n", "decline", "Decline"),
        Binding("ctrl+n", "decline", "Decline", show=False, priority=True),
    ]

    def __init__(self, question: Interaction, agent: str, at: int = 0) -> None:
        super().__init__(question)
        self._agent = one_line(agent)
        self._asks = asks_of(question)
        self._answers: list[object] = []
        self._cursor = at if self._asks and at < self._count() else 0
        self._chosen: set[int] = set()

    def on_mount(self) -> None:
        """Show the first question."""
        if not self._asks:
            self.dismiss(None)  # The client sent no question that we understand.
        else:
            self._show()

    @property
    def _ask(self) -> Ask:
        # After the last answer, the dialog still exists for a moment.
        return self._asks[min(len(self._answers), len(self._asks) - 1)]

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """Which keys work now."""
        if not self.is_composed:
            return action == "leave"
        if self.writes:
            return action in ("leave", "decline")
        if action == "choose":
            return self._ask.several
        if action == "before":
            return bool(self._answers)
        return True

    def on_key(self, event: events.Key) -> None:
        """A number selects that option, or toggles it if several can be chosen."""
        if not self.is_composed or self.writes or not event.key.isdecimal():
            return
        at = int(event.key) - 1
        if 0 <= at < self._count():
            event.stop()
            self._cursor = at
            if self._ask.several and at < len(self._ask.options):
                self.action_choose()
            else:
                self.action_take()

    def action_move(self, by: int) -> None:
        """Move to another option."""
        self._cursor = (self._cursor + by) % max(1, self._count())
        self._show()

    def action_choose(self) -> None:
        """Toggle an option if several can be chosen."""
        if self._cursor < len(self._ask.options):
            self._chosen ^= {self._cursor}
            self._show()

    def action_decline(self) -> None:
        """Decline to answer, with a reason."""
        self.dismiss(Decline())

    def action_before(self) -> None:
        """Go back to the previous question."""
        if self._answers:
            self._answers.pop()
            self._begin()

    def action_take(self) -> None:
        """Accept the selection, and continue."""
        ask = self._ask
        if self._cursor >= len(ask.options):
            return self.ask_for_text("Your answer")
        if not ask.several:
            return self._answered(ask.options[self._cursor][0])
        chosen = self._chosen_labels()
        return self._answered(chosen) if chosen else self.action_choose()

    def on_input_submitted(self, event: Input.Submitted) -> None:
        """Accept the text, in addition to the selection."""
        written = event.value.strip()
        if written:
            several = self._ask.several
            self._answered([*self._chosen_labels(), written] if several else written)

    def _chosen_labels(self) -> list[str]:
        return [self._ask.options[at][0] for at in sorted(self._chosen)]

    def action_leave(self) -> None:
        """Stop typing; otherwise leave without answering."""
        if self.writes and self._ask.options:
            self._show()
        else:
            self.dismiss(None)

    def _answered(self, answer: object) -> None:
        self._answers.append(answer)
        if len(self._answers) < len(self._asks):
            return self._begin()
        if manner_of(self.question.type) != "answers":
            self.dismiss(answer)
            return None
        texts = [ask.text for ask in self._asks]
        self.dismiss({"answers": dict(zip(texts, self._answers, strict=True))})
        return None

    def _begin(self) -> None:
        self._cursor, self._chosen = 0, set()
        self.field.value = ""
        self._show()

    def _count(self) -> int:
        return len(self._ask.options) + self._ask.own

    def _show(self) -> None:
        several = len(self._asks) > 1
        place = f"  {len(self._answers) + 1} of {len(self._asks)}" if several else ""
        how = "  a number, or space; then Enter" if self._ask.several else "  a number"
        title = [(f"{self._agent} asks{place}", "bold $needs"), (how, "$faint")]
        self.say(Content.assemble(*title), self._lines())
        if self._ask.options:
            self.no_text()
        else:
            self.ask_for_text("Your answer")
        self.refresh_bindings()

    def _lines(self) -> list[StyledLine]:
        found = [StyledLine(line, "bold") for line in lines(self._ask.title)]
        for at, (label, said) in enumerate(self._ask.options):
            found.append(self._option(at, one_line(label)))
            found += [StyledLine(line, "$faint", "     ") for line in said]
        found += [StyledLine(notice, "$needs", "   ") for notice in self._ask.notices]
        if self._ask.own and self._ask.options:
            found.append(self._option(len(self._ask.options), _OWN))
        return found

    def _option(self, at: int, label: str) -> StyledLine:
        pointer = "▸" if at == self._cursor else " "
        number = f"{at + 1}" if at < _MOST_KEYS else " "
        box = ""
        if self._ask.several and at < len(self._ask.options):
            box = "[x] " if at in self._chosen else "[ ] "
        look = "bold" if at == self._cursor else ""
        return StyledLine(f"{box}{label}", look, f" {pointer} {number} ", "$primary")
