"""What can happen to a session in a test: an agent's end, an answer, a pause, time, a crash."""

from collections.abc import Callable
from typing import Any

from callboard.engine import perform
from callboard.engine.perform import Scene
from callboard.errors import CallboardError
from callboard.state.visits import Asked, run_item
from callboard.testing.stage import SESSION, Stage, now

Command = Callable[[Stage], None]


def output(value: Any = None, *, item: int | None = None) -> Command:
    """The running agent returns this; with several running, the one at work on `item`."""

    def do(stage: Stage) -> None:
        def build(scene: Scene) -> None:
            run = _running(stage, item)
            agent = scene.step.agent
            assert agent is not None
            try:
                recorded = agent.output.dump(value)
            except CallboardError as error:
                perform.broke(scene, run, error)
            else:
                perform.complete(scene, run, recorded, 0, None)

        stage.commit(build)

    return do


def failure(error: Exception | str = "It failed.", *, item: int | None = None) -> Command:
    """The running agent fails with this; with several running, the one at work on `item`."""
    raised = RuntimeError(error) if isinstance(error, str) else error

    def do(stage: Stage) -> None:
        stage.commit(lambda scene: perform.broke(scene, _running(stage, item), raised))

    return do


def answer(
    value: Any = None,
    *,
    approved: bool | None = None,
    prompt: str | None = None,
    by: str | None = None,
) -> Command:
    """Somebody answers the question; with several pending, the one with this prompt."""

    def do(stage: Stage) -> None:
        question = _pending(stage, prompt)
        now(stage.operations.answer(question.id, value, approved=approved, by=by))

    return do


def complete(
    response: Any = None,
    *,
    outcome: str = "completed",
    error: str | None = None,
    prompt: str | None = None,
    by: str | None = None,
) -> Command:
    """Somebody ends the interactive session; with several pending, the one with this prompt."""

    def do(stage: Stage) -> None:
        question = _pending(stage, prompt)
        ended = stage.inbox.complete(question.id, outcome, response=response, error=error, by=by)
        now(ended)

    return do


def pause(*, interrupt: bool = False) -> Command:
    """Somebody pauses the session; with `interrupt`, running agents are taken off at once."""

    def do(stage: Stage) -> None:
        now(stage.operations.pause(SESSION, interrupt=interrupt))
        if interrupt:
            now(stage.live.catch_up())
            stage.commit(_interrupt("paused"))

    return do


def resume() -> Command:
    """Somebody lets the session go on."""

    def do(stage: Stage) -> None:
        now(stage.operations.resume(SESSION))

    return do


def cancel() -> Command:
    """Somebody ends the session."""

    def do(stage: Stage) -> None:
        now(stage.operations.cancel(SESSION))

    return do


def time(seconds: float) -> Command:
    """So much time passes: deadlines run out, retries fall due."""

    def do(stage: Stage) -> None:
        stage.clock.skip(seconds)

    return do


def crash() -> Command:
    """The process dies and another takes over: what ran is lost."""

    def do(stage: Stage) -> None:
        stage.commit(_interrupt("crashed"))

    return do


def _interrupt(reason: str) -> Callable[[Scene], None]:
    def build(scene: Scene) -> None:
        for run in scene.batch.view.in_flight():
            perform.interrupt(scene, run, reason)

    return build


def _running(stage: Stage, item: int | None) -> str:
    runs = [run for run in stage.view.in_flight() if item is None or run_item(run) == item]
    if len(runs) != 1:
        known = ", ".join(stage.view.in_flight()) or "none"
        more = " Say which with item=." if runs else ""
        raise AssertionError(f"One running agent is meant, but there are: {known}.{more}")
    return runs[0]


def _pending(stage: Stage, prompt: str | None) -> Asked:
    asked = [one for one in stage.view.pending() if prompt is None or one.prompt == prompt]
    if len(asked) != 1:
        known = ", ".join(repr(one.prompt) for one in stage.view.pending()) or "none"
        more = " Say which with prompt=." if asked else ""
        raise AssertionError(f"One pending question is meant, but there are: {known}.{more}")
    return asked[0]
