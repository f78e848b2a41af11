"""Turns decisions into events. Calls users' functions and records what they return."""

from collections.abc import Mapping
from typing import assert_never

from callboard.drafts.response import HumanResponse
from callboard.engine import decide as d
from callboard.engine.batch import (
    Answerable,
    has_answer,
    reset_answer,
    set_answer,
)
from callboard.engine.outputs import ItemFailed, plain
from callboard.engine.ports import Agent
from callboard.engine.scene import FunctionFailed, Scene, call, run_after, run_before
from callboard.engine.tasks import ask, cancel_questions, close, end_questions
from callboard.engine.tracebacks import describe_raised
from callboard.errors import (
    CallboardError,
    DefinitionError,
    PhaseError,
    QuestionTimedOut,
    RetryAfter,
)
from callboard.events import names
from callboard.events.envelope import Json
from callboard.events.failures import UNKNOWN_ERROR, ErrorDescription, describe
from callboard.events.json_values import is_list
from callboard.events.payloads import agents
from callboard.events.payloads import workflow as payloads
from callboard.interactions.expiry import expire
from callboard.interactions.questions import Rendered
from callboard.interactions.rendering import is_question, render
from callboard.state.visits import Asked, Run


def perform(scene: Scene, decision: d.Decision) -> bool:
    """Add a decision's events to the batch; False if there is nothing more to decide for now."""
    try:
        return _perform(scene, decision)
    except FunctionFailed as broken:
        error = describe_raised(broken.error)
        message = error["message"]
        if not isinstance(broken.error, CallboardError):
            error["code"] = PhaseError.code
            message = f"{broken.what} raised {type(broken.error).__name__}: {message}"
        fail(scene, {**error, "message": message, "where": broken.what})
        return True


def _perform(  # noqa: C901, PLR0915 - one line per decision
    scene: Scene, decision: d.Decision
) -> bool:
    match decision:
        # The most frequent ones first.
        case d.Conclude():
            conclude(scene)
        case d.Enter(phase):
            enter(scene, phase)
        case d.Start() | d.Wait() | d.Stop():
            return False
        case d.Skip():
            skip(scene)
        case d.Prepare():
            run_before(scene)
        case d.Proceed():
            proceed(scene)
        case d.Confirm(run):
            confirm(scene, run)
        case d.Vouch(run):
            complete(scene, run, None, 0, None)
        case d.OfferRetry(run):
            offer_retry(scene, run)
        case d.Fail(error):
            fail(scene, error, recorded=True)
        case d.Expire(question):
            asked = scene.batch.view.questions[question]
            close(scene.batch, expire(asked, scene.batch.now))
        case d.Finish(phase):
            end_questions(scene.batch, "the workflow has completed")
            scene.batch.add(names.COMPLETED({"exitPhase": phase}))
        case d.Halt():
            scene.batch.add(names.PAUSED(_asked_by(scene.batch.view.pausing or {})))
        case d.Hold(reason, _):
            if scene.batch.view.held != reason:
                scene.batch.add(names.HELD({"reason": reason}))
            return False
        case _:
            assert_never(decision)
    return True


def enter(scene: Scene, phase: str) -> None:
    """Enter a phase; records the results of its guard and `for_each`."""
    batch, step = scene.batch, scene.workflow.steps[phase]
    number = batch.view.visits.get(phase, 0) + 1
    payload: payloads.PhaseEnteredPayload = {"phase": phase, "visit": number}
    if batch.view.last_phase is not None:
        payload["fromPhase"] = batch.view.last_phase
    # Added before calling guard and `for_each`, so that there is a visit to fail if they raise.
    # Their results become part of this same event, which is written only afterwards.
    batch.add(names.PHASE_ENTERED(payload))
    open_now = True
    if step.phase.guard is not None:
        open_now = bool(call(f"guard of phase {phase!r}", step.phase.guard, scene.state.read()))
        payload["guard"] = open_now
        scene.visit.guard = open_now
    if open_now:
        # Before `for_each`, as it may prepare the items.
        run_before(scene)
    if step.phase.for_each is not None and open_now:
        what = f"for_each of phase {phase!r}"
        items = call(what, step.phase.for_each, scene.state.read())
        recorded = call(what, lambda: [plain(item, what) for item in items])
        payload["items"] = recorded
        scene.visit.items = recorded


def start(scene: Scene, run: str) -> int:
    """Record that an agent starts; returns the number of the attempt."""
    visit = scene.visit
    before = visit.runs.get(run)
    attempt = before.attempt + 1 if before else 1
    agent = scene.step.agent
    assert agent is not None
    payload: agents.AgentStartedPayload = {**_run_payload(scene, run, attempt), **agent.details}
    item = visit.item_of(run)
    if item is not None:
        payload["item"] = item
    scene.batch.add(names.AGENT_STARTED(payload))
    return attempt


