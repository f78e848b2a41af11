"""What was decided becomes events. Here users' functions are called, each answer recorded."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, assert_never

from callboard.engine import decide as d
from callboard.engine.batch import Batch, LiveState
from callboard.engine.outputs import ItemFailed, plain
from callboard.engine.phase import Step
from callboard.engine.ports import Agent
from callboard.engine.tasks import close, put
from callboard.engine.workflow import Workflow
from callboard.errors import (
    CallboardError,
    DefinitionError,
    PhaseError,
    QuestionTimedOut,
    describe,
)
from callboard.events import names
from callboard.ids import short_id
from callboard.interactions.expiry import expire
from callboard.interactions.questions import Rendered
from callboard.interactions.rendering import is_question, render
from callboard.state.model import HumanResponse
from callboard.state.visits import Asked, Run, Visit, run_item


@dataclass(frozen=True, slots=True)
class Scene:
    """Everything that performing a decision may touch."""

    workflow: Workflow
    batch: Batch
    state: LiveState

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


class _Broken(Exception):
    def __init__(self, what: str, error: Exception) -> None:
        self.what = what
        self.error = error


def perform(scene: Scene, decision: d.Decision) -> bool:
    """Add the decision's events to the batch; False when there is nothing more to decide now."""
    try:
        return _perform(scene, decision)
    except _Broken as broken:
        error = describe(broken.error)
        message = error["message"]
        if not isinstance(broken.error, CallboardError):
            error["code"] = PhaseError.code
            message = f"{broken.what} raised {type(broken.error).__name__}: {message}"
        fail(scene, {**error, "message": message, "where": broken.what})
        return True


def _perform(scene: Scene, decision: d.Decision) -> bool:  # noqa: C901 - one line per decision
    match decision:
        # The most frequent ones first.
        case d.Conclude():
            conclude(scene)
        case d.Enter(phase):
            enter(scene, phase)
        case d.Start() | d.Wait() | d.Stop():
            return False
        case d.Skip():
            _leave(scene, None, "skipped")
        case d.Proceed():
            proceed(scene)
        case d.Confirm(run):
            confirm(scene, run)
        case d.Vouch(run):
            complete(scene, run, None, 0, None)
        case d.Fail(error):
            fail(scene, error, recorded=True)
        case d.Expire(question):
            asked = scene.batch.view.questions[question]
            close(scene.batch, *expire(asked, scene.batch.now))
        case d.Finish(phase):
            cancel_questions(scene.batch, "the workflow has completed")
            scene.batch.add(names.COMPLETED, {"exitPhase": phase})
        case d.Halt():
            scene.batch.add(names.PAUSED, _who(scene.batch.view.pausing or {}))
        case d.Hold(reason):
            if scene.batch.view.held != reason:
                scene.batch.add(names.HELD, {"reason": reason})
            return False
        case _:
            assert_never(decision)
    return True


def enter(scene: Scene, phase: str) -> None:
    """Go into a phase: no old approval routes it, and its guard and items are recorded."""
    batch, step = scene.batch, scene.workflow.steps[phase]
    if _has_answer(batch.view.state):
        # First, so that a fork right after `phase:entered` has no old approval either.
        scene.state.change(batch, _reset_answer, reason="enter")
    number = batch.view.visits.get(phase, 0) + 1
    payload: dict[str, Any] = {"phase": phase, "visit": number}
    if batch.view.last_phase is not None:
        payload["fromPhase"] = batch.view.last_phase
    # Added before guard and items are asked for, so that there is a visit to fail when they
    # raise; what they answer is part of this same event, which is written only afterwards.
    batch.add(names.PHASE_ENTERED, payload)
    open_now = True
    if step.phase.guard is not None:
        open_now = bool(_call(f"guard of phase {phase!r}", step.phase.guard, scene.state.read()))
        payload["guard"] = open_now
        scene.visit.guard = open_now
    if step.phase.for_each is not None and open_now:
        items = _call(f"for_each of phase {phase!r}", step.phase.for_each, scene.state.read())
        recorded = _plain_items(phase, items)
        payload["items"] = recorded
        scene.visit.items = recorded


def start(scene: Scene, run: str) -> int:
    """Record that an agent starts; returns which attempt it is."""
    visit = scene.visit
    before = visit.runs.get(run)
    attempt = before.attempt + 1 if before else 1
    agent = scene.step.agent
    assert agent is not None
    payload = {**_run_payload(scene, run, attempt), **agent.details}
    item = run_item(run) if visit.items is not None else None
    if item is not None:
        payload["item"] = item
    scene.batch.add(names.AGENT_STARTED, payload)
    return attempt


