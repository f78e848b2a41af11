"""Yes or no, with the exact command in view, and a word to the agent if there is one to say."""

from collections.abc import Iterator
from typing import Any, ClassVar, Final

from textual.binding import Binding, BindingType
from textual.content import Content
from textual.widgets import Input

from callboard.display.characters import visible
from callboard.interactions.kinds import KINDS
from callboard.interactions.records import Interaction
from callboard.tui.asking import Answering
from callboard.tui.detail import asked
from callboard.tui.laying_out import BLANK, Line
from callboard.tui.wording import one_line
from callboard.vendors.rules import Rule, rules_of

_WORDS: Final = {
    "permission": ("Allow", "Refuse"),
    "plan": ("Approve the plan", "Send it back"),
}
_DOES: Final = "  Enter does it, Escape goes back"
_USUAL: Final = ("Approve", "Reject")


class RulingDialog(Answering):
    """One question that yes or no answers. Only Enter sends, and only after yes or no was said."""

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
        self._rules = rules_of(question.config) if question.type == "permission" else []
        kind = KINDS.get(question.type)
        self._remark = kind.remark if kind and kind.manner == "ruling" else None

    def on_mount(self) -> None:
        """Show it."""
        self._show()

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """Which keys work just now."""
        if action == "always":
            return self._verdict is True and bool(self._rules)
        if action == "send":
            return self._verdict is not None
        return True

    def action_say(self, yes: bool) -> None:
        """Say yes or no; it is not sent yet."""
        self._verdict, self._always = yes, False
        self._show()

    def action_always(self) -> None:
        """Make a rule of the yes, as the agent proposed; or not."""
        self._always = not self._always
        self._show()
        # What it would change stands on top, and nobody makes a rule that they did not see.
        self.query_one("#dialog-body").scroll_home(animate=False)

    def action_send(self) -> None:
        """Answer."""
        if self._verdict is not None:
            self.dismiss(self._value(self._verdict))

    def on_input_submitted(self, event: Input.Submitted) -> None:
        """Enter sends from the text as well."""
        self.action_send()

    def _value(self, verdict: bool) -> Any:
        if self._remark is None:
            return verdict
        value: dict[str, Any] = {"approved": verdict}
        said = self.field.value.strip() if self.field.display else ""
        if said:
            value[self._remark] = said
        return value | ({"always": True} if self._always else {})

    def _show(self) -> None:
        yes, no = _WORDS.get(self.question.type, _USUAL)
        agent = one_line(self._agent)
        match self._verdict:
            case True:
                said = f"{yes}, always" if self._always else yes
                title = [(f"{said}?", "bold $success"), (_DOES, "$faint")]
            case False:
                title = [(f"{no}?", "bold $error"), (_DOES, "$faint")]
            case None:
                title = [(f"{agent} asks", "bold $needs"), ("  y or n; Escape goes back", "$faint")]
        rules = _changes(self._rules, agent) if self._always else ()
        self.say(Content.assemble(*title), [*rules, *asked(self.question)])
        # An agent that may go on hears no word with it.
        if self._remark and self._verdict is False:
            self.ask_for_text(f"A word to {agent}, if you like")
        else:
            self.no_text()
        self.refresh_bindings()


def _changes(rules: list[Rule], agent: str) -> Iterator[Line]:
    """What "always" would change, to the letter."""
    yield Line(f"Written into the settings of {agent}, which then does not ask any more:", "bold")
    for rule in rules:
        yield Line(_exact(f"{rule.does} {rule.where}".strip()), "", "  ")
        yield from (Line(_exact(one), "bold $needs", "    ") for one in rule.exactly)
    yield BLANK


def _exact(text: str) -> str:
    return visible(text, keep="")
