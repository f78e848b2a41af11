"""What performing a decision may use, and how users' functions are called."""

from collections.abc import Callable
from typing import Literal, NamedTuple, TypeVar

from callboard.drafts.patch import Patch
from callboard.engine.batch import Batch, LiveState
from callboard.engine.context import PhaseContext
from callboard.engine.phase import Step
from callboard.engine.workflow import Workflow
from callboard.state.visits import Visit, run_key

R = TypeVar("R")
Changes = dict[str, list[Patch]]


class Scene(NamedTuple):
    """Everything that performing a decision may use."""

    workflow: Workflow
    batch: Batch
    state: LiveState
    changed: Changes
    """What each `before` and `after` changed since the last commit."""

    @property
    def visit(self) -> Visit:
        """The current visit."""
        visit = self.batch.view.visit
        assert visit is not None
        return visit

    @property
    def step(self) -> Step:
        """The current phase."""
        return self.workflow.steps[self.visit.phase]


class FunctionFailed(Exception):
    """A user's function raised, or returned something invalid."""

    def __init__(self, what: str, error: Exception) -> None:
        self.what = what
        self.error = error


def call(what: str, function: Callable[..., R], *arguments: object) -> R:
    """Call a user's function; FunctionFailed says which one raised."""
    try:
        return function(*arguments)
    except Exception as error:
        raise FunctionFailed(what, error) from error


def run_before(scene: Scene) -> None:
    """Run `before` on the state, unless it already ran."""
    function = scene.step.before
    if function is not None and not scene.visit.before_done:
        _change_once(scene, "before", function)


def run_after(scene: Scene, output: object) -> None:
    """Run `after` on the state, unless it already ran."""
    function = scene.step.after
    if function is not None and not scene.visit.after_done:
        _change_once(scene, "after", function, output)


def _change_once(
    scene: Scene, which: Literal["before", "after"], function: Callable[..., object], *given: object
) -> None:
    """Record what a function changes, even if that is nothing, so that it does not run again.

    If a batch is built again after a conflict, the same change is recorded without calling the
    function.
    """
    visit, view = scene.visit, scene.batch.view
    place = f"{run_key(visit.phase, visit.number)}:{which}"
    if place in scene.changed:
        scene.state.repeat(scene.batch, scene.changed[place], reason=which)
        return
    ctx = PhaseContext(view.session_id, scene.workflow.name, visit.phase, visit.number, which)

    def change(draft: object) -> None:
        function(draft, *given, ctx)

    def record() -> None:
        patches = scene.state.change(scene.batch, change, reason=which, always=True)
        scene.changed[place] = patches

    call(f"{which} of phase {visit.phase!r}", record)
