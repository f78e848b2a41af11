"""Things that can happen to a session in a test: agent results, answers, pauses, time, crashes."""

from collections.abc import Callable, Iterable, Sequence
from typing import TypeVar

from callboard.engine import perform
from callboard.engine.scene import Scene
from callboard.errors import CallboardError
from callboard.events.payloads.agents import Interruption
from callboard.state.session import SessionView
from callboard.state.visits import Asked, run_item
from callboard.testing.stage import SESSION, Stage, now

T = TypeVar("T")
Command = Callable[[Stage], object]


def output(value: object = None, *, item: int | None = None) -> Command:
    """The running agent returns this. If several are running, `item` says which one."""

    def build(scene: Scene) -> None:
        run = _running(scene.batch.view, item)
        agent = scene.step.agent
        assert agent is not None
        try:
            recorded = agent.output.dump(value)
        except CallboardError as error:
            perform.broke(scene, run, error)
        else:
            perform.complete(scene, run, recorded, 0, None)

    return lambda stage: stage.commit(build)


def failure(error: Exception | str = "It failed.", *, item: int | None = None) -> Command:
    """The running agent fails with this error. If several are running, `item` says which one."""
    raised = RuntimeError(error) if isinstance(error, str) else error

    def build(scene: Scene) -> None:
        perform.broke(scene, _running(scene.batch.view, item), raised)

    return lambda stage: stage.commit(build)


def answer(
    value: object = None,
    *,
    approved: bool | None = None,
    prompt: str | None = None,
    by: str | None = None,
) -> Command:
    """A person answers the question. If several are pending, `prompt` says which one."""
    return lambda stage: now(
        stage.operations.answer(_pending(stage, prompt).id, value, approved=approved, by=by)
    )


def complete(
    response: object = None,
    *,
    outcome: str = "completed",
    error: str | None = None,
    prompt: str | None = None,
    by: str | None = None,
) -> Command:
    """A person ends the interactive session. If several are pending, `prompt` says which one."""

    def do(stage: Stage) -> None:
        id = _pending(stage, prompt).id
        now(stage.inbox.complete(id, outcome, response=response, error=error, by=by))

    return do


def pause(*, interrupt: bool = False) -> Command:
    """A person pauses the session. With `interrupt`, running agents are interrupted at once."""

    def do(stage: Stage) -> None:
        now(stage.operations.pause(SESSION, interrupt=interrupt))
        if interrupt:
            now(stage.live.catch_up())
            stage.commit(_interrupt("paused"))

    return do


def resume() -> Command:
    """A person resumes the session."""
    return lambda stage: now(stage.operations.resume(SESSION))


def cancel() -> Command:
    """A person cancels the session."""
    return lambda stage: now(stage.operations.cancel(SESSION))


def time(seconds: float) -> Command:
    """This much time passes: deadlines expire and retries become due."""
    return lambda stage: stage.clock.skip(seconds)


def crash() -> Command:
    """The process dies and another one takes over. Running agents are lost."""
    return lambda stage: stage.commit(_interrupt("crashed"))


def _interrupt(reason: Interruption) -> Callable[[Scene], None]:
    def build(scene: Scene) -> None:
        for run in scene.batch.view.in_flight():
            perform.interrupt(scene, run, reason)

    return build


def _running(view: SessionView, item: int | None) -> str:
    runs = view.in_flight()
    meant = [run for run in runs if item is None or run_item(run) == item]
    return _only("running agent", meant, runs, "item")


def _pending(stage: Stage, prompt: str | None) -> Asked:
    pending = stage.view.pending()
    meant = [one for one in pending if prompt is None or one.prompt == prompt]
    return _only("pending question", meant, [repr(one.prompt) for one in pending], "prompt")


def _only(what: str, meant: Sequence[T], known: Iterable[str], parameter: str) -> T:
    if len(meant) != 1:
        there = ", ".join(known) or "none"
        more = f" Say which with {parameter}=." if meant else ""
        raise AssertionError(f"One {what} is meant, but there are: {there}.{more}")
    return meant[0]
