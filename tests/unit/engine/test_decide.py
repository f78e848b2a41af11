"""The pure core: what a session does next, by its history and the time."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Literal

import pytest

from callboard import Approval, Phase, Retry, Workflow
from callboard.engine import decide as d
from callboard.errors import AgentUncertain
from callboard.events.failures import ErrorDescription
from callboard.testing.expectations import Named, parts
from callboard.testing.stage import Stage

ENTERED = ("phase:entered", {"phase": "work"})
STARTED = "agent:started"
COMPLETED = "agent:completed"
CRASHED: Named = ("agent:interrupted", {"reason": "crashed"})
ERROR: ErrorDescription = {"code": "AGENT_ERROR", "message": "It is overloaded."}
WORK = Phase("work", agent=lambda state: "done", next="end")
INTERACTIVE = {"type": "interactive_session", "run": "other"}


def flow(work: Phase = WORK) -> Workflow:
    last = Phase("end", terminal=True)
    return Workflow("w", state=dict, phases=[work, last])


def each(*, parallel: int | None = None, on_item_error: Literal["fail", "skip", "tell"] = "fail"):
    return replace(WORK, for_each=lambda state: [], parallel=parallel, on_item_error=on_item_error)


def entered(items: int) -> Named:
    return "phase:entered", {"phase": "work", "items": list(range(items))}


def item(name: str, index: int, **more: object) -> Named:
    return name, {"item": index, **more}


def decided(history: Sequence[Named], workflow: Workflow | None = None, *, later: int = 0):
    """What follows from this history, so many milliseconds after it."""
    stage = Stage(workflow or flow())
    stage.begin(None)
    for name, payload in map(parts, history):
        stage.record(name, payload)
    return d.decide(stage.workflow, stage.view, stage.clock.now_ms() + later)


def moment(later: int) -> int:
    """The moment that is so many milliseconds after every history."""
    return Stage(flow()).clock.now_ms() + later


class TestBetweenPhases:
    def test_a_new_session_enters_the_first_phase(self):
        assert decided([]) == d.Enter("work")

    def test_the_next_phase_is_the_one_that_was_routed_to(self):
        assert decided([ENTERED, ("phase:exited", {"next": "end"})]) == d.Enter("end")

    def test_until_false_enters_the_same_phase_again(self):
        again: Named = ("phase:exited", {"next": "work", "until": False})
        assert decided([ENTERED, again]) == d.Enter("work")
        assert decided([ENTERED, again, ENTERED]) == d.Start(("work#2",))

    def test_a_phase_left_by_an_error_is_entered_again(self):
        assert decided([ENTERED, ("phase:exited", {"reason": "error"})]) == d.Enter("work")

    @pytest.mark.parametrize("told", [{}, {"reason": "skipped", "terminal": True}])
    def test_after_the_terminal_phase_the_workflow_is_finished(self, told: dict[str, object]):
        history: list[Named] = [("phase:entered", {"phase": "end"}), ("phase:exited", told)]
        assert decided(history) == d.Finish("end")

    def test_an_open_task_keeps_it_from_finishing(self):
        history: list[Named] = [
            ("phase:entered", {"phase": "end"}),
            ("task:started", {"taskId": "t", "title": "Look", "kind": "k"}),
            "phase:exited",
        ]
        assert decided(history) == d.Wait(None)
        assert decided([*history, ("task:completed", {"taskId": "t"})]) == d.Finish("end")

    def test_an_open_task_waits_until_the_deadline_of_its_question(self):
        history: list[Named] = [
            ("phase:entered", {"phase": "end"}),
            ("input:requested", {"deadline": moment(500)}),
            ("task:started", {"taskId": "question-1", "title": "Look", "kind": "k"}),
            "phase:exited",
        ]
        assert decided(history) == d.Wait(moment(500))

    def test_a_phase_that_the_workflow_lost_is_held(self):
        for history in (
            [("phase:entered", {"phase": "gone"})],
            [ENTERED, ("phase:exited", {"next": "gone"})],
        ):
            hold = decided(history)
            assert isinstance(hold, d.Hold)
            assert "no longer has the phase 'gone' (it has work, end)" in hold.reason

    def test_a_held_session_goes_on_once_the_phase_is_back(self):
        assert decided([ENTERED, ("session:held", {"reason": "gone"})]) == d.Start(("work#1",))


class TestStopping:
    @pytest.mark.parametrize("how", ["completed", "failed", "cancelled"])
    def test_an_ended_session_does_nothing(self, how: str):
        assert decided([ENTERED, (f"workflow:{how}", {"error": ERROR})]) == d.Stop()

    def test_a_pause_waits_for_the_running_agent(self):
        running: list[Named] = [ENTERED, STARTED, "workflow:pausing"]
        assert decided(running) == d.Wait(None)
        assert decided([*running, COMPLETED]) == d.Halt()

    def test_a_pause_comes_before_what_could_be_started(self):
        assert decided([ENTERED, "workflow:pausing"]) == d.Halt()

    def test_no_deadline_passes_in_a_paused_session(self):
        asked: Named = ("input:requested", {"deadline": moment(500)})
        history: list[Named] = [ENTERED, STARTED, COMPLETED, asked, "workflow:pausing"]
        assert decided(history, later=500) == d.Halt()
        assert decided([*history, "workflow:paused"], later=500) == d.Stop()

    def test_a_resumed_session_goes_on(self):
        history: list[Named] = [ENTERED, "workflow:pausing", "workflow:paused", "workflow:resumed"]
        assert decided(history) == d.Start(("work#1",))


class TestOneAgent:
    def test_a_guard_that_says_no_skips_the_phase(self):
        assert decided([("phase:entered", {"phase": "work", "guard": False})]) == d.Skip()

    def test_a_guard_that_says_yes_does_not(self):
        guarded: Named = ("phase:entered", {"phase": "work", "guard": True})
        assert decided([guarded]) == d.Start(("work#1",))

    def test_the_agent_is_started_once(self):
        assert decided([ENTERED]) == d.Start(("work#1",))
        assert decided([ENTERED, STARTED]) == d.Wait(None)

    def test_its_output_concludes_the_phase(self):
        assert decided([ENTERED, STARTED, COMPLETED]) == d.Conclude()

    def test_after_the_update_no_agent_is_started(self):
        assert decided([ENTERED, ("state:intent", {"reason": "update"})]) == d.Conclude()

    def test_a_phase_without_agent_is_concluded_at_once(self):
        assert decided([("phase:entered", {"phase": "end"})]) == d.Conclude()

    @pytest.mark.parametrize("reason", ["paused", "stopped"])
    def test_an_interrupted_agent_is_started_again(self, reason: str):
        interrupted: Named = ("agent:interrupted", {"reason": reason})
        assert decided([ENTERED, STARTED, interrupted]) == d.Start(("work#1",))

    def test_a_postponed_agent_is_started_at_its_time(self):
        later: Named = ("agent:interrupted", {"reason": "postponed", "retryInMs": 1000})
        history = [ENTERED, STARTED, later]
        assert decided(history, later=999) == d.Wait(moment(1000))
        assert decided(history, later=1000) == d.Start(("work#1",))

    def test_a_failure_without_retry_fails_the_phase(self):
        assert decided([ENTERED, STARTED, ("phase:failed", {"error": ERROR})]) == d.Fail(ERROR)

    def test_a_failure_with_retry_waits_for_the_backoff(self):
        retried = flow(replace(WORK, retry=Retry(attempts=2, backoff=1.0)))
        history: list[Named] = [ENTERED, STARTED, ("phase:failed", {"retryInMs": 1000})]
        assert decided(history, retried, later=999) == d.Wait(moment(1000))
        assert decided(history, retried, later=1000) == d.Start(("work#1",))
        again: list[Named] = [(STARTED, {"attempt": 2}), ("phase:failed", {"error": ERROR})]
        assert decided([*history, *again], retried, later=9000) == d.Fail(ERROR)


class TestItems:
    def test_no_items_need_no_agent(self):
        assert decided([entered(0)], flow(each())) == d.Conclude()

    def test_one_at_a_time_unless_told_otherwise(self):
        assert decided([entered(3)], flow(each())) == d.Start(("work#1/0",))
        assert decided([entered(3), item(STARTED, 0)], flow(each())) == d.Wait(None)

    def test_as_many_at_once_as_may_be(self):
        workflow = flow(each(parallel=2))
        history = [entered(3)]
        assert decided(history, workflow) == d.Start(("work#1/0", "work#1/1"))
        history += [item(STARTED, 0)]
        assert decided(history, workflow) == d.Start(("work#1/1",))
        history += [item(STARTED, 1)]
        assert decided(history, workflow) == d.Wait(None)
        history += [item(COMPLETED, 0)]
        assert decided(history, workflow) == d.Start(("work#1/2",))

    def test_all_outputs_conclude_the_phase(self):
        history = [entered(2), *(item(n, i) for i in (0, 1) for n in (STARTED, COMPLETED))]
        assert decided(history[:-1], flow(each())) == d.Wait(None)
        assert decided(history, flow(each())) == d.Conclude()

    def test_the_other_items_run_before_a_failed_one_counts(self):
        history = [entered(2), item(STARTED, 0), item("phase:failed", 0, error=ERROR)]
        assert decided(history, flow(each())) == d.Start(("work#1/1",))

    @pytest.mark.parametrize(
        ("on_item_error", "follows"),
        [("fail", d.Fail(ERROR)), ("skip", d.Conclude()), ("tell", d.Conclude())],
    )
    def test_a_failed_item(
        self, on_item_error: Literal["fail", "skip", "tell"], follows: d.Decision
    ):
        history = [entered(2), item(STARTED, 0), item("phase:failed", 0, error=ERROR)]
        history += [item(STARTED, 1), item(COMPLETED, 1)]
        assert decided(history, flow(each(on_item_error=on_item_error))) == follows

    def test_what_goes_on_comes_before_what_begins(self):
        history = [entered(3), item(STARTED, 0), item(STARTED, 1)]
        history += [item("agent:interrupted", 1, reason="stopped")]
        assert decided(history, flow(each(parallel=2))) == d.Start(("work#1/1",))


class TestUncertain:
    """The process died while the agent ran."""

    LOST = (ENTERED, STARTED, CRASHED)
    ASKED = ("input:requested", {"run": "work#1", "key": "uncertain:1", "type": "choice"})

    def told(self, answer: str) -> list[Named]:
        options = [d.RUN_AGAIN, d.GO_ON, d.GIVE_UP]
        name, payload = self.ASKED
        return [
            *self.LOST,
            (name, {**payload, "options": options}),
            ("input:received", {"value": answer}),
        ]

    def test_retry_starts_it_again(self):
        assert decided([*self.LOST], flow(replace(WORK, on_uncertain="retry"))) == d.Start(
            ("work#1",)
        )

    def test_fail_fails_the_phase(self):
        failed = decided([*self.LOST], flow(replace(WORK, on_uncertain="fail")))
        assert isinstance(failed, d.Fail)
        assert failed.error["code"] == AgentUncertain.code

    def test_ask_asks_once(self):
        asking = flow(replace(WORK, on_uncertain="ask"))
        assert decided([*self.LOST], asking) == d.Confirm("work#1")
        assert decided([*self.LOST, self.ASKED], asking) == d.Wait(None)

    def test_ask_asks_again_when_the_question_was_cancelled(self):
        history: list[Named] = [*self.LOST, self.ASKED, ("input:cancelled", {"reason": "gone"})]
        assert decided(history, flow(replace(WORK, on_uncertain="ask"))) == d.Confirm("work#1")

    def test_a_person_lets_it_run_again(self):
        asking, history = flow(replace(WORK, on_uncertain="ask")), self.told(d.RUN_AGAIN)
        assert decided(history, asking) == d.Start(("work#1",))
        history += [(STARTED, {"attempt": 2}), CRASHED]
        assert decided(history, asking) == d.Confirm("work#1")

    def test_a_person_vouches_for_it(self):
        asking = flow(replace(WORK, on_uncertain="ask"))
        assert decided(self.told(d.GO_ON), asking) == d.Vouch("work#1")

    def test_a_person_gives_it_up(self):
        given_up = decided(self.told(d.GIVE_UP), flow(replace(WORK, on_uncertain="ask")))
        assert isinstance(given_up, d.Fail)
        assert given_up.error["code"] == AgentUncertain.code


class TestQuestions:
    ASKED = (ENTERED, STARTED, COMPLETED, "input:requested")
    TIMED = (*ASKED[:3], ("input:requested", {"deadline": moment(500)}))

    def test_an_open_question_waits_for_its_answer(self):
        assert decided([*self.ASKED]) == d.Wait(None)
        assert decided([*self.ASKED, ("input:received", {"value": "no"})]) == d.Proceed()

    def test_so_it_is_in_the_terminal_phase(self):
        last = Workflow("w", state=dict, phases=[Phase("end", human=Approval("?"), terminal=True)])
        history: list[Named] = ["phase:entered", "input:requested"]
        assert decided(history, last) == d.Wait(None)
        assert decided([*history, ("input:received", {"value": "yes"})], last) == d.Proceed()

    def test_a_deadline_passes_when_it_is_reached(self):
        assert decided([*self.TIMED], later=499) == d.Wait(moment(500))
        assert decided([*self.TIMED], later=500) == d.Expire("question-1")

    def test_the_earliest_deadline_passes_first(self):
        earlier: Named = ("input:requested", {"deadline": moment(300), "run": "work#1"})
        assert decided([*self.TIMED, earlier], later=900) == d.Expire("question-2")

    @pytest.mark.parametrize("fail", [True, False])
    def test_an_expired_question_is_left(self, fail: bool):
        expired: Named = ("input:expired", {"timedOut": True, "fail": fail})
        assert decided([*self.TIMED, expired], later=900) == d.Proceed()

    def test_a_reminder_ends_the_deadline(self):
        assert decided([*self.TIMED, "input:reminded"], later=900) == d.Wait(None)

    def test_an_escalation_moves_the_deadline(self):
        moved: Named = ("input:escalated", {"to": ["ann"], "deadline": moment(1000)})
        assert decided([*self.TIMED, moved], later=900) == d.Wait(moment(1000))

    def test_a_cancelled_question_is_asked_again(self):
        assert decided([*self.ASKED, ("input:cancelled", {"reason": "gone"})]) == d.Conclude()

    @pytest.mark.parametrize(
        "end", [("input:received", {"value": "yes"}), ("input:expired", {"timedOut": True})]
    )
    def test_an_agent_that_waited_for_an_answer_is_started_on_it(self, end: Named):
        asked: Named = ("input:requested", {"run": "work#1"})
        waiting: Named = ("agent:interrupted", {"reason": "waiting"})
        history: list[Named] = [ENTERED, STARTED, asked, waiting]
        assert decided(history) == d.Wait(None)
        assert decided([*history, end]) == d.Start(("work#1",))

    def test_a_running_agent_is_waited_for_until_its_questions_deadline(self):
        asked: Named = ("input:requested", {"run": "work#1", "deadline": moment(500)})
        assert decided([ENTERED, STARTED, asked]) == d.Wait(moment(500))

    def test_a_session_that_halts_everything_lets_nothing_start(self):
        halting: Named = ("input:requested", {**INTERACTIVE, "config": {"haltExecution": True}})
        assert decided([ENTERED, halting]) == d.Wait(None)
        assert decided([ENTERED, halting, "input:cancelled"]) == d.Start(("work#1",))

    def test_other_sessions_do_not_halt_it(self):
        assert decided([ENTERED, ("input:requested", INTERACTIVE)]) == d.Start(("work#1",))
