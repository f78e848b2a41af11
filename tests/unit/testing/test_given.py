"""Given a history, when something happens, then these events follow."""

from collections.abc import Generator
from typing import Any

import pytest

from callboard import Approval, Choice, Interactive, Phase, Retry, State, Workflow, agent
from callboard.errors import AlreadyAnswered, AnswerInvalid, NotResumable, ValidationError
from callboard.testing.commands import (
    answer,
    cancel,
    complete,
    crash,
    failure,
    output,
    pause,
    resume,
    time,
)
from callboard.testing.given import given
from callboard.testing.stage import now


class Trip(State):
    city: str = ""
    days: list[str] = []
    hotel: str | None = None


@agent
async def plan(state: Trip) -> str:
    raise AssertionError("No agent runs here.")


def add_day(state: Trip, day: str) -> None:
    state.days.append(day)


def set_city(state: Trip, city: str) -> None:
    state.city = city


def set_hotel(state: Trip) -> str:
    return "book" if state.approved else "plan"


TRIP = Workflow(
    "trip",
    state=Trip,
    start=set_city,
    phases=[
        Phase("plan", agent=plan, update=add_day, retry=Retry(2, backoff=60), next="review"),
        Phase(
            "review",
            human=Approval(lambda s: f"Go to {s.city}?", timeout=3600, on_timeout="reject"),
            next=set_hotel,
        ),
        Phase("book", human=Choice("Which hotel?", ["small", "large"]), next="pack"),
        Phase("pack", guard=lambda s: len(s.days) > 1, next="go"),
        Phase("go", terminal=True),
    ],
)

PLANNING = given(TRIP, "Lisbon").when().then(..., "agent:started")
REVIEWING = PLANNING.when(output("day one"))


def test_a_session_goes_on_as_far_as_it_can():
    given(TRIP, "Lisbon").when().then(
        ("phase:entered", {"phase": "plan", "visit": 1}),
        ("agent:started", {"agent": "plan", "attempt": 1}),
    ).then_status("running").then_state(city="Lisbon")


def test_an_output_updates_the_state_and_leads_to_the_question():
    REVIEWING.then(
        ("agent:completed", {"output": "day one"}),
        "state:intent",
        ("phase:exited", {"next": "review"}),
        "phase:entered",
        ("input:requested", {"prompt": "Go to Lisbon?"}),
    ).then_state(days=["day one"]).then_status("waiting")
    assert (REVIEWING.phase, REVIEWING.state.days) == ("review", ["day one"])


@pytest.mark.parametrize(("said", "leads_to"), [("yes", "book"), ("no", "plan")])
def test_an_answer_routes(said: str, leads_to: str):
    REVIEWING.when(answer(said)).then(
        ("input:received", {"approved": said == "yes"}),
        "state:intent",
        ("phase:exited", {"next": leads_to}),
        ...,
    )


def test_a_history_is_not_changed_by_what_follows():
    REVIEWING.when(answer("no"))
    assert REVIEWING.when(answer("yes")).phase == "book"


def test_several_things_happen_one_after_the_other():
    REVIEWING.when(answer("yes"), answer("small")).then(
        ..., ("phase:exited", {"phase": "pack", "reason": "skipped"}), ..., "workflow:completed"
    ).then_status("completed")


def test_an_agent_fails_and_is_tried_again_after_a_time():
    failed = PLANNING.when(failure("overloaded")).then(("phase:failed", {"retryInMs": 60_000}))
    failed.when(time(59)).then()
    failed.when(time(60)).then(("agent:started", {"attempt": 2}))
    failed.when(time(60), failure(KeyError("x"))).then(
        ..., ("workflow:failed", {"error": {"type": "KeyError"}})
    )


def test_time_runs_out_for_a_question():
    REVIEWING.when(time(3600)).then(
        ("input:expired", {"approved": False}), ..., ("agent:started", {"visit": 2})
    )


def test_an_output_that_does_not_fit_is_a_failure():
    PLANNING.when(output(7)).then(("phase:failed", {"error": {"code": "AGENT_OUTPUT_INVALID"}}))


def test_pause_and_resume():
    paused = PLANNING.when(pause()).then("workflow:pausing").when(output("x"))
    paused.then("agent:completed", "workflow:paused").then_status("paused")
    paused.when(resume()).then("workflow:resumed", ..., "input:requested")
    PLANNING.when(pause(interrupt=True)).then(
        "workflow:pausing", ("agent:interrupted", {"reason": "paused"}), "workflow:paused"
    ).when(resume()).then("workflow:resumed", ("agent:started", {"attempt": 2}))


def test_cancel():
    REVIEWING.when(cancel()).then("input:cancelled", "workflow:cancelled").when(
        resume()
    ).then_refused(NotResumable, "cancelled")


def test_a_crash_runs_the_agent_again():
    PLANNING.when(crash()).then(
        ("agent:interrupted", {"reason": "crashed"}), ("agent:started", {"attempt": 2})
    )


def test_a_refusal_leaves_everything_as_it_was():
    refused = REVIEWING.when(answer("perhaps")).then_refused(AnswerInvalid, "yes or no")
    assert refused.status == "waiting"
    refused.when(answer("yes")).then(..., "input:requested")


