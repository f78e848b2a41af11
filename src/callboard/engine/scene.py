"""What performing a decision may touch, and how users' functions are called there."""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Literal, TypeVar

from callboard.drafts.patch import Patch
from callboard.engine.batch import Batch, LiveState
from callboard.engine.context import PhaseContext
from callboard.engine.phase import Step
from callboard.engine.workflow import Workflow
from callboard.state.visits import Visit, run_key

R = TypeVar("R")
Changes = dict[str, list[Patch]]


@dataclass(frozen=True, slots=True)
class Scene:
    """Everything that performing a decision may touch."""

    workflow: Workflow
    batch: Batch
    state: LiveState
    changed: Changes = field(default_factory=Changes)
    """What each `before` and `after` changed that was called since the last commit."""

    @property
    def visit(self) -> Visit:
        """The visit that the session is in."""
        visit = self.batch.view.visit
        assert visit is not None
        return visit

    @property
    def step(self) -> Step:
        """The phase that the session is in."""
        return self.workflow.steps[self.visit.phase]


class FunctionFailed(Exception):
    """A user's function raised, or gave what it must not."""

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
    """Let `before` change the state, unless it has."""
    function = scene.step.before
    if function is not None and not scene.visit.before_done:
        _change_once(scene, "before", function)


def run_after(scene: Scene, output: object) -> None:
    """Let `after` change the state, unless it has."""
    function = scene.step.after
    if function is not None and not scene.visit.after_done:
        _change_once(scene, "after", function, output)


def _change_once(
    scene: Scene, which: Literal["before", "after"], function: Callable[..., object], *given: object
) -> None:
    """Record what a function changes, even if that is nothing: so it does not run again.

    A batch that met a conflict is built again; then the change is recorded again, and the function
    is not called.
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
