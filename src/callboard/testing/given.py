"""Test a workflow on its own: given a history, when something happens, then these events follow.

No agents run, no one is asked, no time passes, and no event loop is needed. These tests cover what
the workflow does with outputs and answers: updates, guards, questions and routes.

>>> from callboard import Approval, Phase, Workflow
>>> from callboard.testing.commands import answer, output
>>> from callboard.testing.given import given
>>> letter = Workflow("letter", state=dict, phases=[
...     Phase("write", agent=lambda state: "...", next="review",
...           update=lambda state, output: state.update(text=output)),
...     Phase("review", human=Approval("Send it?"),
...           next=lambda state: "send" if state["approved"] else "write"),
...     Phase("send", terminal=True),
... ])
>>> waiting = (
...     given(letter)
...     .when(output("Dear all"))
...     .then("agent:completed", ..., ("input:requested", {"prompt": "Send it?"}))
... )
>>> waiting.status, waiting.state["text"]
('waiting', 'Dear all')

Histories are immutable, so you can reuse them:

>>> sent = waiting.when(answer("yes")).then(..., "workflow:completed")
>>> again = waiting.when(answer("no")).then(
...     "input:received", "state:intent", ("phase:exited", {"next": "write"}), ...
... )
>>> again.phase
'write'
"""

from typing import Any, Self

from callboard.engine.workflow import Workflow
from callboard.errors import CallboardError
from callboard.events.envelope import Event
from callboard.events.json_values import is_object
from callboard.events.status import Status
from callboard.testing.commands import Command
from callboard.testing.expectations import Expected, Named, check, contains, parts
from callboard.testing.stage import Stage


def given(workflow: Workflow, input: object = None) -> "Given":
    """A session of the workflow, just started with this input."""
    return Given(workflow, (lambda stage: stage.begin(input),))


class Given:
    """A session up to some point. Immutable: each step returns a new one."""

    def __init__(self, workflow: Workflow, steps: tuple[Command, ...]) -> None:
        self._workflow = workflow
        self._steps = steps

    def events(self, *history: Named) -> "Given":
        """Add events to the history: a name, or a name and a payload.

        Leave out what follows from the events before: `("phase:entered", {"phase": "review"})`,
        then `"input:requested"`. Whether the history is possible is not checked.
        """

        def do(stage: Stage) -> None:
            for name, payload in map(parts, history):
                stage.record(name, payload)

        return self._with(do)

    def having(self, **state: object) -> "Given":
        """Set fields of the state, as an update would."""

        def change(draft: object) -> None:
            for name, value in state.items():
                if is_object(draft):
                    draft[name] = value
                else:
                    setattr(draft, name, value)

        return self._with(
            lambda stage: stage.commit(
                lambda scene: scene.state.change(scene.batch, change, reason="given")
            )
        )

    def _with(self, step: Command) -> "Given":
        return Given(self._workflow, (*self._steps, step))

    def when(self, *commands: Command) -> "Then":
        """Let things happen one by one. The session continues after each.

        It first continues as far as its history allows; with no arguments, that is all that
        happens.
        """
        stage, steps = self._stage(), list(self._steps)
        refusal: CallboardError | None = None
        if commands:
            stage.go_on()
        before = stage.view.position
        try:
            for command in commands:
                command(stage)
                stage.go_on()
                steps += [Stage.go_on, command]
            stage.go_on()
        except CallboardError as error:
            refusal = error
        steps.append(Stage.go_on)
        return Then(self._workflow, tuple(steps), stage.events(before), refusal)

    def _stage(self) -> Stage:
        stage = Stage(self._workflow)
        for step in self._steps:
            step(stage)
        return stage

    @property
    def state(self) -> Any:
        """The state, as the workflow's own type."""
        return self._workflow.state_type.read(self._stage().view.state)

    @property
    def status(self) -> Status:
        """The session's status."""
        return self._stage().view.status

    @property
    def phase(self) -> str | None:
        """The current phase, or the last one."""
        return self._stage().view.phase


class Then(Given):
    """What followed. `then` and the other methods check it."""

    def __init__(
        self,
        workflow: Workflow,
        steps: tuple[Command, ...],
        followed: list[Event],
        refusal: CallboardError | None,
    ) -> None:
        super().__init__(workflow, steps)
        self.followed = followed
        """The events that followed."""
        self._refusal = refusal

    def then(self, *expected: Expected) -> Self:
        """Check that exactly these events followed, in this order.

        Each is a name, or a name and a payload of which only the given keys are compared; `...`
        matches any number of events.
        """
        if self._refusal is not None:
            raise AssertionError(f"It was refused: {self._refusal}") from self._refusal
        check(expected, self.followed)
        return self

    def then_refused(self, error: type[CallboardError], text: str = "") -> Self:
        """Check that it was refused with this error and text, and that nothing happened."""
        refusal = self._refusal
        if refusal is None:
            happened = ", ".join(event.name for event in self.followed) or "nothing"
            raise AssertionError(
                f"{error.__name__} was expected, but the command was accepted: {happened}."
            )
        if not isinstance(refusal, error) or text not in refusal.message:
            raise AssertionError(f"It was refused for another reason: {refusal!r}") from refusal
        return self

    def then_state(self, **wanted: object) -> Self:
        """Check that the state has these values, by their names in JSON."""
        state = self._stage().view.state
        for name, want in wanted.items():
            if not contains(state, {name: want}):
                raise AssertionError(f"{name} should be {want!r}; the state is {state!r}.")
        return self

    def then_status(self, status: Status) -> Self:
        """Check the session's status."""
        if self.status != status:
            raise AssertionError(f"The session should be {status}; it is {self.status}.")
        return self