def test_what_the_history_tells_need_not_be_said():
    history = given(TRIP, "Rome").events(
        "phase:entered",
        "agent:started",
        ("agent:completed", {"output": "day one"}),
        ("state:intent", {"patches": [{"op": "add", "path": "/days/-", "value": "day one"}]}),
        ("phase:exited", {"next": "review"}),
        ("phase:entered", {"phase": "review"}),
        "input:requested",
        ("input:received", {"value": "Y"}),
    )
    history.when().then(
        ("state:intent", {"patches": lambda patches: bool(patches)}),
        ("phase:exited", {"phase": "review", "visit": 1, "next": "book"}),
        ("phase:entered", {"phase": "book", "fromPhase": "review"}),
        ("state:intent", {"reason": "reset"}),
        ("input:requested", {"options": ["small", "large"]}),
    )


def test_a_failed_attempt_in_the_history():
    given(TRIP, "Rome").events(
        "phase:entered", "agent:started", ("phase:failed", {"retryInMs": 5000})
    ).when(time(5)).then(("agent:started", {"attempt": 2}))


def test_the_state_can_be_given():
    given(TRIP, "Rome").having(days=["a", "b"]).events(
        ("phase:entered", {"phase": "pack"})
    ).when().then(("phase:exited", {"phase": "pack", "reason": "next"}), ...)


def test_the_state_of_a_dict_can_be_given():
    flow = Workflow(
        "w",
        state=dict,
        phases=[
            Phase("a", next=lambda state: "b" if state["ready"] else "c", to=["b", "c"]),
            Phase("b", terminal=True),
            Phase("c", terminal=True),
        ],
    )
    for ready, leads_to in ((True, "b"), (False, "c")):
        given(flow).having(ready=ready).when().then(
            "phase:entered", ("phase:exited", {"next": leads_to}), ...
        )


def test_nothing_here_waits():
    with pytest.raises(NotImplementedError, match="needs an event loop"):
        now(_forever())


class _Pending:
    def __await__(self) -> Generator[object, None, None]:
        yield self


async def _forever() -> None:
    await _Pending()


def test_items_are_told_apart():
    flow = Workflow(
        "w",
        state=dict,
        phases=[
            Phase(
                "p",
                agent=lambda state, ctx: ctx.item,
                for_each=lambda state: ["a", "b"],
                parallel=2,
                update=lambda state, output: state.update({output: True}),
                terminal=True,
            )
        ],
    )
    both = given(flow).when().then(..., ("agent:started", {"item": 0}), "agent:started")
    both.when(output("b", item=1), output("a", item=0)).then_state(a=True, b=True)
    with pytest.raises(AssertionError, match=r"p#1/0, p#1/1. Say which with item="):
        both.when(output("a"))


def test_there_must_be_something_to_answer():
    with pytest.raises(AssertionError, match="there are: none"):
        PLANNING.when(answer("yes"))
    with pytest.raises(AssertionError, match="there are: none"):
        REVIEWING.when(output("x"))
    with pytest.raises(AssertionError, match="there are: 'Go to Lisbon"):
        REVIEWING.when(answer("yes", prompt="Really?"))


def test_the_wrong_events_are_shown_side_by_side():
    with pytest.raises(AssertionError) as wrong:
        REVIEWING.when(answer("no")).then(
            "input:received", "state:intent", ("phase:exited", {"next": "book"}), "workflow:failed"
        )
    lines = str(wrong.value).splitlines()
    assert lines[:5] == [
        "Other events than expected:",
        "    input:received",
        "    state:intent",
        '  - phase:exited {"next":"book"}',
        '  + phase:exited {"next":"plan"}',
    ]
    assert "  - workflow:failed" in lines
    assert sum(line.startswith("  + phase:entered") for line in lines) == 1


def expect(text: str, claim: Any) -> None:
    with pytest.raises(AssertionError, match=text):
        claim()


def test_every_claim_can_fail():
    expect("It was refused: ", lambda: REVIEWING.when(answer("x")).then())
    expect(
        "expected, but the command was accepted", lambda: REVIEWING.then_refused(AlreadyAnswered)
    )
    expect(
        "for another reason",
        lambda: REVIEWING.when(answer("x")).then_refused(AlreadyAnswered),
    )
    expect("hotel should be 'small'", lambda: REVIEWING.then_state(hotel="small"))
    expect("should be failed; it is waiting", lambda: REVIEWING.then_status("failed"))
    expect("a function", lambda: REVIEWING.then(("agent:completed", {"output": str.isdigit})))


def test_an_interactive_session_is_completed_or_ends_otherwise():
    asks = Interactive("Review it.", outcome_schema={"type": "approval"})
    flow = Workflow("w", state=Trip, phases=[Phase("p", human=asks, terminal=True)])
    waiting = given(flow).when().then(..., "input:requested", "task:started")
    waiting.when(complete("approved", by="ann")).then(
        ("input:received", {"value": "approved", "by": "ann"}), "task:completed", ...
    ).then_status("completed").then_state(approved=True)
    waiting.when(complete(outcome="failed", error="It broke.", prompt="Review it.")).then(
        ("input:failed", {"error": "It broke."}), "task:completed", ...
    ).then_state(approved=None)
    waiting.when(complete("perhaps")).then_refused(ValidationError, "response")
