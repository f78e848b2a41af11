"""What a phase can do: guard, retry, timeout, for_each, until, streams, routes."""

import asyncio
from typing import Any

import pytest

from callboard import (
    Approval,
    Choice,
    Context,
    Output,
    Phase,
    Retry,
    State,
    Text,
    Thinking,
    ToolCall,
    ToolResult,
    Workflow,
    agent,
    auto_approve,
    run,
)
from callboard.engine.outputs import ItemFailed


class Notes(State):
    seen: list[str] = []
    count: int = 0


def note(state: Notes, output: Any) -> None:
    state.seen.append(str(output))


@agent
async def work(state: Notes, ctx: Context) -> str:
    return f"{ctx.phase}{ctx.visit}"


def named(events: list[Any], name: str) -> list[Any]:
    return [event.payload for event in events if event.name == name]


async def test_a_false_guard_skips_the_phase_and_its_agent() -> None:
    flow = Workflow(
        "w",
        state=Notes,
        phases=[
            Phase("a", agent=work, update=note, guard=lambda s: s.count > 0, next="b"),
            Phase("b", agent=work, update=note, guard=lambda s: s.count == 0, terminal=True),
        ],
    )
    result = await run(flow)
    assert result.state.seen == ["b1"]
    assert [p["reason"] for p in named(result.events, "phase:exited")] == ["skipped", "terminal"]
    assert [p["guard"] for p in named(result.events, "phase:entered")] == [False, True]


async def test_a_skipped_terminal_phase_ends_the_workflow() -> None:
    flow = Workflow("w", state=Notes, phases=[Phase("a", guard=lambda s: False, terminal=True)])
    result = await run(flow)
    assert (result.status, result.exit_phase) == ("completed", "a")


async def test_until_enters_the_phase_again() -> None:
    flow = Workflow(
        "w",
        state=Notes,
        phases=[Phase("a", agent=work, update=note, until=lambda s, o: o == "a3", terminal=True)],
    )
    result = await run(flow)
    assert result.state.seen == ["a1", "a2", "a3"]
    assert [p["until"] for p in named(result.events, "phase:exited")] == [False, False, True]


async def test_next_may_see_the_output() -> None:
    flow = Workflow(
        "w",
        state=Notes,
        phases=[
            Phase("a", agent=work, next=lambda state, output: "b" if output == "a1" else "a"),
            Phase("b", terminal=True),
        ],
    )
    assert (await run(flow)).exit_phase == "b"


async def test_a_failing_agent_is_retried_with_backoff() -> None:
    attempts: list[tuple[int, str]] = []

    @agent
    async def flaky(state: Notes, ctx: Context) -> str:
        attempts.append((ctx.attempt, ctx.key))
        if ctx.attempt < 3:
            raise ValueError("not yet")
        return "at last"

    flow = Workflow(
        "w",
        state=Notes,
        phases=[Phase("a", agent=flaky, update=note, retry=Retry(3, backoff=0.001), terminal=True)],
    )
    result = await run(flow)
    assert result.state.seen == ["at last"]
    assert [attempt for attempt, _ in attempts] == [1, 2, 3]
    assert len({key for _, key in attempts}) == 1
    failed = named(result.events, "phase:failed")
    assert [f["retryInMs"] for f in failed] == [1, 2]
    assert failed[0]["error"]["message"] == "not yet"


async def test_when_no_attempt_is_left_the_workflow_fails_and_says_why() -> None:
    @agent
    async def broken(state: Notes) -> str:
        raise RuntimeError("no luck")

    flow = Workflow(
        "w", state=Notes, phases=[Phase("a", agent=broken, retry=Retry(2, 0.001), terminal=True)]
    )
    result = await run(flow)
    assert result.status == "failed"
    assert result.error is not None
    assert result.error["message"] == "no luck"
    assert result.error.get("phase") == "a"
    assert [e.name for e in result.events[-2:]] == ["phase:exited", "workflow:failed"]