def complete(scene: Scene, run: str, output: Any, duration_ms: int, usage: Any) -> None:
    """Record an agent's output; what it asked and no longer waits for is cancelled."""
    attempt = scene.visit.runs[run].attempt
    payload = _run_payload(scene, run, attempt) | {"output": output, "durationMs": duration_ms}
    if usage is not None:
        payload["usage"] = dict(usage)
    scene.batch.add(names.AGENT_COMPLETED, payload)
    cancel_questions(scene.batch, "the agent went on without it", run)


def broke(scene: Scene, run: str, error: Exception) -> None:
    """Record that an agent failed, and when it will be tried again."""
    known: Run = scene.visit.runs[run]
    retry = scene.step.phase.retry
    delay = retry.delay_ms(known.failures + 1) if retry else None
    payload: dict[str, Any] = {
        "phase": scene.visit.phase,
        "visit": scene.visit.number,
        "run": run,
        "attempt": known.attempt,
        "error": describe(error),
    }
    if delay is not None:
        payload["retryInMs"] = delay
    else:
        cancel_questions(scene.batch, "the agent failed", run)
    scene.batch.add(names.PHASE_FAILED, payload)


def interrupt(scene: Scene, run: str, reason: str, **more: Any) -> None:
    """Record that an agent was taken off before it came to an end."""
    attempt = scene.visit.runs[run].attempt
    payload = _run_payload(scene, run, attempt) | {"reason": reason, **more}
    scene.batch.add(names.AGENT_INTERRUPTED, payload)


def conclude(scene: Scene) -> None:
    """The agent's work is done: update the state, then ask, or go on."""
    step, visit = scene.step, scene.visit
    output = _output(scene)
    if step.update is not None and not visit.updated:
        _update(scene, output)
    question = step.human
    if callable(question):
        question = _call(f"human of phase {step.name!r}", question, scene.state.read(), output)
        if question is not None and not is_question(question):
            wrong = DefinitionError(
                f"human of phase {step.name!r} returned {type(question).__name__}. "
                "Return Approval(...), Choice(...), Interactive(...) or None."
            )
            raise _Broken(f"human of phase {step.name!r}", wrong)
    if question is None:
        return _route(scene, output)
    rendered = _call(f"question of phase {step.name!r}", render, question, scene.state.read())
    ask(scene.batch, rendered, phase=step.name, inline=True)
    return None


def proceed(scene: Scene) -> None:
    """The question is closed: put the answer where routing can see it, and go on."""
    asked = scene.batch.view.questions[scene.visit.question or ""]
    if asked.status == "failed" and asked.outcome is None:
        late = QuestionTimedOut(f"Nobody answered in time: {asked.prompt}", question=asked.id)
        return fail(scene, describe(late))
    if not scene.visit.responded:
        _respond(scene, asked)
    return _route(scene, _output(scene))


def _respond(scene: Scene, asked: Asked) -> None:
    """Put the answer into the state, and let the phase keep of it what it wants to."""
    on_answer = scene.step.on_answer
    response: dict[str, Any] = {"value": asked.value, "approved": asked.approved}
    if asked.timed_out:
        response["timed_out"] = True
    told = {"outcome": asked.outcome, "message": asked.message}
    response |= {name: word for name, word in told.items() if word is not None}

    def change(draft: Any) -> None:
        _set_answer(draft, response, asked.approved)
        if on_answer is not None:
            on_answer(draft, HumanResponse(**response))

    what = f"on_answer of phase {scene.step.name!r}"
    _call(what, lambda: scene.state.change(scene.batch, change, reason="human"))


def confirm(scene: Scene, run: str) -> None:
    """Ask whether the work of a lost run was done."""
    known = scene.visit.runs[run]
    prompt = (
        f"The process died while {known.agent!r} was running in phase {scene.visit.phase!r}. "
        "Has its work been done?"
    )
    rendered = Rendered("choice", prompt, [d.RUN_AGAIN, d.GO_ON, d.GIVE_UP])
    ask(scene.batch, rendered, phase=scene.visit.phase, run=run, key=d.uncertain_key(known))


def ask(batch: Batch, question: Rendered, *, phase: str | None, **identity: Any) -> str:
    """Put a question to people; returns its id for life."""
    payload: dict[str, Any] = {
        "id": short_id(),
        "prompt": question.prompt,
        "type": question.type,
    }
    if question.options is not None:
        payload["options"] = question.options
    if question.other:
        payload["other"] = True
    if phase is not None:
        payload["phase"] = phase
    if question.timeout_ms is not None:
        payload["deadline"] = batch.now + question.timeout_ms
        payload["onTimeout"] = question.on_timeout
    if question.config is not None:
        payload["config"] = question.config
    put(batch, payload | identity)
    return payload["id"]