def complete(
    scene: Scene, run: str, output: Json, duration_ms: int, usage: Mapping[str, Json] | None
) -> None:
    """Record an agent's output; questions that it no longer waits for are cancelled."""
    attempt = scene.visit.runs[run].attempt
    payload: agents.AgentCompletedPayload = {
        **_run_payload(scene, run, attempt),
        "output": output,
        "durationMs": duration_ms,
    }
    if usage is not None:
        payload["usage"] = dict(usage)
    scene.batch.add(names.AGENT_COMPLETED(payload))
    cancel_questions(scene.batch, "the agent continued without it", run)


def broke(scene: Scene, run: str, error: Exception) -> None:
    """Record that an agent failed, and when it will be retried."""
    known: Run = scene.visit.runs[run]
    retry = scene.step.phase.retry
    delay = retry.delay_ms(known.failures + 1) if retry else None
    payload: payloads.PhaseFailedPayload = {
        "phase": scene.visit.phase,
        "visit": scene.visit.number,
        "run": run,
        "attempt": known.attempt,
        "error": describe_raised(error),
    }
    if delay is not None:
        payload["retryInMs"] = delay
    else:
        cancel_questions(scene.batch, "the agent failed", run)
    scene.batch.add(names.PHASE_FAILED(payload))


def interrupt(
    scene: Scene, run: str, reason: agents.Interruption, later: RetryAfter | None = None
) -> None:
    """Record that an agent was stopped before it returned; `later`: when to start it again."""
    where = _run_payload(scene, run, scene.visit.runs[run].attempt)
    payload: agents.AgentInterruptedPayload = {**where, "reason": reason}
    if later is not None:
        payload["error"], payload["retryInMs"] = describe(later), later.delay_ms
    scene.batch.add(names.AGENT_INTERRUPTED(payload))


def conclude(scene: Scene) -> None:
    """The agent's work is done: update the state, then ask or continue.

    The agent and `update` have seen the previous phase's answer. It is reset before this phase asks
    or routes, so that it never routes on an old approval.
    """
    step, visit = scene.step, scene.visit
    output = _output(scene)
    if visit.after_done:
        return _route(scene, output)
    if step.update is not None and not visit.updated:
        _update(scene, output)
    if step.human is not None or step.routes:
        _reset_answer(scene)
    question = step.human
    if callable(question):
        what = f"human of phase {step.name!r}"
        question = call(what, question, scene.state.read(), output)
        if question is not None and not is_question(question):
            fix = "Return Approval(...), Choice(...), Interactive(...) or None."
            wrong = DefinitionError(f"{what} returned {type(question).__name__}. {fix}")
            raise FunctionFailed(what, wrong)
    if question is None:
        return _route(scene, output)
    rendered = call(f"question of phase {step.name!r}", render, question, scene.state.read())
    ask(scene.batch, rendered, {"phase": step.name, "inline": True})
    return None


def _reset_answer(scene: Scene) -> None:
    if has_answer(scene.batch.view.state):
        scene.state.change(scene.batch, reset_answer, reason="reset")


def skip(scene: Scene) -> None:
    """Leave the phase without doing its work."""
    if not scene.step.phase.terminal:
        _reset_answer(scene)
    _leave(scene, None, "skipped")


def proceed(scene: Scene) -> None:
    """The question is closed: store the answer where routing can see it, and continue."""
    asked = scene.batch.view.questions[scene.visit.question or ""]
    if asked.status == "failed" and asked.outcome is None:
        late = QuestionTimedOut(f"Timed out without an answer: {asked.prompt}", question=asked.id)
        return fail(scene, describe(late))
    if not scene.visit.responded:
        _respond(scene, asked)
    return _route(scene, _output(scene))


def _respond(scene: Scene, asked: Asked) -> None:
    """Store the answer in the state, and call the phase's `on_answer`."""
    on_answer = scene.step.on_answer
    response: dict[str, Json] = {"value": asked.value, "approved": asked.approved}
    if asked.timed_out:
        response["timed_out"] = True
    told = {"outcome": asked.outcome, "message": asked.message}
    response |= {name: word for name, word in told.items() if word is not None}

    def change(draft: Answerable) -> None:
        set_answer(draft, response, asked.approved)
        if on_answer is not None:
            on_answer(draft, HumanResponse.model_validate(response))

    what = f"on_answer of phase {scene.step.name!r}"
    call(what, lambda: scene.state.change(scene.batch, change, reason="human"))