async def test_an_agent_that_takes_too_long_has_failed() -> None:
    @agent
    async def slow(state: Notes) -> str:
        await asyncio.Event().wait()
        return "never"

    flow = Workflow("w", state=Notes, phases=[Phase("a", agent=slow, timeout=0.01, terminal=True)])
    result = await run(flow)
    assert result.error is not None
    assert result.error["code"] == "AGENT_TIMED_OUT"


async def test_for_each_runs_items_in_parallel_and_updates_in_their_order() -> None:
    running = most = 0

    @agent
    async def review(state: Notes, ctx: Context) -> str:
        nonlocal running, most
        running += 1
        most = max(most, running)
        await asyncio.sleep(0.001 * (5 - ctx.item))
        running -= 1
        return f"item {ctx.item} at {ctx.index}"

    flow = Workflow(
        "w",
        state=Notes,
        phases=[
            Phase(
                "a",
                agent=review,
                for_each=lambda s: [1, 2, 3, 4],
                parallel=2,
                update=note,
                next=lambda s, outputs: "b" if len(outputs) == 4 else "a",
            ),
            Phase("b", terminal=True),
        ],
    )
    result = await run(flow)
    assert result.state.seen == [f"item {i} at {i - 1}" for i in (1, 2, 3, 4)]
    assert most == 2
    entered = named(result.events, "phase:entered")[0]
    assert entered["items"] == [1, 2, 3, 4]
    assert len(named(result.events, "agent:completed")) == 4


async def test_for_each_over_nothing_goes_on() -> None:
    flow = Workflow(
        "w",
        state=Notes,
        phases=[Phase("a", agent=work, for_each=lambda s: [], update=note, terminal=True)],
    )
    result = await run(flow)
    assert (result.status, result.state.seen) == ("completed", [])


@pytest.mark.parametrize(("policy", "status"), [("fail", "failed"), ("skip", "completed")])
async def test_a_failed_item_lets_the_others_finish(policy: Any, status: str) -> None:
    finished: list[int] = []

    @agent
    async def review(state: Notes, ctx: Context) -> int:
        if ctx.item == 2:
            raise ValueError("item 2")
        await asyncio.sleep(0.001)
        finished.append(ctx.item)
        return ctx.item

    flow = Workflow(
        "w",
        state=Notes,
        phases=[
            Phase(
                "a",
                agent=review,
                for_each=lambda s: [1, 2, 3],
                parallel=3,
                update=note,
                on_item_error=policy,
                terminal=True,
            )
        ],
    )
    result = await run(flow)
    assert sorted(finished) == [1, 3]
    assert result.status == status
    if policy == "skip":
        assert result.state.seen == ["1", "3"]


async def test_failed_items_can_be_told_to_update_in_their_place() -> None:
    @agent
    async def review(state: Notes, ctx: Context) -> int:
        if ctx.item == 2:
            raise ValueError("two is too much")
        return ctx.item

    def keep(state: Notes, output: Any) -> None:
        failed = isinstance(output, ItemFailed)
        state.seen.append(f"{output.item}: {output.error['message']}" if failed else str(output))

    phase = Phase(
        "a",
        agent=review,
        for_each=lambda s: [1, 2, 3],
        update=keep,
        on_item_error="tell",
        terminal=True,
    )
    result = await run(Workflow("w", state=Notes, phases=[phase]))
    assert result.status == "completed"
    assert result.state.seen == ["1", "2: two is too much", "3"]


async def test_the_state_can_say_how_long_an_attempt_may_work() -> None:
    @agent
    async def slow(state: Notes) -> None:
        await asyncio.Event().wait()

    phase = Phase("a", agent=slow, timeout=lambda state: 0.01 + len(state.seen), terminal=True)
    result = await run(Workflow("w", state=Notes, phases=[phase]))
    assert result.error is not None
    assert result.error["code"] == "AGENT_TIMED_OUT"
    assert "more than 0.01 s" in result.error["message"]


async def test_a_timeout_that_raises_fails_the_attempt() -> None:
    @agent
    async def work(state: Notes) -> None: ...

    def limit(state: Notes) -> float:
        raise ValueError("no idea")

    result = await run(
        Workflow("w", state=Notes, phases=[Phase("a", agent=work, timeout=limit, terminal=True)])
    )
    assert result.error is not None
    assert result.error["message"] == "no idea"