def fail(scene: Scene, error: dict[str, Any], *, recorded: bool = False) -> None:
    """End the phase and the workflow with an error."""
    visit, batch = scene.visit, scene.batch
    where = {"phase": visit.phase, "visit": visit.number}
    cancel_questions(batch, "the workflow has failed")
    if not recorded:
        batch.add(names.PHASE_FAILED, {**where, "run": None, "attempt": 0, "error": error})
    batch.add(names.PHASE_EXITED, {**where, "reason": "error"})
    batch.add(names.FAILED, {"error": {**error, "phase": visit.phase}})


def cancel_questions(batch: Batch, reason: str, run: str | None = None) -> None:
    """Close the questions that are still open: all of them, or those of one run."""
    view = batch.view
    for asked in view.pending() if run is None else view.open.pending_of(run):
        close(batch, names.INPUT_CANCELLED, {"id": asked.id, "reason": reason})


def _route(scene: Scene, output: Any) -> None:
    step = scene.step
    if step.until is not None:
        done = _call(f"until of phase {step.name!r}", step.until, scene.state.read(), output)
        if not done:
            return _exit(scene, "next", next=step.name, until=False)
    return _leave(scene, output, "terminal" if step.phase.terminal else "next")


def _leave(scene: Scene, output: Any, reason: str) -> None:
    step = scene.step
    more: dict[str, Any] = {"until": True} if step.until and reason != "skipped" else {}
    if step.phase.terminal:
        return _exit(scene, reason, **more, **({"terminal": True} if reason == "skipped" else {}))
    target: Any = step.next
    if callable(target):
        target = _call(f"next of phase {step.name!r}", target, scene.state.read(), output)
        if target not in scene.workflow.steps:
            known = ", ".join(scene.workflow.steps)
            wrong = DefinitionError(
                f"next of phase {step.name!r} returned {target!r}, which is no phase. "
                f"Return one of: {known}."
            )
            raise _Broken(f"next of phase {step.name!r}", wrong)
    return _exit(scene, reason, next=target, **more)


def _exit(scene: Scene, reason: str, **more: Any) -> None:
    visit = scene.visit
    where = {"phase": visit.phase, "visit": visit.number, "reason": reason}
    scene.batch.add(names.PHASE_EXITED, {**where, **more} if more else where)


def _update(scene: Scene, output: Any) -> None:
    step, visit = scene.step, scene.visit
    assert step.update is not None
    update = step.update
    outputs = output if visit.items is not None else [output]

    def run(draft: Any) -> None:
        for one in outputs:
            update(draft, one)

    recorded = {r.output_at: r.output for r in visit.runs.values() if r.status == "completed"}
    what = f"update of phase {step.name!r}"
    _call(what, lambda: scene.state.change(scene.batch, run, reason="update", outputs=recorded))


def _output(scene: Scene) -> Any:
    """The agent's output; with `for_each` the list of them, in the order of the items."""
    agent, visit = scene.step.agent, scene.visit
    if agent is None:
        return None
    finished = [visit.runs.get(key) for key in d.run_keys(visit)]
    if visit.items is not None and scene.step.phase.on_item_error == "tell":
        return [_told(agent, *one) for one in zip(visit.items, finished, strict=True)]
    outputs = [agent.output.load(r.output) for r in finished if r and r.status == "completed"]
    if visit.items is not None:
        return outputs
    return outputs[0] if outputs else None


def _told(agent: Agent, item: Any, run: Run | None) -> Any:
    assert run is not None
    if run.status == "completed":
        return agent.output.load(run.output)
    return ItemFailed(item, run.error or {})


def _call(what: str, function: Callable[..., Any], *arguments: Any) -> Any:
    try:
        return function(*arguments)
    except Exception as error:
        raise _Broken(what, error) from error


def _run_payload(scene: Scene, run: str, attempt: int) -> dict[str, Any]:
    visit = scene.visit
    agent = scene.workflow.steps[visit.phase].agent
    return {
        "agent": agent.name if agent else "",
        "phase": visit.phase,
        "visit": visit.number,
        "run": run,
        "attempt": attempt,
    }


def _plain_items(phase: str, items: Any) -> list[Any]:
    return _call(
        f"for_each of phase {phase!r}",
        lambda: [plain(item, f"for_each of phase {phase!r}") for item in items],
    )


def _who(payload: dict[str, Any]) -> dict[str, Any]:
    return {key: payload[key] for key in ("by", "as", "reason") if key in payload}


def _has_answer(state: Any) -> bool:
    return isinstance(state, dict) and (
        state.get("humanResponse") is not None or state.get("approved") is not None  # pyright: ignore
    )


def _reset_answer(draft: Any) -> None:
    _set_answer(draft, None, None)


def _set_answer(draft: Any, response: Any, approved: bool | None) -> None:
    if isinstance(draft, dict):
        draft["human_response"] = response
        draft["approved"] = approved
    else:
        draft.human_response = response
        draft.approved = approved