def confirm(scene: Scene, run: str) -> None:
    """Ask whether the work of a lost run was done."""
    known = scene.visit.runs[run]
    prompt = (
        f"The process died while {known.agent!r} was running in phase {scene.visit.phase!r}. "
        "Has its work been done?"
    )
    rendered = Rendered("choice", prompt, [d.RUN_AGAIN, d.GO_ON, d.GIVE_UP])
    key = d.uncertain_key(known)
    ask(scene.batch, rendered, {"phase": scene.visit.phase, "run": run, "key": key})


def offer_retry(scene: Scene, run: str) -> None:
    """Ask what to do about a run that has no attempts left."""
    known, visit = scene.visit.runs[run], scene.visit
    item = visit.item_of(run)
    on_item = "" if item is None else f" on item {item + 1} of {len(visit.items or ())}"
    times = "once" if known.failures == 1 else f"{known.failures} times"
    why = (known.error or UNKNOWN_ERROR)["message"]
    prompt = f"{known.agent!r} failed {times}{on_item} in phase {visit.phase!r}: {why}"
    rendered = Rendered("choice", prompt, [d.RETRY, d.SKIP, d.FAIL])
    key = d.failure_key(known)
    ask(scene.batch, rendered, {"phase": visit.phase, "run": run, "key": key})


def fail(scene: Scene, error: ErrorDescription, *, recorded: bool = False) -> None:
    """Fail the phase and the workflow with an error."""
    visit, batch = scene.visit, scene.batch
    where: payloads.InPhase = {"phase": visit.phase, "visit": visit.number}
    end_questions(batch, "the workflow has failed")
    if not recorded:
        batch.add(names.PHASE_FAILED({**where, "run": None, "attempt": 0, "error": error}))
    batch.add(names.PHASE_EXITED({**where, "reason": "error"}))
    batch.add(names.FAILED({"error": {**error, "phase": visit.phase}}))


def _route(scene: Scene, output: object) -> None:
    step = scene.step
    run_after(scene, output)
    if step.until is not None:
        done = call(f"until of phase {step.name!r}", step.until, scene.state.read(), output)
        if not done:
            return _exit(scene, {**_leaving(scene, "next"), "next": step.name, "until": False})
    return _leave(scene, output, "terminal" if step.phase.terminal else "next")


def _leave(scene: Scene, output: object, reason: payloads.ExitReason) -> None:
    step = scene.step
    leaving = _leaving(scene, reason)
    if step.until and reason != "skipped":
        leaving["until"] = True
    if step.phase.terminal:
        if reason == "skipped":
            leaving["terminal"] = True
        return _exit(scene, leaving)
    target = step.next
    if callable(target):
        what = f"next of phase {step.name!r}"
        target = call(what, target, scene.state.read(), output)
        if target not in scene.workflow.steps:
            fix = f"Return one of: {', '.join(scene.workflow.steps)}."
            wrong = DefinitionError(f"{what} returned {target!r}, which is not a phase. {fix}")
            raise FunctionFailed(what, wrong)
    return _exit(scene, {**leaving, "next": target})


def _leaving(scene: Scene, reason: payloads.ExitReason) -> payloads.PhaseExitedPayload:
    return {"phase": scene.visit.phase, "visit": scene.visit.number, "reason": reason}


def _exit(scene: Scene, payload: payloads.PhaseExitedPayload) -> None:
    scene.batch.add(names.PHASE_EXITED(payload))


def _update(scene: Scene, output: object) -> None:
    step, visit = scene.step, scene.visit
    assert step.update is not None
    update = step.update
    outputs = output if visit.items is not None and is_list(output) else [output]

    def run(draft: object) -> None:
        for one in outputs:
            update(draft, one)

    recorded = {r.output_at: r.output for r in visit.runs.values() if r.status == "completed"}
    what = f"update of phase {step.name!r}"
    call(what, lambda: scene.state.change(scene.batch, run, reason="update", outputs=recorded))


def _output(scene: Scene) -> object:
    """The agent's output; with `for_each`, a list in the order of the items."""
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


def _told(agent: Agent, item: object, run: Run | None) -> object:
    assert run is not None
    if run.status == "completed":
        return agent.output.load(run.output)
    return ItemFailed(item, run.error or UNKNOWN_ERROR)


def _run_payload(scene: Scene, run: str, attempt: int) -> agents.InAgentRun:
    visit = scene.visit
    agent = scene.workflow.steps[visit.phase].agent
    return {
        "agent": agent.name if agent else "",
        "phase": visit.phase,
        "visit": visit.number,
        "run": run,
        "attempt": attempt,
    }


def _asked_by(pausing: payloads.WorkflowPausingPayload) -> payloads.WorkflowPausedPayload:
    """Who requested the pause, and why."""
    who = pausing.copy()
    who.pop("interrupt", None)
    return who