async def test_an_agent_that_streams_is_recorded_as_it_goes() -> None:
    @agent(output=str)
    async def talker(state: Notes) -> Any:
        yield Thinking("hm")
        yield Text("hel")
        yield Text("lo")
        yield ToolCall("t1", "search", {"q": 1})
        yield ToolResult("t1", ["found"])
        yield Output("done", usage={"inputTokens": 3})

    flow = Workflow("w", state=Notes, phases=[Phase("a", agent=talker, update=note, terminal=True)])
    result = await run(flow)
    told = [e for e in result.events if e.name.startswith(("text", "thinking", "tool"))]
    assert [e.name for e in told] == [
        "thinking:delta",
        "text:delta",
        "tool:called",
        "tool:result",
    ]
    assert told[1].payload["delta"] == "hello"
    assert told[1].payload["run"] == "a#1"
    assert named(result.events, "agent:completed")[0]["usage"] == {"inputTokens": 3}


async def test_a_stream_without_an_output_is_a_failure_that_says_so() -> None:
    @agent
    async def talker(state: Notes) -> Any:
        yield Text("hello")

    flow = Workflow("w", state=Notes, phases=[Phase("a", agent=talker, terminal=True)])
    result = await run(flow)
    assert result.error is not None
    assert "Yield Output(value) last" in result.error["message"]


async def test_the_wrong_output_type_is_a_failure_with_a_code() -> None:
    @agent
    async def liar(state: Notes) -> list[str]:
        return 5  # pyright: ignore[reportReturnType]

    flow = Workflow("w", state=Notes, phases=[Phase("a", agent=liar, terminal=True)])
    result = await run(flow)
    assert result.error is not None
    assert result.error["code"] == "AGENT_OUTPUT_INVALID"
    assert "liar" in result.error["message"]


async def test_a_function_of_the_user_that_raises_fails_the_phase_and_is_named() -> None:
    flow = Workflow(
        "w",
        state=Notes,
        phases=[
            Phase("a", agent=work, next=lambda s: {}["x"], to=["b"]),
            Phase("b", terminal=True),
        ],
    )
    result = await run(flow)
    assert result.status == "failed"
    assert result.error is not None
    assert result.error.get("where") == "next of phase 'a'"


async def test_a_route_to_nowhere_names_the_phases_there_are() -> None:
    flow = Workflow(
        "w", state=Notes, phases=[Phase("a", next=lambda s: "nowhere"), Phase("b", terminal=True)]
    )
    result = await run(flow)
    assert result.error is not None
    assert "Return one of: a, b" in result.error["message"]


async def test_a_change_that_does_not_fit_the_state_fails_with_the_place() -> None:
    def spoil(state: Notes, output: str) -> None:
        state.count = "many"  # pyright: ignore[reportAttributeAccessIssue]

    flow = Workflow("w", state=Notes, phases=[Phase("a", agent=work, update=spoil, terminal=True)])
    result = await run(flow)
    assert result.error is not None
    assert result.error["code"] == "STATE_INVALID"
    assert "count" in result.error["message"]


Seen = list[tuple[str, bool | None]]


def watched(seen: Seen, name: str, **options: Any) -> Phase:
    """A phase whose functions note the approval that they see in the state."""

    def looking(function: str, gives: Any) -> Any:
        def look(state: Notes, *_: Any) -> Any:
            assert (state.human_response is None) == (state.approved is None)
            seen.append((f"{name}.{function}", state.approved))
            return gives

        return look

    options.setdefault("agent", agent(name=name)(looking("agent", "done")))
    options.setdefault("update", looking("update", None))
    if "next" in options:
        options["next"], options["to"] = looking("next", options["next"]), [options["next"]]
    return Phase(name, **options)


