"""Yes or no, with the exact command in view, and a message to the agent with a no."""

from collections.abc import Iterator
from typing import ClassVar, Final

from textual.binding import Binding, BindingType
from textual.content import Content
from textual.widgets import Input, Static

from callboard.display.lines import visible
from callboard.interactions.kinds import KINDS
from callboard.interactions.records import Interaction
from callboard.tui.detail import asked
from callboard.tui.dialog import AnswerDialog, Decline
from callboard.tui.rows import way_of
from callboard.tui.text import BLANK, StyledLine, one_line
from callboard.vendors.rules import Rule, rules_of

_WORDS: Final = {
    "permission": ("Allow", "Deny"),
    "plan": ("Approve the plan", "Send it back"),
}
_USUAL: Final = ("Approve", "Reject")
_DECLINE: Final = ("", "Decline to answer")
_SENDS: Final = "  Enter: confirm · Esc: cancel"
_UNREAD: Final = "  Scroll to the end first (End key) · Esc: cancel"


class RulingDialog(AnswerDialog):
    """A question that is answered with yes or no. Only Enter sends, and only after yes or no.

    A yes can be sent only once the end of the text has been visible. If a person types faster than
    the text is drawn, it is sent if the whole text fits once it is drawn.
    """

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("y", "say(True)", "Yes"),
        Binding("n", "say(False)", "No"),
        Binding("a", "always", "Always"),
        Binding("enter", "send", "Send"),
    ]

    def __init__(self, question: Interaction, verdict: bool | None, agent: str) -> None:
        super().__init__(question)
        self._verdict = verdict
        self._agent = agent
        self._always = False
        self._seen = False
        self._drawn = False
        self._sends_when_drawn = False
        self._takes_yes = way_of(question) in ("verdict", "ruling")
        self._rules = rules_of(question.config) if question.type == "permission" else []
        kind = KINDS.get(question.type)
        self._remark = kind.remark if kind and kind.manner == "ruling" else None

    def on_mount(self) -> None:
        """Show it, and detect when a person has scrolled to the end."""
        self.watch(self.query_one("#dialog-body"), "scroll_y", self.drawn, init=False)
        self._show()

    def drawn(self) -> None:
        """Check whether the end has been visible."""
        if not self.is_running or not self.is_laid_out:
            return
        if not self._seen and self.is_at_end:
            self._seen = True
            self._show_title()
        first, self._drawn = not self._drawn, True
        if first and self._sends_when_drawn:
            self.action_send()

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """Which keys work now."""
        match action:
            case "always":
                return self._verdict is True and bool(self._rules)
            case "say":
                return self._takes_yes or parameters == (False,)
            case "send":
                return self._verdict is False or (self._verdict is True and not self._is_unread)
            case _:
                return True

    def action_say(self, yes: bool) -> None:
        """Choose yes or no, without sending it."""
        self._verdict, self._always = yes, False
        self._show()

    def action_always(self) -> None:
        """Turn "always", the rule that the agent proposed, on or off."""
        self._always = not self._always
        # The changes are at the top, and have to be read as well.
        self._seen = False
        self._show()
        self.query_one("#dialog-body").scroll_home(animate=False)

    def action_send(self) -> None:
        """Send the answer."""
        if self._verdict is False or (self._verdict and self._seen):
            self.dismiss(self._value(self._verdict))
        else:
            self._sends_when_drawn = self._verdict is True and not self._drawn

    @property
    def _is_unread(self) -> bool:
        """Whether there is text that hasn't been visible."""
        return self._drawn and not self._seen

    def on_input_submitted(self, event: Input.Submitted) -> None:
        """Enter also sends from the text field."""
        self.action_send()

    def _value(self, verdict: bool) -> object:
        said = self.field.value.strip() if self.field.display else ""
        if not self._takes_yes or (self._remark is None and said):
            return Decline(said or None, sent=True)
        if self._remark is None:
            return verdict
        value: dict[str, object] = {"approved": verdict}
        if said:
            value[self._remark] = said
        return value | ({"always": True} if self._always else {})

    def _show(self) -> None:
        agent = one_line(self._agent)
        rules = _changes(self._rules, agent) if self._always else ()
        self.say(self._title(), [*rules, *asked(self.question)])
        # An agent that may continue gets no message.
        if self._verdict is False:
            self.ask_for_text(f"A message to {agent} (optional)")
        else:
            self.no_text()
        self.refresh_bindings()

    def _show_title(self) -> None:
        self.query_one("#dialog-title", Static).update(self._title())
        self.refresh_bindings()

    def _title(self) -> Content:
        usual = _WORDS.get(self.question.type, _USUAL)
        yes, no = usual if self._takes_yes else _DECLINE
        match self._verdict:
            case True:
                said = f"{yes}, always" if self._always else yes
                then = (_SENDS, "$faint") if self._seen else (_UNREAD, "bold $needs")
                return Content.assemble((f"{said}?", "bold $success"), then)
            case False:
                return Content.assemble((f"{no}?", "bold $error"), (_SENDS, "$faint"))
            case None:
                asks = f"{one_line(self._agent)} asks"
                return Content.assemble((asks, "bold $needs"), ("  y or n · Esc: cancel", "$faint"))


def _changes(rules: list[Rule], agent: str) -> Iterator[StyledLine]:
    """Exactly what "always" would change."""
    yield StyledLine(f"Added to the settings of {agent}, so that it no longer asks:", "bold")
    for rule in rules:
        yield StyledLine(_exact(f"{rule.does} {rule.where}".strip()), "", "  ")
        yield from (StyledLine(_exact(one), "bold $needs", "    ") for one in rule.exactly)
    yield BLANK


def _exact(text: str) -> str:
    return visible(text, keep="")