async def test_no_old_approval_routes_a_new_phase() -> None:
    """The next agent and its `update` still have it; after that it is gone."""
    seen: Seen = []
    flow = Workflow(
        "w",
        state=Notes,
        phases=[
            Phase("ask", human=Approval("Ok?"), next="b"),
            watched(seen, "b", next="c"),
            watched(seen, "c", next="end"),
            Phase("end", terminal=True),
        ],
    )
    result = await run(flow, human_input=auto_approve())
    assert seen == [
        ("b.agent", True),
        ("b.update", True),
        ("b.next", None),
        ("c.agent", None),
        ("c.update", None),
        ("c.next", None),
    ]
    assert result.state.approved is None
    reasons = [p["reason"] for p in named(result.events, "state:intent")]
    assert reasons == ["human", "reset"]


async def test_an_answer_is_reset_before_the_next_question() -> None:
    seen: Seen = []

    def human(state: Notes) -> Approval:
        seen.append(("human", state.approved))
        return Approval("Again?")

    flow = Workflow(
        "w",
        state=Notes,
        phases=[
            Phase("ask", human=Approval("Ok?"), next="b"),
            watched(seen, "b", human=human, next="end"),
            watched(seen, "end", terminal=True),
        ],
    )
    answers = iter([True, False])
    result = await run(flow, human_input={"approval": lambda prompt: next(answers)})
    assert seen == [
        ("b.agent", True),
        ("b.update", True),
        ("human", None),
        ("b.next", False),
        ("end.agent", False),
        ("end.update", False),
    ]
    # Nothing is routed after the last phase, and it asked nothing: the answer stays.
    assert result.state.approved is False


async def test_a_skipped_phase_and_a_repeated_one_reset_the_answer_too() -> None:
    seen: Seen = []
    rounds: list[bool | None] = []

    def until(state: Notes) -> bool:
        rounds.append(state.approved)
        return len(rounds) == 2

    flow = Workflow(
        "w",
        state=Notes,
        phases=[
            Phase("ask", human=Approval("Ok?"), next="skipped"),
            watched(seen, "skipped", guard=lambda state: not state.approved, next="ask2"),
            Phase("ask2", human=Approval("Ok?"), next="twice"),
            watched(seen, "twice", until=until, terminal=True),
        ],
    )
    await run(flow, human_input=auto_approve())
    assert seen == [
        ("skipped.next", None),
        ("twice.agent", True),
        ("twice.update", True),
        ("twice.agent", None),
        ("twice.update", None),
    ]
    assert rounds == [None, None]


async def test_the_answer_is_in_the_state_when_routing() -> None:
    def route(state: Notes) -> str:
        assert state.human_response is not None
        return state.human_response.value

    flow = Workflow(
        "w",
        state=Notes,
        phases=[
            Phase("a", human=Choice("Where?", ["b", "c"]), next=route),
            Phase("b", terminal=True),
            Phase("c", terminal=True),
        ],
    )
    result = await run(flow, human_input={"choice": lambda prompt, options: options[1]})
    assert result.exit_phase == "c"


async def test_an_answer_can_be_kept_for_the_agents_after_it() -> None:
    def keep(state: Notes, response: Any) -> None:
        assert state.human_response is not None
        state.seen.append(f"{response.value}/{response['approved']}/{response.timed_out}")

    @agent
    async def reader(state: Notes) -> str:
        return f"read {state.seen[0]}"

    flow = Workflow(
        "w",
        state=Notes,
        phases=[
            Phase("ask", human=Choice("Which?", ["x", "y"]), on_answer=keep, next="read"),
            Phase("read", agent=reader, update=note, terminal=True),
        ],
    )
    result = await run(flow, human_input={"choice": lambda prompt, options: "y"})
    assert result.state.seen == ["y/None/False", "read y/None/False"]
    reasons = [p["reason"] for p in named(result.events, "state:intent")]
    assert reasons == ["human", "update"]


async def test_a_failing_on_answer_fails_the_phase() -> None:
    flow = Workflow(
        "w",
        state=Notes,
        phases=[Phase("ask", human=Approval("Ok?"), on_answer=lambda s, r: 1 / 0, terminal=True)],
    )
    result = await run(flow, human_input=auto_approve())
    assert result.error is not None
    assert result.error.get("where") == "on_answer of phase 'ask'"
